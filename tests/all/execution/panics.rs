//! Platforms' own code that panics where one does not look for it: made, shown, dropped.

use std::fmt;
use std::future::{Ready, pending};
use std::time::Duration;

use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, Attempt, CallRequest, Caller, Decision, ErrorCode,
    PostDecision, ToolResult,
};
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry};
use hotcell::runtime::BoxFuture;
use hotcell::tool::{BodyError, Tool, ToolBuilder};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use super::log::{Log, observe, request};
use crate::tools::{echo, failure, registry, value};

/// Panics when it is dropped.
#[derive(Debug)]
struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        // A second panic during an unwinding aborts the process, whoever caught the first.
        assert!(std::thread::panicking(), "spite");
    }
}

/// An error that panics when it is shown, or only when it is dropped.
#[derive(Debug)]
enum Nasty {
    Shown,
    Dropped(Spiteful),
}

impl fmt::Display for Nasty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown => panic!("shown"),
            Self::Dropped(_) => f.write_str("dropped"),
        }
    }
}

impl std::error::Error for Nasty {}

const NASTY: [fn() -> Nasty; 2] = [|| Nasty::Shown, || Nasty::Dropped(Spiteful)];

fn with(tool: ToolBuilder) -> (Registry, Log) {
    let (registry, log) = (registry(Mode::Native), Log::default());
    registry.register(tool).expect("valid").keep();
    observe(&registry, &log);
    (registry, log)
}

async fn call(registry: &Registry) -> Arc<ToolResult> {
    registry.call(request("tool", "{}")).await
}

#[tokio::test]
async fn pl_15_a_listeners_error_that_panics_is_a_panic_of_the_listener() {
    for nasty in NASTY {
        let (registry, log) = with(echo("tool"));
        registry.on_pre_execute(move |_, _| async move { Err(nasty().into()) });
        let message = "internal error: a pre-execute listener panicked";
        assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
        let (other, post) = with(echo("tool"));
        other.on_post_execute(move |_, _, _| async move { Err(nasty().into()) });
        let message = "internal error: a post-execute listener panicked";
        assert_eq!(failure(call(&other).await.as_ref()), (ErrorCode::Internal, message));
        assert_eq!((log.lines(), post.lines()), (vec!["observed tool INTERNAL".into()], log.lines()));
    }
}

#[tokio::test]
async fn pl_15_a_wrappers_error_that_panics_is_a_panic_of_the_wrapper() {
    for nasty in NASTY {
        let (registry, log) = with(echo("tool"));
        registry.around(move |_, _| async move { Err(nasty().into()) });
        let message = "internal error: an around wrapper panicked";
        assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
        assert_eq!(log.lines(), ["observed tool INTERNAL"]);
    }
}

#[tokio::test]
async fn pl_15_hooks_that_panic_before_they_give_a_future() {
    fn made<T>() -> Ready<T> {
        panic!("made")
    }
    let (registry, _) = with(echo("tool"));
    registry.on_pre_execute(|_, _| made());
    let message = "internal error: a pre-execute listener panicked";
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
    let (registry, _) = with(echo("tool"));
    registry.around(|_, _| made());
    let message = "internal error: an around wrapper panicked";
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
    let (registry, _) = with(echo("tool"));
    registry.on_post_execute(|_, _, _| made());
    let message = "internal error: a post-execute listener panicked";
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
    let (registry, _) = with(echo("tool").body(|_, _| made()));
    let message = "internal error: the body panicked";
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
}

#[tokio::test]
async fn pl_15_a_payload_that_panics_when_it_is_dropped() {
    let (registry, log) = with(echo("tool").body(async |_, _| std::panic::panic_any(Spiteful)));
    let message = "internal error: the body panicked";
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::Internal, message));
    assert_eq!(log.lines(), ["observed tool INTERNAL"]);
}

#[tokio::test]
async fn pl_15_futures_that_panic_when_they_are_dropped_have_said_what_they_said() {
    // Kept by the closure's future itself, so that it goes with the future and not when the body returns.
    struct Kept<F>(F, Spiteful);
    impl<F: Future + Unpin> Future for Kept<F> {
        type Output = F::Output;
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<F::Output> {
            let Self(future, Spiteful) = &mut *self;
            std::pin::Pin::new(future).poll(context)
        }
    }
    fn kept<F: Future>(future: F) -> Kept<std::pin::Pin<Box<F>>> {
        Kept(Box::pin(future), Spiteful)
    }
    let (registry, log) =
        with(echo("tool").body(|arguments, _| kept(async move { Ok(Value::clone(&arguments)) })));
    registry.on_pre_execute(|_, next| kept(async { Ok(next.run().await) }));
    registry.around(|_, mut next| kept(async move { Ok(next.run().await) }));
    registry.on_post_execute(|_, _, next| kept(async { Ok(next.run().await) }));
    assert_eq!(call(&registry).await.outcome(), Ok(&value("{}")));
    assert_eq!(log.lines(), ["observed tool OK"]);
}

/// Waits for ever, and panics when it is dropped.
async fn spitefully<T>() -> T {
    let _spite = Spiteful;
    pending().await
}

struct SpitefulDesk;

impl ApprovalService for SpitefulDesk {
    fn request(&self, _: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        Box::pin(spitefully())
    }
}

/// Begins a call, and cancels it once it waits.
async fn cancelled(registry: &Registry) -> Arc<ToolResult> {
    let cancel = CancellationToken::new();
    let request = CallRequest::new("tool", "{}", cancel.clone()).with_caller(Caller::new("me", ()));
    let mut call = registry.call(request);
    assert!(futures_util::poll!(&mut call).is_pending());
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(60), call).await.expect("it ends")
}

#[tokio::test(start_paused = true)]
async fn pl_15_what_is_dropped_by_a_cancellation_may_panic() {
    let not_begun = (ErrorCode::AbortedBeforeDispatch, "the call was cancelled before it was dispatched");
    let aborted = (ErrorCode::Aborted, "the call was cancelled");
    let (listener, log) = with(echo("tool"));
    listener.on_pre_execute(async |_, _| spitefully().await);
    assert_eq!(failure(cancelled(&listener).await.as_ref()), not_begun);
    assert_eq!(log.lines(), ["observed tool ABORTED_BEFORE_DISPATCH"]);
    let asks = Registry::builder().approval(Arc::new(SpitefulDesk)).build().expect("valid");
    asks.register(echo("tool")).expect("valid").keep();
    asks.on_pre_execute(async |_, _| Ok(Decision::Ask(None)));
    assert_eq!(failure(cancelled(&asks).await.as_ref()), not_begun);
    let (wrapper, _) = with(echo("tool"));
    wrapper.around(async |_, _| spitefully().await);
    assert_eq!(failure(cancelled(&wrapper).await.as_ref()), not_begun);
    let (body, log) = with(echo("tool").body(async |_, _| spitefully().await));
    assert_eq!(failure(cancelled(&body).await.as_ref()), aborted);
    assert_eq!(log.lines(), ["observed tool ABORTED"]);
    let (post, _) = with(echo("tool"));
    post.on_post_execute(async |_, _, _| spitefully().await);
    assert_eq!(failure(cancelled(&post).await.as_ref()), aborted);
}

#[tokio::test]
async fn pl_15_an_inner_wrappers_panic_is_a_failed_attempt_for_the_outer_one() {
    let (registry, _) = with(echo("tool"));
    registry.around(async |_, mut next| {
        let message = next.run().await.error().map(|error| error.message().to_owned());
        Ok(Attempt::success(value(&format!("{message:?}").replace("Some(", "").replace(')', ""))))
    });
    registry.around(async |_, _| panic!("on purpose"));
    assert_eq!(call(&registry).await.outcome(), Ok(&value("\"internal error: an around wrapper panicked\"")));
}

#[tokio::test]
async fn pl_15_cards_that_panic_are_no_cards() {
    let tool: Tool = echo("tool")
        .present_call(|_| panic!("on purpose"))
        .present_result(|_, _| panic!("on purpose"))
        .build()
        .expect("valid");
    let (registry, _) = with(echo("tool"));
    let result = call(&registry).await;
    assert_eq!(tool.present_call(&value("{}")), None);
    assert_eq!(tool.present_result(&value("{}"), &result), None);
}

#[tokio::test]
async fn pl_15_a_nested_panic_is_a_failure_of_the_nested_call_alone() {
    let (registry, log) = with(echo("tool").body(async |_, _| panic!("on purpose")));
    let outer = Tool::builder("outer").parameters("true").output("true").body(async |_, context| {
        let result = context.invoke("tool", "{}").await;
        Err(BodyError::new(format!("it saw {:?}", result.error().map(ToString::to_string))))
    });
    registry.register(outer).expect("valid").keep();
    registry.on_post_execute(async |_, _, _| Ok(PostDecision::accept()));
    let result = registry.call(request("outer", "{}")).await;
    let message = "it saw Some(\"INTERNAL: internal error: the body panicked\")";
    assert_eq!(failure(&result), (ErrorCode::ToolFailed, message));
    assert_eq!(log.lines(), ["observed tool INTERNAL", "observed outer TOOL_FAILED"]);
}
