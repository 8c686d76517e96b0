//! What comes beside a program's value: ids, idempotency keys, contexts, images, conclusions, the report (CM-08, CM-12, CM-14,
//! CM-18, OS-01).

use std::sync::{Arc, Mutex};

use hotcell::Content;
use hotcell::code_mode::RunEvents;
use hotcell::execution::{CallRequest, Context, PostDecision, ToolContext, ToolResult};
use hotcell::json::{self, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Registry, Scope};
use hotcell::tool::{BodyError, Tool, ToolBuilder};
use tokio_util::sync::CancellationToken;

use super::plan::{Subject, scripted};
use super::rig::{arguments, builder, registry, run, with_each};
use crate::tools::value;

fn anything(name: &str) -> ToolBuilder {
    Tool::builder(name).parameters("true").output("true").concurrency_safe(|_| true)
}

fn register(scope: &Scope, tool: impl Into<Option<ToolBuilder>>) {
    scope.register(tool.into().expect("a tool")).expect("free").keep();
}

/// The texts of the contexts, in order; what is no text as `[image]`.
fn contexts(result: &ToolResult) -> Vec<String> {
    let blocks = result.contexts().iter().flat_map(|context| context.content());
    blocks.map(|block| block.as_text().unwrap_or("[image]").to_owned()).collect()
}

#[tokio::test]
async fn cm_08_cm_18_calls_are_numbered_below_the_run_and_their_keys_follow_the_calls_key() {
    with_each(async |subject| {
        let registry = registry(subject);
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&seen);
        let tool = anything("tool").body(move |_, context: ToolContext| {
            let call = context.call();
            let line = format!("{} {}", call.id(), call.idempotency_key().unwrap_or("none"));
            noted.lock().expect("whole").push(line);
            async { Ok(Value::Null) }
        });
        register(&registry, tool);
        let plan = r#"[["start", "a", "tool", 1], ["start", "b", "tool", 2], ["await", "a"], ["await", "b"]]"#;
        let run_as = async |id: Option<&str>, key: Option<&str>| {
            let request = CallRequest::new("run_code", arguments(subject, plan), CancellationToken::new());
            let request = id.into_iter().fold(request, |request, id| request.with_id(id));
            let request = key.into_iter().fold(request, |request, key| request.with_idempotency_key(key));
            assert!(registry.call(request).await.outcome().is_ok());
            std::mem::take(&mut *seen.lock().expect("whole"))
        };
        let expected = ["call-7:code:1 order-9:code:1", "call-7:code:2 order-9:code:2"];
        assert_eq!(run_as(Some("call-7"), Some("order-9")).await, expected);
        // A retry of the call has the same keys.
        assert_eq!(run_as(Some("call-7"), Some("order-9")).await, expected);
        // A call that brings an id and no key is known by its id.
        let expected = ["call-7:code:1 call-7:code:1", "call-7:code:2 call-7:code:2"];
        assert_eq!(run_as(Some("call-7"), None).await, expected);
        // The keys of calls that bring neither have nothing in common but their form.
        let (first, second) = (run_as(None, None).await, run_as(None, None).await);
        for lines in [&first, &second] {
            let key = lines[0].split_once(":code:1 run-").and_then(|(_, rest)| rest.strip_suffix(":code:1"));
            assert_eq!(key.map(str::len), Some(32), "{lines:?}");
            assert_eq!(lines[1], lines[0].replace(":code:1", ":code:2"));
        }
        assert_ne!(first, second);
    })
    .await;
}

/// A tool that defers its argument, and fails where that says so.
fn telling(name: &str) -> ToolBuilder {
    anything(name).body(async |arguments: Arc<Value>, context: ToolContext| {
        let text = arguments.as_str().unwrap_or_default();
        context.defer(Context::text(text));
        if text.starts_with("fail") { Err(BodyError::new("it failed")) } else { Ok(Value::Null) }
    })
}

#[tokio::test]
async fn cm_12_contexts_come_in_the_order_of_the_calls_also_where_the_program_fails() {
    with_each(async |subject| {
        let registry = registry(subject);
        register(&registry, telling("tells"));
        let plan = r#"[["start", "1", "tells", "one"], ["start", "2", "tells", "fail two"], ["start", "3", "tells", "three"],
            ["await", "3"], ["try", "2"], ["await", "1"], LAST]"#;
        for (last, is_ok) in [(r#"["return", 1]"#, true), (r#"["throw", "x"]"#, false)] {
            let result = run(subject, &registry, &plan.replace("LAST", last)).await;
            assert_eq!(result.outcome().is_ok(), is_ok);
            assert_eq!(contexts(&result), ["one", "fail two", "three"]);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_12_a_turn_is_concluded_where_a_call_concludes_it_and_the_program_succeeds() {
    with_each(async |subject| {
        let registry = registry(subject);
        let concludes = anything("concludes").body(async |arguments: Arc<Value>, context: ToolContext| {
            context.conclude_turn();
            if arguments.as_bool() == Some(true) { Ok(Value::Null) } else { Err(BodyError::new("no")) }
        });
        register(&registry, concludes);
        for (plan, expected) in [
            (r#"[["call", "a", "concludes", true], ["return", 1]]"#, true),
            (r#"[["call", "a", "concludes", true], ["throw", "x"]]"#, false),
            (r#"[["start", "a", "concludes", false], ["try", "a"], ["return", 1]]"#, false),
            (r#"[["return", 1]]"#, false),
        ] {
            assert_eq!(run(subject, &registry, plan).await.concludes_turn(), expected, "{plan}");
        }
    })
    .await;
}

/// A tool whose result shows an image of so many bytes of base64.
fn drawing(name: &str, bytes: usize) -> ToolBuilder {
    let render = move |_: &Value, _: &Value| {
        let image = Content::image_from_base64("image/png", "AAAA".repeat(bytes / 4)).expect("base64");
        vec![Content::text("a picture"), image]
    };
    anything(name).render(render).body(async |_, _| Ok(Value::Null))
}

#[tokio::test]
async fn cm_14_images_come_once_after_the_result_and_only_of_what_succeeded() {
    with_each(async |subject| {
        let registry = registry(subject);
        register(&registry, drawing("draws", 8));
        register(&registry, drawing("withheld", 8));
        drop(registry.on_post_execute(async |call, _, next| {
            if call.name() == "withheld" { Ok(PostDecision::block("secret")) } else { Ok(next.run().await) }
        }));
        let plan = r#"[["call", "a", "draws", 1], ["start", "b", "withheld", 2], ["try", "b"], ["call", "c", "draws", 3],
            ["return", "done"]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(super::rig::shown(&result), "done");
        assert_eq!(contexts(&result), ["a picture", "[image]", "a picture", "[image]"]);
    })
    .await;
}

#[tokio::test]
async fn images_and_contexts_are_bounded_by_the_limit_output_and_what_is_left_out_is_said() {
    let subject = scripted();
    let held = 2 * size_of::<Content>() + "a picture".len() + "image/png".len() + 1024;
    for (limit, fits) in [(held + 1, true), (held, true), (held - 1, false)] {
        let limits = Limits::default().with(Limit::Output, limit as u64).expect("within bounds");
        let registry = builder(&subject, &RunEvents::new()).limits(limits).build().expect("valid");
        register(&registry, drawing("draws", 1024));
        register(&registry, telling("tells"));
        let plan = r#"[["call", "a", "draws", 1], ["return", 1]]"#;
        let result = run(&subject, &registry, plan).await;
        let left_out = format!(
            "images and contexts of 1 of its calls are left out: together they are larger than the {limit}B of the limit \
             `output`"
        );
        if fits {
            assert_eq!(contexts(&result), ["a picture", "[image]"], "{limit}");
        } else {
            assert_eq!(contexts(&result), [left_out.as_str()], "{limit}");
            assert_eq!(result.run_facts().expect("it ran").notes, [left_out]);
        }
    }
}

/// The report with its times as `0`.
fn report(result: &ToolResult) -> String {
    let mut report = json::pretty(&result.run_report().expect("a call of run_code"));
    for key in ["ms", "compute_ms", "wall_ms", "approval_ms"] {
        let start = format!("\"{key}\": ");
        let mut from = 0;
        while let Some(at) = report[from..].find(&start).map(|at| from + at + start.len()) {
            let length = report[at..].find(|c: char| c != '.' && !c.is_ascii_digit()).expect("more follows");
            report.replace_range(at..at + length, "0");
            from = at;
        }
    }
    report
}

fn reporting(subject: &Subject) -> Registry {
    let registry = registry(subject);
    register(&registry, telling("tells"));
    registry
}

#[tokio::test]
async fn os_01_a_result_of_run_code_carries_the_run_report_whatever_came_of_it() {
    let subject = scripted();
    let registry = reporting(&subject);
    let guest = r#""guest": {
    "language": "javascript",
    "name": "scripted",
    "version": "0.1.0",
    "digest": ""
  }"#;
    let good = run(&subject, &registry, r#"[["log", "a"], ["call", "t", "tells", "x"], ["return", [1]]]"#).await;
    let expected = format!(
        r#"{{
  "status": "completed",
  "result": [
    1
  ],
  "logs": [
    "a"
  ],
  "calls": [
    {{ "id": "run:code:1", "name": "tells", "state": "done", "ms": 0 }}
  ],
  "timings": {{
    "compute_ms": 0,
    "wall_ms": 0,
    "approval_ms": 0
  }},
  {guest}
}}"#
    );
    assert_eq!(value(&report(&good)), value(&expected));
    let bad =
        run(&subject, &registry, r#"[["log", "a"], ["start", "t", "tells", "x"], ["throw", "broken"]]"#).await;
    let expected = format!(
        r#"{{
  "status": "failed",
  "logs": ["a"],
  "failure": {{ "code": "CODE_RUN_FAILED", "kind": "exception", "message": "Error: broken" }},
  "calls": [{{ "id": "run:code:1", "name": "tells", "state": "not-started", "ms": 0 }}],
  "timings": {{ "compute_ms": 0, "wall_ms": 0, "approval_ms": 0 }},
  {guest},
  "notes": ["still running when the program ended: tells"]
}}"#
    );
    assert_eq!(value(&report(&bad)), value(&expected));
    // Refused before any program ran: the report says what stood in the way.
    let refused = crate::tools::call(&registry, "run_code", r#"{"code": "[]"}"#).await;
    let expected = format!(
        r#"{{
  "status": "failed",
  "logs": [],
  "failure": {{
    "code": "INVALID_ARGS",
    "message": "the arguments of `run_code` are not valid:\n$: missing property \"description\""
  }},
  "calls": [],
  "timings": {{ "compute_ms": 0, "wall_ms": 0, "approval_ms": 0 }},
  {guest}
}}"#
    );
    assert_eq!(value(&report(&refused)), value(&expected));
    let other = crate::tools::call(&registry, "tells", "\"x\"").await;
    assert_eq!(other.run_report(), None);
}
