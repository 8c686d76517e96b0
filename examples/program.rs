//! Runs a model's program with one tool of our own.
//!
//!     cargo run --example program

use hotcell::json::Value;
use hotcell::runtime::{Bindings, CallError, CodeRuntime as _, RunRequest};
use hotcell::wasm::{self, Engine, EngineConfig, WasmRuntime};
use tokio_util::sync::CancellationToken;

const PROGRAM: &str = r#"
    const cities = ["Oslo", "Lima", "Hanoi"];
    const degrees = await Promise.all(cities.map((city) => tools.temperature({ city })));
    return `warmest: ${cities[degrees.indexOf(Math.max(...degrees))]}`;
"#;

/// The tool: an async function from JSON to JSON.
async fn temperature(arguments: Value) -> Result<Value, CallError> {
    match arguments.get("city").and_then(Value::as_str) {
        Some("Oslo") => Ok(Value::from(4)),
        Some("Lima") => Ok(Value::from(19)),
        Some("Hanoi") => Ok(Value::from(31)),
        _ => Err(CallError::new("no such city")),
    }
}

pub(crate) async fn run() -> Result<Option<Value>, Box<dyn std::error::Error>> {
    let engine = Engine::new(EngineConfig::default().with_runs_max(8))?;
    let runtime = WasmRuntime::new(wasm::javascript(&engine).await?);
    let tools = Bindings::new().tool("temperature", temperature).into_namespace("tools")?;
    let request = RunRequest::new(PROGRAM, vec![tools], CancellationToken::new());
    Ok(runtime.run(request).await?.result.map_err(|failure| failure.to_string())?)
}

#[expect(clippy::print_stdout, reason = "the output is the point")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:?}", run().await?);
    Ok(())
}
