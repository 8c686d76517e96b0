//! Runs the guest's set-up once and keeps the memory it leaves behind.

use futures_util::FutureExt as _;
use wasmtime::error::Context as _;
use wasmtime::{Engine, Instance, Linker, Module, Result, Store, Val, format_err};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

/// The guest's set-up function; the snapshot no longer exports it.
const SET_UP: &str = "set-up";
/// Constructors of the C library, run before it.
const CONSTRUCTORS: &str = "_initialize";

/// The module as it is after its set-up. An import that is called during it is an error.
pub(crate) fn take(module: &[u8]) -> Result<Vec<u8>> {
    let mut wizer = Wizer::new();
    wizer.init_func(SET_UP);
    let (context, instrumented) = wizer.instrument(module)?;

    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let compiled = Module::new(&engine, &instrumented)?;
    let mut linker = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&compiled)?;
    let instance = linker.instantiate(&mut store, &compiled)?;
    for name in [CONSTRUCTORS, SET_UP] {
        instance.get_typed_func::<(), ()>(&mut store, name)?.call(&mut store, ()).context(name)?;
    }
    let mut state = State { store, instance };
    let snapshot = wizer.snapshot(&context, &mut state).now_or_never();
    snapshot.ok_or_else(|| format_err!("the snapshot waited for something"))?
}

struct State {
    store: Store<()>,
    instance: Instance,
}

#[expect(clippy::expect_used, reason = "the names are exports that the instrumentation has just added")]
impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let global = self.instance.get_global(&mut self.store, name).expect("an export");
        match global.get(&mut self.store) {
            Val::I32(value) => SnapshotVal::I32(value),
            Val::I64(value) => SnapshotVal::I64(value),
            Val::F32(bits) => SnapshotVal::F32(bits),
            Val::F64(bits) => SnapshotVal::F64(bits),
            other => unreachable!("a global of type {other:?}, which the compiler does not make"),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        let memory = self.instance.get_memory(&mut self.store, name).expect("an export");
        contents(memory.data(&self.store));
    }
}
