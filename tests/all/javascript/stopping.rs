//! Programs that would not end by themselves: each ends as the right kind, keeps its logs, and leaves nothing behind.

use std::time::Duration;

use hotcell::limits::Limit;
use hotcell::runtime::{CallState, CodeRuntime as _, FailureKind};
use tokio_util::sync::CancellationToken;

use super::rig::{Seen, completed, failed, limited, over, request, run, soon, still_clean};
use crate::support::engine::javascript_runtime;

/// Programs that compute without end.
const ENDLESS: &[&str] = &[
    "for (;;);",
    "while (true) { try { null.x } catch {} }",
    "for (;;) { try { for (;;); } finally { continue } }",
    "const loop = async () => { for (;;) await null }; await loop()",
    "const again = () => Promise.resolve().then(again); await again()",
    "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
    "function* all() { for (;;) yield 1 } for (const one of all());",
    "for (const one of { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) });",
    "for await (const one of (async function* () { for (;;) yield 1 })());",
    "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    "return /(.*a){20}/.test('a'.repeat(30) + 'b'.repeat(30))",
    "[3, 2, 1].sort(() => { for (;;); })",
    "[1].map(() => { for (;;); })",
    "'a'.replace(/a/, () => { for (;;); })",
    "JSON.parse('[1]', () => { for (;;); })",
    "JSON.stringify({ toJSON() { for (;;); } })",
    "return { get a() { for (;;); } }",
    "return { toJSON() { for (;;); } }",
    "return new Proxy({}, { get() { for (;;); } })",
    "return new Proxy({}, { ownKeys() { for (;;); } })",
    "await tools.echo({ get a() { for (;;); } })",
    "`${{ toString() { for (;;); } }}`",
    "await { then() { for (;;); } }",
    "await { get then() { for (;;); } }",
    "new Proxy(class {}, { construct() { for (;;); } }); new (new Proxy(class {}, { construct() { for (;;); } }))()",
    "eval('for (;;);')",
    "new Function('for (;;);')()",
    "for (;;) eval('1 + 1')",
    "for (;;) new RegExp('a' + Math.random())",
    "for (let n = 1n; ; n *= 3n) if (n > 1n << 20000n) n = 1n",
    "for (;;) structuredClone([[1, 2, { a: 'b' }]])",
    "for (;;) JSON.parse(JSON.stringify({ a: [1, 2, 3] }))",
    "for (;;) try { await import('x') } catch {}",
    "for (;;) { const o = {}; o.o = o }",
    "for (;;) Math.random()",
    "for (;;) Date.now()",
    "setTimeout(() => { for (;;); }, 1); await new Promise(() => {})",
    "new Array(2 ** 32 - 1).findLastIndex(() => false)",
    "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "return { toJSON() { return new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 32 : key === 'toJSON' ? undefined : 1), has: () => true }) } }.length ?? (() => { for (;;); })()",
    "const f = () => { try { f() } finally { f() } }; f()",
    "const f = () => { try { f() } catch { f() } }; f()",
    "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')",
    "Object.defineProperty(Object.prototype, 'then', { get() { for (;;); } }); return {}",
    "({ [Symbol.dispose]: 1 }); { using a = { [Symbol.dispose]() { for (;;); } } }",
];

#[tokio::test]
async fn rt_05_programs_that_compute_without_end_run_out_of_compute() {
    for program in ENDLESS {
        let request = limited(request(format!("console.log('before');\n{program}")), Limit::Compute, 100);
        let seen = Seen::from(run(request).await);
        assert_eq!(seen.result, Err((FailureKind::Timeout, over(Limit::Compute, "100ms"))), "{program}");
        assert_eq!(seen.logs, ["before"], "{program}");
    }
    still_clean().await;
}

/// Programs that wait without end.
const WAITING: &[&str] = &[
    "await new Promise((go) => setTimeout(go, 2 ** 31 - 1))",
    "setInterval(() => {}, 1); await new Promise(() => {})",
    "for (;;) await new Promise((go) => setTimeout(go, 1))",
    "const again = () => setTimeout(again); again(); await new Promise(() => {})",
];

#[tokio::test]
async fn rt_05_programs_that_wait_without_end_run_out_of_wall_time() {
    for program in WAITING {
        let request = limited(request(format!("console.log('before');\n{program}")), Limit::Wall, 100);
        let is = failed(FailureKind::Timeout, over(Limit::Wall, "100ms")).logs(&["before"]);
        assert_eq!(Seen::from(run(request).await), is, "{program}");
    }
    let seen = Seen::from(run(limited(request("await tools.wait()"), Limit::Wall, 100)).await);
    let is = failed(FailureKind::Timeout, over(Limit::Wall, "100ms"));
    assert_eq!(seen, is.calls("wait", 1, CallState::Cancelled));
    still_clean().await;
}

#[tokio::test]
async fn rt_05_waiting_costs_no_compute_time() {
    let program = "await new Promise((go) => setTimeout(go, 600)); return 'waited'";
    let outcome = run(limited(request(program), Limit::Compute, 200)).await;
    println!("a timer of 600 ms: {:?}", outcome.timings);
    assert_eq!(Seen::from(outcome), completed("\"waited\""));
}

#[tokio::test]
async fn rt_05_a_hot_loop_cannot_hide_behind_a_pending_call() {
    let program = "const call = tools.wait(); await tools.echo({}); for (;;);";
    let seen = Seen::from(run(limited(request(program), Limit::Compute, 100)).await);
    let is = failed(FailureKind::Timeout, over(Limit::Compute, "100ms"));
    assert_eq!(seen, is.calls("wait", 1, CallState::Cancelled).calls("echo", 1, CallState::Done));
}

#[tokio::test]
async fn endless_calls_end_at_a_limit() {
    let seen = Seen::from(run(limited(request("for (;;) await tools.echo({})"), Limit::Compute, 100)).await);
    assert_eq!(seen.result, Err((FailureKind::Timeout, over(Limit::Compute, "100ms"))));
    assert!(seen.calls.iter().all(|(name, _)| name == "echo"));
    let seen = Seen::from(run(limited(request("for (;;) tools.wait({})"), Limit::Compute, 200)).await);
    assert_eq!(seen.result, Err((FailureKind::Timeout, over(Limit::Compute, "200ms"))));
    still_clean().await;
}

#[tokio::test]
async fn cx_05_cancelling_stops_a_hot_loop_and_a_wait() {
    for program in
        ["console.log('on'); for (;;);", "console.log('on'); await new Promise((go) => setTimeout(go, 1e6))"]
    {
        let mut request = request(program);
        let cancel = CancellationToken::new();
        request.cancel = cancel.clone();
        // The first log entry says that the program runs.
        request.log = std::sync::Arc::new(move |_| cancel.cancel());
        let is = failed(FailureKind::Abort, "the caller cancelled the run").logs(&["on"]);
        assert_eq!(Seen::from(run(request).await), is);
    }
    still_clean().await;
}

#[tokio::test]
async fn dropping_a_run_stops_it() {
    let runtime = javascript_runtime().await;
    for program in ["for (;;);", "await new Promise((go) => setTimeout(go, 1e6))", "await tools.wait()"] {
        let cut = tokio::time::timeout(Duration::from_millis(5), runtime.run(request(program)));
        assert!(soon(cut).await.is_err(), "{program} does not end by itself");
    }
    still_clean().await;
}
