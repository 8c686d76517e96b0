//! How a run is stopped from outside: cancelled, dropped, shut down; and what it leaves behind, which is nothing.

use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hotcell::ErrorKind;
use hotcell::json::Value;
use hotcell::limits::Limit;
use hotcell::runtime::{Bindings, CallState, CodeRuntime as _, FailureKind, Namespace, RunRequest};
use hotcell::wasm::{Engine, WasmRuntime};
use tokio::sync::Notify;

use super::calls::{Bomb, Mine};
use super::rig::{
    Seen, completed, engine, failed, free_places, limits, request, request_with, run, runtime, runtime_on, soon,
};

const CANCELLED: &str = "the caller cancelled the run";

/// One run and the news that it is where it should be stopped.
struct Stopped {
    request: RunRequest,
    /// Told once the guest has made its call, or has logged.
    there: Arc<Notify>,
    /// Dead once nothing of the run is left.
    left: Weak<()>,
    calls: usize,
    logs: &'static [&'static str],
}

/// Guests that never end by themselves, and what they are stopped in.
const ENDLESS: [&str; 3] = ["loop-with-call", "next-endless", "sleep-endless"];

fn endless(guest: &str) -> Stopped {
    let there = Arc::new(Notify::new());
    let here = Arc::new(());
    let left = Arc::downgrade(&here);
    let told = Arc::clone(&there);
    let held = Arc::clone(&here);
    let bindings = Bindings::new().tool("wait", move |_| {
        let held = Arc::clone(&held);
        told.notify_one();
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok(Value::Null)
        }
    });
    let mut request = request_with("wait", bindings.into_namespace("tools").expect("portable"));
    let told = Arc::clone(&there);
    request.log = Arc::new(move |_| {
        let _held = &here;
        told.notify_one();
    });
    let sleeps = guest == "sleep-endless";
    let logs: &[&str] = if sleeps { &["about to sleep"] } else { &[] };
    Stopped { request, there, left, calls: usize::from(!sleeps), logs }
}

impl Stopped {
    fn ends(&self, message: &str) -> Seen {
        failed(FailureKind::Abort, message).logs(self.logs).calls("wait", self.calls, CallState::Cancelled)
    }
}

/// Says that nothing of any run is left on an engine of one place.
async fn all_free(engine: &Engine) {
    assert_eq!(free_places(engine), "Engine { places: 1, .. }");
    assert_eq!(Seen::from(run(&runtime_on(engine, "polite").await, request("x")).await), completed("1"));
}

#[tokio::test]
async fn cx_04_a_cancelled_run_stops_wherever_it_is() {
    for guest in ENDLESS {
        let engine = engine(1);
        let runtime = runtime_on(&engine, guest).await;
        let stopped = endless(guest);
        let ends = stopped.ends(CANCELLED);
        let cancel = stopped.request.cancel.clone();
        let (outcome, ()) = soon(async {
            tokio::join!(runtime.run(stopped.request), async {
                stopped.there.notified().await;
                cancel.cancel();
            })
        })
        .await;
        assert_eq!(Seen::from(outcome.expect("the host is well")), ends, "{guest}");
        assert!(stopped.left.upgrade().is_none(), "{guest}");
        all_free(&engine).await;
    }
}

#[tokio::test]
async fn cx_07_dropping_a_run_stops_it_wherever_it_is() {
    for guest in ENDLESS {
        let engine = engine(1);
        let runtime = runtime_on(&engine, guest).await;
        let stopped = endless(guest);
        soon(async {
            tokio::select! {
                outcome = runtime.run(stopped.request) => panic!("it ended: {outcome:?}"),
                () = stopped.there.notified() => {}
            }
        })
        .await;
        assert!(stopped.left.upgrade().is_none(), "{guest}");
        all_free(&engine).await;
    }
}

#[tokio::test]
async fn a_run_that_was_cancelled_before_it_began_does_not_begin() {
    let stopped = endless("sleep-endless");
    stopped.request.cancel.cancel();
    let outcome = run(&runtime("sleep-endless").await, stopped.request).await;
    assert_eq!(outcome.timings.compute, Duration::ZERO);
    let expected = failed(FailureKind::Abort, "the caller cancelled the run before it had a place in the pool");
    assert_eq!(Seen::from(outcome), expected);
    assert!(stopped.left.upgrade().is_none());
}

#[tokio::test]
async fn rt_05_a_full_pool_queues_and_charges_nothing_for_it() {
    // The guests are loaded first: a load needs a place too.
    let engine = engine(1);
    let (holder, waiting) = (runtime_on(&engine, "sleep-endless").await, runtime_on(&engine, "polite").await);
    let stopped = endless("sleep-endless");
    let cancel = stopped.request.cancel.clone();
    let asked = tokio::time::Instant::now();
    let (_, (outcome, waited)) = soon(async {
        tokio::join!(holder.run(stopped.request), async {
            stopped.there.notified().await;
            let mut queued = request("x");
            queued.limits = limits([(Limit::Wall, 60_000)]);
            tokio::join!(waiting.run(queued), async {
                // The other future was polled before this one: it is in the queue.
                tokio::time::sleep(Duration::from_millis(50)).await;
                cancel.cancel();
                asked.elapsed()
            })
        })
    })
    .await;
    let took = asked.elapsed();
    let outcome = outcome.expect("the host is well");
    assert!(
        outcome.timings.wall <= took - waited,
        "{:?} of {took:?}, of which it waited {waited:?}",
        outcome.timings
    );
    assert_eq!(Seen::from(outcome), completed("1"));
    assert_eq!(free_places(&engine), "Engine { places: 1, .. }");
}

#[tokio::test]
async fn a_run_can_be_cancelled_while_it_waits_for_a_place() {
    let engine = engine(1);
    let waiting = runtime_on(&engine, "polite").await;
    let stopped = endless("sleep-endless");
    let holder = runtime_on(&engine, "sleep-endless").await;
    let (cancel_holder, request) = (stopped.request.cancel.clone(), request("x"));
    let cancel = request.cancel.clone();
    let (_, outcome) = soon(async {
        tokio::join!(holder.run(stopped.request), async {
            stopped.there.notified().await;
            let (outcome, ()) = tokio::join!(waiting.run(request), async { cancel.cancel() });
            cancel_holder.cancel();
            outcome
        })
    })
    .await;
    let outcome = outcome.expect("the host is well");
    assert_eq!(outcome.timings.compute, Duration::ZERO);
    let expected = failed(FailureKind::Abort, "the caller cancelled the run before it had a place in the pool");
    assert_eq!(Seen::from(outcome), expected);
    all_free(&engine).await;
}

#[tokio::test]
async fn dropping_a_run_that_waits_for_a_place_leaves_the_queue() {
    let engine = engine(1);
    let waiting = runtime_on(&engine, "polite").await;
    let holder = runtime_on(&engine, "sleep-endless").await;
    let stopped = endless("sleep-endless");
    let cancel = stopped.request.cancel.clone();
    let (_, ()) = soon(async {
        tokio::join!(holder.run(stopped.request), async {
            stopped.there.notified().await;
            assert_eq!(free_places(&engine), "Engine { places: 0, .. }");
            is_pending(waiting.run(request("x"))).await;
            cancel.cancel();
        })
    })
    .await;
    all_free(&engine).await;
}

/// Polls a future once, and drops it.
async fn is_pending<F: Future>(future: F) {
    tokio::select! {
        biased;
        _ = future => panic!("it is ready"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn pl_15_dropping_a_run_whose_tools_panic_when_they_are_dropped_is_contained() {
    let engine = engine(1);
    let runtime = runtime_on(&engine, "calls-counted").await;
    let started = Arc::new(Notify::new());
    let told = Arc::clone(&started);
    let tools = Bindings::new().tool_with_call("echo", move |_| {
        told.notify_one();
        let mine = Mine { _bomb: Bomb };
        async move { mine.await.map(|never| Value::clone(&never)) }
    });
    let request = request_with("3", tools.into_namespace("tools").expect("portable"));
    soon(async {
        tokio::select! {
            outcome = runtime.run(request) => panic!("it ended: {outcome:?}"),
            () = started.notified() => {}
        }
    })
    .await;
    all_free(&engine).await;
}

/// A tool that is told to stop and does so when the test says.
fn slow_to_stop() -> (Namespace, Arc<Notify>, Arc<Notify>) {
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (started_by_tool, release_for_tool) = (Arc::clone(&started), Arc::clone(&release));
    let bindings = Bindings::new().tool_with_call("wait", move |call| {
        let release = Arc::clone(&release_for_tool);
        started_by_tool.notify_one();
        async move {
            call.cancel.cancelled().await;
            release.notified().await;
            Ok(Value::Null)
        }
    });
    (bindings.into_namespace("tools").expect("portable"), started, release)
}

#[tokio::test]
async fn rt_09_shutdown_stops_runs_waits_for_them_and_refuses_new_ones() {
    let runtime = Arc::new(runtime("next-endless").await);
    let (tools, started, release) = slow_to_stop();
    let running = tokio::spawn({
        let runtime = Arc::clone(&runtime);
        async move { run(&runtime, request_with("wait", tools)).await }
    });
    soon(started.notified()).await;
    let mut shutdown = runtime.shutdown();
    // It waits for as long as the run's call takes to stop.
    is_pending(&mut shutdown).await;
    assert!(!running.is_finished());
    release.notify_one();
    soon(shutdown).await;
    let seen = Seen::from(soon(running).await.expect("it does not panic"));
    let expected = failed(FailureKind::Abort, "the runtime was shut down");
    assert_eq!(seen, expected.calls("wait", 1, CallState::Done));
    refuses(&runtime).await;
    // Again: it is already shut down.
    soon(runtime.shutdown()).await;
    refuses(&runtime).await;
    super::rig::still_polite().await;
}

async fn refuses(runtime: &WasmRuntime) {
    let error = soon(runtime.run(request("wait"))).await.expect_err("it was shut down");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::ShutDown, "the runtime was shut down".to_owned()));
}

#[tokio::test]
async fn rt_09_shutdown_stops_a_hot_loop_and_a_run_that_waits_for_a_place() {
    let engine = engine(1);
    let runtime = Arc::new(runtime_on(&engine, "loop-with-call").await);
    let stopped = endless("loop-with-call");
    let ends = stopped.ends("the runtime was shut down");
    let looping = tokio::spawn({
        let runtime = Arc::clone(&runtime);
        async move { Seen::from(run(&runtime, stopped.request).await) }
    });
    soon(stopped.there.notified()).await;
    let mut waiting = runtime.run(request("wait"));
    is_pending(&mut waiting).await;
    let (waiting, ()) = soon(async { tokio::join!(waiting, runtime.shutdown()) }).await;
    let seen = Seen::from(waiting.expect("the host is well"));
    assert_eq!(seen, failed(FailureKind::Abort, "the runtime was shut down"));
    assert_eq!(soon(looping).await.expect("it does not panic"), ends);
    all_free(&engine).await;
}
