//! The sealed runtime: WebAssembly components on wasmtime.
//!
//! An [`Engine`] is made once per process and holds everything runs share: the compiler, the instance pool, the clock
//! that interrupts guests. A [`Guest`] is a component that was compiled, checked and asked who it is. A [`WasmRuntime`]
//! runs programs in fresh instances of one guest.
//!
//! Invariant: a guest reaches the host only through the methods of the execution it was lent ([`host`](self)), and no
//! instance runs more than one program.
//!
//! Nothing here knows tools, policies or protocols: this module sees the bindings of a
//! [`RunRequest`](crate::runtime::RunRequest).

mod builtin;
mod cache;
mod engine;
mod guest;
mod host;
mod inspect;
mod limiter;
mod run;
mod structure;
mod ticker;
mod trap;

pub use builtin::{JAVASCRIPT, javascript};
pub use cache::Cache;
pub use engine::{Engine, EngineConfig};
pub use guest::{COMPONENT_BYTES_MAX, Guest};
pub use inspect::{Authority, Item, Surface, inspect};
pub use run::WasmRuntime;
