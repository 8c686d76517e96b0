//! The arguments of one call, checked.
//!
//! Invariant: nothing is guessed. A key that is not known, a value of another type or out of its bounds is an error
//! that names the key, what was expected and what came.

use super::fault::{named, shown};
use crate::json::{Object, Value};
use crate::runtime::CallError;

/// How many unknown keys a message names.
const UNKNOWN_NAMED_MAX: usize = 5;

/// The longest integer in a message, in digits.
const DIGITS_SHOWN_MAX: usize = 24;

/// An object of arguments that has known keys only.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(&'a Object);

impl<'a> Arguments<'a> {
    /// The arguments, which may have these keys.
    pub(super) fn new(value: &'a Value, known: &[&str]) -> Result<Self, CallError> {
        let Some(object) = value.as_object() else {
            return Err(CallError::new(format!("the arguments must be an object, got {}", value.kind())));
        };
        let unknown: Vec<&str> = object.keys().filter(|key| !known.contains(key)).collect();
        if unknown.is_empty() {
            return Ok(Self(object));
        }
        let noun = if unknown.len() == 1 { "argument" } else { "arguments" };
        let more = match unknown.len().saturating_sub(UNKNOWN_NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(CallError::new(format!(
            "unknown {noun} {}{more}; known are {}",
            named(unknown.iter().take(UNKNOWN_NAMED_MAX).copied()),
            named(known.iter().copied())
        )))
    }

    /// A string that has to be there.
    pub(super) fn text(self, key: &str) -> Result<&'a str, CallError> {
        self.optional_text(key)?
            .ok_or_else(|| CallError::new(format!("the argument `{key}` is missing; it must be a string")))
    }

    /// A string, if it is there.
    pub(super) fn optional_text(self, key: &str) -> Result<Option<&'a str>, CallError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(mistyped(key, "a string", other)),
        }
    }

    /// A boolean; false where it is not there.
    pub(super) fn flag(self, key: &str) -> Result<bool, CallError> {
        match self.0.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(mistyped(key, "a boolean", other)),
        }
    }

    /// An integer within bounds, if it is there.
    pub(super) fn count(self, key: &str, min: u64, max: u64) -> Result<Option<u64>, CallError> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        match value.as_u64() {
            Some(count) if (min..=max).contains(&count) => Ok(Some(count)),
            Some(_) | None => Err(mistyped(key, &format!("an integer from {min} to {max}"), value)),
        }
    }

    /// As [`Arguments::count`], for what is counted in memory.
    pub(super) fn size(self, key: &str, min: usize, max: usize) -> Result<Option<usize>, CallError> {
        let wide = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        let count = self.count(key, wide(min), wide(max))?;
        Ok(count.map(|count| usize::try_from(count).unwrap_or(max)))
    }
}

fn mistyped(key: &str, wanted: &str, got: &Value) -> CallError {
    let got = match got {
        Value::Integer(integer) => {
            let digits = integer.to_string();
            if digits.len() > DIGITS_SHOWN_MAX {
                format!("an integer of {} digits", digits.trim_start_matches('-').len())
            } else {
                shown(&digits)
            }
        }
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            got.kind().to_owned()
        }
    };
    CallError::new(format!("the argument `{key}` must be {wanted}, got {got}"))
}
