//! Which outcome passes which stage: the table of the pipeline, a row at a time.

use std::sync::Arc;

use hotcell::execution::{ErrorCode, ToolError};
use hotcell::registry::Mode;
use hotcell::tool::Schema;

use super::platform::{Act, GOOD, OUTPUT, PARAMETERS, Platform, Script};
use crate::tools::value;

/// Makes the call, and checks what saw it and how it ended. Observers see what the caller gets.
async fn ends(mode: Mode, script: Script, trace: &str, code: ErrorCode, message: &str) {
    let platform = Platform::new(mode, script);
    let result = platform.call().await;
    let error = result.error().expect("a failure");
    assert_eq!((error.code(), error.message()), (code, message));
    assert_eq!(result.content()[0].as_text(), Some(&*format!("Error: {message}")));
    assert_eq!(result.content().len(), 1);
    assert_eq!(platform.trace(), trace);
    let seen = platform.seen(script.name).pop().and_then(|seen| seen.result).expect("the observer came last");
    assert!(Arc::ptr_eq(&seen, &result));
}

async fn native(script: Script, trace: &str, code: ErrorCode, message: &str) {
    ends(Mode::Native, script, trace, code, message).await;
}

const ABORTED: &str = "the call was cancelled";
const NOT_BEGUN: &str = "the call was cancelled before it was dispatched";

#[tokio::test]
async fn pl_table_success() {
    let platform = Platform::new(Mode::Native, GOOD);
    let result = platform.call().await;
    assert_eq!(result.outcome(), Ok(&value(r#"{"a": 1}"#)));
    assert_eq!(result.content()[0].as_text(), Some(r#"rendered {"a":1}"#));
    assert_eq!(platform.trace(), "listener guard around body post finalizer observer");
    let asked = Platform::new(Mode::Native, Script { listener: Act::Ask, ..GOOD });
    assert_eq!(asked.call().await.outcome(), Ok(&value(r#"{"a": 1}"#)));
    assert_eq!(asked.trace(), "listener approval guard around body post finalizer observer");
}

#[tokio::test]
async fn pl_table_failure_of_the_body() {
    let trace = "listener guard around body post finalizer observer";
    native(Script { body: Act::Fail, ..GOOD }, trace, ErrorCode::ToolFailed, "the body says no").await;
    let panicked = "internal error: the body panicked";
    native(Script { body: Act::Panic, ..GOOD }, trace, ErrorCode::Internal, panicked).await;
    let panicked = "internal error: the renderer panicked";
    native(Script { render: Act::Panic, ..GOOD }, trace, ErrorCode::Internal, panicked).await;
}

#[tokio::test]
async fn rg_06_the_value_breaks_the_tools_schema() {
    let violations = Schema::compile(value(OUTPUT)).expect("valid").validate(&value("[]")).expect_err("no object");
    let message = format!("the tool `tool` returned a value that its own schema does not allow:\n{violations}");
    let trace = "listener guard around body post finalizer observer";
    native(Script { body: Act::AuthorWrongly, ..GOOD }, trace, ErrorCode::InvalidToolOutput, &message).await;
}

#[tokio::test]
async fn pl_table_unknown_tool() {
    // There is no tool, so there is no wrapper and no finalizer.
    let trace = "listener guard post observer";
    for mode in [Mode::Native, Mode::Code, Mode::Both] {
        let script = Script { name: "absent", ..GOOD };
        ends(mode, script, trace, ErrorCode::UnknownTool, "unknown tool `absent`").await;
    }
}

#[tokio::test]
async fn pl_table_denied_by_a_listener() {
    let message = "the call of `tool` was denied: by a listener";
    let script = Script { listener: Act::No, ..GOOD };
    native(script, "listener post finalizer observer", ErrorCode::Denied, message).await;
}

#[tokio::test]
async fn pl_table_denied_by_an_approval() {
    let message = "the call of `tool` was denied: a person said no: never";
    let script = Script { listener: Act::Ask, approval: Act::No, ..GOOD };
    native(script, "listener approval post finalizer observer", ErrorCode::Denied, message).await;
}

#[tokio::test]
async fn pl_table_denied_by_a_guard() {
    let message = "the call of `tool` was denied: by a guard";
    let script = Script { guard: Act::No, ..GOOD };
    native(script, "listener guard post finalizer observer", ErrorCode::Denied, message).await;
}

#[tokio::test]
async fn pl_table_cancelled_during_a_listener() {
    let code = ErrorCode::AbortedBeforeDispatch;
    for listener in [Act::Cancel, Act::Hang] {
        native(Script { listener, ..GOOD }, "listener post finalizer observer", code, NOT_BEGUN).await;
    }
}

#[tokio::test]
async fn pl_table_cancelled_during_an_approval() {
    let code = ErrorCode::AbortedBeforeDispatch;
    let trace = "listener approval post finalizer observer";
    for approval in [Act::Cancel, Act::Hang] {
        native(Script { listener: Act::Ask, approval, ..GOOD }, trace, code, NOT_BEGUN).await;
    }
}

#[tokio::test]
async fn pl_table_cancelled_during_a_guard() {
    let script = Script { guard: Act::Cancel, ..GOOD };
    let trace = "listener guard post finalizer observer";
    native(script, trace, ErrorCode::AbortedBeforeDispatch, NOT_BEGUN).await;
}

#[tokio::test]
async fn pl_table_a_listener_that_fails_or_panics() {
    let trace = "listener finalizer observer";
    let failed = "a pre-execute listener failed: the listener broke";
    native(Script { listener: Act::Fail, ..GOOD }, trace, ErrorCode::PolicyFailed, failed).await;
    let panicked = "internal error: a pre-execute listener panicked";
    native(Script { listener: Act::Panic, ..GOOD }, trace, ErrorCode::Internal, panicked).await;
}

#[tokio::test]
async fn pl_table_an_approval_service_that_panics() {
    let script = Script { listener: Act::Ask, approval: Act::Panic, ..GOOD };
    let panicked = "internal error: the approval service panicked";
    native(script, "listener approval finalizer observer", ErrorCode::Internal, panicked).await;
}

#[tokio::test]
async fn pl_table_a_guard_that_panics_denies() {
    let message = "the call of `tool` was denied: a guard panicked";
    let script = Script { guard: Act::Panic, ..GOOD };
    native(script, "listener guard finalizer observer", ErrorCode::Denied, message).await;
}

#[tokio::test]
async fn pl_table_a_wrapper_that_fails_or_panics() {
    let trace = "listener guard around finalizer observer";
    let failed = "an around wrapper failed: the wrapper broke";
    native(Script { around: Act::Fail, ..GOOD }, trace, ErrorCode::PolicyFailed, failed).await;
    let panicked = "internal error: an around wrapper panicked";
    native(Script { around: Act::Panic, ..GOOD }, trace, ErrorCode::Internal, panicked).await;
}

#[tokio::test]
async fn pl_table_lossy_arguments() {
    let message = "the arguments are not JSON that can be taken without loss: duplicate key at $.a (byte 9)";
    let script = Script { arguments: r#"{"a": 1, "a": 2}"#, ..GOOD };
    native(script, "finalizer observer", ErrorCode::InvalidArgs, message).await;
    // Before the abort and before the collapse.
    native(Script { cancelled: true, ..script }, "finalizer observer", ErrorCode::InvalidArgs, message).await;
    ends(Mode::Code, script, "finalizer observer", ErrorCode::InvalidArgs, message).await;
}

#[tokio::test]
async fn pl_table_invalid_arguments() {
    let schema = Schema::compile(value(PARAMETERS)).expect("valid");
    let violations = schema.validate(&value(r#"{"a": "x"}"#)).expect_err("a string");
    let message = format!("the arguments of `tool` are not valid:\n{violations}");
    let script = Script { arguments: r#"{"a": "x"}"#, ..GOOD };
    native(script, "finalizer observer", ErrorCode::InvalidArgs, &message).await;
}

#[tokio::test]
async fn pl_table_cancelled_before_it_began() {
    let code = ErrorCode::AbortedBeforeDispatch;
    let script = Script { cancelled: true, ..GOOD };
    for mode in [Mode::Native, Mode::Code, Mode::Both] {
        ends(mode, script, "finalizer observer", code, NOT_BEGUN).await;
    }
    // Before invalid arguments.
    native(Script { arguments: r#"{"a": "x"}"#, ..script }, "finalizer observer", code, NOT_BEGUN).await;
}

#[tokio::test]
async fn pl_table_collapsed() {
    let message = "`tool` cannot be called directly; only `run_code` can. Call it from inside a program that you pass \
                   to `run_code`, for example: return await tools[\"tool\"]({ … })";
    ends(Mode::Code, GOOD, "observer", ErrorCode::UnknownTool, message).await;
    // Before invalid arguments.
    let script = Script { arguments: r#"{"a": "x"}"#, ..GOOD };
    ends(Mode::Code, script, "observer", ErrorCode::UnknownTool, message).await;
}

#[tokio::test(start_paused = true)]
async fn pl_table_cancelled_during_the_body() {
    let trace = "listener guard around body post finalizer observer";
    for body in [Act::Cancel, Act::Hang] {
        native(Script { body, ..GOOD }, trace, ErrorCode::Aborted, ABORTED).await;
    }
    let script = Script { body: Act::CancelAndFail, ..GOOD };
    native(script, trace, ErrorCode::ToolFailed, "the body says no").await;
}

#[tokio::test]
async fn pl_table_a_post_execute_listener_that_blocks_fails_or_panics() {
    let trace = "listener guard around body post finalizer observer";
    native(Script { post: Act::No, ..GOOD }, trace, ErrorCode::Blocked, "withheld").await;
    let failed = "a post-execute listener failed: the listener broke";
    native(Script { post: Act::Fail, ..GOOD }, trace, ErrorCode::PolicyFailed, failed).await;
    let panicked = "internal error: a post-execute listener panicked";
    native(Script { post: Act::Panic, ..GOOD }, trace, ErrorCode::Internal, panicked).await;
}

#[tokio::test]
async fn pl_13_a_finalizer_that_panics_is_not_run_again() {
    let trace = "listener guard around body post finalizer observer";
    let panicked = "internal error: the finalizer panicked";
    native(Script { finalizer: Act::Panic, ..GOOD }, trace, ErrorCode::Internal, panicked).await;
    // Its failure is the result, whatever the result was before.
    let script = Script { finalizer: Act::Panic, body: Act::Fail, ..GOOD };
    native(script, trace, ErrorCode::Internal, panicked).await;
}

#[tokio::test]
async fn pl_14_an_observer_that_panics_changes_nothing() {
    let platform = Platform::new(Mode::Native, Script { observer: Act::Panic, ..GOOD });
    assert_eq!(platform.call().await.outcome(), Ok(&value(r#"{"a": 1}"#)));
    assert_eq!(platform.trace(), "listener guard around body post finalizer observer");
}

#[test]
fn pl_16_the_codes_are_a_closed_table() {
    let codes = [
        (ErrorCode::UnknownTool, "UNKNOWN_TOOL"),
        (ErrorCode::InvalidArgs, "INVALID_ARGS"),
        (ErrorCode::InvalidToolOutput, "INVALID_TOOL_OUTPUT"),
        (ErrorCode::Denied, "DENIED"),
        (ErrorCode::Blocked, "BLOCKED"),
        (ErrorCode::ToolFailed, "TOOL_FAILED"),
        (ErrorCode::ToolTimeout, "TOOL_TIMEOUT"),
        (ErrorCode::Aborted, "ABORTED"),
        (ErrorCode::AbortedBeforeDispatch, "ABORTED_BEFORE_DISPATCH"),
        (ErrorCode::PolicyFailed, "POLICY_FAILED"),
        (ErrorCode::CodeRunFailed, "CODE_RUN_FAILED"),
        (ErrorCode::LanguageMismatch, "LANGUAGE_MISMATCH"),
        (ErrorCode::Internal, "INTERNAL"),
    ];
    for (code, name) in codes {
        assert_eq!((code.as_str(), &*code.to_string()), (name, name));
    }
    assert_eq!(ToolError::new(ErrorCode::Denied, "no").to_string(), "DENIED: no");
}
