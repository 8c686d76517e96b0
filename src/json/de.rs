//! [`Value`]s to Rust values.
//!
//! Invariant: nothing is rounded unseen. A number is given to a visitor as what it is, or as what the visitor asked for
//! when that is exactly the same number; the one exception is an `f32`, which asks for rounding. The levels of the value
//! and the wrappers of the type are counted, so that the native stack is bounded before it is used.

use std::{iter, slice};

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::convert::{ConvertError, Fault, WRAPPERS_MAX, beyond_f32, integer_text, too_wrapped};
use super::error::Step;
use super::keys::KeyDeserializer;
use super::measure::too_deep;
use super::serde::ASIDE;
use super::{DEPTH_MAX, Entries, Integer, Object, Value};

/// Makes anything that deserializes of a [`Value`]. Strings can be borrowed from it.
///
/// Everything is as `serde_json` reads it, but for numbers, which convert when they stay the same number:
///
/// - An integer becomes any integer type, up to 128 bits, that holds it.
/// - A float without a fraction becomes an integer type too: `1.0` is the integer 1, as JSON Schema has it. `-0.0` is 0.
/// - An integer becomes an `f64` or `f32` when that holds it exactly.
/// - A float becomes an `f64` as it is, and the `f32` nearest to its text: a type with `f32` asks for its precision. Beyond the
///   range of `f32` it is an error, not an infinity.
///
/// Keys of maps are read as integers and booleans where the type says so, in the spelling
/// [`to_value`](super::to_value) gives them.
///
/// # Errors
///
/// With the path: whatever the type does not expect; a number it does not hold; nesting deeper than [`DEPTH_MAX`] levels,
/// or inside more than twice as many options and newtypes; an array or object with more elements than the type reads.
///
/// # Limits
///
/// Recurses over the value, at most as deep as said; the tests, without optimization, need less than one mebibyte of stack.
/// Fields that are flattened and enums that are untagged or internally
/// tagged are buffered by serde, which goes by its own rules: an integer beyond 64 bits is an error there, a float is never
/// an integer, and an integer becomes the float nearest to it. An untagged enum of which two variants hold the enum itself
/// takes time that doubles with every level: bound the depth of what it is given, or tag it.
pub fn from_value<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, ConvertError> {
    T::deserialize(ValueDeserializer { value, depth: 0, wrappers: 0 }).map_err(Fault::finish)
}

/// Hands out one value, `depth` containers and `wrappers` wrappers below the root.
#[derive(Clone, Copy)]
struct ValueDeserializer<'de> {
    value: &'de Value,
    depth: usize,
    wrappers: usize,
}

impl<'de> ValueDeserializer<'de> {
    /// For a child of this value.
    fn child(self, value: &'de Value) -> Self {
        Self { value, depth: self.depth + 1, ..self }
    }

    fn check_depth(self) -> Result<(), Fault> {
        if self.depth < DEPTH_MAX { Ok(()) } else { Err(Fault::new(&too_deep())) }
    }

    /// The same value, as what an option or a newtype holds.
    fn wrapped(self) -> Result<Self, Fault> {
        if self.wrappers == WRAPPERS_MAX {
            return Err(Fault::new(&too_wrapped()));
        }
        Ok(Self { wrappers: self.wrappers + 1, ..self })
    }

    fn array<V: Visitor<'de>>(self, items: &'de [Value], visitor: V) -> Result<V::Value, Fault> {
        self.check_depth()?;
        let mut access = Items { parent: self, items: items.iter().enumerate() };
        let made = visitor.visit_seq(&mut access)?;
        complete(items.len(), access.items.len(), "an array")?;
        Ok(made)
    }

    fn object<V: Visitor<'de>>(self, object: &'de Object, visitor: V) -> Result<V::Value, Fault> {
        self.check_depth()?;
        let mut access = Fields { parent: self, entries: object.iter(), entry: None };
        let made = visitor.visit_map(&mut access)?;
        complete(object.len(), access.entries.len(), "an object")?;
        Ok(made)
    }

    /// An integer, or a float that is one.
    fn integer<V: Visitor<'de>>(
        self,
        visitor: V,
        give: impl FnOnce(&Integer, V) -> Result<V::Value, Fault>,
    ) -> Result<V::Value, Fault> {
        match self.value {
            Value::Integer(integer) => give(integer, visitor),
            Value::Float(float) => match float.to_exact_integer() {
                Some(integer) if integer.as_i128().is_some() || integer.as_u128().is_some() => {
                    give(&integer, visitor)
                }
                Some(_) => Err(Fault::invalid_value(Unexpected::Float(float.get()), &visitor)),
                None => visitor.visit_f64(float.get()),
            },
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.deserialize_any(visitor)
            }
        }
    }
}

/// Refuses a container that a visitor left elements in.
fn complete(len: usize, left: usize, kind: &str) -> Result<(), Fault> {
    if left == 0 {
        return Ok(());
    }
    Err(Fault::new(&format!("invalid length {len}, expected {kind} of {}", len - left)))
}

/// Gives an integer to a visitor that takes at most 64 bits.
pub(super) fn narrow<'de, V: Visitor<'de>>(integer: &Integer, visitor: V) -> Result<V::Value, Fault> {
    match (integer.as_i64(), integer.as_u64()) {
        (Some(number), _) => visitor.visit_i64(number),
        (None, Some(number)) => visitor.visit_u64(number),
        (None, None) => Err(Fault::invalid_value(Unexpected::Other(&integer_text(integer)), &visitor)),
    }
}

/// Gives an integer to a visitor that takes at most 128 bits.
pub(super) fn broad<'de, V: Visitor<'de>>(integer: &Integer, visitor: V) -> Result<V::Value, Fault> {
    match (integer.as_i128(), integer.as_u128()) {
        (Some(number), _) => visitor.visit_i128(number),
        (None, Some(number)) => visitor.visit_u128(number),
        (None, None) => Err(Fault::invalid_value(Unexpected::Other(&integer_text(integer)), &visitor)),
    }
}

/// Gives an integer to a visitor that did not say what it takes.
fn any_integer<'de, V: Visitor<'de>>(integer: &'de Integer, visitor: V) -> Result<V::Value, Fault> {
    if integer.as_i64().is_some() || integer.as_u64().is_some() {
        narrow(integer, visitor)
    } else if integer.as_i128().is_some() || integer.as_u128().is_some() {
        broad(integer, visitor)
    } else {
        visitor.visit_newtype_struct(WideInteger(integer))
    }
}

/// A float as an `f32`; `None` where that would change it.
fn exact_f32(number: f64) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the whole")]
    Some(number as f32).filter(|nearest| f64::from(*nearest) == number)
}

macro_rules! integers {
    ($($method:ident by $width:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.integer(visitor, $width)
        }
    )*};
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = Fault;

    integers! {
        deserialize_i8 by narrow deserialize_i16 by narrow deserialize_i32 by narrow deserialize_i64 by narrow
        deserialize_u8 by narrow deserialize_u16 by narrow deserialize_u32 by narrow deserialize_u64 by narrow
        deserialize_i128 by broad deserialize_u128 by broad
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(*truth),
            Value::Integer(integer) => any_integer(integer, visitor),
            Value::Float(float) => visitor.visit_f64(float.get()),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => self.array(items, visitor),
            Value::Object(object) => self.object(object, visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Integer(integer) = self.value else { return self.deserialize_any(visitor) };
        match integer.to_exact_f64() {
            Some(number) => visitor.visit_f64(number),
            None => Err(Fault::new(&format!("{} is no exact f64", integer_text(integer)))),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value {
            Value::Integer(integer) => {
                let exact = integer.to_exact_f64().and_then(exact_f32);
                match exact {
                    Some(number) => visitor.visit_f32(number),
                    None => Err(Fault::new(&format!("{} is no exact f32", integer_text(integer)))),
                }
            }
            // Through the text: a cast would round what `to_value` made of an `f32` a second time (7.038531e-26).
            Value::Float(float) => {
                match float.to_string().parse().ok().filter(|number: &f32| number.is_finite()) {
                    Some(number) => visitor.visit_f32(number),
                    None => Err(Fault::new(&beyond_f32(*float))),
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.deserialize_any(visitor)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self.wrapped()?) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self.wrapped()?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let expected = &"a string or an object with one key";
        match self.value {
            Value::String(variant) => visitor.visit_enum(Variant { name: variant, data: None }),
            Value::Object(object) => {
                self.check_depth()?;
                let mut entries = object.iter();
                match (entries.next(), entries.next()) {
                    (Some((name, data)), None) => {
                        visitor.visit_enum(Variant { name, data: Some(self.child(data)) })
                    }
                    (Some(_), Some(_)) | (None, _) => {
                        let found = format!("object of {} keys", object.len());
                        Err(Fault::invalid_value(Unexpected::Other(&found), expected))
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Array(_) => {
                self.mismatch(expected)
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

impl<'de> ValueDeserializer<'de> {
    fn mismatch<T>(self, expected: &&str) -> Result<T, Fault> {
        let integer;
        let found = match self.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(truth) => Unexpected::Bool(*truth),
            Value::Integer(number) => {
                integer = integer_text(number);
                Unexpected::Other(&integer)
            }
            Value::Float(float) => Unexpected::Float(float.get()),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        Err(Fault::invalid_type(found, expected))
    }
}

/// The elements of an array.
struct Items<'de> {
    parent: ValueDeserializer<'de>,
    items: iter::Enumerate<slice::Iter<'de, Value>>,
}

impl<'de> SeqAccess<'de> for &mut Items<'de> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some((index, item)) = self.items.next() else { return Ok(None) };
        seed.deserialize(self.parent.child(item)).map(Some).map_err(|fault| fault.at(Step::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of an object, and the one whose key was read.
struct Fields<'de> {
    parent: ValueDeserializer<'de>,
    entries: Entries<'de>,
    entry: Option<(&'de str, &'de Value)>,
}

impl<'de> MapAccess<'de> for &mut Fields<'de> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.entry = self.entries.next();
        let Some((key, _)) = self.entry else { return Ok(None) };
        seed.deserialize(KeyDeserializer(key)).map(Some).map_err(|fault| fault.at(Step::Key(key)))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some((key, value)) = self.entry.take() else {
            return Err(Fault::new("a value was asked for before its key"));
        };
        seed.deserialize(self.parent.child(value)).map_err(|fault| fault.at(Step::Key(key)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A variant of an enum, by its name alone or with data.
struct Variant<'de> {
    name: &'de str,
    data: Option<ValueDeserializer<'de>>,
}

impl<'de> Variant<'de> {
    fn data(self, expected: &&str) -> Result<ValueDeserializer<'de>, Fault> {
        self.data.ok_or_else(|| Fault::invalid_type(Unexpected::Str(self.name), expected))
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        Ok((seed.deserialize(KeyDeserializer(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        let Some(data) = self.data else { return Ok(()) };
        <()>::deserialize(data).map_err(|fault| fault.at(Step::Key(self.name)))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        let name = self.name;
        let data = self.data(&"a variant with data")?;
        seed.deserialize(data).map_err(|fault| fault.at(Step::Key(name)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        let name = self.name;
        let data = self.data(&"a variant with data")?;
        data.deserialize_any(visitor).map_err(|fault| fault.at(Step::Key(name)))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        let name = self.name;
        let data = self.data(&"a variant with data")?;
        data.deserialize_any(visitor).map_err(|fault| fault.at(Step::Key(name)))
    }
}

/// An integer that no method of a visitor takes. It is offered as a newtype, which the visitor of a [`Value`] opens by its
/// name; whoever else opens it finds an error.
struct WideInteger<'de>(&'de Integer);

impl<'de> Deserializer<'de> for WideInteger<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        Err(Fault::new(&format!("{} is beyond what serde can carry; at most 128 bits are", integer_text(self.0))))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == ASIDE { visitor.visit_string(self.0.to_string()) } else { self.deserialize_any(visitor) }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct enum identifier
    }
}
