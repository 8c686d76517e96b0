//! What arguments and values may be: large, shared, deep to a limit, and never changed on the way.

use std::sync::{Arc, Mutex};

use hotcell::execution::{Arguments, CallRequest, ErrorCode, ToolResult};
use hotcell::json::{self, DEPTH_MAX, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry};
use hotcell::tool::{Tool, ToolBuilder};
use tokio_util::sync::CancellationToken;

use crate::tools::{failure, registry, value};

fn same(name: &str) -> ToolBuilder {
    Tool::builder(name).parameters("true").output("true").body(async |arguments, _| Ok(Value::clone(&arguments)))
}

async fn call(registry: &Registry, name: &str, arguments: impl Into<Arguments>) -> Arc<ToolResult> {
    registry.call(CallRequest::new(name, arguments, CancellationToken::new())).await
}

/// `[[…]]`, so many levels deep.
fn deep(levels: usize) -> Value {
    let mut value = Value::from(Vec::new());
    for _ in 1..levels {
        value = Value::from(vec![value]);
    }
    value
}

const LOSSY: &str = "the arguments are not JSON that can be taken without loss: ";

#[tokio::test]
async fn ten_megabytes_pass_as_text_and_as_a_value() {
    let registry = registry(Mode::Native);
    registry.register(same("tool")).expect("valid").keep();
    let long = Value::from("x".repeat(10 << 20));
    let text = json::encode(&long);
    assert_eq!(text.len(), (10 << 20) + 2);
    for arguments in
        [Arguments::from(text), Arguments::from(long.clone()), Arguments::from(Arc::new(long.clone()))]
    {
        let result = call(&registry, "tool", arguments).await;
        assert!(result.value() == Some(&long));
    }
    // What is wrong at the end of a long text is found there.
    let text = format!("[{:?}, tru]", "x".repeat(10 << 20));
    let result = call(&registry, "tool", text).await;
    assert_eq!(result.code(), Some(ErrorCode::InvalidArgs));
    let found = format!("{LOSSY}expected a value, found \"t\" at $[1] (byte {})", (10 << 20) + 5);
    assert_eq!(failure(&result).1, found);
}

#[tokio::test]
async fn rg_08_numbers_and_the_order_of_keys_pass_unchanged() {
    let registry = registry(Mode::Native);
    registry.register(same("tool")).expect("valid").keep();
    let text = r#"{"z":1,"a":1.0,"m":-0.0,"big":123456789012345678901234567890,"tiny":5e-324,"é":"\ud83d\ude00"}"#;
    let result = call(&registry, "tool", text).await;
    let shown = result.value().map(json::encode);
    let expected = r#"{"z":1,"a":1.0,"m":-0.0,"big":123456789012345678901234567890,"tiny":5e-324,"é":"😀"}"#;
    assert_eq!(shown.as_deref(), Some(expected));
}

#[tokio::test]
async fn pl_07_shared_arguments_are_taken_as_they_are() {
    let registry = registry(Mode::Native);
    let seen: Arc<Mutex<Vec<Arc<Value>>>> = Arc::default();
    let body = Arc::clone(&seen);
    let tool = same("tool").body(move |arguments, _| {
        body.lock().expect("not poisoned").push(arguments);
        async { Ok(value("null")) }
    });
    registry.register(tool).expect("valid").keep();
    let listener = Arc::clone(&seen);
    registry.on_pre_execute(move |call, next| {
        listener.lock().expect("not poisoned").extend(call.arguments().cloned());
        async { Ok(next.run().await) }
    });
    let shared = Arc::new(value(r#"{"a": 1}"#));
    call(&registry, "tool", Arc::clone(&shared)).await;
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|seen| Arc::ptr_eq(seen, &shared)));
}

#[tokio::test]
async fn rg_09_arguments_may_be_512_levels_deep_and_no_deeper() {
    assert_eq!(DEPTH_MAX, 512);
    // No tool has this name, so that the depth is all that is looked at.
    let registry = registry(Mode::Native);
    let unknown = (ErrorCode::UnknownTool, "unknown tool `absent`");
    let at = |levels: usize| {
        [Arguments::from(json::encode(&deep(levels))), deep(levels).into(), Arc::new(deep(levels)).into()]
    };
    for arguments in at(512) {
        assert_eq!(failure(call(&registry, "absent", arguments).await.as_ref()), unknown);
    }
    let path = format!("${}…{}", "[0]".repeat(32), "[0]".repeat(32));
    for levels in [513, 100_000] {
        for (arguments, byte) in at(levels).into_iter().zip([" (byte 512)", "", ""]) {
            let message = format!("{LOSSY}nesting deeper than 512 levels at {path}{byte}");
            let result = call(&registry, "absent", arguments).await;
            assert_eq!(failure(&result), (ErrorCode::InvalidArgs, &*message), "{levels}");
        }
    }
}

#[tokio::test]
async fn rg_09_a_value_deeper_than_512_levels_is_refused() {
    let registry = registry(Mode::Native);
    for levels in [513, 100_000] {
        let name = format!("deep{levels}");
        let tool = same(&name).body(move |_, _| async move { Ok(deep(levels)) });
        registry.register(tool).expect("valid").keep();
        let result = call(&registry, &name, "null").await;
        let path = format!("${}…{}", "[0]".repeat(32), "[0]".repeat(32));
        let message = format!(
            "the tool `{name}` returned a value that cannot be taken without loss: nesting deeper than 512 levels at {path}"
        );
        assert_eq!(failure(&result), (ErrorCode::InvalidToolOutput, &*message));
    }
}

#[tokio::test]
async fn arguments_may_need_the_host_memory_of_the_limit_and_not_a_byte_more() {
    // One below and one above what is looked through on the blocking pool.
    for items in [2_000, 20_000] {
        let text = format!("[{}]", vec!["\"some text\""; items].join(","));
        let (decoded, cost) = json::decode_bounded(&text, usize::MAX).expect("valid");
        let decoded = Arc::new(decoded);
        for (room, fits) in [(cost, true), (cost - 1, false)] {
            let room = u64::try_from(room).expect("small");
            let limits = Limits::default().with(Limit::HostMemory, room).expect("allowed");
            let registry = Registry::builder().limits(limits).build().expect("valid");
            registry.register(same("tool")).expect("valid").keep();
            for arguments in [Arguments::from(text.as_str()), Arguments::from(Arc::clone(&decoded))] {
                let result = call(&registry, "tool", arguments).await;
                if fits {
                    assert!(result.value() == Some(&*decoded));
                    continue;
                }
                let message = format!(
                    "the arguments need more than the {} of host memory that the limit `host-memory` allows",
                    Limit::HostMemory.display(room)
                );
                assert_eq!(failure(&result), (ErrorCode::InvalidArgs, &*message));
            }
        }
    }
}

/// Gives a test to a runtime with one blocking thread, and to the test what holds that thread until it is dropped.
fn with_one_blocking_thread<F: Future>(test: impl FnOnce(std::sync::mpsc::Sender<()>) -> F) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().max_blocking_threads(1).build().expect("a runtime");
    let (hold, held) = std::sync::mpsc::channel();
    runtime.spawn_blocking(move || held.recv());
    runtime.block_on(test(hold));
}

#[test]
fn a_large_value_does_not_hold_the_callers_thread() {
    with_one_blocking_thread(large_values);
}

async fn large_values(hold: std::sync::mpsc::Sender<()>) {
    let registry = registry(Mode::Native);
    let large = |inner: Value| Value::from(vec![Value::from("x".repeat(300_000)), inner]);
    let tool = same("tool").body(move |_, _| async move { Ok(large(deep(512))) });
    registry.register(tool).expect("valid").keep();
    // No tool has the name `absent`, so that nothing is validated.
    let mut absent = Box::pin(call(&registry, "absent", large(deep(510))));
    let mut too_deep = Box::pin(call(&registry, "absent", large(deep(512))));
    // Nor does what a tool gives, which is seen to be too deep before it is validated.
    let mut given = Box::pin(call(&registry, "tool", Value::Null));
    for waits in [&mut absent, &mut too_deep, &mut given] {
        assert!(futures_util::poll!(waits.as_mut()).is_pending());
    }
    drop(hold);
    assert_eq!(failure(&*absent.await), (ErrorCode::UnknownTool, "unknown tool `absent`"));
    let path = format!("$[1]{}…{}", "[0]".repeat(31), "[0]".repeat(32));
    let message = format!("{LOSSY}nesting deeper than 512 levels at {path}");
    assert_eq!(failure(&*too_deep.await), (ErrorCode::InvalidArgs, &*message));
    assert_eq!(given.await.code(), Some(ErrorCode::InvalidToolOutput));
    // A small one is looked through at once.
    assert!(futures_util::poll!(Box::pin(call(&registry, "absent", deep(512)))).is_ready());
}

#[tokio::test]
async fn pl_07_lossy_arguments_say_where() {
    let registry = registry(Mode::Native);
    registry.register(same("tool")).expect("valid").keep();
    let cases = [
        (r#"{"a": [1, {"b": 1, "b": 2}]}"#, "duplicate key at $.a[1].b (byte 19)"),
        (r#"["\ud800"]"#, "lone surrogate \\ud800 at $[0] (byte 2)"),
        ("[1e400]", "float 1e400 is beyond 1.7976931348623157e308, the largest binary64 at $[0] (byte 1)"),
        ("", "expected a value, found the end of the text at $ (byte 0)"),
    ];
    let mut messages = Vec::new();
    for (text, _) in cases {
        let result = call(&registry, "tool", text).await;
        assert_eq!(result.code(), Some(ErrorCode::InvalidArgs));
        messages.push(failure(&result).1.replace(LOSSY, ""));
    }
    assert_eq!(messages, cases.map(|(_, expected)| expected.to_owned()));
}

#[tokio::test]
async fn a_schema_that_makes_long_work_of_a_small_value_does_not_hold_the_caller_s_thread() {
    let mut definitions = String::new();
    for number in 0..60 {
        let next = format!(r##"{{"$ref":"#/$defs/{}"}}"##, number + 1);
        definitions.push_str(&format!(r#""{number}":{{"allOf":[{next},{next}]}},"#));
    }
    let schema = format!(r##"{{"$defs":{{{definitions}"60":{{"type":"object"}}}},"$ref":"#/$defs/0"}}"##);
    let registry = registry(Mode::Native);
    registry.register(same("slow").parameters(schema)).expect("it compiles").keep();
    let mut call = Box::pin(registry.call(CallRequest::new("slow", "{}", CancellationToken::new())));
    assert!(futures_util::poll!(&mut call).is_pending());
    let message = "the arguments of `slow` are not valid:\n$: checking takes more than 4000032 steps";
    assert_eq!(failure(&*call.await), (ErrorCode::InvalidArgs, message));
}
