//! What the tests of the sealed runtime stand on: one engine, guests by their file names, requests, outcomes as whole values.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::Error;
use hotcell::json::{self, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::runtime::{
    Bindings, CallError, CallState, CodeRuntime as _, Failure, FailureKind, Namespace, RunOutcome, RunRequest,
};
use hotcell::wasm::{Engine, EngineConfig, Guest, WasmRuntime};
use tokio_util::sync::CancellationToken;

use crate::support::component;
pub(super) use crate::support::engine::ENGINE;

/// Far above what any case takes, on any machine: what reaches it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine with room for this many live runs.
pub(super) fn engine(runs_max: u32) -> Engine {
    Engine::new(EngineConfig::default().with_runs_max(runs_max)).expect("an engine")
}

/// How many places of an engine's pool are free, as its debug text says.
pub(super) fn free_places(engine: &Engine) -> String {
    format!("{engine:?}")
}

/// Waits for something that has to happen.
pub(super) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("this ends long before a minute has passed")
}

/// A file of `guest/hostile` on the shared engine, compiled once.
pub(super) async fn load(name: &str) -> Result<Guest, Error> {
    static LOADED: Mutex<Option<HashMap<String, Guest>>> = Mutex::new(None);
    let known = LOADED.lock().expect("not poisoned").get_or_insert_default().get(name).cloned();
    if let Some(guest) = known {
        return Ok(guest);
    }
    let guest = load_on(&ENGINE, name).await?;
    LOADED.lock().expect("not poisoned").get_or_insert_default().insert(name.to_owned(), guest.clone());
    Ok(guest)
}

/// A file of `guest/hostile` on an engine of its own.
pub(super) async fn load_on(engine: &Engine, name: &str) -> Result<Guest, Error> {
    soon(Guest::load(engine, Arc::from(component::hostile(name)))).await
}

/// A runtime over a file of `guest/hostile`, on the shared engine.
pub(super) async fn runtime(name: &str) -> WasmRuntime {
    WasmRuntime::new(load(name).await.expect("the guest loads"))
}

/// A runtime over a file of `guest/hostile`, on an engine of its own.
pub(super) async fn runtime_on(engine: &Engine, name: &str) -> WasmRuntime {
    WasmRuntime::new(load_on(engine, name).await.expect("the guest loads"))
}

/// The tools that guests call where a test has none of its own: `echo` answers its arguments, `large` 10,000 letters,
/// `huge` 100,000, `fail` fails, `never` waits for its cancellation.
pub(super) fn tools() -> Namespace {
    let bindings = Bindings::new()
        .tool("echo", |arguments| async move { Ok(arguments) })
        .tool("large", |_| async { Ok(Value::from("x".repeat(10_000))) })
        .tool("huge", |_| async { Ok(Value::from("x".repeat(100_000))) })
        .tool("fail", |_| async { Err(CallError::new("it failed")) })
        .tool("never", |_| std::future::pending());
    bindings.into_namespace("tools").expect("the names are portable")
}

/// A run of this program with [`tools`] and default limits.
pub(super) fn request(program: impl Into<String>) -> RunRequest {
    request_with(program, tools())
}

/// A run of this program with these tools and default limits.
pub(super) fn request_with(program: impl Into<String>, tools: Namespace) -> RunRequest {
    RunRequest::new(program, vec![tools], CancellationToken::new())
}

/// Default limits but for these.
pub(super) fn limits(changed: impl IntoIterator<Item = (Limit, u64)>) -> Limits {
    changed
        .into_iter()
        .fold(Limits::default(), |limits, (limit, value)| limits.with(limit, value).expect("in bounds"))
}

/// Runs a request to its end.
pub(super) async fn run(runtime: &WasmRuntime, request: RunRequest) -> RunOutcome {
    soon(runtime.run(request)).await.expect("the host is well")
}

/// An outcome without its times.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) result: Result<Option<String>, (FailureKind, String)>,
    pub(super) logs: Vec<String>,
    pub(super) calls: Vec<(String, CallState)>,
}

impl From<RunOutcome> for Seen {
    fn from(outcome: RunOutcome) -> Self {
        let RunOutcome { result, logs, calls, .. } = outcome;
        Self {
            result: result
                .map(|value| value.as_ref().map(json::encode))
                .map_err(|Failure { kind, message }| (kind, message)),
            logs,
            calls: calls.into_iter().map(|call| (call.name.to_string(), call.state)).collect(),
        }
    }
}

/// A completed run without logs or calls.
pub(super) fn completed(value: &str) -> Seen {
    Seen { result: Ok(Some(value.to_owned())), logs: Vec::new(), calls: Vec::new() }
}

/// A failed run without logs or calls.
pub(super) fn failed(kind: FailureKind, message: &str) -> Seen {
    Seen { result: Err((kind, message.to_owned())), logs: Vec::new(), calls: Vec::new() }
}

impl Seen {
    /// The same with these log entries.
    pub(super) fn logs(mut self, entries: &[&str]) -> Self {
        self.logs = entries.iter().map(|&entry| entry.to_owned()).collect();
        self
    }

    /// The same with this many more calls of one name, all ended alike.
    pub(super) fn calls(mut self, name: &str, count: usize, state: CallState) -> Self {
        self.calls.extend(std::iter::repeat_n((name.to_owned(), state), count));
        self
    }
}

/// The sentence for a reached limit, which has this value.
pub(super) fn over(limit: Limit, value: &str) -> String {
    let what = match limit {
        Limit::Compute => "the program computed for longer than",
        Limit::Wall => "the run took longer than",
        Limit::Grace => "the call did not stop within",
        Limit::Memory => "the guest needs more memory than",
        Limit::HostMemory => "the run's calls, results and logs hold more host memory than",
        Limit::Output => "the output is larger than",
        Limit::LogLines => "the program logged more entries than",
        Limit::OutstandingCalls => "more calls are outstanding than",
        other => panic!("no run ends at `{other}`"),
    };
    format!("{what} the limit `{limit}` of {value} allows; do less in one run, or raise the limit `{limit}`")
}

/// The same engine still runs a polite guest as if nothing had happened.
pub(super) async fn still_polite() {
    let seen = Seen::from(run(&runtime("polite").await, request("x")).await);
    assert_eq!(seen, completed("1"));
}
