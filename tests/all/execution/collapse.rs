//! What a model may call directly is what it was told, and nothing else.

use std::sync::{Arc, Mutex};

use hotcell::execution::{CallRequest, Decision, ErrorCode, Verdict};
use hotcell::registry::{Mode, Registry};
use tokio_util::sync::CancellationToken;

use crate::tools::{call, call_in_program, echo, failure, registry, value};

const COLLAPSED: &str = "`read` cannot be called directly; only `run_code` can. Call it from inside a program that you pass to \
                         `run_code`, for example: return await tools[\"read\"]({ … })";

/// Everything that policy and observers see, in order.
fn watched(registry: &Registry) -> Arc<Mutex<Vec<String>>> {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = |stage: &'static str| {
        let seen = Arc::clone(&seen);
        move |name: &str| seen.lock().expect("not poisoned").push(format!("{stage} {name}"))
    };
    let (listener, guard, observer) = (note("listener"), note("guard"), note("observer"));
    registry.on_pre_execute(move |call, next| {
        listener(call.name());
        async move { Ok(next.run().await) }
    });
    registry.guard(move |call| {
        guard(call.name());
        Verdict::Pass
    });
    registry.on_result(move |call, _| observer(call.name()));
    seen
}

#[tokio::test]
async fn pl_02_a_direct_call_in_code_mode_ends_before_any_policy() {
    let registry = registry(Mode::Code);
    registry.register(echo("read")).expect("valid").keep();
    let seen = watched(&registry);
    let result = call(&registry, "read", r#"{"path": "x"}"#).await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, COLLAPSED));
    assert_eq!(result.content()[0].as_text(), Some(format!("Error: {COLLAPSED}").as_str()));
    assert_eq!(*seen.lock().expect("not poisoned"), ["observer read"]);
}

#[tokio::test]
async fn pl_02_the_example_names_the_tool_or_is_left_out() {
    let registry = registry(Mode::Code);
    for length in [199, 200, 201, 60_000] {
        let name = format!("{}\"", "x".repeat(length - 1));
        registry.register(echo(&name)).expect("valid").keep();
        let result = call(&registry, &name, "{}").await;
        let (_, message) = failure(&result);
        let example = format!("`, for example: return await tools[\"{}\\\"\"]({{ … }})", "x".repeat(length - 1));
        let end = if length > 200 { "a program that you pass to `run_code`" } else { &example };
        assert!(message.ends_with(end), "{message}");
    }
}

#[tokio::test]
async fn pl_03_the_same_tool_is_reached_from_inside_a_program() {
    let registry = registry(Mode::Code);
    registry.register(echo("read")).expect("valid").keep();
    let seen = watched(&registry);
    assert_eq!(call_in_program(&registry, "read", r#"{"path": "x"}"#).await, value(r#"{"path": "x"}"#));
    let expected = [
        "listener run_code", "guard run_code", "listener read", "guard read", "observer read", "observer run_code",
    ];
    assert_eq!(*seen.lock().expect("not poisoned"), expected);
}

#[tokio::test]
async fn pl_02_an_unknown_name_is_seen_by_policy_and_fails_at_dispatch() {
    let registry = registry(Mode::Code);
    let seen = watched(&registry);
    let result = call(&registry, "absent", "{}").await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `absent`"));
    assert_eq!(*seen.lock().expect("not poisoned"), ["listener absent", "guard absent", "observer absent"]);
}

#[tokio::test]
async fn pl_04_both_and_native_are_unaffected() {
    for mode in [Mode::Both, Mode::Native] {
        let registry = registry(mode);
        registry.register(echo("read")).expect("valid").keep();
        assert_eq!(call(&registry, "read", "{}").await.outcome(), Ok(&value("{}")), "{mode:?}");
    }
    let native = registry(Mode::Native);
    let result = call(&native, "run_code", r#"{"calls": []}"#).await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `run_code`"));
}

#[tokio::test]
async fn modes_do_not_leak_between_scopes() {
    let registry = registry(Mode::Native);
    registry.register(echo("read")).expect("valid").keep();
    let (coder, plain) = (registry.child("coder").expect("shallow"), registry.child("plain").expect("shallow"));
    coder.present_as(Mode::Code).expect("the first declaration");
    let below = coder.child("below").expect("shallow");
    for scope in [&coder, &below] {
        assert_eq!(call(scope, "read", "{}").await.code(), Some(ErrorCode::UnknownTool));
        assert_eq!(call_in_program(scope, "read", "{}").await, value("{}"));
    }
    assert_eq!(call(&plain, "read", "{}").await.outcome(), Ok(&value("{}")));
    assert_eq!(call(&registry, "read", "{}").await.outcome(), Ok(&value("{}")));
}

#[tokio::test]
async fn cx_02_a_cancelled_collapsed_call_reports_the_abort_and_is_finalized() {
    let registry = registry(Mode::Code);
    let read = echo("read").finalize_content(|_| Some(vec![hotcell::Content::text("finalized")]));
    registry.register(read).expect("valid").keep();
    let seen = watched(&registry);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let result = registry.call(CallRequest::new("read", "{}", cancelled)).await;
    assert_eq!(result.code(), Some(ErrorCode::AbortedBeforeDispatch));
    assert_eq!(result.content()[0].as_text(), Some("finalized"));
    assert_eq!(*seen.lock().expect("not poisoned"), ["observer read"]);
    // Without the cancellation the finalizer is dropped.
    assert_eq!(call(&registry, "read", "{}").await.content()[0].as_text(), Some(&*format!("Error: {COLLAPSED}")));
}

#[tokio::test]
async fn pl_07_lossy_arguments_win_over_the_collapse_and_over_the_abort() {
    let registry = registry(Mode::Code);
    registry.register(echo("read")).expect("valid").keep();
    let message = "the arguments are not JSON that can be taken without loss: duplicate key at $.a (byte 9)";
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    for cancel in [CancellationToken::new(), cancelled] {
        let result = registry.call(CallRequest::new("read", r#"{"a": 1, "a": 2}"#, cancel)).await;
        assert_eq!(failure(&result), (ErrorCode::InvalidArgs, message));
    }
}

#[tokio::test]
async fn pl_10_a_guard_denies_what_a_listener_allowed() {
    let registry = registry(Mode::Native);
    registry.register(echo("read")).expect("valid").keep();
    registry.on_pre_execute(async |_, _| Ok(Decision::Allow));
    let guard = registry.guard(|_| Verdict::deny("not today"));
    let result = call(&registry, "read", "{}").await;
    assert_eq!(failure(&result), (ErrorCode::Denied, "the call of `read` was denied: not today"));
    guard.remove();
    assert_eq!(call(&registry, "read", "{}").await.outcome(), Ok(&value("{}")));
}
