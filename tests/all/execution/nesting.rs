//! Nested calls: who waits for whom, and how deep they go.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::execution::{ErrorCode, PostDecision, ToolContext, spans};
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry};
use hotcell::tool::{BodyError, Tool};
use tokio::sync::Notify;

use super::log::{Log, observe, request};
use crate::tools::{echo, failure, registry, value};

/// A tool that says when it begins and ends only when it is cancelled.
fn endless(log: &Log, begun: &Arc<Notify>) -> hotcell::tool::ToolBuilder {
    let (log, begun) = (log.clone(), Arc::clone(begun));
    Tool::builder("endless").parameters("true").output("true").body(move |_, context| {
        let (log, begun) = (log.clone(), Arc::clone(&begun));
        async move {
            begun.notify_one();
            context.cancel().cancelled().await;
            // It takes its time, and is waited for.
            tokio::task::yield_now().await;
            log.note("endless stops");
            Err(BodyError::new("stopped"))
        }
    })
}

#[tokio::test]
async fn pl_03_calls_a_body_leaves_running_are_cancelled_and_awaited() {
    let registry = registry(Mode::Both);
    let (log, begun) = (Log::default(), Arc::new(Notify::new()));
    registry.register(endless(&log, &begun)).expect("valid").keep();
    observe(&registry, &log);
    let notes = log.clone();
    registry.on_post_execute(move |call, _, _| {
        notes.note(format!("post {}", call.name()));
        async { Ok(PostDecision::accept()) }
    });
    let notes = log.clone();
    let body = move |_, context: ToolContext| {
        let (begun, notes) = (Arc::clone(&begun), notes.clone());
        async move {
            tokio::spawn(context.invoke("endless", "{}"));
            begun.notified().await;
            notes.note("outer settles");
            Ok(value("null"))
        }
    };
    let outer = Tool::builder("outer").parameters("true").output("true").body(body);
    registry.register(outer).expect("valid").keep();
    let result = registry.call(request("outer", "{}")).await;
    assert_eq!(result.outcome(), Ok(&value("null")));
    let expected = [
        "outer settles",
        "endless stops",
        "post endless",
        "observed endless TOOL_FAILED",
        "post outer",
        "observed outer OK",
    ];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn pl_03_a_call_that_was_nested_when_it_was_created_stays_nested() {
    let waits = Arc::new(Notify::new());
    let begun = Arc::clone(&waits);
    let program =
        Tool::builder("run_code").parameters("true").output("true").body(move |_, context: ToolContext| {
            let begun = Arc::clone(&begun);
            async move {
                tokio::spawn(context.invoke("inner", "{}"));
                begun.notified().await;
                Ok(value("null"))
            }
        });
    let program = program.build().expect("valid");
    let registry = Registry::builder().mode(Mode::Code).transport("javascript", program).build().expect("valid");
    let log = Log::default();
    let notes = log.clone();
    // Goes on when its parent is dead, and never looks at the cancellation.
    let inner = Tool::builder("inner").parameters("true").output("true").body(move |_, context| {
        let (notes, waits) = (notes.clone(), Arc::clone(&waits));
        async move {
            waits.notify_one();
            context.cancel().cancelled().await;
            notes.note(format!("inner {} {:?}", context.call().is_nested(), context.call().nesting()));
            Ok(value("null"))
        }
    });
    registry.register(inner).expect("valid").keep();
    let notes = log.clone();
    registry.on_result(move |call, result| {
        notes.note(format!("{} {} {:?}", call.name(), call.is_nested(), result.code().map(ErrorCode::as_str)));
    });
    registry.call(request("run_code", "{}")).await;
    let expected =
        ["inner true Nested { in_program: true }", "inner true Some(\"ABORTED\")", "run_code false None"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_keeps_next_for_itself_holds_nobody_up() {
    let registry = registry(Mode::Both);
    registry.register(echo("inner")).expect("valid").keep();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&kept);
    registry.on_pre_execute(move |_, next| {
        keeps.lock().expect("not poisoned").push(next);
        async { Ok(hotcell::execution::Decision::Allow) }
    });
    let outer = Tool::builder("outer").parameters("true").output("true").body(async |_, context| {
        context.invoke("inner", "{}").await;
        Ok(value("null"))
    });
    registry.register(outer).expect("valid").keep();
    let call = registry.call(request("outer", "{}"));
    let result = tokio::time::timeout(Duration::from_secs(60), call).await.expect("it returns");
    assert_eq!(result.outcome(), Ok(&value("null")));
    assert_eq!(kept.lock().expect("not poisoned").len(), 2);
}

/// A tool that calls itself `n` times, one inside of the other, and gives the deepest value.
fn deep() -> hotcell::tool::ToolBuilder {
    Tool::builder("deep").parameters("true").output("true").body(async |arguments, context| {
        let levels = arguments.get("levels").and_then(Value::as_u64).ok_or(BodyError::new("how deep?"))?;
        if levels == 1 {
            return Ok(value("\"the bottom\""));
        }
        let result = context.invoke("deep", format!(r#"{{"levels": {}}}"#, levels - 1)).await;
        Ok(result.outcome().map_or_else(|error| error.to_string().into(), Clone::clone))
    })
}

/// Runs on a stack of 2 MiB, whatever the test harness gives.
fn on_a_small_stack(work: impl Future<Output = ()> + Send + 'static) {
    let run = move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread").join().expect("no panic");
}

#[test]
fn calls_nest_sixteen_levels_deep_and_no_deeper() {
    assert_eq!(hotcell::execution::NESTING_DEPTH_MAX, 16);
    on_a_small_stack(async {
        let registry = Registry::new();
        registry.register(deep()).expect("valid").keep();
        // Everything that adds to the stack.
        for _ in 0..3 {
            registry.around(spans);
            registry.on_pre_execute(async |_, next| Ok(next.run().await));
            registry.on_post_execute(async |_, _, next| Ok(next.run().await));
        }
        let denied = "\"DENIED: the call of `deep` was denied: calls nest deeper than 16 levels\"";
        for (levels, expected) in [(15, "\"the bottom\""), (16, "\"the bottom\""), (17, denied), (100, denied)] {
            let result = registry.call(request("deep", &format!(r#"{{"levels": {levels}}}"#))).await;
            assert_eq!(result.outcome(), Ok(&value(expected)), "{levels}");
        }
    });
}

#[tokio::test]
async fn pl_03_a_call_under_a_dead_parent_is_collapsed_again() {
    let registry = registry(Mode::Code);
    registry.register(echo("inner")).expect("valid").keep();
    let leaked: Arc<Mutex<Option<ToolContext>>> = Arc::default();
    let leaks = Arc::clone(&leaked);
    let outer = Tool::builder("outer").parameters("true").output("true").body(move |_, context| {
        *leaks.lock().expect("not poisoned") = Some(context);
        async { Ok(value("null")) }
    });
    registry.register(outer).expect("valid").keep();
    registry.call(request("run_code", r#"{"calls": [{"name": "outer"}]}"#)).await;
    let context = leaked.lock().expect("not poisoned").take().expect("the body ran");
    let result = registry.call(request("inner", "{}").with_parent(context.token())).await;
    assert_eq!(result.code(), Some(ErrorCode::UnknownTool));
    // Its own signal is cancelled with its body, which is seen before the collapse.
    let result = context.invoke("inner", "{}").await;
    let message = "the call was cancelled before it was dispatched";
    assert_eq!(failure(&result), (ErrorCode::AbortedBeforeDispatch, message));
}

/// Lends a token to many calls on other threads just as its body settles.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pl_03_no_nested_call_outlives_its_parent_whoever_is_faster() {
    let registry = registry(Mode::Both);
    registry.register(echo("inner")).expect("valid").keep();
    let log = Log::default();
    let notes = log.clone();
    registry.on_result(move |call, _| match (call.name(), call.is_nested()) {
        ("inner", true) => notes.note("nested"),
        ("inner", false) => notes.note("direct"),
        _ => notes.note("outer"),
    });
    let (lends, mut lent) = tokio::sync::mpsc::unbounded_channel();
    let outer = Tool::builder("outer").parameters("true").output("true").body(move |_, context: ToolContext| {
        lends.send(context.token().clone()).expect("somebody listens");
        async { Ok(value("null")) }
    });
    registry.register(outer).expect("valid").keep();
    for _ in 0..200 {
        let call = tokio::spawn(registry.call(request("outer", "{}")));
        let token = lent.recv().await.expect("the body runs");
        let inner = |_| tokio::spawn(registry.call(request("inner", "{}").with_parent(&token)));
        let calls: Vec<_> = (0..4).map(inner).collect();
        for call in calls.into_iter().chain([call]) {
            call.await.expect("no panic");
        }
    }
    for round in log.lines().chunks(5) {
        let outer = round.iter().position(|line| line == "outer").expect("one of each round");
        assert!(!round[outer..].contains(&"nested".to_owned()), "{round:?}");
        assert_eq!(round.len(), 5);
    }
}

#[test]
fn a_listener_that_makes_nested_calls_comes_to_an_end() {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let registry = Registry::new();
            let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let counted = Arc::clone(&asked);
            registry.on_pre_execute(move |call, next| {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                async move {
                    let again = hotcell::execution::CallRequest::new("absent", "{}", call.cancel().clone());
                    call.scope().call(again.with_parent(call.token())).await;
                    Ok(next.run().await)
                }
            });
            crate::tools::call(&registry, "absent", "{}").await;
            assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), hotcell::execution::NESTING_DEPTH_MAX);
        });
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("it comes to an end");
}
