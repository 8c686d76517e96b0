//! What the calls of a program leave for the model beside its result, and how much of it there is room for (CM-12, CM-14).

use std::sync::Arc;

use hotcell::Content;
use hotcell::code_mode::RunEvents;
use hotcell::execution::{CallInfo, Context, PostDecision, ToolContext, ToolResult};
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Registry, Scope};
use hotcell::tool::{BodyError, ToolBuilder};

use super::doors::Doors;
use super::plan::Subject;
use super::rig::{builder, contexts, registry, run, with_each};
use crate::tools::{echo, failure};

fn text(arguments: &Value, what: &str) -> Option<String> {
    arguments.get(what).and_then(Value::as_str).map(str::to_owned)
}

/// A tool that does what its arguments say: `leave` is a context, `concludes` ends the turn, `wait` waits at a door, `open` opens
/// one, `fail` is its failure.
fn leaves(doors: &Doors) -> ToolBuilder {
    let doors = doors.clone();
    echo("leaves").body(move |arguments: Arc<Value>, context: ToolContext| {
        let doors = doors.clone();
        async move {
            if let Some(door) = text(&arguments, "wait") {
                doors.pass(&door).await;
            }
            if let Some(door) = text(&arguments, "open") {
                doors.open(&door);
            }
            if let Some(left) = text(&arguments, "leave") {
                context.defer(Context::text(left));
            }
            if arguments.get("concludes").is_some() {
                context.conclude_turn();
            }
            text(&arguments, "fail").map_or_else(|| Ok(Value::Null), |message| Err(BodyError::new(message)))
        }
    })
}

fn picture(name: &str) -> ToolBuilder {
    echo(name).render(|_, _| vec![Content::text("a picture"), Content::image("image/png", b"abcd")])
}

fn prepare(registry: &Registry) {
    registry.register(leaves(&Doors::default())).expect("valid").keep();
    registry.register(picture("picture")).expect("valid").keep();
    registry.register(echo("echo")).expect("valid").keep();
}

async fn made(subject: &Subject, scope: &Scope, steps: &str, end: &str) -> Arc<ToolResult> {
    run(subject, scope, &format!("[{steps}, {end}]")).await
}

const RETURN: &str = r#"["return", 1]"#;
const THROW: &str = r#"["throw", "broken"]"#;

#[tokio::test]
async fn cm_12_contexts_are_in_the_order_of_submission_also_when_the_program_fails_later() {
    with_each(async |subject| {
        for end in [RETURN, THROW] {
            let registry = registry(subject);
            prepare(&registry);
            // The first one commits last.
            let steps = r#"["start", "a", "leaves", {"wait": "door", "leave": "from a"}],
                ["call", "b", "leaves", {"leave": "from b"}],
                ["start", "c", "leaves", {"leave": "from c", "fail": "no"}], ["try", "c"],
                ["call", "d", "leaves", {"open": "door"}], ["await", "a"]"#;
            let result = made(subject, &registry, steps, end).await;
            assert_eq!(contexts(&result), ["from a", "from b", "from c"]);
            assert_eq!(result.outcome().is_ok(), end == RETURN);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_12_the_end_of_the_turn_is_passed_on_where_both_calls_succeed() {
    with_each(async |subject| {
        let registry = registry(subject);
        prepare(&registry);
        let concludes = r#"["call", "a", "leaves", {"concludes": true}]"#;
        let fails = r#"["start", "a", "leaves", {"concludes": true, "fail": "no"}], ["try", "a"]"#;
        let silent = r#"["call", "a", "leaves", {}]"#;
        for (steps, end, is) in [
            (concludes, RETURN, true),
            (concludes, THROW, false),
            (fails, RETURN, false),
            (fails, THROW, false),
            (silent, RETURN, false),
        ] {
            assert_eq!(made(subject, &registry, steps, end).await.concludes_turn(), is, "{steps} {end}");
        }
        let post = async |call: Arc<CallInfo>, _, _| {
            let is_run = call.name() == "run_code";
            Ok(if is_run { PostDecision::block("withheld") } else { PostDecision::accept() })
        };
        registry.on_post_execute(post);
        let result = made(subject, &registry, concludes, RETURN).await;
        assert_eq!((failure(&result).1, result.concludes_turn()), ("withheld", false));
    })
    .await;
}

#[tokio::test]
async fn cm_14_the_content_of_a_successful_call_that_has_a_picture_comes_once_after_the_result() {
    with_each(async |subject| {
        for end in [RETURN, THROW] {
            let registry = registry(subject);
            prepare(&registry);
            let steps = r#"["call", "a", "leaves", {"leave": "first"}], ["call", "b", "picture", {"n": 1}],
                ["call", "c", "echo", {"n": 2}], ["call", "d", "leaves", {"leave": "last"}]"#;
            let result = made(subject, &registry, steps, end).await;
            assert_eq!(contexts(&result), ["first", "a picture", "image image/png YWJjZA==", "last"]);
            // In the result itself there is text alone.
            assert!(result.content().iter().all(|block| block.as_text().is_some()));
        }
    })
    .await;
}

#[tokio::test]
async fn cm_14_what_counts_is_the_final_content_of_a_success() {
    with_each(async |subject| {
        let registry = registry(subject);
        prepare(&registry);
        let link = hotcell::ResourceLink::new("file:///x", "x");
        registry.register(picture("blocked")).expect("valid").keep();
        registry.register(picture("reworded")).expect("valid").keep();
        registry.register(echo("linked")).expect("valid").keep();
        let finalized = echo("finalized").finalize_content(|_| Some(vec![Content::image("image/gif", b"a")]));
        registry.register(finalized).expect("valid").keep();
        let fails = echo("fails").body(async |_, _| Err(BodyError::new("no")));
        let fails = fails.finalize_content(|_| Some(vec![Content::image("image/gif", b"b")]));
        registry.register(fails).expect("valid").keep();
        registry.on_post_execute(move |call, _, _| {
            let link = link.clone();
            async move {
                Ok(match call.name() {
                    "blocked" => PostDecision::block("withheld"),
                    "reworded" => PostDecision::replace_content(vec![Content::text("in words")]),
                    "linked" => PostDecision::replace_content(vec![Content::ResourceLink(link)]),
                    _ => PostDecision::accept(),
                })
            }
        });
        let steps: Vec<String> = ["blocked", "reworded", "linked", "finalized", "fails", "picture"]
            .map(|name| format!(r#"["start", "a", "{name}", {{}}], ["try", "a"]"#))
            .into();
        let result = made(subject, &registry, &steps.join(", "), RETURN).await;
        let expected = ["link file:///x", "image image/gif YQ==", "a picture", "image image/png YWJjZA=="];
        assert_eq!(contexts(&result), expected);
    })
    .await;
}

/// What a run reports whose calls leave contexts of so many bytes of text each, under the least limit `output`.
async fn bounded(subject: &Subject, sizes: &[usize], end: &str) -> Arc<ToolResult> {
    let limits = Limits::default().with(Limit::Output, 1024).expect("in bounds");
    let registry = builder(subject, &RunEvents::new()).limits(limits).build().expect("valid");
    let letters = echo("letters").body(async |arguments: Arc<Value>, context: ToolContext| {
        let count = arguments.get("count").and_then(Value::as_u64).expect("a number");
        context.defer(Context::text("x".repeat(usize::try_from(count).expect("small"))));
        Ok(Value::Null)
    });
    registry.register(letters).expect("valid").keep();
    let call = |count: &usize| format!(r#"["call", "a", "letters", {{"count": {count}}}]"#);
    let steps: Vec<String> = sizes.iter().map(call).collect();
    made(subject, &registry, &steps.join(", "), end).await
}

fn left_out(calls: usize) -> String {
    format!(
        "images and contexts of {calls} of its calls are left out: together they are larger than the 1KiB of the limit \
         `output`"
    )
}

#[tokio::test]
async fn cm_14_contexts_beyond_the_limit_output_are_left_out_and_counted() {
    with_each(async |subject| {
        let full = 1024 - size_of::<Content>();
        let half = full - 100 - size_of::<Content>();
        let texts = |sizes: &[usize]| -> Vec<String> { sizes.iter().map(|size| "x".repeat(*size)).collect() };
        // Just under and at the limit, in one call and in two.
        for sizes in [vec![full - 1], vec![full], vec![100, half - 1], vec![100, half]] {
            let result = bounded(subject, &sizes, RETURN).await;
            assert_eq!(contexts(&result), texts(&sizes));
            assert!(result.run_facts().expect("a program ran").notes.is_empty());
        }
        // Just over. What a call leaves is kept whole or not at all; a later one may still have room.
        for (sizes, kept, count) in [
            (vec![full + 1], vec![], 1),
            (vec![100, half + 1], vec![100], 1),
            (vec![100, half + 1, half], vec![100, half], 1),
            (vec![full, 0, 0], vec![full], 2),
        ] {
            let result = bounded(subject, &sizes, RETURN).await;
            let mut expected = texts(&kept);
            expected.push(left_out(count));
            assert_eq!(contexts(&result), expected, "{sizes:?}");
            assert_eq!(result.run_facts().expect("a program ran").notes, [left_out(count)]);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_14_a_failed_run_says_what_is_left_out_in_its_message() {
    with_each(async |subject| {
        let result = bounded(subject, &[10, 1024], THROW).await;
        assert_eq!(contexts(&result), ["x".repeat(10)]);
        let (_, message) = failure(&result);
        let end = format!("\ncalls made:\n  completed: letters (2)\n{}", left_out(1));
        assert!(message.ends_with(&end), "{message}");
    })
    .await;
}
