//! Parts of a call that somebody begins and then neither goes on with nor lets go of: they end with it.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::execution::{
    Attempt, CallRequest, Dispatched, Driven, ErrorCode, Finalized, PostDecision, Prepared, ToolContext,
    ToolResult,
};
use hotcell::registry::Registry;
use hotcell::tool::{BodyError, Tool};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::log::{Log, observe, request};
use crate::tools::{echo, failure, value};

/// What a body or a wrapper has put away.
type Kept<T> = Arc<Mutex<Option<T>>>;

fn put<T>(kept: &Kept<T>, what: T) {
    *kept.lock().expect("not poisoned") = Some(what);
}

fn taken<T>(kept: &Kept<T>) -> T {
    kept.lock().expect("not poisoned").take().expect("it was kept")
}

/// A registry with two tools: `obeys` stops as soon as it is told, `deaf` never does.
fn inner(log: &Log) -> Registry {
    let registry = Registry::new();
    let notes = log.clone();
    let obeys = echo("obeys").body(move |_, context: ToolContext| {
        let notes = notes.clone();
        async move {
            context.cancel().cancelled().await;
            tokio::task::yield_now().await;
            notes.note("told");
            Err(BodyError::new("stopped"))
        }
    });
    registry.register(obeys).expect("valid").keep();
    let notes = log.clone();
    let deaf = echo("deaf").body(move |_, _| {
        let gone = notes.at_drop("the deaf body is gone");
        async move {
            let _gone = gone;
            pending().await
        }
    });
    registry.register(deaf).expect("valid").keep();
    registry.register(echo("quick")).expect("valid").keep();
    observe(&registry, log);
    registry
}

/// Registers `outer`, whose body is `body`.
fn outer<F, T>(registry: &Registry, body: F)
where
    F: Fn(ToolContext) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let tool = Tool::builder("outer").parameters("true").output("true").body(move |_, context| {
        let body = body(context);
        async move {
            body.await;
            Ok(value("null"))
        }
    });
    registry.register(tool).expect("valid").keep();
}

/// Calls `outer`, and gives its result and how long it took: at most a minute.
async fn call(registry: &Registry) -> (Arc<ToolResult>, Duration) {
    let begun = Instant::now();
    let call = registry.call(request("outer", "{}"));
    let result = timeout(Duration::from_secs(60), call).await.expect("nothing holds it up");
    (result, begun.elapsed())
}

/// The body's call of `name`, begun.
async fn begun(context: &ToolContext, name: &str) -> Driven<Arc<ToolResult>> {
    let mut call = context.invoke(name, "{}");
    assert!(futures_util::poll!(&mut call).is_pending());
    call
}

#[tokio::test(start_paused = true)]
async fn cx_05_a_nested_call_that_is_held_ends_with_its_parent() {
    let grace = Duration::from_secs(5);
    let cases = [
        ("obeys", Duration::ZERO, "told", (ErrorCode::ToolFailed, "stopped")),
        ("deaf", grace, "the deaf body is gone", (ErrorCode::Aborted, "the call was cancelled")),
    ];
    for (name, expected, line, fails) in cases {
        let log = Log::default();
        let registry = inner(&log);
        let kept: Kept<Driven<Arc<ToolResult>>> = Arc::default();
        let keeps = Arc::clone(&kept);
        outer(&registry, move |context| {
            let keeps = Arc::clone(&keeps);
            async move { put(&keeps, begun(&context, name).await) }
        });
        let (result, took) = call(&registry).await;
        assert_eq!((result.outcome(), took), (Ok(&value("null")), expected), "{name}");
        let inner = format!("observed {name} {}", fails.0);
        assert_eq!(log.lines(), [line, &inner, "observed outer OK"]);
        // Whoever held it may go on, and gets the one result.
        assert_eq!(failure(taken(&kept).await.as_ref()), fails);
        assert_eq!(log.lines().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn cx_05_nested_calls_that_are_forgotten_or_dropped_late_end_too() {
    let log = Log::default();
    let registry = inner(&log);
    let kept: Kept<Driven<Arc<ToolResult>>> = Arc::default();
    let keeps = Arc::clone(&kept);
    outer(&registry, move |context| {
        let keeps = Arc::clone(&keeps);
        async move {
            Box::leak(Box::new(begun(&context, "obeys").await));
            put(&keeps, begun(&context, "obeys").await);
        }
    });
    call(&registry).await;
    drop(taken(&kept));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let observed = "observed obeys TOOL_FAILED";
    assert_eq!(log.lines(), ["told", observed, "told", observed, "observed outer OK"]);
}

#[tokio::test(start_paused = true)]
async fn cx_05_calls_held_inside_of_held_calls_end_all_at_once() {
    let log = Log::default();
    let registry = inner(&log);
    let kept: Arc<Mutex<Vec<Driven<Arc<ToolResult>>>>> = Arc::default();
    let keeps = Arc::clone(&kept);
    let middle = Tool::builder("middle").parameters("true").output("true").body(move |_, context| {
        let keeps = Arc::clone(&keeps);
        async move {
            let deaf = begun(&context, "deaf").await;
            keeps.lock().expect("not poisoned").push(deaf);
            pending().await
        }
    });
    registry.register(middle).expect("valid").keep();
    let keeps = Arc::clone(&kept);
    outer(&registry, move |context| {
        let keeps = Arc::clone(&keeps);
        async move {
            let middle = begun(&context, "middle").await;
            keeps.lock().expect("not poisoned").push(middle);
        }
    });
    let (_, took) = call(&registry).await;
    let expected =
        ["the deaf body is gone", "observed deaf ABORTED", "observed middle ABORTED", "observed outer OK"];
    assert_eq!(log.lines(), expected);
    assert!(took >= Duration::from_secs(5), "{took:?}");
}

/// A nested call as far as one of its steps.
enum Step {
    Prepare(Driven<Prepared>),
    Prepared(Prepared),
    Dispatch(Driven<Dispatched>),
    Dispatched(Dispatched),
    Finalize(Driven<Finalized>),
    Finalized(Finalized),
}

impl Step {
    /// A call of `name`, taken so far.
    async fn begin(context: &ToolContext, name: &str, steps: usize) -> Self {
        let request = CallRequest::new(name, "{}", context.cancel().clone()).with_parent(context.token());
        let mut prepare = context.call().scope().prepare(request);
        if steps == 0 {
            assert!(futures_util::poll!(&mut prepare).is_pending());
            return Self::Prepare(prepare);
        }
        let prepared = prepare.await;
        if steps == 1 {
            return Self::Prepared(prepared);
        }
        let mut dispatch = prepared.dispatch();
        if steps == 2 {
            assert!(futures_util::poll!(&mut dispatch).is_pending());
            return Self::Dispatch(dispatch);
        }
        let dispatched = dispatch.await;
        if steps == 3 {
            return Self::Dispatched(dispatched);
        }
        let mut finalize = dispatched.finalize();
        if steps == 4 {
            assert!(futures_util::poll!(&mut finalize).is_pending());
            return Self::Finalize(finalize);
        }
        Self::Finalized(finalize.await)
    }

    /// What is left of it.
    async fn end(self) -> Arc<ToolResult> {
        let prepared = match self {
            Self::Prepare(prepare) => prepare.await,
            Self::Prepared(prepared) => prepared,
            Self::Dispatch(dispatch) => return dispatch.await.finalize().await.finish(),
            Self::Dispatched(dispatched) => return dispatched.finalize().await.finish(),
            Self::Finalize(finalize) => return finalize.await.finish(),
            Self::Finalized(finalized) => return finalized.finish(),
        };
        prepared.dispatch().await.finalize().await.finish()
    }
}

#[tokio::test(start_paused = true)]
async fn cx_05_a_step_that_is_held_is_taken_by_the_parent() {
    let cases = [
        (0, "quick", "ABORTED_BEFORE_DISPATCH"),
        (1, "quick", "ABORTED_BEFORE_DISPATCH"),
        (2, "obeys", "TOOL_FAILED"),
        (3, "quick", "OK"),
        (4, "quick", "OK"),
        (5, "quick", "OK"),
    ];
    for (steps, name, code) in cases {
        let log = Log::default();
        let registry = inner(&log);
        registry.on_pre_execute(move |call, next| async move {
            let waits = steps == 0 && call.is_nested();
            if waits { pending().await } else { Ok(next.run().await) }
        });
        registry.on_post_execute(move |call, _, next| async move {
            if steps == 4 && call.is_nested() {
                call.cancel().cancelled().await;
                return Ok(PostDecision::accept());
            }
            Ok(next.run().await)
        });
        let kept: Kept<Step> = Arc::default();
        let keeps = Arc::clone(&kept);
        outer(&registry, move |context| {
            let keeps = Arc::clone(&keeps);
            async move { put(&keeps, Step::begin(&context, name, steps).await) }
        });
        let (result, took) = call(&registry).await;
        assert_eq!((result.outcome(), took), (Ok(&value("null")), Duration::ZERO), "{steps}");
        let lines: Vec<String> = log.lines().into_iter().filter(|line| line != "told").collect();
        assert_eq!(lines, [format!("observed {name} {code}"), "observed outer OK".to_owned()], "{steps}");
        // The steps that are left give the one result.
        let result = timeout(Duration::from_secs(60), taken(&kept).end()).await.expect("it is there");
        assert_eq!(result.code().map_or("OK", ErrorCode::as_str), code, "{steps}");
        assert_eq!(log.lines().iter().filter(|line| line.contains(name)).count(), 1, "{steps}");
    }
}

#[tokio::test(start_paused = true)]
async fn cx_05_an_attempt_that_a_wrapper_holds_ends_with_the_call() {
    let cases = [("obeys", Duration::ZERO, "told"), ("deaf", Duration::from_secs(5), "the deaf body is gone")];
    for (name, expected, line) in cases {
        let log = Log::default();
        let registry = inner(&log);
        let kept: Kept<std::pin::Pin<Box<dyn Future<Output = Attempt> + Send>>> = Arc::default();
        let keeps = Arc::clone(&kept);
        registry.around(move |_, mut next| {
            let keeps = Arc::clone(&keeps);
            async move {
                let mut attempt = Box::pin(async move { next.run().await });
                assert!(futures_util::poll!(&mut attempt).is_pending());
                put(&keeps, attempt);
                Ok(Attempt::success(value("\"made up\"")))
            }
        });
        let begun = Instant::now();
        let ended = timeout(Duration::from_secs(60), registry.call(request(name, "{}"))).await;
        assert_eq!(ended.expect("nothing holds it up").outcome(), Ok(&value("\"made up\"")));
        assert_eq!(
            (begun.elapsed(), log.lines()),
            (expected, vec![line.to_owned(), format!("observed {name} OK")])
        );
        assert!(taken(&kept).await.error().is_some());
        assert_eq!(log.lines().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn cx_05_an_inner_wrapper_that_an_outer_one_holds_ends_with_the_call() {
    let log = Log::default();
    let registry = inner(&log);
    let kept: Kept<std::pin::Pin<Box<dyn Future<Output = Attempt> + Send>>> = Arc::default();
    let keeps = Arc::clone(&kept);
    registry.around(move |_, mut next| {
        let keeps = Arc::clone(&keeps);
        async move {
            let mut attempt = Box::pin(async move { next.run().await });
            assert!(futures_util::poll!(&mut attempt).is_pending());
            put(&keeps, attempt);
            Ok(Attempt::success(value("\"made up\"")))
        }
    });
    let notes = log.clone();
    registry.around(move |_, mut next| {
        let gone = notes.at_drop("the inner wrapper is gone");
        async move {
            let _gone = gone;
            next.run().await;
            pending().await
        }
    });
    let begun = Instant::now();
    let ended = timeout(Duration::from_secs(60), registry.call(request("obeys", "{}"))).await;
    assert_eq!(ended.expect("nothing holds it up").outcome(), Ok(&value("\"made up\"")));
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(log.lines(), ["told", "the inner wrapper is gone", "observed obeys OK"]);
}

/// Parents that end while other threads poll what they lent their tokens to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cx_05_whoever_polls_it_when_the_parent_ends_gets_the_one_result() {
    let log = Log::default();
    let registry = Registry::new();
    let hops = echo("hops").body(async |_, context: ToolContext| {
        while !context.cancel().is_cancelled() {
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
        Err(BodyError::new("stopped"))
    });
    registry.register(hops).expect("valid").keep();
    // A task that comes after the parent's end makes a direct call, which is nobody's part.
    let notes = log.clone();
    registry.on_result(move |call, _| {
        if call.name() == "outer" || call.is_nested() {
            notes.note(call.name());
        }
    });
    let (gives, mut tasks) = tokio::sync::mpsc::unbounded_channel();
    outer(&registry, move |context| {
        let gives = gives.clone();
        async move {
            for _ in 0..3 {
                gives.send(tokio::spawn(context.invoke("hops", "{}"))).expect("somebody listens");
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..200 {
        registry.call(CallRequest::new("outer", "{}", CancellationToken::new())).await;
        assert_eq!(log.lines().last().map(String::as_str), Some("outer"));
        for _ in 0..3 {
            let result = tasks.recv().await.expect("it was begun").await.expect("no panic");
            assert!(result.error().is_some());
        }
    }
    assert_eq!(log.lines().iter().filter(|line| *line == "outer").count(), 200);
    assert_eq!(log.lines().last().map(String::as_str), Some("outer"));
}
