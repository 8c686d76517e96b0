//! The lossless JSON value that crosses every boundary of the host.
//!
//! Arguments, results, completions and schemas enter as text or as a [`Value`]
//! and leave as text. A `Value` differs from the usual JSON tree in two ways.
//! It holds every number exactly as far as the contract promises: integers to
//! [`INTEGER_DIGITS_MAX`] digits, floats as finite binary64. And no operation on
//! it uses the native stack in proportion to the depth of the value: decoding,
//! encoding, measuring, copying, comparing, printing and dropping are loops.
//!
//! Invariant: two values are equal exactly when they are the same tree (the
//! order of an object's keys is kept but does not count), and
//! `decode(&encode(v)) == v` for every `v` that [`check`] accepts. Text that no
//! value can represent exactly (a duplicate key, a lone surrogate, a number out
//! of range) is an [`Error`] that names the path, never a silent change.
//!
//! Rust types enter and leave through serde, with [`to_value`] and
//! [`from_value`]. These two recurse, as serde does, and count as they go: no
//! deeper than [`DEPTH_MAX`], and what would be rounded or lost is a
//! [`ConvertError`] that names the path.
//!
//! This module knows nothing about tools, schemas or guests. Read `decode.rs`
//! and `token.rs` for what is accepted, `measure.rs` for what a value costs,
//! `tree.rs` for the loops, `ser.rs` and `de.rs` for what Rust types become.

mod container;
mod convert;
mod de;
mod decode;
mod encode;
mod error;
mod keys;
mod measure;
mod number;
mod ser;
mod serde;
mod token;
mod tree;

use std::fmt;

pub use container::{Array, Entries, IntoEntries, Object};
pub use convert::ConvertError;
pub use de::from_value;
pub use decode::{decode, decode_bounded, decode_bytes};
pub use encode::{encode, encode_into, encoded_len, pretty, string_len};
pub use error::{Error, ErrorKind};
pub(crate) use error::{clip, follow};
pub(crate) use measure::costs_more;
pub use measure::{check, cost};
pub use number::{Float, Integer};
pub use ser::to_value;

/// The deepest nesting accepted, in levels: a scalar is level 0, `[]` level 1.
///
/// Code behind the boundary (validators, guests' own decoders) may recurse, and
/// running out of native stack aborts the process. 512 levels fit any stack we
/// run on and exceed any honest document.
pub const DEPTH_MAX: usize = 512;

/// The longest integer accepted, in decimal digits without the sign.
///
/// Converting digits to a binary integer takes quadratic time in most
/// languages, so an unbounded integer would be a way to stall a guest or a tool.
pub const INTEGER_DIGITS_MAX: usize = 4096;

/// The longest float text accepted, in bytes.
///
/// Three times what the exact digits of any binary64 number need. Float
/// parsers saturate exponents, so a text of hundreds of kilobytes could be
/// read as zero where it means one; refusing it is louder.
pub const FLOAT_BYTES_MAX: usize = 4096;

/// One JSON value.
///
/// `Integer(1)` and `Float(1.0)` are different values, as their texts `1` and
/// `1.0` are different texts. `0.0` and `-0.0` differ too. Objects with the
/// same entries in another order are equal.
///
/// The `Debug` form is the compact JSON text.
///
/// # Limits
///
/// A value built by hand may be nested deeper than [`DEPTH_MAX`]; it can be
/// encoded, copied and dropped safely, and [`check`] refuses it.
#[expect(clippy::exhaustive_enums, reason = "JSON has these kinds of value and no others")]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number written without a fraction or an exponent.
    Integer(Integer),
    /// A number written with a fraction or an exponent.
    Float(Float),
    /// A string of Unicode scalar values.
    String(String),
    /// A sequence of values.
    Array(Array),
    /// Values by unique key, in insertion order.
    Object(Object),
}

impl Value {
    /// The text of a string, `None` for every other kind.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The truth value of a boolean, `None` for every other kind.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// An integer that fits `i64`; `None` for larger ones, floats and other kinds.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Integer(integer) = self { integer.as_i64() } else { None }
    }

    /// An integer that fits `u64`; `None` for others, floats and other kinds.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Integer(integer) = self { integer.as_u64() } else { None }
    }

    /// The number as a finite float: a float itself, or the float nearest to an
    /// integer. `None` for an integer beyond the range of binary64 and for
    /// values that are not numbers.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(integer.to_f64()).filter(|float| float.is_finite()),
            Self::Float(float) => Some(float.get()),
            Self::Null | Self::Bool(_) | Self::String(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// The elements of an array, `None` for every other kind.
    #[must_use]
    pub fn as_array(&self) -> Option<&Array> {
        if let Self::Array(array) = self { Some(array) } else { None }
    }

    /// The entries of an object, `None` for every other kind.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value under `key`; `None` when there is none or this is no object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The name of the kind, as messages spell it: `null`, `boolean`,
    /// `integer`, `float`, `string`, `array` or `object`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        tree::copy(self)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        tree::same(self, other)
    }
}

impl Eq for Value {}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode::write(formatter, self, encode::COMPACT)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Integer> for Value {
    fn from(integer: Integer) -> Self {
        Self::Integer(integer)
    }
}

impl From<Float> for Value {
    fn from(float: Float) -> Self {
        Self::Float(float)
    }
}

impl From<Vec<Self>> for Value {
    fn from(items: Vec<Self>) -> Self {
        Self::Array(Array::from(items))
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    /// `None` is `null`.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
