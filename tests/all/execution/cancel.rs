//! Cancellation: every race, by controlled interleaving, and how each ends.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use hotcell::execution::{
    CallRequest, Context, Decision, ErrorCode, PostDecision, ToolContext, ToolResult, Verdict,
};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::Registry;
use hotcell::tool::BodyError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::log::{Log, observe};
use crate::tools::{echo, failure, value};

const ABORTED: (ErrorCode, &str) = (ErrorCode::Aborted, "the call was cancelled");
const NOT_BEGUN: (ErrorCode, &str) =
    (ErrorCode::AbortedBeforeDispatch, "the call was cancelled before it was dispatched");

/// A registry with one tool, `tool`, whose grace is two seconds, and whose results are logged.
fn with<F, T>(log: &Log, body: F) -> Registry
where
    F: Fn(ToolContext) -> T + Send + Sync + 'static,
    T: Future<Output = Result<hotcell::json::Value, BodyError>> + Send + 'static,
{
    let limits = Limits::default().with(Limit::Grace, 2000).expect("allowed");
    let registry = Registry::builder().limits(limits).build().expect("valid");
    registry.register(echo("tool").body(move |_, context| body(context))).expect("valid").keep();
    observe(&registry, log);
    registry
}

/// Begins a call, cancels it once all it can do is wait, and gives its result and how long that took.
async fn cancelled_while_it_waits(registry: &Registry) -> (Arc<ToolResult>, Duration) {
    let cancel = CancellationToken::new();
    let mut call = registry.call(CallRequest::new("tool", "{}", cancel.clone()));
    assert!(futures_util::poll!(&mut call).is_pending());
    cancel.cancel();
    let begun = Instant::now();
    (call.await, begun.elapsed())
}

#[tokio::test]
async fn cx_03_a_listener_that_waits_for_the_cancellation_is_dropped_with_it() {
    let log = Log::default();
    let registry = with(&log, async |_| panic!("the body never starts"));
    let notes = log.clone();
    registry.on_pre_execute(move |call, next| {
        let gone = notes.at_drop("the listener is gone");
        async move {
            let _gone = gone;
            call.cancel().cancelled().await;
            Ok(next.run().await)
        }
    });
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), NOT_BEGUN);
    assert_eq!(log.lines(), ["the listener is gone", "observed tool ABORTED_BEFORE_DISPATCH"]);
}

#[tokio::test(start_paused = true)]
async fn cx_03_a_listener_that_waits_for_ever_has_no_grace() {
    let log = Log::default();
    let registry = with(&log, async |_| panic!("the body never starts"));
    registry.on_pre_execute(async |_, _| pending().await);
    let (result, took) = cancelled_while_it_waits(&registry).await;
    assert_eq!((failure(&result), took), (NOT_BEGUN, Duration::ZERO));
    assert_eq!(log.lines(), ["observed tool ABORTED_BEFORE_DISPATCH"]);
}

#[tokio::test]
async fn cx_03_a_denial_or_a_fault_that_was_decided_stays() {
    let log = Log::default();
    let cancel = CancellationToken::new();
    let registry = with(&log, async |_| panic!("the body never starts"));
    let cancels = cancel.clone();
    let denies = registry.on_pre_execute(move |_, _| {
        cancels.cancel();
        async { Ok(Decision::deny("no")) }
    });
    let result = registry.call(CallRequest::new("tool", "{}", cancel)).await;
    assert_eq!(failure(&result), (ErrorCode::Denied, "the call of `tool` was denied: no"));
    denies.remove();
    // An inner listener fails; an outer one then waits for ever.
    registry.on_pre_execute(async |_, next| {
        next.run().await;
        pending().await
    });
    registry.on_pre_execute(async |_, _| Err("broken".into()));
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), (ErrorCode::PolicyFailed, "a pre-execute listener failed: broken"));
}

#[tokio::test]
async fn cx_03_a_yes_that_was_not_the_last_word_does_not_count() {
    let log = Log::default();
    let cancel = CancellationToken::new();
    let registry = with(&log, async |_| panic!("the body never starts"));
    let cancels = cancel.clone();
    registry.guard(move |_| {
        cancels.cancel();
        Verdict::Pass
    });
    let result = registry.call(CallRequest::new("tool", "{}", cancel.clone())).await;
    assert_eq!(failure(&result), NOT_BEGUN);
    // A guard's no does.
    registry.guard(|_| Verdict::deny("no"));
    let cancel = CancellationToken::new();
    let cancels = cancel.clone();
    registry.on_pre_execute(async |_, next| Ok(next.run().await));
    registry.guard(move |_| {
        cancels.cancel();
        Verdict::Pass
    });
    let result = registry.call(CallRequest::new("tool", "{}", cancel)).await;
    assert_eq!(failure(&result), (ErrorCode::Denied, "the call of `tool` was denied: no"));
}

#[tokio::test]
async fn cx_04_a_success_that_comes_after_the_cancellation_is_an_abort() {
    let log = Log::default();
    let registry = with(&log, async |context: ToolContext| {
        context.defer(Context::text("before"));
        context.conclude_turn();
        context.cancel().cancelled().await;
        context.defer(Context::text("after"));
        Ok(value("{}"))
    });
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), ABORTED);
    assert_eq!(result.contexts(), [Context::text("before"), Context::text("after")]);
    assert!(!result.concludes_turn());
}

#[tokio::test]
async fn cx_04_a_failure_that_comes_after_the_cancellation_stays() {
    let log = Log::default();
    let registry = with(&log, async |context: ToolContext| {
        context.cancel().cancelled().await;
        Err(BodyError::new("half of it is written"))
    });
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), (ErrorCode::ToolFailed, "half of it is written"));
}

/// A body that settles so long after it was told to stop.
async fn stops_after(millis: u64) -> ((ErrorCode, String), Duration, Vec<String>) {
    let log = Log::default();
    let notes = log.clone();
    let registry = with(&log, move |context| {
        let gone = notes.at_drop("the body is gone");
        async move {
            let _gone = gone;
            context.cancel().cancelled().await;
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Err(BodyError::new("it stopped by itself"))
        }
    });
    let (result, took) = cancelled_while_it_waits(&registry).await;
    let (code, message) = failure(&result);
    ((code, message.to_owned()), took, log.lines())
}

#[tokio::test(start_paused = true)]
async fn cx_04_a_body_has_the_grace_and_not_a_moment_more() {
    let settled = (ErrorCode::ToolFailed, "it stopped by itself".to_owned());
    let lines = ["the body is gone", "observed tool TOOL_FAILED"];
    for millis in [1999, 2000] {
        let (failure, took, seen) = stops_after(millis).await;
        assert_eq!((&failure, took), (&settled, Duration::from_millis(millis)));
        assert_eq!(seen, lines);
    }
    let (failure, took, seen) = stops_after(2001).await;
    assert_eq!((failure.0, &*failure.1), ABORTED);
    assert_eq!(took, Duration::from_millis(2000));
    assert_eq!(seen, ["the body is gone", "observed tool ABORTED"]);
}

#[tokio::test(start_paused = true)]
async fn cx_04_wrappers_and_the_body_share_one_grace() {
    let log = Log::default();
    let registry = with(&log, async |context: ToolContext| {
        context.defer(Context::text("kept"));
        pending().await
    });
    let notes = log.clone();
    registry.around(move |_, mut next| {
        let notes = notes.clone();
        async move {
            let attempt = next.run().await;
            notes.note("the wrapper sees the end");
            Ok(attempt)
        }
    });
    let notes = log.clone();
    registry.around(move |_, mut next| {
        let gone = notes.at_drop("the second wrapper is gone");
        async move {
            let _gone = gone;
            Ok(next.run().await)
        }
    });
    let (result, took) = cancelled_while_it_waits(&registry).await;
    assert_eq!((failure(&result), took), (ABORTED, Duration::from_secs(2)));
    assert_eq!(result.contexts(), [Context::text("kept")]);
    let expected = ["the second wrapper is gone", "the wrapper sees the end", "observed tool ABORTED"];
    assert_eq!(log.lines(), expected);
    // A wrapper that never gives up is dropped.
    registry.around(async |_, mut next| {
        next.run().await;
        pending().await
    });
    let (result, took) = cancelled_while_it_waits(&registry).await;
    assert_eq!((failure(&result), took), (ABORTED, Duration::from_secs(2)));
}

#[tokio::test]
async fn a_retry_that_goes_on_after_the_cancellation_runs_no_body() {
    let log = Log::default();
    let notes = log.clone();
    let registry = with(&log, move |context| {
        let notes = notes.clone();
        async move {
            notes.note("the body");
            context.cancel().cancelled().await;
            Err(BodyError::new("stopped"))
        }
    });
    registry.around(async |_, mut next| {
        next.run().await;
        Ok(next.run().await)
    });
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), ABORTED);
    assert_eq!(log.lines(), ["the body", "observed tool ABORTED"]);
}

#[tokio::test]
async fn a_call_cancelled_by_its_wrapper_before_the_body_was_not_dispatched() {
    let log = Log::default();
    let registry = with(&log, async |_| panic!("the body never starts"));
    let cancel = CancellationToken::new();
    let cancels = cancel.clone();
    registry.around(move |_, mut next| {
        cancels.cancel();
        async move { Ok(next.run().await) }
    });
    let result = registry.call(CallRequest::new("tool", "{}", cancel)).await;
    assert_eq!(failure(&result), NOT_BEGUN);
}

/// A post-execute listener that waits until the call is cancelled, and so many milliseconds more.
fn slow_listener(registry: &Registry, millis: u64) {
    registry.on_post_execute(move |call, _, _| async move {
        call.cancel().cancelled().await;
        tokio::time::sleep(Duration::from_millis(millis)).await;
        Ok(PostDecision::accept().with_context(Context::text("accepted")))
    });
}

#[tokio::test(start_paused = true)]
async fn a_post_execute_listener_has_the_grace_too() {
    for (millis, accepted) in [(1999, true), (2000, true), (2001, false)] {
        let log = Log::default();
        let registry = with(&log, async |context: ToolContext| {
            context.defer(Context::text("deferred"));
            Ok(value("{}"))
        });
        slow_listener(&registry, millis);
        let (result, took) = cancelled_while_it_waits(&registry).await;
        assert_eq!(took, Duration::from_millis(millis.min(2000)));
        if accepted {
            // The body had succeeded before the cancellation came.
            assert_eq!(result.outcome(), Ok(&value("{}")));
            assert_eq!(result.contexts(), [Context::text("deferred"), Context::text("accepted")]);
        } else {
            assert_eq!(failure(&result), ABORTED);
            assert_eq!(result.contexts(), [Context::text("deferred")]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cx_04_a_failure_outlives_a_post_execute_listener_that_does_not_settle() {
    let log = Log::default();
    let registry = with(&log, async |_| Err(BodyError::new("broken")));
    slow_listener(&registry, 2001);
    let (result, took) = cancelled_while_it_waits(&registry).await;
    assert_eq!((failure(&result), took), ((ErrorCode::ToolFailed, "broken"), Duration::from_secs(2)));
    // So does an abort that came before the body.
    registry.on_pre_execute(async |_, _| pending().await);
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), NOT_BEGUN);
    // And a denial.
    registry.guard(|_| Verdict::deny("no"));
    let registry = with(&log, async |_| Ok(value("{}")));
    registry.guard(|_| Verdict::deny("no"));
    slow_listener(&registry, 2001);
    let (result, _) = cancelled_while_it_waits(&registry).await;
    assert_eq!(failure(&result), (ErrorCode::Denied, "the call of `tool` was denied: no"));
}

#[tokio::test]
async fn cx_01_the_callers_token_is_never_cancelled_by_us() {
    let log = Log::default();
    let registry = with(&log, async |context: ToolContext| {
        tokio::spawn(context.invoke("tool", "{}"));
        context.cancel().cancelled().await;
        Ok(value("{}"))
    });
    registry.register(echo("quick")).expect("valid").keep();
    let cancel = CancellationToken::new();
    registry.call(CallRequest::new("quick", "{}", cancel.clone())).await;
    assert!(!cancel.is_cancelled());
    let mut call = registry.call(CallRequest::new("tool", "{}", cancel.clone()));
    assert!(futures_util::poll!(&mut call).is_pending());
    drop(call);
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(log.lines().last().map(String::as_str), Some("observed tool ABORTED"));
    assert!(!cancel.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn cx_04_a_call_has_one_grace_for_all_its_stages() {
    let log = Log::default();
    let registry = with(&log, async |_| pending().await);
    let notes = log.clone();
    registry.on_post_execute(move |_, _, _| {
        let (notes, gone) = (notes.clone(), notes.at_drop("the listener is gone"));
        async move {
            let _gone = gone;
            notes.note("the listener is polled");
            pending().await
        }
    });
    let (result, took) = cancelled_while_it_waits(&registry).await;
    assert_eq!((failure(&result), took), (ABORTED, Duration::from_secs(2)));
    let expected = ["the listener is polled", "the listener is gone", "observed tool ABORTED"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn cx_04_a_listener_has_what_the_body_left_of_the_grace() {
    for (millis, listened) in [(500, true), (501, false)] {
        let log = Log::default();
        let registry = with(&log, async |context: ToolContext| {
            context.cancel().cancelled().await;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            Err(BodyError::new("half of it is written"))
        });
        slow_listener(&registry, millis);
        let (result, took) = cancelled_while_it_waits(&registry).await;
        assert_eq!(took, Duration::from_secs(2));
        assert_eq!(failure(&result), (ErrorCode::ToolFailed, "half of it is written"));
        assert_eq!(result.contexts().len(), usize::from(listened));
    }
}

#[tokio::test(start_paused = true)]
async fn cx_04_nested_calls_share_the_grace_of_the_outermost() {
    let log = Log::default();
    let registry = with(&log, async |context: ToolContext| {
        context.invoke("middle", "{}").await;
        pending().await
    });
    let middle = echo("middle").body(async |_, context| {
        // With a signal of its own, so that it is told only when its parent has ended.
        let own = CallRequest::new("deaf", "{}", CancellationToken::new()).with_parent(context.token());
        context.call().scope().call(own).await;
        pending().await
    });
    registry.register(middle).expect("valid").keep();
    registry.register(echo("deaf").body(async |_, _| pending().await)).expect("valid").keep();
    registry.on_post_execute(async |_, _, _| pending().await);
    let (result, took) = cancelled_while_it_waits(&registry).await;
    assert_eq!((failure(&result), took), (ABORTED, Duration::from_secs(2)));
    let expected = ["observed deaf ABORTED", "observed middle ABORTED", "observed tool ABORTED"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn cx_04_a_call_cancelled_while_its_nested_calls_end_has_its_grace_from_then_on() {
    // The body succeeds at once and leaves a call that does not stop; a second later the caller gives up.
    let log = Log::default();
    let registry = with(&log, async |context: ToolContext| {
        tokio::spawn(context.invoke("deaf", "{}"));
        tokio::task::yield_now().await;
        Ok(value("{}"))
    });
    registry.register(echo("deaf").body(async |_, _| pending().await)).expect("valid").keep();
    registry.on_post_execute(async |_, _, _| pending().await);
    let cancel = CancellationToken::new();
    let call = tokio::spawn(registry.call(CallRequest::new("tool", "{}", cancel.clone())));
    tokio::time::sleep(Duration::from_secs(1)).await;
    cancel.cancel();
    let begun = Instant::now();
    assert_eq!(failure(call.await.expect("no panic").as_ref()), ABORTED);
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
}
