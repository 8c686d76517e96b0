//! What the tests share.

#[cfg(feature = "wasm")]
pub mod component;
#[cfg(feature = "wasm")]
pub mod engine;
pub mod golden;
