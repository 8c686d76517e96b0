//! What those who follow runs are told, and that following costs a run nothing (CM-09).

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use hotcell::Content;
use hotcell::code_mode::{
    FOLLOWED_BYTES_MAX, FOLLOWED_EVENTS_MAX, Followed, Follower, RunEvent, RunEventKind, RunEvents, SettledCall,
};
use hotcell::execution::{Attempt, CallRequest};
use hotcell::json::Value;
use hotcell::registry::Registry;
use hotcell::tool::Tool;
use tokio_util::sync::CancellationToken;

use super::plan::{Subject, scripted};
use super::rig::{arguments, builder, calls, returned, run, with_each};
use crate::tools::echo;

/// An event in one line.
fn line(event: &RunEvent) -> String {
    assert_eq!(&*event.run, "run");
    match &event.what {
        RunEventKind::Started { description, guest } => format!("started: {description}, by {}", guest.language),
        RunEventKind::Log(entry) => format!("log: {entry}"),
        RunEventKind::CallStarted(call) => format!("{} starts {} {:?}", call.id, call.name, call.arguments),
        RunEventKind::CallSettled(settled) => {
            let how = if settled.is_error { "fails" } else { "is done" };
            let content: Vec<_> = settled.content.iter().filter_map(Content::as_text).collect();
            format!("{} {how}: {}", settled.call.id, content.join("|"))
        }
        RunEventKind::ApprovalAsked { call, name, reason } => format!("{call} asks about {name}: {reason:?}"),
        RunEventKind::ApprovalAnswered { call, answer, .. } => format!("{call} is answered: {answer:?}"),
        RunEventKind::Ended { failure, .. } => format!("ended: {failure:?}"),
        other => panic!("an unknown event: {other:?}"),
    }
}

/// Everything that is observed from now on.
fn observed(events: &RunEvents) -> Arc<Mutex<Vec<String>>> {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let noted = Arc::clone(&lines);
    events.observe(move |event| noted.lock().expect("whole").push(line(event)));
    lines
}

fn taken(lines: &Mutex<Vec<String>>) -> Vec<String> {
    std::mem::take(&mut *lines.lock().expect("whole"))
}

fn registry(subject: &Subject, events: &RunEvents) -> Registry {
    let registry = builder(subject, events).build().expect("valid");
    registry.register(echo("echo")).expect("free").keep();
    let waits = Tool::builder("waits").parameters("true").output("true");
    let waits = waits.body(async |_, context: hotcell::execution::ToolContext| {
        context.cancel().cancelled().await;
        Ok(Value::Null)
    });
    registry.register(waits).expect("free").keep();
    registry
}

fn started(subject: &Subject) -> String {
    format!("started: a test, by {}", subject.runtime.guest().language)
}

#[tokio::test]
async fn cm_09_every_start_and_every_end_is_told_once_and_in_order() {
    with_each(async |subject| {
        let events = RunEvents::new();
        let registry = registry(subject, &events);
        let lines = observed(&events);
        let plan = r#"[["log", "a"], ["call", "e", "echo", {"x": 1}], ["start", "n", "none", {}], ["try", "n"],
            ["log", "b"], ["return", 1]]"#;
        run(subject, &registry, plan).await;
        let expected = [
            &started(subject),
            "log: a",
            r#"run:code:1 starts echo {"x":1}"#,
            "run:code:1 is done: {\n  \"x\": 1\n}",
            "run:code:2 starts none {}",
            "run:code:2 fails: Error: unknown tool `none`",
            "log: b",
            "ended: None",
        ];
        assert_eq!(taken(&lines), expected);
        run(subject, &registry, r#"[["throw", "x"]]"#).await;
        assert_eq!(taken(&lines), [started(subject).as_str(), "ended: Some(Exception)"]);
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_call_that_never_started_is_not_told() {
    with_each(async |subject| {
        let events = RunEvents::new();
        let registry = registry(subject, &events);
        let lines = observed(&events);
        // It ends before any call had its turn.
        let plan = r#"[["start", "a", "waits", 1], ["start", "b", "waits", 2], ["throw", "x"]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(calls(&result), ["waits not-started", "waits not-started"]);
        assert_eq!(taken(&lines), [started(subject).as_str(), "ended: Some(Exception)"]);
    })
    .await;
}

#[tokio::test]
async fn cm_09_a_shape_changes_the_event_and_nothing_else_and_where_it_fails_nothing() {
    with_each(async |subject| {
        let events = RunEvents::new();
        let registry = registry(subject, &events);
        let lines = observed(&events);
        events.shape(|mut settled: SettledCall| {
            settled.content = vec![Content::text("a secret")];
            Ok(settled)
        });
        events.shape(|_| Err("no".into()));
        events.shape(|_| panic!("on purpose"));
        let plan = r#"[["call", "e", "echo", {"x": 1}], ["return", {"of": "e"}]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(returned(&result), crate::tools::value(r#"{"x": 1}"#));
        let lines = taken(&lines);
        assert_eq!(lines[2], "run:code:1 is done: a secret");
        assert_eq!(lines.len(), 4);
    })
    .await;
}

#[tokio::test]
async fn an_observer_that_panics_disturbs_nobody() {
    with_each(async |subject| {
        let events = RunEvents::new();
        let registry = registry(subject, &events);
        events.observe(|_| panic!("on purpose"));
        let lines = observed(&events);
        let result = run(subject, &registry, r#"[["call", "e", "echo", {}], ["return", 1]]"#).await;
        assert_eq!(returned(&result), Value::from(1));
        assert_eq!(taken(&lines).len(), 4);
    })
    .await;
}

/// What waits for a follower now, with runs of events as their number.
fn waiting(follower: &mut Follower) -> Vec<String> {
    let mut context = Context::from_waker(Waker::noop());
    let mut told: Vec<String> = Vec::new();
    let mut events = 0;
    loop {
        let next = std::pin::pin!(follower.next()).poll(&mut context);
        match next {
            std::task::Poll::Ready(Some(Followed::Event(_))) => events += 1,
            std::task::Poll::Ready(Some(Followed::Missed(missed))) => {
                told.push(format!("{events} events"));
                told.push(format!("{missed} missed"));
                events = 0;
            }
            std::task::Poll::Ready(Some(other)) => panic!("{other:?}"),
            std::task::Poll::Ready(None) | std::task::Poll::Pending => break,
        }
    }
    told.push(format!("{events} events"));
    told
}

fn logs(count: usize) -> String {
    let logs = vec![r#"["log", "x"]"#; count].join(", ");
    format!(r#"[{logs}, ["return", 1]]"#)
}

#[tokio::test]
async fn a_follower_that_is_too_slow_misses_events_and_is_told_how_many() {
    let subject = scripted();
    let events = RunEvents::new();
    let registry = registry(&subject, &events);
    // Beside the log entries there are a start and an end.
    for (count, expected) in [
        (FOLLOWED_EVENTS_MAX - 3, vec!["1023 events"]),
        (FOLLOWED_EVENTS_MAX - 2, vec!["1024 events"]),
        (FOLLOWED_EVENTS_MAX - 1, vec!["1024 events", "1 missed", "0 events"]),
        (FOLLOWED_EVENTS_MAX + 98, vec!["1024 events", "100 missed", "0 events"]),
    ] {
        let mut follower = events.follow();
        let result = run(&subject, &registry, &logs(count)).await;
        assert_eq!(returned(&result), Value::from(1));
        assert_eq!(waiting(&mut follower), expected, "{count}");
        // It goes on where it can.
        run(&subject, &registry, &logs(1)).await;
        assert_eq!(waiting(&mut follower), ["3 events"]);
    }
}

#[tokio::test]
async fn what_waits_for_a_follower_is_bounded_in_bytes_too() {
    let subject = scripted();
    let events = RunEvents::new();
    let registry = registry(&subject, &events);
    let mut follower = events.follow();
    let half = "x".repeat(FOLLOWED_BYTES_MAX / 2 - 1024);
    let plan =
        format!(r#"[["log", "{half}"], ["log", "{half}"], ["log", "{half}"], ["log", "x"], ["return", 1]]"#);
    // Longer than a program may be; the limit is not the point here.
    let limits = hotcell::limits::Limits::default();
    let limits = limits.with(hotcell::limits::Limit::Program, 64 * 1024 * 1024).expect("within bounds");
    let registry_of_long = builder(&subject, &events).limits(limits).build().expect("valid");
    drop(registry);
    let result = run(&subject, &registry_of_long, &plan).await;
    assert_eq!(returned(&result), Value::from(1));
    assert_eq!(waiting(&mut follower), ["3 events", "1 missed", "2 events"]);
    // Read events make room.
    run(&subject, &registry_of_long, &plan).await;
    assert_eq!(waiting(&mut follower), ["3 events", "1 missed", "2 events"]);
}

#[tokio::test]
async fn every_run_that_started_ends_once_whoever_gives_it_up() {
    with_each(async |subject| {
        let events = RunEvents::new();
        let registry = registry(subject, &events);
        let lines = observed(&events);
        let plan = r#"[["call", "e", "echo", {}], ["call", "w", "waits", 1]]"#;
        // The caller, in time.
        let cancel = CancellationToken::new();
        let request = CallRequest::new("run_code", arguments(subject, plan), cancel.clone()).with_id("run");
        let call = tokio::spawn(registry.call(request));
        reaches(&lines, "run:code:2 starts waits 1").await;
        cancel.cancel();
        call.await.expect("no panic");
        let until = [
            &started(subject),
            "run:code:1 starts echo {}",
            "run:code:1 is done: {}",
            "run:code:2 starts waits 1",
        ];
        let told = taken(&lines);
        assert_eq!(told[..4], until);
        assert_eq!(told[4..], ["run:code:2 fails: Error: the call was cancelled", "ended: Some(Abort)"]);

        // The future is dropped: a task takes the call to its end.
        let request =
            CallRequest::new("run_code", arguments(subject, plan), CancellationToken::new()).with_id("run");
        let call = tokio::spawn(registry.call(request));
        reaches(&lines, "run:code:2 starts waits 1").await;
        call.abort();
        reaches(&lines, "ended: Some(Abort)").await;
        assert_eq!(taken(&lines)[4..], ["run:code:2 fails: Error: the call was cancelled", "ended: Some(Abort)"]);

        // A wrapper drops its attempt in the middle and goes on without it.
        let watched = Arc::clone(&lines);
        drop(registry.around(move |call, mut next| {
            let watched = Arc::clone(&watched);
            async move {
                if call.name() != "run_code" {
                    return Ok(next.run().await);
                }
                tokio::select! {
                    attempt = next.run() => return Ok(attempt),
                    () = reaches(&watched, "run:code:2 starts waits 1") => {}
                }
                Ok(Attempt::success(crate::tools::value(r#"{"logs": []}"#)))
            }
        }));
        let result = run(subject, &registry, plan).await;
        assert_eq!(taken(&lines)[4..], ["run:code:2 fails: Error: the call was cancelled", "ended: Some(Abort)"]);
        assert_eq!(calls(&result), ["echo done", "waits cancelled"]);
    })
    .await;
}

/// Waits until a line was told.
async fn reaches(lines: &Mutex<Vec<String>>, line: &str) {
    let told = || lines.lock().expect("whole").iter().any(|one| one == line);
    tokio::time::timeout(std::time::Duration::from_secs(60), async {
        while !told() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it is told");
}
