//! Programs and tools that misbehave: wrong calls, floods, and bodies that panic, hang, lie or vanish.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hotcell::code_mode::RunEvents;
use hotcell::execution::{CallRequest, ErrorCode};
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Registration, Registry};
use hotcell::tool::{Tool, ToolBuilder};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::plan::Subject;
use super::rig::{arguments, builder, calls, registry, returned, run, shown, with_each};
use crate::tools::{echo, failure, value};

fn limited(subject: &Subject, limits: &[(Limit, u64)]) -> Registry {
    let set = |all: Limits, (limit, value): &(Limit, u64)| all.with(*limit, *value).expect("within bounds");
    builder(subject, &RunEvents::new()).limits(limits.iter().fold(Limits::default(), set)).build().expect("valid")
}

fn anything(name: &str) -> ToolBuilder {
    Tool::builder(name).parameters("true").output("true").concurrency_safe(|_| true)
}

/// The message of the failure that the program caught.
fn caught(value: &Value) -> &str {
    value.get("failed").and_then(Value::as_str).unwrap_or_else(|| panic!("no failure: {value:?}"))
}

/// The plan that calls one tool, and returns what came of it.
fn trying(name: &str, arguments: &str) -> String {
    format!(r#"[["start", "a", "{name}", {arguments}], ["try", "a"], ["return", {{"of": "a"}}]]"#)
}

#[tokio::test]
async fn wrong_arguments_do_not_reach_the_tool_and_can_be_caught() {
    with_each(async |subject| {
        let registry = registry(subject);
        let runs = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&runs);
        let strict = Tool::builder("strict")
            .parameters(r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#)
            .output("true")
            .body(move |arguments, _| {
                counted.fetch_add(1, Ordering::Relaxed);
                async move { Ok(Value::clone(&arguments)) }
            });
        registry.register(strict).expect("free").keep();
        let start = "the arguments of `strict` are not valid:\n";
        for (arguments, expected) in [
            (r#"{"n": "x"}"#, r#"$.n: expected integer, found string "x""#),
            (r#"{"m": 1}"#, r#"$: missing property "n""#),
            ("[]", "$: expected object, found array []"),
        ] {
            let result = run(subject, &registry, &trying("strict", arguments)).await;
            let value = returned(&result);
            let message = caught(&value).strip_prefix(start).unwrap_or_else(|| panic!("{value:?}"));
            assert_eq!(message, expected);
            assert_eq!(calls(&result), ["strict failed"]);
        }
        assert_eq!(runs.load(Ordering::Relaxed), 0);
        let result = run(subject, &registry, &trying("strict", r#"{"n": 9007199254740991}"#)).await;
        assert_eq!(returned(&result), value(r#"{"n": 9007199254740991}"#));
    })
    .await;
}

#[tokio::test]
async fn bodies_that_panic_or_lie_fail_their_call_alone() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(anything("panics").body(async |_, _| panic!("secret"))).expect("free").keep();
        let lies = Tool::builder("lies").parameters("true").output(r#"{"type": "object"}"#);
        registry.register(lies.body(async |_, _| Ok(Value::from(7)))).expect("free").keep();
        registry.register(echo("echo")).expect("free").keep();
        let plan = r#"[["start", "p", "panics", {}], ["start", "l", "lies", {}], ["try", "p"], ["try", "l"],
            ["call", "e", "echo", {"x": 1}], ["return", {"of": "WHICH"}]]"#;
        for (which, expected) in [
            ("p", "internal error: the body panicked"),
            ("l", "the tool `lies` returned a value that its own schema does not allow:\n$: expected object, found integer 7"),
        ] {
            let result = run(subject, &registry, &plan.replace("WHICH", which)).await;
            let value = returned(&result);
            assert_eq!(caught(&value), expected);
            assert_eq!(calls(&result), ["panics failed", "lies failed", "echo done"]);
        }
    })
    .await;
}

fn over_the_cap(cap: u64) -> String {
    format!(
        "more calls are outstanding than the limit `outstanding-calls` of {cap} allows; do less in one run, or raise the \
         limit `outstanding-calls`"
    )
}

#[tokio::test]
async fn ten_thousand_calls_at_once_are_fine_and_calls_over_the_cap_fail_catchably() {
    with_each(async |subject| {
        for (started, cap) in [(10_000, 16_384), (100, 100), (101, 100), (99, 100)] {
            let registry = limited(subject, &[(Limit::OutstandingCalls, cap)]);
            registry.register(echo("echo")).expect("free").keep();
            let result = run(
                subject,
                &registry,
                &format!(r#"[["flood", "all", "echo", {started}], ["return", {{"of": "all"}}]]"#),
            )
            .await;
            let over = started - started.min(cap);
            let expected = format!(
                r#"{{"done": {}, "failed": {over}, "why": {}}}"#,
                started - over,
                if over > 0 { format!("\"{}\"", over_the_cap(cap)) } else { "null".to_owned() }
            );
            assert_eq!(returned(&result), value(&expected), "{started} of {cap}");
            let done = usize::try_from(started - over).expect("small");
            assert_eq!(calls(&result), vec!["echo done"; done]);
        }
    })
    .await;
}

#[tokio::test]
async fn twenty_thousand_calls_at_once_meet_the_default_cap() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(echo("echo")).expect("free").keep();
        let result =
            run(subject, &registry, r#"[["flood", "all", "echo", 20000], ["return", {"of": "all"}]]"#).await;
        let expected = format!(r#"{{"done": 16384, "failed": 3616, "why": "{}"}}"#, over_the_cap(16_384));
        assert_eq!(returned(&result), value(&expected));
    })
    .await;
}

#[tokio::test]
async fn what_a_tool_gives_has_to_fit_the_account_or_its_call_fails_and_names_the_limit() {
    with_each(async |subject| {
        const MEBIBYTE: usize = 1024 * 1024;
        let limit = 8 * MEBIBYTE;
        for (length, fits) in [(limit - 1024, true), (limit + 1, false), (64 * MEBIBYTE, false)] {
            let registry = limited(subject, &[(Limit::HostMemory, limit as u64)]);
            let large = anything("large").body(move |_, _| async move { Ok(Value::from("x".repeat(length))) });
            registry.register(large).expect("free").keep();
            registry.register(echo("echo")).expect("free").keep();
            let plan = r#"[["start", "a", "large", {}], ["try", "a"], ["length", "n", "a"], ["call", "b", "echo", {}],
                ["return", {"of": "n"}]]"#;
            let result = run(subject, &registry, plan).await;
            let message = "the run's calls, results and logs hold more host memory than the limit `host-memory` of 8MiB allows; do less in \
                           one run, or raise the limit `host-memory`";
            if fits {
                assert_eq!(returned(&result), Value::from(length as u64));
                assert_eq!(calls(&result), ["large done", "echo done"]);
            } else {
                assert_eq!(caught(&returned(&result)), message);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_tool_that_ignores_its_cancellation_is_dropped_after_its_grace_and_the_run_still_reports() {
    with_each(async |subject| {
        let registry = limited(subject, &[(Limit::Grace, 10)]);
        let dropped = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&dropped);
        let deaf = anything("deaf").body(move |_, _| {
            let gone = AtDrop(Arc::clone(&counted));
            async move {
                let _gone = gone;
                std::future::pending().await
            }
        });
        registry.register(deaf).expect("free").keep();
        registry.register(echo("echo")).expect("free").keep();
        let plan = r#"[["start", "a", "deaf", {}], ["call", "b", "echo", {}], ["log", "here"], ["return", 1]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(shown(&result), "here\n1");
        assert_eq!(calls(&result), ["deaf cancelled", "echo done"]);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_run_whose_tool_ignores_it_comes_back_with_its_report() {
    with_each(async |subject| {
        let registry = limited(subject, &[(Limit::Grace, 10)]);
        let begun = Arc::new(Notify::new());
        let noted = Arc::clone(&begun);
        let deaf = anything("deaf").body(move |_, _| {
            noted.notify_one();
            std::future::pending()
        });
        registry.register(deaf).expect("free").keep();
        let cancel = CancellationToken::new();
        let arguments = arguments(subject, r#"[["log", "here"], ["call", "a", "deaf", {}]]"#);
        let request = CallRequest::new("run_code", arguments, cancel.clone());
        let call = tokio::spawn(registry.call(request));
        begun.notified().await;
        cancel.cancel();
        let result = call.await.expect("no panic");
        let (code, message) = failure(&result);
        assert_eq!(code, ErrorCode::CodeRunFailed);
        let expected = "code run failed (abort): the caller cancelled the run\ncaptured output:\nhere\ncalls made:\n  \
                        cancelled while running: deaf";
        assert_eq!(message, expected);
        let facts = result.run_facts().expect("it ran");
        assert_eq!(
            (calls(&result), facts.logs.as_slice()),
            (vec!["deaf cancelled".to_owned()], &["here".to_owned()][..])
        );
    })
    .await;
}

#[tokio::test]
async fn a_tool_that_unregisters_itself_while_it_runs_finishes_and_is_unknown_afterwards() {
    with_each(async |subject| {
        let registry = registry(subject);
        let registration = Arc::<Mutex<Option<Registration>>>::default();
        let own = Arc::clone(&registration);
        let once = anything("once").body(move |arguments, _| {
            drop(own.lock().expect("whole").take());
            async move { Ok(Value::clone(&arguments)) }
        });
        *registration.lock().expect("whole") = Some(registry.register(once).expect("free"));
        let plan = r#"[["call", "a", "once", [1]], ["start", "b", "once", [2]], ["try", "b"], ["return", {"of": "NAME"}]]"#;
        let result = run(subject, &registry, &plan.replace("NAME", "b")).await;
        assert_eq!(caught(&returned(&result)), "unknown tool `once`");
        assert_eq!(calls(&result), ["once done", "once failed"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_not_text_or_is_blank_is_no_program() {
    with_each(async |subject| {
        let registry = registry(subject);
        for (arguments, expected) in [
            (r#"{"code": "return 1"}"#, r#"$: missing property "description""#),
            (r#"{"description": "x"}"#, r#"$: missing property "code""#),
            (r#"{"code": 1, "description": "x"}"#, "$.code: expected string, found integer 1"),
        ] {
            let result = crate::tools::call(&registry, "run_code", arguments).await;
            let expected = format!("the arguments of `run_code` are not valid:\n{expected}");
            assert_eq!(failure(&result), (ErrorCode::InvalidArgs, expected.as_str()));
            assert_eq!(result.run_facts().map(|facts| facts.calls.len()), Some(0));
        }
        for arguments in [r#"{"code": " \n", "description": "x"}"#, r#"{"code": "1", "description": ""}"#] {
            let result = crate::tools::call(&registry, "run_code", arguments).await;
            assert_eq!(failure(&result).0, ErrorCode::InvalidArgs);
        }
    })
    .await;
}

#[tokio::test]
async fn a_program_may_be_as_long_as_the_limit_says() {
    with_each(async |subject| {
        let plan = r#"[["return", 7]]"#;
        let length = subject.program(plan).len() as u64;
        for (limit, fits) in [(length, true), (length - 1, false)] {
            let registry = limited(subject, &[(Limit::Program, limit)]);
            let result = run(subject, &registry, plan).await;
            if fits {
                assert_eq!(returned(&result), Value::from(7));
            } else {
                let shown = Limit::Program.display(limit);
                let expected = format!(
                    "the program text is longer than the limit `program` of {shown} allows; do less in one run, or raise \
                     the limit `program` (it has {length} bytes)"
                );
                assert_eq!(failure(&result), (ErrorCode::InvalidArgs, expected.as_str()));
            }
        }
    })
    .await;
}

/// Counts its drop.
struct AtDrop(Arc<AtomicUsize>);

impl Drop for AtDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
