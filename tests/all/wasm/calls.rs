//! The calls of a run: side by side, panicking, cancelled, never started.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hotcell::json::Value;
use hotcell::limits::Limit;
use hotcell::runtime::{Bindings, BoxFuture, Call, CallError, CallHandler, CallState, FailureKind, Namespace};

use super::rig::{Seen, completed, failed, limits, request, request_with, run, runtime, still_polite};

type Answer = Result<Arc<Value>, CallError>;

/// Counts who is alive: up when made, down when dropped.
#[derive(Default)]
struct Live {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct Guard(Arc<Live>);

impl Guard {
    fn new(live: &Arc<Live>) -> Self {
        let now = live.now.fetch_add(1, Ordering::SeqCst) + 1;
        live.most.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(live))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Panics when it is dropped.
pub(super) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        // While a panic unwinds, a second one would abort the process whoever was at fault.
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

/// A namespace of one tool, `tool`.
fn one(body: impl Fn(Call) -> BoxFuture<'static, Answer> + Send + Sync + 'static) -> Namespace {
    named("tool", body)
}

/// A namespace of one tool.
fn named(name: &str, body: impl Fn(Call) -> BoxFuture<'static, Answer> + Send + Sync + 'static) -> Namespace {
    Namespace::new("tools", [name], Arc::new(Handler(body))).expect("the names are portable")
}

/// A handler out of a function.
struct Handler<F>(F);

impl<F: Fn(Call) -> BoxFuture<'static, Answer> + Send + Sync> CallHandler for Handler<F> {
    fn call(&self, call: Call) -> BoxFuture<'static, Answer> {
        (self.0)(call)
    }
}

#[tokio::test]
async fn ten_overlapping_calls_take_about_as_long_as_one() {
    let live = Arc::<Live>::default();
    let counted = Arc::clone(&live);
    let tools = Bindings::new().tool("echo", move |arguments| {
        let guard = Guard::new(&counted);
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            drop(guard);
            Ok(arguments)
        }
    });
    let runtime = runtime("calls-counted").await;
    let outcome = run(&runtime, request_with("10", tools.into_namespace("tools").expect("portable"))).await;
    println!("ten overlapping 20 ms calls: {:?}", outcome.timings);
    assert_eq!(Seen::from(outcome), completed("10").calls("echo", 10, CallState::Done));
    assert_eq!((live.most.load(Ordering::SeqCst), live.now.load(Ordering::SeqCst)), (10, 0));
}

#[tokio::test]
async fn pl_15_a_panicking_tool_fails_its_call_and_nothing_else() {
    let making = one(|_| panic!("while making the future"));
    let polling = one(|_| Box::pin(async { panic!("while polling") }));
    let payload = one(|_| Box::pin(async { std::panic::panic_any(Bomb) }));
    let captured = one(|_| {
        let bomb = Bomb;
        Box::pin(async move {
            let _bomb = bomb;
            Ok(Arc::new(Value::Null))
        })
    });
    for tools in [making, polling, payload, captured] {
        let seen = Seen::from(run(&runtime("call").await, request_with("tool", tools)).await);
        let expected = completed("1").logs(&["internal error: the tool `tool` panicked"]);
        assert_eq!(seen, expected.calls("tool", 1, CallState::Failed));
        still_polite().await;
    }
}

/// Never ready, and panics when it is dropped.
pub(super) struct Mine {
    pub(super) _bomb: Bomb,
}

impl Future for Mine {
    type Output = Answer;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answer> {
        Poll::Pending
    }
}

#[tokio::test]
async fn pl_15_a_tool_that_panics_when_it_is_dropped_is_contained() {
    let mut request = request_with("stool", one(|_| Box::pin(Mine { _bomb: Bomb })));
    request.limits = limits([(Limit::Grace, 0)]);
    let seen = Seen::from(run(&runtime("submit-and-return").await, request).await);
    assert_eq!(seen, completed("1").calls("tool", 2, CallState::Cancelled));
    still_polite().await;
}

#[tokio::test]
async fn pl_15_a_panicking_log_sink_ends_the_run() {
    let ordinary = |_: &str| panic!("in the sink");
    let with_bomb = |_: &str| std::panic::panic_any(Bomb);
    let sinks: [hotcell::runtime::LogSink; 2] = [Arc::new(ordinary), Arc::new(with_bomb)];
    for sink in sinks {
        let mut request = request("2");
        request.log = sink;
        let seen = Seen::from(run(&runtime("logs-counted").await, request).await);
        let expected = failed(FailureKind::GuestExit, "internal error: the log sink panicked");
        assert_eq!(seen, expected.logs(&["0123456789"]));
        still_polite().await;
    }
}

#[tokio::test]
async fn cx_04_calls_still_running_at_the_end_are_cancelled_and_dropped_after_their_grace() {
    let live = Arc::<Live>::default();
    let counted = Arc::clone(&live);
    let deaf = one(move |_| {
        let guard = Guard::new(&counted);
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(guard);
            Ok(Arc::new(Value::Null))
        })
    });
    let mut request = request_with("stool", deaf);
    request.limits = limits([(Limit::Grace, 30)]);
    let seen = Seen::from(run(&runtime("submit-and-return").await, request).await);
    assert_eq!(seen, completed("1").calls("tool", 2, CallState::Cancelled));
    assert_eq!((live.most.load(Ordering::SeqCst), live.now.load(Ordering::SeqCst)), (2, 0));
}

#[tokio::test]
async fn cx_04_a_call_that_settles_within_its_grace_keeps_its_end() {
    let settling = |answer: fn() -> Answer| {
        one(move |call| {
            Box::pin(async move {
                call.cancel.cancelled().await;
                tokio::task::yield_now().await;
                answer()
            })
        })
    };
    for (answer, state) in [
        ((|| Ok(Arc::new(Value::Null))) as fn() -> Answer, CallState::Done),
        (|| Err(CallError::new("cancelled")), CallState::Cancelled),
    ] {
        let seen =
            Seen::from(run(&runtime("submit-and-return").await, request_with("stool", settling(answer))).await);
        assert_eq!(seen, completed("1").calls("tool", 2, state));
    }
}

#[tokio::test]
async fn a_guest_can_give_up_its_calls() {
    let runtime = runtime("cancel").await;
    for (program, member, answer, state) in [
        ("-never", "never", "cancelled", CallState::NotStarted),
        ("snever", "never", "cancelled", CallState::Cancelled),
        // Settled before it was cancelled: it is kept.
        ("secho", "echo", "success", CallState::Done),
        ("sfail", "fail", "failure", CallState::Failed),
    ] {
        let seen = Seen::from(run(&runtime, request(program)).await);
        assert_eq!(seen, completed("1").logs(&[answer]).calls(member, 1, state), "{program}");
    }
}

#[tokio::test]
async fn cm_06_calls_start_in_order_of_submission() {
    let order = Arc::<std::sync::Mutex<Vec<u64>>>::default();
    let noted = Arc::clone(&order);
    let tools = named("echo", move |call| {
        noted.lock().expect("not poisoned").push(call.ordinal);
        Box::pin(async { Ok(Arc::new(Value::Null)) })
    });
    let seen = Seen::from(run(&runtime("calls-counted").await, request_with("1000", tools)).await);
    assert_eq!(seen, completed("1000").calls("echo", 1000, CallState::Done));
    assert_eq!(*order.lock().expect("not poisoned"), (1..=1000).collect::<Vec<u64>>());
}
