//! What those who watch runs see: the exact events of every kind of ending (CM-09).

use std::sync::Arc;
use std::time::Duration;

use hotcell::code_mode::{RunEvent, RunEventKind, RunEvents};
use hotcell::execution::{Attempt, Decision, ErrorCode, ToolContext, ToolResult};
use hotcell::json::{self, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::Registry;
use hotcell::tool::Tool;
use tokio_util::sync::CancellationToken;

use super::doors::{Log, settle};
use super::plan::{Subject, scripted};
use super::rig::{builder, calls, cancellable, failure_kind, request, returned, run, with_each};
use crate::tools::{echo, failure};

/// An event in one line.
pub fn line(event: &RunEvent) -> String {
    assert_eq!(&*event.run, "run");
    match &event.what {
        RunEventKind::Started { description, guest } => format!("started {description} in {}", guest.language),
        RunEventKind::Log(entry) => format!("log {entry}"),
        RunEventKind::CallStarted(call) => {
            format!("start {} {} {}", call.id, call.name, json::encode(&call.arguments))
        }
        RunEventKind::CallSettled(settled) => {
            let content: Vec<&str> = settled.content.iter().filter_map(|block| block.as_text()).collect();
            let (call, how) = (&settled.call, if settled.is_error { "failed" } else { "done" });
            let arguments = json::encode(&call.arguments);
            format!("settled {} {} {arguments} {how}: {}", call.id, call.name, content.join("|"))
        }
        RunEventKind::ApprovalAsked { call, name, reason } => format!("asked {call} {name} {reason:?}"),
        RunEventKind::ApprovalAnswered { call, name, answer } => format!("answered {call} {name} {answer:?}"),
        RunEventKind::Ended { failure, .. } => {
            format!("ended {}", failure.map_or("well", |kind| kind.as_str()))
        }
        _ => "something else".to_owned(),
    }
}

/// Where runs are watched, and what was seen.
pub fn watched() -> (RunEvents, Log) {
    let (events, log) = (RunEvents::new(), Log::default());
    let noted = log.clone();
    events.observe(move |event| noted.note(line(event)));
    (events, log)
}

/// Registers `say`, which overlaps others, `lone`, which does not, `hangs`, which stops when it is told to, and `stubborn`, which
/// never does.
pub fn prepare(registry: &Registry) {
    let say = |name| Tool::builder(name).parameters("{}").output("{}").body(async |_, _| Ok(Value::from("said")));
    registry.register(say("say").concurrency_safe(|_| true)).expect("valid").keep();
    registry.register(say("lone")).expect("valid").keep();
    let hangs = echo("hangs").body(async |_, context: ToolContext| {
        context.cancel().cancelled().await;
        Ok(Value::Null)
    });
    registry.register(hangs).expect("valid").keep();
    registry.register(echo("stubborn").body(async |_, _| std::future::pending().await)).expect("valid").keep();
}

fn registry(subject: &Subject, limits: Limits) -> (Registry, Log) {
    let (events, log) = watched();
    let registry = builder(subject, &events).limits(limits).build().expect("valid");
    prepare(&registry);
    (registry, log)
}

fn started(subject: &Subject) -> String {
    format!("started a test in {}", subject.runtime.guest().language)
}

#[tokio::test]
async fn cm_09_a_run_that_returns_or_throws_shows_each_thing_once_and_in_order() {
    with_each(async |subject| {
        for (end, how) in [(r#"["return", 7]"#, "well"), (r#"["throw", "broken"]"#, "exception")] {
            let (registry, log) = registry(subject, Limits::default());
            let plan = format!(
                r#"[["log", "one"], ["call", "a", "say", {{"n": 1}}], ["log", "two"], ["start", "b", "absent", {{}}],
                    ["try", "b"], {end}]"#
            );
            let result = run(subject, &registry, &plan).await;
            assert_eq!(result.outcome().is_ok(), how == "well");
            let expected = [
                &*started(subject),
                "log one",
                r#"start run:code:1 say {"n":1}"#,
                r#"settled run:code:1 say {"n":1} done: said"#,
                "log two",
                "start run:code:2 absent {}",
                "settled run:code:2 absent {} failed: Error: unknown tool `absent`",
                &format!("ended {how}"),
            ];
            assert_eq!(log.lines(), expected);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_queued_call_that_is_abandoned_shows_neither_start_nor_end() {
    with_each(async |subject| {
        for (end, how) in [(r#"["return", 7]"#, "well"), (r#"["throw", "broken"]"#, "exception")] {
            let (registry, log) = registry(subject, Limits::default());
            let plan = format!(
                r#"[["start", "a", "hangs", {{}}], ["call", "b", "say", {{}}], ["start", "c", "lone", {{}}],
                    ["start", "d", "say", {{}}], {end}]"#
            );
            run(subject, &registry, &plan).await;
            let expected = [
                &*started(subject),
                "start run:code:1 hangs {}",
                "start run:code:2 say {}",
                "settled run:code:2 say {} done: said",
                "settled run:code:1 hangs {} failed: Error: the call was cancelled",
                &format!("ended {how}"),
            ];
            assert_eq!(log.lines(), expected);
        }
    })
    .await;
}

const HANGS: &str = r#"[["log", "on"], ["start", "a", "hangs", {}], ["await", "a"]]"#;

/// The events of a run of [`HANGS`] that ends in this way.
fn hung(subject: &Subject, how: &str) -> Vec<String> {
    let lines = [
        &*started(subject),
        "log on",
        "start run:code:1 hangs {}",
        "settled run:code:1 hangs {} failed: Error: the call was cancelled",
        &format!("ended {how}"),
    ];
    lines.map(str::to_owned).into()
}

#[tokio::test]
async fn cm_09_a_cancelled_run_shows_the_end_of_its_calls_and_its_own() {
    with_each(async |subject| {
        let (registry, log) = registry(subject, Limits::default());
        let cancel = CancellationToken::new();
        let run = tokio::spawn(registry.call(cancellable(subject, HANGS, &cancel)));
        log.until("start run:code:1 hangs {}").await;
        cancel.cancel();
        let result = run.await.expect("no panic");
        assert_eq!(failure_kind(&result), Some("abort"));
        assert_eq!(log.lines(), hung(subject, "abort"));
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_run_whose_future_is_dropped_is_shown_to_its_end() {
    with_each(async |subject| {
        let (registry, log) = registry(subject, Limits::default());
        let observed = log.clone();
        registry.on_result(move |call, result| {
            if !call.is_nested() {
                observed.note(format!("result {:?}", failure_kind(result)));
            }
        });
        let run = tokio::spawn(registry.call(request(subject, HANGS)));
        log.until("start run:code:1 hangs {}").await;
        run.abort();
        log.until("result Some(\"abort\")").await;
        let mut expected = hung(subject, "abort");
        expected.push("result Some(\"abort\")".to_owned());
        assert_eq!(log.lines(), expected);
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_run_out_of_time_is_shown_to_its_end() {
    with_each(async |subject| {
        let limits = Limits::default().with(Limit::Wall, 1000).expect("in bounds");
        let (registry, log) = registry(subject, limits);
        let result = run(subject, &registry, HANGS).await;
        assert_eq!(failure_kind(&result), Some("timeout"));
        assert_eq!(log.lines(), hung(subject, "timeout"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cm_09_a_cancelled_run_with_a_call_that_does_not_stop_is_shown_to_its_end() {
    let subject = scripted();
    for plan in [
        r#"[["start", "a", "stubborn", {}], ["await", "a"]]"#,
        r#"[["start", "a", "stubborn", {}], ["start", "b", "hangs", {}], ["await", "a"]]"#,
    ] {
        let (registry, log) = registry(&subject, Limits::default().with(Limit::Grace, 100).expect("in bounds"));
        let cancel = CancellationToken::new();
        let run = tokio::spawn(registry.call(cancellable(&subject, plan, &cancel)));
        log.until("start run:code:1 stubborn {}").await;
        tokio::task::yield_now().await;
        cancel.cancel();
        let result = run.await.expect("no panic");
        assert_eq!(failure_kind(&result), Some("abort"), "{result:?}");
        let lines = log.lines();
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!((count("started"), count("ended abort")), (1, 1), "{lines:?}");
        assert_eq!(count("start run"), count("settled run"), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn cm_16_a_cancelled_run_keeps_its_report_however_long_its_calls_take_to_stop() {
    let subject = scripted();
    for is_wrapped in [false, true] {
        let (registry, log) = registry(&subject, Limits::default().with(Limit::Grace, 100).expect("in bounds"));
        if is_wrapped {
            registry.around(async |_, mut next| Ok(next.run().await));
        }
        // Begins when the body has been dropped, at the end of its grace.
        registry.on_post_execute(async |call, _, next| {
            if call.name() == "stubborn" {
                tokio::time::sleep(Duration::from_millis(90)).await;
            }
            Ok(next.run().await)
        });
        let plan = r#"[["log", "on"], ["call", "a", "say", {}], ["start", "b", "stubborn", {}], ["await", "b"]]"#;
        let cancel = CancellationToken::new();
        let run = tokio::spawn(registry.call(cancellable(&subject, plan, &cancel)));
        log.until("start run:code:2 stubborn {}").await;
        settle().await;
        cancel.cancel();
        let result = run.await.expect("no panic");
        let message = "code run failed (abort): the caller cancelled the run\ncaptured output:\non\ncalls made:\n  \
                       completed: say\n  cancelled while running: stubborn";
        assert_eq!(failure(&result), (ErrorCode::CodeRunFailed, message));
        let expected = [
            &*started(&subject),
            "log on",
            "start run:code:1 say {}",
            "settled run:code:1 say {} done: said",
            "start run:code:2 stubborn {}",
            "settled run:code:2 stubborn {} failed: Error: the call was cancelled",
            "ended abort",
        ];
        assert_eq!(log.lines(), expected);
    }
}

#[tokio::test]
async fn cm_09_a_run_that_a_wrapper_lets_go_of_is_shown_to_its_end() {
    with_each(async |subject| {
        let (registry, log) = registry(subject, Limits::default());
        let watched = log.clone();
        registry.around(move |call, mut next| {
            let watched = watched.clone();
            async move {
                if call.name() != "run_code" {
                    return Ok(next.run().await);
                }
                tokio::select! {
                    attempt = next.run() => Ok(attempt),
                    () = watched.until("start run:code:2 hangs {}") => {
                        Ok(Attempt::failure(ErrorCode::ToolTimeout, "too slow"))
                    }
                }
            }
        });
        let plan = r#"[["call", "a", "say", {}], ["start", "b", "hangs", {}], ["await", "b"]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(failure(&result), (ErrorCode::ToolTimeout, "too slow"));
        assert_eq!(calls(&result), ["say done", "hangs cancelled"]);
        assert_eq!(failure_kind(&result), Some("abort"));
        let expected = [
            &*started(subject),
            "start run:code:1 say {}",
            "settled run:code:1 say {} done: said",
            "start run:code:2 hangs {}",
            "settled run:code:2 hangs {} failed: Error: the call was cancelled",
            "ended abort",
        ];
        assert_eq!(log.lines(), expected);
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_run_that_the_runtime_refuses_is_shown_to_its_end() {
    let subject = scripted();
    let (registry, log) = registry(&subject, Limits::default());
    subject.runtime.shutdown().await;
    let result = run(&subject, &registry, HANGS).await;
    assert_eq!(failure(&result).1, "code run failed (abort): the runtime was shut down");
    assert_eq!(log.lines(), [&*started(&subject), "ended abort"]);
}

#[tokio::test]
async fn cm_09_what_never_becomes_a_run_shows_nothing() {
    with_each(async |subject| {
        let limits = Limits::default().with(Limit::Program, 1).expect("in bounds");
        let (registry, log) = registry(subject, limits);
        run(subject, &registry, HANGS).await;
        registry.on_pre_execute(async |_, _| Ok(Decision::deny("not today")));
        run(subject, &registry, HANGS).await;
        assert!(log.lines().is_empty(), "{:?}", log.lines());
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_shape_changes_what_is_shown_and_nothing_else() {
    with_each(async |subject| {
        let (events, log) = watched();
        let registry = builder(subject, &events).build().expect("valid");
        prepare(&registry);
        events.shape(|mut settled| {
            settled.content = vec![hotcell::Content::text("shaped")];
            settled.call.arguments = Arc::new(Value::from("hidden"));
            Ok(settled)
        });
        // One that fails and one that panics change nothing, and keep nobody else from it.
        events.shape(|_| Err("broken".into()));
        events.shape(|_| panic!("broken"));
        events.shape(|mut settled| {
            settled.content.push(hotcell::Content::text("twice"));
            Ok(settled)
        });
        let observed = log.clone();
        registry.on_result(move |call, result: &Arc<ToolResult>| {
            if call.is_nested() {
                observed.note(format!("result {}", result.content()[0].as_text().unwrap_or_default()));
            }
        });
        let result = run(subject, &registry, r#"[["call", "a", "say", {"n": 1}], ["return", {"of": "a"}]]"#).await;
        assert_eq!(returned(&result), Value::from("said"));
        let expected = [
            &*started(subject),
            r#"start run:code:1 say {"n":1}"#,
            "result said",
            r#"settled run:code:1 say "hidden" done: shaped|twice"#,
            "ended well",
        ];
        assert_eq!(log.lines(), expected);
    })
    .await;
}

#[tokio::test]
async fn cm_09_where_a_shape_fails_the_call_is_shown_as_it_was() {
    with_each(async |subject| {
        let (events, log) = watched();
        let registry = builder(subject, &events).build().expect("valid");
        prepare(&registry);
        events.shape(|mut settled| {
            settled.content.clear();
            Err("broken".into())
        });
        events.shape(|mut settled| {
            settled.content.clear();
            panic!("broken")
        });
        run(subject, &registry, r#"[["call", "a", "say", {}]]"#).await;
        assert_eq!(log.lines()[2], "settled run:code:1 say {} done: said");
    })
    .await;
}

#[tokio::test]
async fn cm_09_an_observer_that_panics_harms_nobody() {
    with_each(async |subject| {
        let events = RunEvents::new();
        events.observe(|_| panic!("broken"));
        let log = Log::default();
        let noted = log.clone();
        events.observe(move |event| noted.note(line(event)));
        let registry = builder(subject, &events).build().expect("valid");
        prepare(&registry);
        let plan = r#"[["log", "one"], ["call", "a", "say", {}], ["return", {"of": "a"}]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(returned(&result), Value::from("said"));
        let expected = [
            &*started(subject),
            "log one",
            "start run:code:1 say {}",
            "settled run:code:1 say {} done: said",
            "ended well",
        ];
        assert_eq!(log.lines(), expected);
    })
    .await;
}
