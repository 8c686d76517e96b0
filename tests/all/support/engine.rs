//! One engine for the whole process, and the shipped guest on it, compiled once.

use std::sync::LazyLock;

use hotcell::wasm::{Engine, EngineConfig, Guest, WasmRuntime, javascript};
use tokio::sync::OnceCell;

/// The engine of every test that does not need one of its own. More than a hundred runs find a place at once.
pub(crate) static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineConfig::default().with_runs_max(128)).expect("an engine"));

static JAVASCRIPT: OnceCell<Guest> = OnceCell::const_new();

/// A runtime over the JavaScript guest that comes with the crate.
pub(crate) async fn javascript_runtime() -> WasmRuntime {
    let load = || async { javascript(&ENGINE).await.expect("the guest loads") };
    WasmRuntime::new(JAVASCRIPT.get_or_init(load).await.clone())
}
