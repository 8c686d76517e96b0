//! Those who follow runs at their own pace: what they miss is counted, and no run waits for them.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use hotcell::code_mode::{FOLLOWED_BYTES_MAX, FOLLOWED_EVENTS_MAX, Followed, Follower, RunEvent, RunEvents};
use hotcell::json::Value;
use hotcell::registry::Registry;
use hotcell::runtime::Script;

use super::events::{line, prepare};
use super::plan::{Subject, closure};
use super::rig::{builder, run, with_each};

/// What is there for a follower now.
fn told(follower: &mut Follower) -> Vec<String> {
    let mut told = Vec::new();
    while let Some(next) = follower.next().now_or_never() {
        told.push(match next {
            Some(Followed::Event(event)) => line(&event),
            Some(Followed::Missed(missed)) => format!("missed {missed}"),
            Some(_) => "something else".to_owned(),
            None => "over".to_owned(),
        });
        if told.last().is_some_and(|last| last == "over") {
            break;
        }
    }
    told
}

/// Programs that are a number: so many entries are logged, each of one letter.
fn letters() -> Subject {
    closure(|script: Script| async move {
        let count: usize = script.program().parse().map_err(|_| "the program is no number")?;
        for _ in 0..count {
            script.log("x")?;
        }
        Ok(None)
    })
}

/// Programs that are a number: one entry of so many bytes is logged.
fn one_entry() -> Subject {
    closure(|script: Script| async move {
        let bytes: usize = script.program().parse().map_err(|_| "the program is no number")?;
        script.log(&"x".repeat(bytes))?;
        Ok(Some(Value::from("returned")))
    })
}

fn followed(subject: &Subject) -> (Registry, Follower) {
    let events = RunEvents::new();
    let follower = events.follow();
    (builder(subject, &events).build().expect("valid"), follower)
}

async fn logs(subject: &Subject, registry: &Registry, number: usize) {
    assert!(run(subject, registry, &number.to_string()).await.outcome().is_ok(), "no run waits or fails");
}

#[tokio::test]
async fn a_follower_that_keeps_up_sees_everything_in_order() {
    with_each(async |subject| {
        let events = RunEvents::new();
        let registry = builder(subject, &events).build().expect("valid");
        prepare(&registry);
        let (mut first, mut second) = (events.follow(), events.follow());
        run(subject, &registry, r#"[["log", "one"], ["call", "a", "say", {}]]"#).await;
        let mut late = events.follow();
        let started = format!("started a test in {}", subject.runtime.guest().language);
        let expected = [
            &*started,
            "log one",
            "start run:code:1 say {}",
            "settled run:code:1 say {} done: said",
            "ended well",
        ];
        for follower in [&mut first, &mut second] {
            assert_eq!(told(follower), expected);
        }
        assert!(told(&mut late).is_empty());
        drop(first);
        run(subject, &registry, r#"[["return", 7]]"#).await;
        assert_eq!(told(&mut late), [&*started, "ended well"]);
        drop((registry, events));
        assert_eq!(told(&mut second), [&*started, "ended well", "over"]);
    })
    .await;
}

#[tokio::test]
async fn a_slow_follower_misses_what_is_beyond_the_number_of_events_and_is_told_how_many() {
    let subject = letters();
    // A run has two events more than entries.
    for (entries, missed) in [
        (FOLLOWED_EVENTS_MAX - 3, 0),
        (FOLLOWED_EVENTS_MAX - 2, 0),
        (FOLLOWED_EVENTS_MAX - 1, 1),
        (FOLLOWED_EVENTS_MAX + 76, 78),
    ] {
        let (registry, mut follower) = followed(&subject);
        logs(&subject, &registry, entries).await;
        let mut expected = vec!["started a test in javascript".to_owned()];
        expected.extend(vec!["log x".to_owned(); entries]);
        expected.push("ended well".to_owned());
        expected.truncate(FOLLOWED_EVENTS_MAX);
        if missed > 0 {
            expected.push(format!("missed {missed}"));
        }
        assert_eq!(told(&mut follower), expected, "{entries}");
        // It goes on as if nothing had been.
        logs(&subject, &registry, 0).await;
        assert_eq!(told(&mut follower), ["started a test in javascript", "ended well"]);
    }
}

#[tokio::test]
async fn what_was_missed_is_told_where_it_was_missed() {
    let subject = letters();
    let (registry, mut follower) = followed(&subject);
    logs(&subject, &registry, FOLLOWED_EVENTS_MAX + 76).await;
    // Room for one event.
    let Some(Followed::Event(first)) = follower.next().await else { panic!("an event") };
    assert_eq!(line(&first), "started a test in javascript");
    logs(&subject, &registry, 0).await;
    let mut expected = vec!["log x".to_owned(); FOLLOWED_EVENTS_MAX - 1];
    expected.extend(["missed 78", "started a test in javascript", "missed 1"].map(str::to_owned));
    assert_eq!(told(&mut follower), expected);
}

#[tokio::test]
async fn a_slow_follower_misses_what_is_beyond_the_number_of_bytes() {
    let subject = one_entry();
    let (event, description) = (size_of::<RunEvent>(), "a test".len());
    // Beside the event that says that the run has started.
    let most = FOLLOWED_BYTES_MAX - 2 * event - description;
    for (bytes, seen) in [
        (most - event, ["started", "log", "ended"]),
        (most - event + 1, ["started", "log", "missed 1"]),
        (most, ["started", "log", "missed 1"]),
        (most + 1, ["started", "missed 1", "ended"]),
    ] {
        let (registry, mut follower) = followed(&subject);
        logs(&subject, &registry, bytes).await;
        let told: Vec<String> = told(&mut follower);
        let kinds: Vec<&str> = told
            .iter()
            .map(|line| if line.starts_with("missed") { line } else { line.split(' ').next().unwrap_or_default() })
            .collect();
        assert_eq!(kinds, seen, "{bytes}");
        // The room is given back.
        logs(&subject, &registry, 1).await;
        assert_eq!(follower.next().await.map(|next| matches!(next, Followed::Event(_))), Some(true));
    }
}

#[tokio::test]
async fn a_follower_that_is_gone_holds_nothing_up() {
    let subject = letters();
    let (registry, follower) = followed(&subject);
    drop(follower);
    logs(&subject, &registry, FOLLOWED_EVENTS_MAX + 1).await;
}

#[tokio::test]
async fn a_follower_waits_for_the_next_run() {
    let subject = letters();
    let (registry, mut follower) = followed(&subject);
    let waiting =
        tokio::spawn(async move { follower.next().await.map(|next| matches!(next, Followed::Event(_))) });
    tokio::task::yield_now().await;
    logs(&subject, &registry, 0).await;
    assert_eq!(waiting.await.expect("no panic"), Some(true));
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_nothing() {
    let subject = letters();
    let (registry, mut follower) = followed(&subject);
    assert!(follower.next().now_or_never().is_none());
    logs(&subject, &registry, FOLLOWED_EVENTS_MAX).await;
    assert!(follower.next().now_or_never().is_some());
    assert_eq!(told(&mut follower).last().map(String::as_str), Some("missed 2"));
    assert!(follower.next().now_or_never().is_none());
}

#[tokio::test]
async fn those_who_watch_may_let_others_in() {
    let subject = letters();
    let events = RunEvents::new();
    let registry = builder(&subject, &events).build().expect("valid");
    let (more, late) = (events.clone(), Arc::new(Mutex::new(None)));
    let kept = Arc::clone(&late);
    events.observe(move |_| {
        kept.lock().expect("not poisoned").get_or_insert_with(|| more.follow());
    });
    logs(&subject, &registry, 1).await;
    let mut late = late.lock().expect("not poisoned").take().expect("the run was watched");
    assert_eq!(told(&mut late), ["log x", "ended well"]);
}
