//! When `run_code` has its result, everything that its program started has stopped, whatever ended it (CM-10).

use std::sync::Arc;

use hotcell::execution::{ToolContext, ToolResult};
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::Registry;
use tokio_util::sync::CancellationToken;

use super::doors::Log;
use super::plan::{Subject, scripted};
use super::rig::{builder, calls, cancellable, failure_kind, with_each};
use crate::tools::echo;

/// Notes a line when it is dropped.
struct AtDrop(Log, &'static str);

impl Drop for AtDrop {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}

/// A registry with the tools `tidies`, which takes a while to stop when it is told to, `stubborn`, which is not told anything,
/// `lone`, which must run alone, and `cancels`, which cancels `cancel`.
fn prepared(subject: &Subject, limits: Limits, cancel: &CancellationToken) -> (Registry, Log) {
    let log = Log::default();
    let registry = builder(subject, &hotcell::code_mode::RunEvents::new()).limits(limits).build().expect("valid");
    let noted = log.clone();
    let tidies = echo("tidies").body(move |_, context: ToolContext| {
        let noted = noted.clone();
        async move {
            let _gone = AtDrop(noted.clone(), "tidies is gone");
            context.cancel().cancelled().await;
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            noted.note("tidies has tidied up");
            Ok(Value::Null)
        }
    });
    registry.register(tidies).expect("valid").keep();
    let noted = log.clone();
    let stubborn = echo("stubborn").body(move |_, _| {
        let noted = noted.clone();
        async move {
            let _gone = AtDrop(noted, "stubborn is gone");
            std::future::pending().await
        }
    });
    registry.register(stubborn).expect("valid").keep();
    let noted = log.clone();
    let lone = echo("lone").concurrency_safe(|_| false).body(move |_, _| {
        noted.note("lone runs");
        async { Ok(Value::Null) }
    });
    registry.register(lone).expect("valid").keep();
    registry.register(echo("echo")).expect("valid").keep();
    let cancel = cancel.clone();
    let cancels = echo("cancels").body(move |_, _| {
        cancel.cancel();
        async { Ok(Value::Null) }
    });
    registry.register(cancels).expect("valid").keep();
    let noted = log.clone();
    registry.on_result(move |call, result: &Arc<ToolResult>| {
        noted.note(format!("{} {}", call.name(), result.code().map_or("OK", |code| code.as_str())));
    });
    (registry, log)
}

#[tokio::test]
async fn cm_10_whatever_ends_a_program_its_calls_have_stopped_before_it_has_its_result() {
    with_each(async |subject| {
        for (end, kind) in [
            (r#"["return", 7]"#, None),
            (r#"["throw", "broken"]"#, Some("exception")),
            (r#"["await", "a"]"#, Some("timeout")),
            (r#"["call", "d", "cancels", {}], ["await", "a"]"#, Some("abort")),
        ] {
            let limits = Limits::default().with(Limit::Wall, 1000).expect("in bounds");
            let cancel = CancellationToken::new();
            let (registry, log) = prepared(subject, limits, &cancel);
            let queued = if kind == Some("abort") { "" } else { r#"["start", "c", "lone", {}], "# };
            let plan = format!(r#"[["start", "a", "tidies", {{}}], ["call", "b", "echo", {{}}], {queued}{end}]"#);
            let result = registry.call(cancellable(subject, &plan, &cancel)).await;
            assert_eq!(failure_kind(&result), kind);
            let run = if kind.is_none() { "run_code OK" } else { "run_code CODE_RUN_FAILED" };
            let mut expected = vec!["echo OK"];
            if kind == Some("abort") {
                // Its own success came after the cancellation.
                expected.push("cancels ABORTED");
            }
            expected.extend(["tidies has tidied up", "tidies is gone", "tidies ABORTED", run]);
            let seen: Vec<String> = log.lines();
            assert_eq!(seen, expected, "{end}");
            let first: Vec<String> = calls(&result).into_iter().take(2).collect();
            assert_eq!(first, ["tidies cancelled", "echo done"]);
            assert!(kind == Some("abort") || calls(&result)[2] == "lone not-started", "{:?}", calls(&result));
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cm_10_a_call_that_does_not_stop_is_dropped_after_its_grace() {
    let subject = scripted();
    for (end, kind) in [(r#"["return", 7]"#, None), (r#"["throw", "broken"]"#, Some("exception"))] {
        let limits = Limits::default().with(Limit::Grace, 700).expect("in bounds");
        let (registry, log) = prepared(&subject, limits, &CancellationToken::new());
        let plan = format!(r#"[["start", "a", "stubborn", {{}}], ["call", "b", "echo", {{}}], {end}]"#);
        let began = tokio::time::Instant::now();
        let result = registry.call(cancellable(&subject, &plan, &CancellationToken::new())).await;
        let took = began.elapsed().as_millis();
        assert!((700..=702).contains(&took), "{took}");
        assert_eq!(failure_kind(&result), kind);
        let run = if kind.is_none() { "run_code OK" } else { "run_code CODE_RUN_FAILED" };
        assert_eq!(log.lines(), ["echo OK", "stubborn is gone", "stubborn ABORTED", run]);
        assert_eq!(calls(&result), ["stubborn cancelled", "echo done"]);
    }
}
