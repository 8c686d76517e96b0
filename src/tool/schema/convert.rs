//! From our value to the library's: exactly for schemas, nearly for one kind of message.
//!
//! Invariant: [`exact`] changes no number or refuses. Depth is bounded by
//! [`DEPTH_MAX`](crate::json::DEPTH_MAX), so these functions may recurse.

use serde_json::Number;

use crate::json::{Integer, Value};

/// The schema as the library holds it, or the first integer that it cannot hold.
pub(super) fn exact(value: &Value) -> Result<serde_json::Value, &Integer> {
    Ok(match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Integer(integer) => whole(integer).ok_or(integer)?.into(),
        Value::Float(float) => Number::from_f64(float.get()).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(exact).collect::<Result<Vec<_>, _>>()?.into(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| Ok((key.to_owned(), exact(value)?)))
            .collect::<Result<serde_json::Map<_, _>, _>>()?
            .into(),
    })
}

fn whole(integer: &Integer) -> Option<Number> {
    integer.as_i64().map(Number::from).or_else(|| integer.as_u64().map(Number::from))
}

/// An instance, with long integers as zero.
pub(super) fn nearest(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Integer(integer) => whole(integer).unwrap_or_else(|| Number::from(0)).into(),
        Value::Float(float) => Number::from_f64(float.get()).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(nearest).collect::<Vec<_>>().into(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.to_owned(), nearest(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
