//! A run leaves nothing behind: not in the next guest, not in the pool, not in the host.

use std::sync::Arc;
use std::time::Duration;

use hotcell::json::Value;
use hotcell::limits::Limit;
use hotcell::runtime::{Bindings, CodeRuntime as _, FailureKind, RunRequest};

use super::rig::{
    Seen, completed, engine, free_places, limits, request, request_with, run, runtime, runtime_on, soon,
    still_polite,
};

#[tokio::test]
async fn rt_08_the_thousandth_run_equals_the_first() {
    let runtime = runtime("poison").await;
    for turn in 1..=1000 {
        assert_eq!(Seen::from(run(&runtime, request("x")).await), completed("0"), "run {turn}");
    }
}

async fn random(program: &str, seed: Option<u64>) -> Seen {
    let mut request = request(program);
    request.seed = seed;
    run(&runtime("entropy").await, request).await.into()
}

#[tokio::test]
async fn wb_10_seeded_entropy_repeats_and_unseeded_does_not() {
    for length in ["1", "16", "65535", "65536"] {
        assert_eq!(random(length, Some(7)).await, random(length, Some(7)).await);
    }
    assert_ne!(random("16", Some(7)).await, random("16", Some(8)).await);
    assert_ne!(random("16", None).await, random("16", None).await);
    assert_ne!(random("16", None).await, random("16", Some(7)).await);
}

#[tokio::test]
async fn wb_10_a_seed_s_stream_does_not_change_between_versions() {
    // Whoever stored a seed to repeat a run relies on this number.
    assert_eq!(random("16", Some(7)).await, completed("2005096045309672631"));
}

#[tokio::test]
async fn guests_see_time_in_coarse_steps() {
    assert_eq!(Seen::from(run(&runtime("clocks").await, request("x")).await), completed("1"));
}

/// How a run of a guest and a program ends under these limits.
type Ending = (&'static str, &'static str, Option<(Limit, u64)>, Result<(), FailureKind>);

/// One of each kind, and two that complete.
const ENDINGS: [Ending; 9] = [
    ("polite", "x", None, Ok(())),
    ("calls-counted", "3", None, Ok(())),
    ("failure", "boom", None, Err(FailureKind::Exception)),
    ("json-result", "[", None, Err(FailureKind::InvalidOutput)),
    ("logs-endless", "x", Some((Limit::LogLines, 3)), Err(FailureKind::OutputLimit)),
    ("trap", "a", None, Err(FailureKind::GuestExit)),
    ("loop-with-call", "wait", Some((Limit::Compute, 2)), Err(FailureKind::Timeout)),
    ("next-endless", "wait", Some((Limit::Wall, 2)), Err(FailureKind::Timeout)),
    ("handle-kept", "x", None, Err(FailureKind::GuestExit)),
];

/// A request whose tools and log sink hold `held`.
fn holding(held: &Arc<()>, program: &str, limit: Option<(Limit, u64)>) -> RunRequest {
    let (in_tool, in_echo, in_log) = (Arc::clone(held), Arc::clone(held), Arc::clone(held));
    let bindings = Bindings::new()
        .tool("echo", move |arguments| {
            let held = Arc::clone(&in_echo);
            async move {
                drop(held);
                Ok(arguments)
            }
        })
        .tool("wait", move |_| {
            let held = Arc::clone(&in_tool);
            async move {
                std::future::pending::<()>().await;
                drop(held);
                Ok(Value::Null)
            }
        });
    let mut request = request_with(program, bindings.into_namespace("tools").expect("portable"));
    request.log = Arc::new(move |_| drop(Arc::clone(&in_log)));
    request.limits = limits(limit);
    request
}

#[tokio::test]
async fn two_hundred_runs_of_each_ending_leave_nothing_alive() {
    const PLACES: &str = "Engine { places: 3, .. }";
    let engine = engine(3);
    for (guest, program, limit, ending) in ENDINGS {
        let runtime = runtime_on(&engine, guest).await;
        assert_eq!(free_places(&engine), PLACES);
        let held = Arc::new(());
        let left = Arc::downgrade(&held);
        for _ in 0..200 {
            let outcome = run(&runtime, holding(&held, program, limit)).await;
            assert_eq!(outcome.result.map(drop).map_err(|failure| failure.kind), ending, "{guest}");
        }
        drop(held);
        assert!(left.upgrade().is_none(), "{guest} leaves something alive");
        assert_eq!(free_places(&engine), PLACES, "{guest} leaves a place taken");
    }
}

#[tokio::test]
async fn two_hundred_dropped_runs_leave_nothing_alive() {
    const PLACES: &str = "Engine { places: 2, .. }";
    let engine = engine(2);
    for guest in ["loop-endless", "next-endless", "sleep-endless"] {
        let runtime = runtime_on(&engine, guest).await;
        let held = Arc::new(());
        let left = Arc::downgrade(&held);
        for _ in 0..200 {
            // However far it has come by then.
            let cut = tokio::time::timeout(Duration::from_millis(2), runtime.run(holding(&held, "wait", None)));
            assert!(soon(cut).await.is_err(), "{guest} does not end by itself");
        }
        drop(held);
        assert!(left.upgrade().is_none(), "{guest} leaves something alive");
        assert_eq!(free_places(&engine), PLACES, "{guest} leaves a place taken");
    }
    still_polite().await;
}
