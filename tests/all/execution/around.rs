//! Wrappers: retries, signals, made-up results, the timeout.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::execution::{
    Attempt, CallRequest, Context, ErrorCode, NextAttempt, ToolContext, ToolError, ToolResult,
};
use hotcell::registry::{Mode, Registry};
use hotcell::tool::{BodyError, Schema, ToolBuilder};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::log::{Log, observe, request};
use crate::tools::{echo, failure, registry, value};

async fn call(registry: &Registry, name: &str) -> Arc<ToolResult> {
    registry.call(request(name, "{}")).await
}

/// A registry with these tools.
fn with(tools: impl IntoIterator<Item = ToolBuilder>) -> Registry {
    let registry = registry(Mode::Native);
    for tool in tools {
        registry.register(tool).expect("valid").keep();
    }
    registry
}

/// A tool whose attempts are numbered, from 1 on; those before the last fail. Each defers a context and concludes the turn.
fn flaky(last: u32) -> ToolBuilder {
    let attempts = Arc::new(Mutex::new(0));
    echo("flaky").body(move |_, context: ToolContext| {
        let mut attempts = attempts.lock().expect("not poisoned");
        *attempts += 1;
        let attempt = *attempts;
        async move {
            context.defer(Context::text(format!("attempt {attempt}")));
            context.conclude_turn();
            if attempt < last { Err(BodyError::new(format!("attempt {attempt} fails"))) } else { Ok(value("{}")) }
        }
    })
}

fn texts(result: &ToolResult) -> Vec<&str> {
    result.contexts().iter().filter_map(|context| context.content()[0].as_text()).collect()
}

#[tokio::test]
async fn pl_11_a_retry_drops_what_the_discarded_attempts_left() {
    let log = Log::default();
    let notes = log.clone();
    let registry = with([flaky(3).finalize_content(move |result| {
        notes.note(format!("finalized {:?}", result.code()));
        None
    })]);
    observe(&registry, &log);
    let notes = log.clone();
    registry.around(move |_, mut next| {
        let notes = notes.clone();
        async move {
            loop {
                let attempt = next.run().await;
                match attempt.error() {
                    Some(error) => notes.note(error.message()),
                    None => return Ok(attempt),
                }
            }
        }
    });
    let result = call(&registry, "flaky").await;
    assert_eq!((result.outcome(), texts(&result)), (Ok(&value("{}")), vec!["attempt 3"]));
    assert!(result.concludes_turn());
    let expected = ["attempt 1 fails", "attempt 2 fails", "finalized None", "observed flaky OK"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn pl_11_a_made_up_result_has_nothing_of_a_discarded_attempt() {
    for (made_up, expected) in [
        (Attempt::success(value("1")), Ok(value("1"))),
        (
            Attempt::failure(ErrorCode::ToolFailed, "given up"),
            Err(ToolError::new(ErrorCode::ToolFailed, "given up")),
        ),
    ] {
        let registry = with([flaky(1)]);
        registry.around(move |_, mut next| {
            let made_up = made_up.clone();
            async move {
                assert_eq!(next.run().await.value(), Some(&value("{}")));
                Ok(made_up)
            }
        });
        let result = call(&registry, "flaky").await;
        assert_eq!(result.outcome().cloned().map_err(Clone::clone), expected);
        assert_eq!((texts(&result), result.concludes_turn()), (vec![], false));
    }
}

#[tokio::test]
async fn pl_11_a_made_up_success_passes_the_output_contract() {
    let schema = r#"{"type": "object"}"#;
    let registry = with([echo("tool").output(schema)]);
    registry.around(async |_, _| Ok(Attempt::success(value("[]"))));
    let violations = Schema::compile(value(schema)).expect("valid").validate(&value("[]")).expect_err("an array");
    let message = format!("the tool `tool` returned a value that its own schema does not allow:\n{violations}");
    assert_eq!(failure(call(&registry, "tool").await.as_ref()), (ErrorCode::InvalidToolOutput, &*message));
}

/// Keeps the attempt of the first call that passes, and gives it to every later one.
fn cache(registry: &Registry) {
    let kept: Arc<Mutex<Option<Attempt>>> = Arc::default();
    registry.around(move |_, mut next| {
        let kept = Arc::clone(&kept);
        async move {
            let cached = kept.lock().expect("not poisoned").clone();
            if let Some(attempt) = cached {
                return Ok(attempt);
            }
            let attempt = next.run().await;
            *kept.lock().expect("not poisoned") = Some(attempt.clone());
            Ok(attempt)
        }
    });
}

#[tokio::test]
async fn pl_11_a_cached_attempt_of_another_call_counts_as_its_value_alone() {
    let strict = r#"{"type": "array"}"#;
    let shows = echo("shows").render(|_, shown| vec![hotcell::Content::text(format!("shown anew: {shown:?}"))]);
    let registry = with([flaky(1), shows, echo("strict").output(strict)]);
    cache(&registry);
    let first = call(&registry, "flaky").await;
    assert_eq!((texts(&first), first.concludes_turn()), (vec!["attempt 1"], true));
    // The same tool: its contexts and its conclusion were the first call's.
    let again = call(&registry, "flaky").await;
    assert_eq!((again.value(), texts(&again), again.concludes_turn()), (Some(&value("{}")), vec![], false));
    assert_ne!(again.id(), first.id());
    // Another tool renders it in its own way, or refuses it.
    let shown = call(&registry, "shows").await;
    assert_eq!((shown.name(), shown.content()[0].as_text()), ("shows", Some("shown anew: {}")));
    let violations = Schema::compile(value(strict)).expect("valid").validate(&value("{}")).expect_err("an object");
    let message = format!("the tool `strict` returned a value that its own schema does not allow:\n{violations}");
    assert_eq!(failure(call(&registry, "strict").await.as_ref()), (ErrorCode::InvalidToolOutput, &*message));
}

#[tokio::test]
async fn pl_11_a_cached_failure_of_another_call_counts_as_its_error_alone() {
    let registry = with([flaky(9)]);
    cache(&registry);
    assert_eq!(texts(call(&registry, "flaky").await.as_ref()), ["attempt 1"]);
    let again = call(&registry, "flaky").await;
    assert_eq!(failure(&again), (ErrorCode::ToolFailed, "attempt 1 fails"));
    assert_eq!(texts(&again), Vec::<&str>::new());
}

#[tokio::test]
async fn pl_11_a_cached_attempt_leaves_nothing_in_a_cancelled_call() {
    let registry = with([flaky(1)]);
    let kept: Arc<Mutex<Option<Attempt>>> = Arc::default();
    let cancel = CancellationToken::new();
    let (cached, cancels) = (Arc::clone(&kept), cancel.clone());
    registry.around(move |_, mut next| {
        let (kept, cancels) = (Arc::clone(&cached), cancels.clone());
        async move {
            let attempt = kept.lock().expect("not poisoned").take();
            if let Some(attempt) = attempt {
                cancels.cancel();
                return Ok(attempt);
            }
            let attempt = next.run().await;
            *kept.lock().expect("not poisoned") = Some(attempt.clone());
            Ok(attempt)
        }
    });
    call(&registry, "flaky").await;
    let result = registry.call(CallRequest::new("flaky", "{}", cancel)).await;
    let message = "the call was cancelled before it was dispatched";
    assert_eq!(failure(&result), (ErrorCode::AbortedBeforeDispatch, message));
    assert_eq!(texts(&result), Vec::<&str>::new());
}

#[tokio::test]
async fn wrappers_run_from_the_global_layer_inwards_each_with_the_rest() {
    let registry = with([flaky(3)]);
    let child = registry.child("child").expect("shallow");
    let log = Log::default();
    let outer = log.clone();
    registry.around(move |_, mut next| {
        let log = outer.clone();
        async move {
            log.note("outer first");
            next.run().await;
            log.note("outer second");
            Ok(next.run().await)
        }
    });
    let inner = log.clone();
    child.around(move |_, mut next| {
        let log = inner.clone();
        async move {
            let attempt = next.run().await;
            log.note(format!("inner {:?}", attempt.error().map(ToError::text)));
            Ok(attempt)
        }
    });
    let result = child.call(request("flaky", "{}")).await;
    assert_eq!(failure(&result), (ErrorCode::ToolFailed, "attempt 2 fails"));
    let expected =
        ["outer first", "inner Some(\"attempt 1 fails\")", "outer second", "inner Some(\"attempt 2 fails\")"];
    assert_eq!(log.lines(), expected);
}

/// An error as its message.
trait ToError {
    fn text(&self) -> String;
}

impl ToError for ToolError {
    fn text(&self) -> String {
        self.message().to_owned()
    }
}

#[tokio::test]
async fn an_outer_wrapper_may_try_again_after_an_inner_one_failed() {
    let registry = with([echo("tool")]);
    registry.around(async |_, mut next| {
        let failed = next.run().await;
        assert_eq!(
            failed.error(),
            Some(&ToolError::new(ErrorCode::PolicyFailed, "an around wrapper failed: broken"))
        );
        Ok(next.run().await)
    });
    let failed = Arc::new(Mutex::new(false));
    registry.around(move |_, mut next| {
        let first = !std::mem::replace(&mut *failed.lock().expect("not poisoned"), true);
        async move { if first { Err("broken".into()) } else { Ok(next.run().await) } }
    });
    assert_eq!(call(&registry, "tool").await.outcome(), Ok(&value("{}")));
}

/// A tool that stops when it is told to.
fn obedient(log: &Log) -> ToolBuilder {
    let log = log.clone();
    echo("obedient").body(move |_, context: ToolContext| {
        let log = log.clone();
        async move {
            log.note("begun");
            context.cancel().cancelled().await;
            log.note(format!("told; the caller's own signal: {}", context.call().cancel().is_cancelled()));
            Err(BodyError::new("stopped"))
        }
    })
}

#[tokio::test]
async fn pl_11_a_wrappers_signal_stops_the_delegated_part_alone() {
    let log = Log::default();
    let registry = with([obedient(&log)]);
    registry.around(async |_, mut next: NextAttempt| {
        let signal = CancellationToken::new();
        let mut attempt = Box::pin(next.run_with(&signal));
        assert!(futures_util::poll!(&mut attempt).is_pending());
        signal.cancel();
        Ok(attempt.await)
    });
    let result = call(&registry, "obedient").await;
    assert_eq!(failure(&result), (ErrorCode::ToolFailed, "stopped"));
    assert_eq!(log.lines(), ["begun", "told; the caller's own signal: false"]);
}

#[tokio::test]
async fn pl_11_the_callers_signal_is_always_fused_in() {
    let log = Log::default();
    let registry = with([obedient(&log)]);
    for _ in 0..2 {
        registry.around(async |_, mut next: NextAttempt| Ok(next.run_with(&CancellationToken::new()).await));
    }
    let cancel = CancellationToken::new();
    let mut call = registry.call(CallRequest::new("obedient", "{}", cancel.clone()));
    assert!(futures_util::poll!(&mut call).is_pending());
    cancel.cancel();
    assert_eq!(failure(call.await.as_ref()), (ErrorCode::ToolFailed, "stopped"));
    assert_eq!(log.lines(), ["begun", "told; the caller's own signal: true"]);
}

#[tokio::test(start_paused = true)]
async fn pl_11_each_attempt_has_the_tools_timeout() {
    let log = Log::default();
    let notes = log.clone();
    let tool = echo("slow").timeout(Duration::from_millis(1500)).body(move |_, context: ToolContext| {
        let _at_drop = notes.at_drop("made");
        let notes = notes.clone();
        async move {
            context.cancel().cancelled().await;
            notes.note("told");
            // What it makes of it does not matter.
            Ok(value("{}"))
        }
    });
    let registry = with([tool]);
    registry.around(async |_, mut next: NextAttempt| {
        let first = next.run().await;
        assert_eq!(first.error().map(ToolError::code), Some(ErrorCode::ToolTimeout));
        Ok(next.run().await)
    });
    let begun = Instant::now();
    let result = call(&registry, "slow").await;
    let message = "the tool took longer than its timeout of 1.5s";
    assert_eq!(failure(&result), (ErrorCode::ToolTimeout, message));
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    assert_eq!(log.lines(), ["made", "told", "made", "told"]);
}

#[tokio::test(start_paused = true)]
async fn pl_11_a_body_that_ignores_its_timeout_is_dropped_after_the_grace() {
    let log = Log::default();
    let notes = log.clone();
    let tool = echo("deaf").timeout(Duration::from_secs(1)).body(move |_, context: ToolContext| {
        let gone = notes.at_drop("the body is gone");
        async move {
            let _gone = gone;
            context.defer(Context::text("kept"));
            pending().await
        }
    });
    let registry = with([tool]);
    let begun = Instant::now();
    let result = call(&registry, "deaf").await;
    let message = "the tool took longer than its timeout of 1s";
    assert_eq!((failure(&result), texts(&result)), ((ErrorCode::ToolTimeout, message), vec!["kept"]));
    assert_eq!((begun.elapsed(), log.lines()), (Duration::from_secs(6), vec!["the body is gone".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_call_cancelled_before_its_timeout_was_cancelled() {
    let registry = with([echo("deaf").timeout(Duration::from_secs(2)).body(async |_, _| pending().await)]);
    let cancel = CancellationToken::new();
    let call = tokio::spawn(registry.call(CallRequest::new("deaf", "{}", cancel.clone())));
    tokio::time::sleep(Duration::from_secs(1)).await;
    cancel.cancel();
    let begun = Instant::now();
    assert_eq!(failure(&call.await.expect("no panic")), (ErrorCode::Aborted, "the call was cancelled"));
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn cx_05_an_attempt_a_wrapper_lets_go_of_is_stopped_and_awaited() {
    let log = Log::default();
    let registry = with([obedient(&log)]);
    observe(&registry, &log);
    let kept: Arc<Mutex<Option<NextAttempt>>> = Arc::default();
    let keeps = Arc::clone(&kept);
    registry.around(move |_, mut next| {
        let kept = Arc::clone(&keeps);
        async move {
            let mut attempt = Box::pin(async move {
                next.run().await;
                next
            });
            assert!(futures_util::poll!(&mut attempt).is_pending());
            tokio::spawn(async move {
                let next = attempt.await;
                *kept.lock().expect("not poisoned") = Some(next);
            });
            Ok(Attempt::success(value("\"hedged\"")))
        }
    });
    let result = call(&registry, "obedient").await;
    assert_eq!(result.outcome(), Ok(&value("\"hedged\"")));
    assert_eq!(log.lines(), ["begun", "told; the caller's own signal: false", "observed obedient OK"]);
    // What is kept beyond the call runs nothing any more.
    tokio::task::yield_now().await;
    let next = kept.lock().expect("not poisoned").take();
    let late = next.expect("kept").run().await;
    assert_eq!(late.error(), Some(&ToolError::new(ErrorCode::Aborted, "the call was cancelled")));
    assert_eq!(log.lines().len(), 3);
}

#[tokio::test]
async fn a_body_whose_attempt_is_dropped_is_told_to_stop() {
    let signal: Arc<Mutex<Option<CancellationToken>>> = Arc::default();
    let gives = Arc::clone(&signal);
    let registry = with([echo("tool").body(move |_, context: ToolContext| {
        *gives.lock().expect("not poisoned") = Some(context.cancel().clone());
        pending()
    })]);
    let seen = Arc::clone(&signal);
    registry.around(move |_, mut next| {
        let seen = Arc::clone(&seen);
        async move {
            assert!(futures_util::poll!(Box::pin(next.run())).is_pending());
            let told = seen.lock().expect("not poisoned").as_ref().is_some_and(CancellationToken::is_cancelled);
            Ok(Attempt::success(told.into()))
        }
    });
    assert_eq!(call(&registry, "tool").await.outcome(), Ok(&value("true")));
}

#[tokio::test]
async fn pl_11_an_attempt_left_running_takes_nothing_from_the_next_one() {
    // The inner wrapper lets the first attempt run on by itself; the outer one tries again meanwhile.
    let (go_on, over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let attempts = Arc::new(Mutex::new(0));
    let (ends, awaits, counted) = (Arc::clone(&go_on), Arc::clone(&over), Arc::clone(&attempts));
    let registry = with([echo("tool").body(move |_, context: ToolContext| {
        let first = std::mem::replace(&mut *counted.lock().expect("not poisoned"), 1) == 0;
        let (ends, awaits) = (Arc::clone(&ends), Arc::clone(&awaits));
        async move {
            context.defer(Context::text(if first { "first" } else { "second" }));
            if first {
                ends.notified().await;
            } else {
                ends.notify_one();
                awaits.notified().await;
            }
            Ok(value("{}"))
        }
    })]);
    registry.around(async |_, mut next| {
        next.run().await;
        Ok(next.run().await)
    });
    registry.around(move |_, mut next| {
        let (over, attempts) = (Arc::clone(&over), Arc::clone(&attempts));
        async move {
            if *attempts.lock().expect("not poisoned") == 1 {
                return Ok(next.run().await);
            }
            let mut attempt = Box::pin(async move { next.run().await });
            assert!(futures_util::poll!(&mut attempt).is_pending());
            tokio::spawn(async move {
                attempt.await;
                over.notify_one();
            });
            Err("not this one".into())
        }
    });
    assert_eq!(texts(call(&registry, "tool").await.as_ref()), ["second"]);
}
