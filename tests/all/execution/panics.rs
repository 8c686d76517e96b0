//! Platforms' own code that panics where one does not look for it: made, shown, dropped.

use std::fmt;
use std::future::{Ready, pending};
use std::time::Duration;

use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, Attempt, CallRequest, Caller, Decision, ErrorCode,
    PostDecision, Scheduler, ToolResult, Verdict,
};
use hotcell::json::Value;
use hotcell::registry::{HookHandle, Mode, Registration, Registry};
use hotcell::runtime::BoxFuture;
use hotcell::tool::{BodyError, Tool, ToolBuilder};
use std::sync::Arc;
use tokio::sync::Notify;
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

/// A registry whose tool, `tool`, waits in its body until it is told, and what tells it.
fn waiting(tool: ToolBuilder) -> (Registry, Registration, Log, Arc<Notify>) {
    let (registry, log, go) = (Registry::new(), Log::default(), Arc::new(Notify::new()));
    let (spite, waits) = (Spiteful, Arc::clone(&go));
    let tool = tool.body(move |arguments, _| {
        let _kept = &spite;
        let waits = Arc::clone(&waits);
        async move {
            waits.notified().await;
            Ok(Value::clone(&arguments))
        }
    });
    let registration = registry.register(tool).expect("valid");
    observe(&registry, &log);
    (registry, registration, log, go)
}

#[tokio::test]
async fn pl_15_the_last_pointer_to_a_tool_may_be_a_calls_and_its_drop_may_panic() {
    let spite = [Spiteful, Spiteful, Spiteful, Spiteful];
    let [render, finalize, classify, present] = spite;
    let tool = echo("tool")
        .render(move |_, _| {
            let _kept = &render;
            Vec::new()
        })
        .finalize_content(move |_| {
            let _kept = &finalize;
            None
        })
        .concurrency_safe(move |_| {
            let _kept = &classify;
            true
        })
        .present_call(move |arguments| {
            let _kept = &present;
            arguments.clone()
        });
    let (registry, registration, log, go) = waiting(tool);
    let mut call = registry.call(request("tool", "{}"));
    assert!(futures_util::poll!(&mut call).is_pending());
    drop(registration);
    // The registry lets go of it too.
    assert!(registry.get("tool").is_none());
    go.notify_one();
    assert_eq!(call.await.outcome(), Ok(&value("{}")));
    assert_eq!(log.lines(), ["observed tool OK"]);
}

#[tokio::test(start_paused = true)]
async fn pl_15_a_scheduled_call_may_have_the_last_pointer_too() {
    let (registry, registration, log, go) = waiting(echo("tool"));
    let scheduler = Scheduler::new(&registry);
    let turn = tokio::spawn(async move { scheduler.run(vec![request("tool", "{}")]).await });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    drop(registration);
    assert!(registry.get("tool").is_none());
    go.notify_one();
    let turn = tokio::time::timeout(Duration::from_secs(60), turn).await.expect("it ends");
    assert_eq!(turn.expect("no panic")[0].outcome(), Ok(&value("{}")));
    assert_eq!(log.lines(), ["observed tool OK"]);
}

#[tokio::test]
async fn pl_15_hooks_that_are_removed_under_a_call_may_panic_when_they_are_dropped() {
    let (registry, registration, log, go) = waiting(echo("tool"));
    let [before, guard, around, after, observer] = [Spiteful, Spiteful, Spiteful, Spiteful, Spiteful];
    let hooks = [
        registry.on_pre_execute(move |_, next| {
            let _kept = &before;
            async move { Ok(next.run().await) }
        }),
        registry.guard(move |_| {
            let _kept = &guard;
            Verdict::Pass
        }),
        registry.around(move |_, mut next| {
            let _kept = &around;
            async move { Ok(next.run().await) }
        }),
        registry.on_post_execute(move |_, _, next| {
            let _kept = &after;
            async move { Ok(next.run().await) }
        }),
        registry.on_result(move |_, _| {
            let _kept = &observer;
        }),
    ];
    let mut call = registry.call(request("tool", "{}"));
    assert!(futures_util::poll!(&mut call).is_pending());
    hooks.into_iter().for_each(HookHandle::remove);
    assert!(registry.get("tool").is_some());
    go.notify_one();
    assert_eq!(call.await.outcome(), Ok(&value("{}")));
    assert_eq!(log.lines(), ["observed tool OK"]);
    // Without a call, whoever unregisters has the last pointer.
    drop((registration, registry));
}

struct SpitefulService(Spiteful);

impl ApprovalService for SpitefulService {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        let known = request.caller.route::<(u8, Spiteful)>().is_some_and(|(number, _)| *number == 7);
        Box::pin(async move { if known { ApprovalAnswer::AllowedOnce } else { ApprovalAnswer::TimedOut } })
    }
}

#[tokio::test]
async fn pl_15_a_callers_route_and_the_approval_service_may_panic_when_they_are_dropped() {
    let registry = Registry::builder().approval(Arc::new(SpitefulService(Spiteful))).build().expect("valid");
    registry.register(echo("tool")).expect("valid").keep();
    registry.on_pre_execute(async |_, _| Ok(Decision::Ask(None)));
    // The call has the last pointers to both.
    let call = registry.call(request("tool", "{}").with_caller(Caller::new("me", (7_u8, Spiteful))));
    drop(registry);
    assert_eq!(call.await.outcome(), Ok(&value("{}")));
}
