//! A platform: a guest, its tools, one agent's policy, and the calls that a model makes.
//!
//!     cargo run --example embed

use std::sync::Arc;

use hotcell::code_mode::CodeMode;
use hotcell::execution::{CallRequest, Decision, Scheduler};
use hotcell::registry::{Mode, Registry};
use hotcell::tool::{BodyError, Tool};
use hotcell::wasm::{self, Engine, EngineConfig, WasmRuntime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const PROGRAM: &str = "
    const [oslo, lima] = await Promise.all(['Oslo', 'Lima'].map((city) => tools.weather({ city })));
    await tools.wipe({ city: 'Oslo' }).catch((error) => console.log(error.message));
    return { warmer: lima.degrees - oslo.degrees };
";

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    degrees: i32,
}

async fn weather(place: Place) -> Result<Weather, BodyError> {
    match place.city.as_str() {
        "Oslo" => Ok(Weather { degrees: 4 }),
        "Lima" => Ok(Weather { degrees: 19 }),
        unknown => Err(BodyError::new(format!("no weather for {unknown}"))),
    }
}

pub(crate) async fn run() -> Result<Vec<String>, hotcell::Error> {
    // Once: the guest that runs programs, and the tools of the deployment.
    let engine = Engine::new(EngineConfig::default())?;
    let guest = WasmRuntime::new(wasm::javascript(&engine).await?);
    let registry = Registry::builder().mode(Mode::Code).programs(CodeMode::new(Arc::new(guest)))?.build()?;
    let reads = Tool::typed("weather", "Today's temperature of a city.", weather).concurrency_safe(|_| true);
    registry.register(reads)?.keep();
    registry.register(Tool::typed("wipe", "Forgets a city.", async |_: Place| Ok(())))?.keep();

    // Per agent: what it sees, and what it may do.
    let agent = registry.child("agent")?;
    agent.on_pre_execute(async |call, next| {
        if call.name() == "wipe" { Ok(Decision::deny("not in this deployment")) } else { Ok(next.run().await) }
    });
    let told = agent.wire()?.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>().join(", ");

    // Per turn: the calls a model made, as it wrote them. A program reaches the tools; the model itself does not.
    let program = json!({ "description": "compare two cities", "code": PROGRAM }).to_string();
    let turn = [("run_code", program.as_str()), ("weather", r#"{"city":"Lima"}"#)];
    let cancel = CancellationToken::new();
    let calls = turn.map(|(name, arguments)| CallRequest::new(name, arguments, cancel.clone())).to_vec();
    let results = Scheduler::new(&agent).run(calls).await;
    let seen = results.iter().flat_map(|result| result.content()).filter_map(|block| block.as_text());
    Ok([told.as_str()].into_iter().chain(seen).map(String::from).collect())
}

#[expect(clippy::print_stdout, reason = "the output is the point")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), hotcell::Error> {
    run().await?.iter().for_each(|line| println!("{line}"));
    Ok(())
}
