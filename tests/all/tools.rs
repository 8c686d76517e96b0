//! Tools and registries for tests, a `run_code` that needs no guest among them.

use std::sync::Arc;

use hotcell::execution::{CallRequest, ErrorCode, ToolResult};
use hotcell::json::{self, Value};
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::tool::{BodyError, Tool, ToolBuilder};
use tokio_util::sync::CancellationToken;

/// JSON, as a value.
pub fn value(text: &str) -> Value {
    json::decode(text).expect("valid JSON")
}

/// A tool that takes any object and gives its arguments back. Overlaps others.
pub fn echo(name: &str) -> ToolBuilder {
    Tool::builder(name)
        .description("Gives its arguments back.")
        .parameters(r#"{"type": "object"}"#)
        .output("true")
        .concurrency_safe(|_| true)
        .body(async |arguments, _| Ok(Value::clone(&arguments)))
}

/// A transport that runs no code: its arguments are `{"calls": [{"name": …, "arguments": …}]}`, which it makes one after
/// another. Its value is what each of them came to: a value, or `{"error": code}`.
pub fn run_code() -> Tool {
    Tool::builder("run_code")
        .parameters(r#"{"type": "object", "required": ["calls"]}"#)
        .output(r#"{"type": "array"}"#)
        .body(async |arguments, context| {
            let mut results = Vec::new();
            for call in arguments.get("calls").and_then(Value::as_array).into_iter().flatten() {
                let name = call.get("name").and_then(Value::as_str).ok_or(BodyError::new("a call has no name"))?;
                let arguments = call.get("arguments").cloned().unwrap_or(value("{}"));
                let result = context.invoke(name, arguments).await;
                results.push(match result.outcome() {
                    Ok(value) => value.clone(),
                    Err(error) => value(&format!(r#"{{"error": "{}"}}"#, error.code())),
                });
            }
            Ok(Value::from(results))
        })
        .build()
        .expect("a valid tool")
}

/// A registry whose programs are run by [`run_code`].
pub fn registry(mode: Mode) -> Registry {
    Registry::builder().mode(mode).transport("javascript", run_code()).build().expect("a valid registry")
}

/// A call that nobody cancels.
pub async fn call(scope: &Scope, name: &str, arguments: &str) -> Arc<ToolResult> {
    scope.call(CallRequest::new(name, arguments, CancellationToken::new())).await
}

/// The one call of a program: the value it came to, or `{"error": code}`.
pub async fn call_in_program(scope: &Scope, name: &str, arguments: &str) -> Value {
    let calls =
        format!(r#"{{"calls": [{{"name": {}, "arguments": {arguments}}}]}}"#, json::encode(&Value::from(name)));
    let result = call(scope, "run_code", &calls).await;
    let results = result.value().and_then(Value::as_array).expect("the program ends well");
    results[0].clone()
}

/// The code and the message of a failure.
pub fn failure(result: &ToolResult) -> (ErrorCode, &str) {
    let error = result.error().expect("a failure");
    (error.code(), error.message())
}
