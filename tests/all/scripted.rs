//! What stands on a session alone: the runtime whose programs are Rust closures.

use std::sync::Arc;

use hotcell::ErrorKind;
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::runtime::{
    Bindings, CallState, CodeRuntime as _, FailureKind, RunOutcome, RunRequest, Script, ScriptedRuntime,
};
use tokio_util::sync::CancellationToken;

fn echo() -> Bindings {
    Bindings::new().tool("echo", |arguments| async move { Ok(arguments) })
}

async fn run(runtime: &ScriptedRuntime, tools: Bindings, limits: Limits) -> RunOutcome {
    let tools = tools.into_namespace("tools").expect("a good name");
    let mut request = RunRequest::new("the program", vec![tools], CancellationToken::new());
    request.limits = limits;
    runtime.run(request).await.expect("the host is well")
}

fn states(outcome: &RunOutcome) -> Vec<CallState> {
    outcome.calls.iter().map(|call| call.state).collect()
}

#[tokio::test]
async fn a_script_calls_tools_and_logs() {
    let runtime = ScriptedRuntime::new(|script: Script| async move {
        script.log(script.program())?;
        let answer = script.call("echo", &Value::from(7)).await.map_err(|error| error.to_string())?;
        let unknown = script.call("ecko", &Value::from(7)).await.expect_err("there is no such tool");
        script.log(unknown.message())?;
        Ok(Some(answer))
    });
    let outcome = run(&runtime, echo(), Limits::default()).await;
    assert_eq!(outcome.result, Ok(Some(Value::from(7))));
    assert_eq!(outcome.logs, ["the program", "unknown tool `ecko`; did you mean `echo`?"]);
    assert_eq!(states(&outcome), [CallState::Done, CallState::Failed]);
}

#[tokio::test]
async fn cm_16_calls_that_never_started_say_so() {
    let untouched = Bindings::new().tool_with_call("tool", |_| async { panic!("it is not started") });
    let runtime = ScriptedRuntime::new(|script: Script| async move {
        script.submit("tool", &Value::Null)?;
        script.submit("tool", &Value::Null)?;
        Ok(None)
    });
    let outcome = run(&runtime, untouched, Limits::default()).await;
    assert_eq!(outcome.result, Ok(None));
    assert_eq!(states(&outcome), [CallState::NotStarted, CallState::NotStarted]);
}

#[tokio::test]
async fn a_script_that_gives_a_call_up_sees_it_at_once() {
    let never = Bindings::new().tool("never", |_| std::future::pending());
    let runtime = ScriptedRuntime::new(|script: Script| async move {
        let call = script.submit("never", &Value::Null)?;
        script.cancel(call);
        let error = script.wait(call).await.expect_err("it was given up");
        Ok(Some(Value::from(error.message())))
    });
    let outcome = run(&runtime, never, Limits::default()).await;
    assert_eq!(outcome.result, Ok(Some(Value::from("cancelled"))));
    assert_eq!(states(&outcome), [CallState::NotStarted]);
}

#[tokio::test]
async fn outstanding_calls_are_bounded_at_the_limit() {
    let runtime = ScriptedRuntime::new(|script: Script| async move {
        for _ in 0..3 {
            script.submit("echo", &Value::Null)?;
        }
        Ok(script.submit("echo", &Value::Null).err().map(Value::from))
    });
    let outcome =
        run(&runtime, echo(), Limits::default().with(Limit::OutstandingCalls, 3).expect("allowed")).await;
    let message = "more calls are outstanding than the limit `outstanding-calls` of 3 allows; do less in one run, or \
                   raise the limit `outstanding-calls`";
    assert_eq!(outcome.result, Ok(Some(Value::from(message))));
    assert_eq!(outcome.calls.len(), 3);
    let outcome =
        run(&runtime, echo(), Limits::default().with(Limit::OutstandingCalls, 4).expect("allowed")).await;
    assert_eq!(outcome.result, Ok(None));
    assert_eq!(outcome.calls.len(), 4);
}

#[tokio::test]
async fn waiting_for_what_cannot_come_ends_at_once() {
    let runtime = ScriptedRuntime::new(|script: Script| async move {
        script.wait(99).await.map(Some).map_err(|error| error.to_string())
    });
    let outcome = run(&runtime, echo(), Limits::default()).await;
    let failure = outcome.result.expect_err("it fails");
    assert_eq!(failure.kind, FailureKind::Exception);
    assert_eq!(failure.message, "the program awaits something that no pending call can settle");
}

#[tokio::test]
async fn rt_09_shutdown_ends_runs_and_refuses_new_ones() {
    let runtime = Arc::new(ScriptedRuntime::new(|_| std::future::pending()));
    let running = {
        let runtime = Arc::clone(&runtime);
        tokio::spawn(async move { run(&runtime, echo(), Limits::default()).await })
    };
    tokio::task::yield_now().await;
    runtime.shutdown().await;
    let failure = running.await.expect("no panic").result.expect_err("it was ended");
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Abort, "the runtime was shut down"));
    let request = RunRequest::new("", vec![], CancellationToken::new());
    assert_eq!(runtime.run(request).await.expect_err("refused").kind(), ErrorKind::ShutDown);
}

#[tokio::test]
async fn rt_04_names_bound_twice_are_misuse() {
    let runtime = ScriptedRuntime::new(|_| async { Ok(None) });
    let tools = || echo().into_namespace("tools").expect("a good name");
    let request = RunRequest::new("", vec![tools(), tools()], CancellationToken::new());
    let error = runtime.run(request).await.expect_err("misuse");
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Misuse, "the global `tools` is bound twice".to_owned())
    );
}
