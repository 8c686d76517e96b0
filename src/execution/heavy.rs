//! Values that are too large for the task that polls a call.
//!
//! Invariant: to find out takes no longer than a small value does, however large the value is; nothing here walks a large one
//! but on the blocking pool.

use std::sync::Arc;

use crate::json::{self, Value};

/// From this size on, JSON is decoded, looked through and validated on the blocking pool: about a millisecond's work.
pub(super) const BLOCKING_BYTES: usize = 256 * 1024;

/// The most entries of a value that is seen to be small at one look.
const FEW: usize = 16;

/// The longest text, key or integer in it, in bytes.
const SHORT_BYTES: usize = 1024;

/// Whether a value is so small that nothing about it takes long: flat, with a few short entries. That is some 40 KiB at most,
/// less than any bound on the cost of a value.
pub(super) fn is_slight(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() < FEW && items.iter().all(is_short),
        Value::Object(entries) => {
            entries.len() < FEW && entries.iter().all(|(key, value)| key.len() < SHORT_BYTES && is_short(value))
        }
        scalar => is_short(scalar),
    }
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() < SHORT_BYTES,
        Value::Integer(integer) => integer.digits() < SHORT_BYTES,
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Float(_) => true,
    }
}

/// Whether looking through a value is work for the blocking pool.
pub(super) fn is_heavy(value: &Value) -> bool {
    !is_slight(value) && json::costs_more(value, BLOCKING_BYTES)
}

/// Does `work` on a value, on the blocking pool where it is heavy.
pub(super) async fn with<T: Send + 'static>(
    value: &Arc<Value>,
    is_heavy: bool,
    work: impl FnOnce(&Value) -> T + Send + 'static,
) -> T {
    if !is_heavy {
        return work(value);
    }
    let value = Arc::clone(value);
    match tokio::task::spawn_blocking(move || work(&value)).await {
        Ok(done) => done,
        // The pool does not take work any more: the process is going down.
        Err(_) => std::future::pending().await,
    }
}
