//! The guests that come with the crate.
//!
//! Invariant: the bytes are those of `assets/`, whose provenance files say from what they were built; the crate needs no
//! toolchain and no network.

use std::sync::Arc;

use super::engine::Engine;
use super::guest::Guest;
use crate::error::Error;

/// The JavaScript guest, compressed: QuickJS-NG with our prelude, initialized.
pub const JAVASCRIPT: &[u8] = include_bytes!("../../assets/javascript.wasm.zst");

/// Loads the JavaScript guest that comes with the crate.
///
/// # Errors
/// As [`Guest::load`].
pub async fn javascript(engine: &Engine) -> Result<Guest, Error> {
    Guest::load(engine, Arc::from(JAVASCRIPT)).await
}
