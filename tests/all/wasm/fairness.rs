//! Many runs on few threads. These tests look at real time, and leave it wide margins: what they print is the figure.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::limits::Limit;
use hotcell::runtime::{CodeRuntime as _, FailureKind, RunOutcome};
use hotcell::wasm::WasmRuntime;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::rig::{Seen, completed, failed, limits, over, request, run, runtime, soon};

fn two_workers() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("tokio")
}

/// Hot loops that end when they are told to.
struct Hot {
    runs: JoinSet<RunOutcome>,
    cancel: CancellationToken,
}

impl Hot {
    async fn start(count: usize) -> Self {
        let runtime = Arc::new(runtime("loop-endless").await);
        let cancel = CancellationToken::new();
        let mut runs = JoinSet::new();
        for _ in 0..count {
            let (runtime, mut request) = (Arc::clone(&runtime), request("x"));
            request.cancel = cancel.clone();
            runs.spawn(async move { run(&runtime, request).await });
        }
        Self { runs, cancel }
    }

    /// All of them were still running, and all stop now.
    async fn stop(mut self) {
        assert!(self.runs.try_join_next().is_none(), "a hot loop ended by itself");
        self.cancel.cancel();
        while let Some(outcome) = soon(self.runs.join_next()).await {
            let seen = Seen::from(outcome.expect("it does not panic"));
            assert_eq!(seen, failed(FailureKind::Abort, "the caller cancelled the run"));
        }
    }
}

/// How long each 1 ms wait of a run took, sorted.
async fn waits(runtime: &WasmRuntime, count: usize) -> Vec<Duration> {
    let seen = Arc::new(Mutex::new(Vec::with_capacity(count)));
    let noted = Arc::clone(&seen);
    let mut request = request(count.to_string());
    request.log = Arc::new(move |_| noted.lock().expect("not poisoned").push(Instant::now()));
    let outcome = run(runtime, request).await;
    assert_eq!(Seen::from(outcome), completed("1").logs(&vec![""; count]));
    let seen = seen.lock().expect("not poisoned");
    let mut waits: Vec<Duration> = seen.windows(2).map(|pair| pair[1] - pair[0]).collect();
    waits.sort_unstable();
    waits
}

#[test]
fn rt_10_a_timer_fires_in_time_beside_twice_as_many_hot_loops_as_threads() {
    two_workers().block_on(async {
        let hot = Hot::start(4).await;
        let ticks = Arc::new(runtime("ticks").await);
        let waits = tokio::spawn(async move { waits(&ticks, 300).await }).await.expect("it does not panic");
        hot.stop().await;
        let (p50, p99) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
        println!(
            "a 1 ms timer beside 4 hot loops on 2 threads: p50 {p50:?}, p99 {p99:?} (the contract says 15 ms)"
        );
        // The contract is about a machine that does nothing else. Without fair yielding this is over 50 ms on any.
        assert!(p50 < Duration::from_millis(50), "p50 is {p50:?}");
    });
}

#[test]
fn rt_10_a_hundred_runs_on_two_threads_are_not_held_up_by_three_hot_ones() {
    two_workers().block_on(async {
        let hot = Hot::start(3).await;
        let (calls, ticks) = (Arc::new(runtime("calls-counted").await), Arc::new(runtime("ticks").await));
        let mut others = JoinSet::new();
        for turn in 0..97 {
            let (runtime, program) = if turn % 2 == 0 { (&calls, "20") } else { (&ticks, "5") };
            let runtime = Arc::clone(runtime);
            others.spawn(async move { run(&runtime, request(program)).await.result.map(|value| value.map(drop)) });
        }
        let began = Instant::now();
        while let Some(result) = soon(others.join_next()).await {
            assert_eq!(result.expect("it does not panic"), Ok(Some(())));
        }
        println!("97 runs beside 3 hot loops on 2 threads: {:?}", began.elapsed());
        hot.stop().await;
    });
}

#[tokio::test]
async fn rt_05_bulk_instructions_overrun_a_budget_by_one_of_them() {
    let mut request = request("x");
    request.limits = limits([(Limit::Compute, 10), (Limit::Memory, 257 << 20)]);
    let outcome = run(&runtime("memory-fill").await, request).await;
    let overrun = outcome.timings.compute.saturating_sub(Duration::from_millis(10));
    println!("memory.fill of 256 MiB overran a compute budget of 10 ms by {overrun:?}");
    assert_eq!(Seen::from(outcome), failed(FailureKind::Timeout, &over(Limit::Compute, "10ms")));
}

#[tokio::test]
async fn a_run_is_a_future_that_can_be_sent() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    let runtime = runtime("polite").await;
    let outcome = soon(sent(runtime.run(request("x")))).await.expect("the host is well");
    assert_eq!(Seen::from(outcome), completed("1"));
}
