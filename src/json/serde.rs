//! A [`Value`] as whatever speaks serde sees it.
//!
//! Invariant: nothing is rounded and nothing is dropped. An integer beyond what serde's data model holds is an error to
//! everyone but our own serializer and deserializer, a duplicate key is an error, and depth is checked before anything that
//! recurses sees it.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use super::convert::{ANNOUNCED_MAX, not_finite};
use super::encode::quoted;
use super::error::clip;
use super::measure::too_deep;
use super::{DEPTH_MAX, Error, Float, Integer, Object, Value, check};

/// The name of the newtype by which a [`Value`] and our own serializer and deserializer know each other.
///
/// What only they can carry goes inside. Every other serializer opens the newtype and finds an error; no other
/// deserializer offers it.
pub(super) const ASIDE: &str = "hotcell::json::Value";

/// The longest key that a message quotes, in bytes before quoting.
const KEY_BYTES_MAX: usize = 64;

impl Serialize for Value {
    /// # Errors
    /// Beyond the serializer's own: a value deeper than [`DEPTH_MAX`], and an integer outside the ranges
    /// of `i128` and `u128` unless [`to_value`](super::to_value) is who asks.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match check(self) {
            Ok(()) => Checked(self).serialize(serializer),
            Err(error) => serializer.serialize_newtype_struct(ASIDE, &Aside::Deep(error)),
        }
    }
}

/// A value that is not too deep.
struct Checked<'a>(&'a Value);

impl Serialize for Checked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Integer(value) => integer(value, serializer),
            Value::Float(value) => serializer.serialize_f64(value.get()),
            Value::String(value) => serializer.serialize_str(value),
            Value::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    sequence.serialize_element(&Checked(item))?;
                }
                sequence.end()
            }
            Value::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, &Checked(value))?;
                }
                map.end()
            }
        }
    }
}

fn integer<S: Serializer>(value: &Integer, serializer: S) -> Result<S::Ok, S::Error> {
    if let Some(small) = value.as_i64() {
        serializer.serialize_i64(small)
    } else if let Some(small) = value.as_u64() {
        serializer.serialize_u64(small)
    } else if let Some(wide) = value.as_i128() {
        serializer.serialize_i128(wide)
    } else if let Some(wide) = value.as_u128() {
        serializer.serialize_u128(wide)
    } else {
        serializer.serialize_newtype_struct(ASIDE, &Aside::Wide(value))
    }
}

/// What serde has no words for. It serializes as an error.
///
/// The plain text is for everyone. The alternate text (`{:#}`) is for our own serializer, whose error asks for that one: all
/// the digits of an integer, or a message without a path, which is found by unwinding.
enum Aside<'a> {
    Deep(Error),
    Wide(&'a Integer),
}

impl Serialize for Aside<'_> {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(self))
    }
}

impl fmt::Display for Aside<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deep(_) if formatter.alternate() => formatter.write_str(&too_deep()),
            Self::Deep(error) => fmt::Display::fmt(error, formatter),
            Self::Wide(integer) if formatter.alternate() => fmt::Display::fmt(integer, formatter),
            Self::Wide(integer) => write!(
                formatter,
                "an integer of {} digits is beyond what serde can carry; at most 128 bits are",
                integer.to_string().trim_start_matches('-').len()
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    /// # Errors
    /// Beyond the deserializer's own: an object with a key twice, a float that is not finite, bytes, a key that is no
    /// string, and nesting deeper than [`DEPTH_MAX`] levels.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Build { depth: 0 }.deserialize(deserializer)
    }
}

/// Builds a value that stands inside of `depth` others.
#[derive(Clone, Copy)]
struct Build {
    depth: usize,
}

impl Build {
    fn inside<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(too_deep()));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Build {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! integers {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method<E: de::Error>(self, number: $kind) -> Result<Value, E> {
            Ok(Value::from(number))
        }
    )*};
}

impl<'de> Visitor<'de> for Build {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    integers! { visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128 }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Float::new(number).map(Value::Float).ok_or_else(|| E::custom(not_finite(number)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.inside()?.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_newtype_struct(ASIDE, Open(self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let child = self.inside()?;
        let mut made = Vec::with_capacity(items.size_hint().unwrap_or_default().min(ANNOUNCED_MAX));
        while let Some(item) = items.next_element_seed(child)? {
            made.push(item);
        }
        Ok(Value::from(made))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let child = self.inside()?;
        let mut made = Object::new();
        while let Some(key) = entries.next_key::<String>()? {
            if made.contains_key(&key) {
                let key = quoted(&clip(&key, KEY_BYTES_MAX));
                return Err(de::Error::custom(format_args!("duplicate key {key}")));
            }
            made.insert(key, entries.next_value_seed(child)?);
        }
        Ok(Value::Object(made))
    }
}

/// Reads what is inside a newtype: the digits our own deserializer says aside, and any value otherwise.
struct Open(Build);

impl<'de> Visitor<'de> for Open {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_str<E: de::Error>(self, digits: &str) -> Result<Value, E> {
        Integer::parse(digits).map(Value::Integer).map_err(E::custom)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.inside()?.deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use serde::de::value::F64Deserializer;

    use super::super::{Array, decode};
    use super::*;

    #[test]
    fn a_value_serializes_as_it_reads() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,-170141183460469231731687303715884105728,1.5,"x"]}"#;
        let value = decode(text).expect("valid");
        assert_eq!(serde_json::to_string(&value).expect("serializes"), text);
    }

    #[test]
    fn a_value_deserializes_as_it_is_written() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,1.5,-0.0,"x"],"b":{},"":[[]]}"#;
        let value: Value = serde_json::from_str(text).expect("valid");
        assert_eq!(value, decode(text).expect("valid"));
        for (text, message) in [
            (r#"{"a":{"b":1,"b":2}}"#, "duplicate key \"b\" at line 1 column 15"),
            ("[1,]", "trailing comma at line 1 column 4"),
        ] {
            let error = serde_json::from_str::<Value>(text).expect_err("refused");
            assert_eq!(error.to_string(), message);
        }
        let nan = Value::deserialize(F64Deserializer::<de::value::Error>::new(f64::NAN)).expect_err("refused");
        assert_eq!(nan.to_string(), "float NaN is not finite");
    }

    #[test]
    fn nesting_in_a_foreign_format_is_bounded() {
        /// Endlessly many arrays, options or newtypes inside each other.
        #[derive(Clone, Copy)]
        enum Endless {
            Array,
            Option,
            Newtype,
        }
        impl<'de> Deserializer<'de> for Endless {
            type Error = de::value::Error;
            fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
                match self {
                    Self::Array => visitor.visit_seq(de::value::SeqDeserializer::new(iter::repeat(self))),
                    Self::Option => visitor.visit_some(self),
                    Self::Newtype => visitor.visit_newtype_struct(self),
                }
            }
            serde::forward_to_deserialize_any! {
                bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
                unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
            }
        }
        impl<'de> de::IntoDeserializer<'de, de::value::Error> for Endless {
            type Deserializer = Self;
            fn into_deserializer(self) -> Self {
                self
            }
        }
        for endless in [Endless::Array, Endless::Option, Endless::Newtype] {
            let error = Value::deserialize(endless).expect_err("refused");
            assert_eq!(error.to_string(), "nesting deeper than 512 levels");
        }
    }

    #[test]
    fn what_serde_cannot_carry_is_an_error() {
        let wide = decode(&"9".repeat(40)).expect("valid");
        assert_eq!(
            serde_json::to_string(&wide).expect_err("too wide").to_string(),
            "an integer of 40 digits is beyond what serde can carry; at most 128 bits are"
        );
        let mut deep = Value::Null;
        for _ in 0..100_000 {
            deep = Value::Array(Array::from(vec![deep]));
        }
        assert!(serde_json::to_string(&deep).is_err());
    }
}
