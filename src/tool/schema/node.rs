//! Our JSON value as the validator reads it, without a copy.
//!
//! Invariant: every method that the validator calls while it works is charged to the meter, so no
//! schema makes it work without end. Nothing here allocates.
//!
//! Numbers that are exact: `type`, `const` and `enum` (but see below), `uniqueItems`, and bounds
//! in the range of the 64-bit integers, for integers of any size; `multipleOf` a whole number up
//! to 2^53. What is not: an integer beyond 64 bits meets a bound, or a lone `const`, that is a
//! float of 2^64 or more as the float nearest to it, and beyond the largest float as an infinity;
//! `multipleOf` a fraction or more than 2^53 sees the nearest float, and nothing beyond the
//! largest float is such a multiple.

use std::borrow::Cow;
use std::slice;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};

use crate::json::{self, Entries, Float, Integer, Value};

use super::meter::{charge, charge_error, charge_match, charge_room, charge_text, is_full, whole};
use super::{convert, equal};

/// Bytes of a text that a pattern may be matched against in the time of one step.
pub(super) const TEXT_BYTES_PER_STEP: usize = 4;

/// Digits of a number that are read in the time of one step.
const DIGITS_PER_STEP: usize = 8;

/// Bytes of a property's name that an error keeps.
const NAME_BYTES_MAX: usize = 64;

/// The representation, as a type.
pub(super) struct Exact;

impl Json for Exact {
    type Node<'a> = Reader<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Reader<'_>) -> T) -> T {
        f(Reader::Name(string))
    }
}

/// One value, or the name of a property.
#[derive(Clone, Copy)]
pub(super) enum Reader<'a> {
    /// The whole instance of a schema that needs a copy of it to describe some errors.
    Root(&'a Value),
    Value(&'a Value),
    Name(&'a str),
}

impl<'a> Reader<'a> {
    fn value(self) -> Option<&'a Value> {
        match self {
            Self::Root(value) | Self::Value(value) => Some(value),
            Self::Name(_) => None,
        }
    }

    fn text(self) -> Option<&'a str> {
        match self {
            Self::Root(value) | Self::Value(value) => value.as_str(),
            Self::Name(name) => Some(name),
        }
    }
}

impl<'a> Node<'a, Exact> for Reader<'a> {
    type Object = Members<'a>;
    type Array = Items<'a>;
    type Number = Number<'a>;

    fn as_object(&self) -> Option<Members<'a>> {
        charge(1);
        self.value()?.as_object().map(Members)
    }

    fn as_array(&self) -> Option<Items<'a>> {
        charge(1);
        self.value()?.as_array().map(|items| Items(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.text();
        if let Some(text) = text {
            charge_match(text.len(), TEXT_BYTES_PER_STEP);
        } else {
            charge(1);
        }
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Number<'a>> {
        charge(1);
        match self.value()? {
            Value::Integer(integer) => Some(Number::Integer(integer)),
            Value::Float(float) => Some(Number::Float(*float)),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        charge(1);
        self.value()?.as_bool()
    }

    fn is_null(&self) -> bool {
        charge(1);
        self.value().is_some_and(Value::is_null)
    }

    fn is_string(&self) -> bool {
        charge(1);
        self.text().is_some()
    }

    fn json_type(&self) -> JsonType {
        charge(1);
        match self.value() {
            None | Some(Value::String(_)) => JsonType::String,
            Some(Value::Null) => JsonType::Null,
            Some(Value::Bool(_)) => JsonType::Boolean,
            Some(Value::Integer(_) | Value::Float(_)) => JsonType::Number,
            Some(Value::Array(_)) => JsonType::Array,
            Some(Value::Object(_)) => JsonType::Object,
        }
    }

    fn string_length(&self) -> Option<u64> {
        let text = self.text();
        charge_text(text.map_or(0, str::len), TEXT_BYTES_PER_STEP);
        text.map(|text| whole(text.chars().count()))
    }

    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        charge(1);
        let text = self.text()?;
        // A character takes one to four bytes.
        let (fewest, most) = (whole(text.len().div_ceil(4)), whole(text.len()));
        if most < min || fewest > max {
            return Some(false);
        }
        if min <= fewest && most <= max {
            return Some(true);
        }
        self.string_length().map(|length| (min..=max).contains(&length))
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        match *self {
            Self::Root(value) | Self::Value(value) => equal::is(value, expected),
            Self::Name(name) => equal::name_is(name, expected),
        }
    }

    /// What an error keeps of the value: the error's number, as the value is found by its path. A
    /// name has no path, so its error keeps the name.
    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        let number = charge_error();
        Cow::Owned(match *self {
            Self::Value(_) => serde_json::Value::from(number),
            Self::Name(name) => serde_json::Value::from(json::clip(name, NAME_BYTES_MAX).into_owned()),
            Self::Root(value) => {
                let cost = whole(json::cost(value));
                charge(cost / 16);
                charge_room(cost);
                if is_full() { serde_json::Value::Null } else { convert::nearest(value) }
            }
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        charge(1);
        Some(match *self {
            Self::Root(value) | Self::Value(value) => NodeIdentity::new(std::ptr::from_ref(value).addr()),
            Self::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), 1),
        })
    }
}

/// The entries of an object.
pub(super) struct Members<'a>(&'a json::Object);

impl<'a> Object<'a, Exact> for Members<'a> {
    type Node = Reader<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        charge(1);
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Reader<'a>> {
        charge_text(key.len(), TEXT_BYTES_PER_STEP);
        self.0.get(key).map(Reader::Value)
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter(self.0.iter())
    }
}

/// A walk over the entries of an object.
pub(super) struct MembersIter<'a>(Entries<'a>);

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Reader<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if is_full() {
            return None;
        }
        let (key, value) = self.0.next()?;
        charge_match(key.len(), TEXT_BYTES_PER_STEP);
        // An error may list the keys.
        charge_room(whole(key.len()).saturating_add(32));
        Some((key, Reader::Value(value)))
    }
}

/// The items of an array.
pub(super) struct Items<'a>(&'a [Value]);

impl<'a> Array<'a, Exact> for Items<'a> {
    type Node = Reader<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        charge(1);
        self.0.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        equal::all_differ(self.0)
    }
}

/// A walk over the items of an array.
pub(super) struct ItemsIter<'a>(slice::Iter<'a, Value>);

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Reader<'a>;

    fn next(&mut self) -> Option<Reader<'a>> {
        if is_full() {
            return None;
        }
        charge(1);
        self.0.next().map(Reader::Value)
    }
}

/// A number, read without a copy.
pub(super) enum Number<'a> {
    Integer(&'a Integer),
    Float(Float),
}

impl JsonNumber for Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(integer) => integer.as_u64(),
            Self::Float(_) => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => integer.as_i64(),
            Self::Float(_) => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => {
                charge_text(integer.digits(), DIGITS_PER_STEP);
                Some(integer.to_f64()).filter(|float| float.is_finite())
            }
            Self::Float(float) => {
                let magnitude = float.get().abs();
                if magnitude > 1e15 || (magnitude < 1e-15 && magnitude > 0.0) {
                    // Whether it is a multiple of a fraction takes arithmetic with many digits.
                    charge(256);
                }
                Some(float.get())
            }
        }
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self {
            Self::Integer(integer) => {
                charge_text(integer.digits(), DIGITS_PER_STEP);
                Cow::Owned(integer.to_string())
            }
            Self::Float(float) => Cow::Owned(float.to_string()),
        }
    }

    /// For errors, whose messages are ours.
    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(serde_json::Number::from(0))
    }

    fn is_integer(&self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(float) => float.get().fract() == 0.0,
        }
    }

    fn is_written_as_integer(&self) -> bool {
        matches!(self, Self::Integer(_))
    }
}
