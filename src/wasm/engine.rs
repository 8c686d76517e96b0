//! What all runs of a process share: compiler settings, the instance pool, the epoch.
//!
//! Invariant: every wasm feature is off unless it is named here, whatever features the build unified into wasmtime, and
//! every pool size is finite.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::{
    Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, WasmBacktraceDetails, WasmFeatures,
};

use super::cache::Cache;
use super::ticker::Ticker;
use crate::error::{Error, ErrorKind};

/// Wasm stack of a guest. Below 4 MiB some recursions of an interpreter trap before its own stack check answers; with
/// 8 MiB every one tried ended as an exception of the language.
const WASM_STACK_BYTES: usize = 8 << 20;

/// Native stack of a run: the guest's, and what host functions may use on top of it.
const NATIVE_STACK_BYTES: usize = WASM_STACK_BYTES + (2 << 20);

/// What one component may consist of. Our guests have three core instances; one that links libraries has about 15.
pub(super) const CORE_INSTANCES_MAX: u32 = 32;
pub(super) const MEMORIES_MAX: u32 = 4;
pub(super) const TABLES_MAX: u32 = 16;

/// Elements of one table.
const TABLE_ELEMENTS_MAX: usize = 20_000;

/// Address space of one memory slot: all a 32-bit memory can be, so that no bounds check is needed.
const MEMORY_SLOT_BYTES: usize = 4 << 30;

/// Memory that a slot keeps and resets by copying, which is cheaper than giving the pages back and faulting them in
/// again. Our guest touches less than this in an ordinary run.
const KEEP_RESIDENT_BYTES: usize = 2 << 20;

/// How an [`Engine`] is made.
#[derive(Debug)]
#[non_exhaustive]
pub struct EngineConfig {
    /// How many runs can be live at once; more wait for a place. Each reserves 16 GiB of address space, no memory.
    pub runs_max: u32,
    /// Where compiled guests are kept between processes. `None` compiles anew in every process.
    pub cache: Option<Cache>,
}

impl Default for EngineConfig {
    /// 256 live runs, no cache.
    fn default() -> Self {
        Self { runs_max: 256, cache: None }
    }
}

impl EngineConfig {
    /// The same configuration with room for this many live runs.
    #[must_use]
    pub fn with_runs_max(mut self, runs_max: u32) -> Self {
        self.runs_max = runs_max;
        self
    }

    /// The same configuration with a cache for compiled guests.
    #[must_use]
    pub fn with_cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }
}

/// The most live runs an engine can be made for: 16 TiB of the 128 TiB of address space a process has.
const RUNS_MAX: u32 = 1024;

/// Compiler, pool and clock. Cheap to clone; one per process is enough and recommended.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

struct Shared {
    engine: wasmtime::Engine,
    places: Arc<Semaphore>,
    ticker: Ticker,
    cache: Option<Cache>,
}

impl Engine {
    /// Makes an engine and reserves its pool.
    ///
    /// # Errors
    /// [`Misuse`](ErrorKind::Misuse) for a pool size of zero or over 1,024, [`Host`](ErrorKind::Host) when the address
    /// space cannot be reserved or a panic could not be contained.
    pub fn new(config: EngineConfig) -> Result<Self, Error> {
        if !(1..=RUNS_MAX).contains(&config.runs_max) {
            return Err(Error::misuse(format!(
                "`runs_max` is {}; it must be between 1 and {RUNS_MAX}",
                config.runs_max
            )));
        }
        if cfg!(panic = "abort") {
            return Err(Error::new(
                ErrorKind::Host,
                "this build aborts on panic, so a panicking tool would take the host down; build with \
                 panic = \"unwind\"",
            ));
        }
        let engine = wasmtime::Engine::new(&settings(config.runs_max)).map_err(|error| {
            let text = format!("cannot make an engine for {} live runs", config.runs_max);
            Error::with_source(ErrorKind::Host, text, error)
        })?;
        let ticker = Ticker::start(&engine)?;
        let places = Arc::new(Semaphore::new(config.runs_max as usize));
        Ok(Self(Arc::new(Shared { engine, places, ticker, cache: config.cache })))
    }

    pub(super) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.engine
    }

    /// One permit per live instance. A full pool would be an error in wasmtime; here it is a queue.
    pub(super) fn places(&self) -> &Arc<Semaphore> {
        &self.0.places
    }

    pub(super) fn ticker(&self) -> &Ticker {
        &self.0.ticker
    }

    pub(super) fn cache(&self) -> Option<&Cache> {
        self.0.cache.as_ref()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("places", &self.0.places.available_permits()).finish_non_exhaustive()
    }
}

/// The wasm features guests may use. What compilers emit for plain C, Rust and CPython, and nothing newer.
fn features() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SATURATING_FLOAT_TO_INT
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::MULTI_VALUE
        | WasmFeatures::BULK_MEMORY
        | WasmFeatures::REFERENCE_TYPES
        | WasmFeatures::EXTENDED_CONST
        | WasmFeatures::FLOATS
        | WasmFeatures::COMPONENT_MODEL
}

fn settings(runs_max: u32) -> Config {
    let mut config = Config::new();
    config.wasm_features(WasmFeatures::all(), false);
    config.wasm_features(features(), true);
    // Waiting imports are async on our side only; the component ABI stays the synchronous one.
    config.concurrency_support(false);
    // Guests are interrupted by the epoch: 1.3 to 2 times cheaper than counting fuel.
    config.epoch_interruption(true);
    config.consume_fuel(false);
    config.max_wasm_stack(WASM_STACK_BYTES);
    config.async_stack_size(NATIVE_STACK_BYTES);
    // Guests cannot read the native stack, so clearing it between runs would protect nobody.
    config.async_stack_zeroing(false);
    config.cranelift_opt_level(OptLevel::Speed);
    // Traps are reported by kind. Addresses inside a guest say nothing to the people who read them.
    config.wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config.wasm_backtrace_max_frames(None);
    config.generate_address_map(false);
    // Instances start as copy-on-write images of the component's initialized memory.
    config.memory_init_cow(true);
    config.memory_reservation(MEMORY_SLOT_BYTES as u64);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(runs_max)));
    config
}

fn pool(runs_max: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(runs_max);
    pool.total_core_instances(runs_max.saturating_mul(CORE_INSTANCES_MAX));
    pool.total_memories(runs_max.saturating_mul(MEMORIES_MAX));
    pool.total_tables(runs_max.saturating_mul(TABLES_MAX));
    pool.total_stacks(runs_max);
    pool.max_core_instances_per_component(CORE_INSTANCES_MAX);
    pool.max_memories_per_component(MEMORIES_MAX);
    pool.max_tables_per_component(TABLES_MAX);
    pool.max_memories_per_module(1);
    pool.max_tables_per_module(TABLES_MAX);
    pool.max_memory_size(MEMORY_SLOT_BYTES);
    pool.table_elements(TABLE_ELEMENTS_MAX);
    pool.linear_memory_keep_resident(KEEP_RESIDENT_BYTES);
    pool.table_keep_resident(64 << 10);
    pool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_s_features_are_exactly_those_named() {
        let engine = wasmtime::Engine::new(&settings(1)).expect("a small engine");
        assert_eq!(engine.get_wasm_features(), features());
        assert!(!engine.get_concurrency_support());
        assert!(engine.get_epoch_interruption());
        assert!(!engine.get_consume_fuel());
    }

    #[test]
    fn pool_sizes_outside_the_bounds_are_misuse() {
        for runs_max in [0, RUNS_MAX + 1] {
            let error = Engine::new(EngineConfig::default().with_runs_max(runs_max)).expect_err("out of bounds");
            assert_eq!(error.kind(), ErrorKind::Misuse);
            let text = format!("`runs_max` is {runs_max}; it must be between 1 and 1024");
            assert_eq!(error.to_string(), text);
        }
    }
}
