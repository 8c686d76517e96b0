//! Keys of maps: Rust values as text, and text as Rust values.
//!
//! Invariant: different keys of one type have different texts, and only the one spelling that serializing gives is read
//! back, so that keys never fall together unseen.

use std::fmt::Display;
use std::marker::PhantomData;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Error, Impossible, Serialize, Serializer};

use super::Integer;
use super::convert::Fault;
use super::de::{broad, narrow};

/// Makes text of what may be a key, and a refusal of everything else.
pub(super) struct KeySerializer<E>(PhantomData<E>);

impl<E> KeySerializer<E> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

fn refused<T, E: Error>(what: &str) -> Result<T, E> {
    Err(E::custom(format_args!(
        "{what} as a key; keys are strings, characters, integers, booleans and unit variants"
    )))
}

macro_rules! written {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method(self, key: $kind) -> Result<String, E> {
            Ok(key.to_string())
        }
    )*};
}

macro_rules! refused {
    ($($method:ident($($kind:ty),*) -> $made:ty, $what:literal;)*) => {$(
        fn $method(self, $(_: $kind),*) -> Result<$made, E> {
            refused($what)
        }
    )*};
}

impl<E: Error> Serializer for KeySerializer<E> {
    type Ok = String;
    type Error = E;
    type SerializeSeq = Impossible<String, E>;
    type SerializeTuple = Impossible<String, E>;
    type SerializeTupleStruct = Impossible<String, E>;
    type SerializeTupleVariant = Impossible<String, E>;
    type SerializeMap = Impossible<String, E>;
    type SerializeStruct = Impossible<String, E>;
    type SerializeStructVariant = Impossible<String, E>;

    written! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str
    }

    refused! {
        serialize_f32(f32) -> String, "a float";
        serialize_f64(f64) -> String, "a float";
        serialize_bytes(&[u8]) -> String, "bytes";
        serialize_none() -> String, "an option";
        serialize_unit() -> String, "a unit";
        serialize_unit_struct(&'static str) -> String, "a unit";
        serialize_seq(Option<usize>) -> Self::SerializeSeq, "a sequence";
        serialize_tuple(usize) -> Self::SerializeTuple, "a tuple";
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct, "a tuple";
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant,
            "a variant with data";
        serialize_map(Option<usize>) -> Self::SerializeMap, "a map";
        serialize_struct(&'static str, usize) -> Self::SerializeStruct, "a struct";
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant,
            "a variant with data";
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, E> {
        refused("an option")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, E> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result<String, E> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, E> {
        refused("a variant with data")
    }

    fn collect_str<T: Display + ?Sized>(self, key: &T) -> Result<String, E> {
        Ok(key.to_string())
    }
}

/// Reads a key as whatever is asked for.
pub(super) struct KeyDeserializer<'de>(pub(super) &'de str);

impl<'de> KeyDeserializer<'de> {
    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.0)
    }
}

macro_rules! integers {
    ($($method:ident by $width:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match Integer::parse(self.0) {
                Ok(integer) => $width(&integer, visitor),
                Err(_) => self.text(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyDeserializer<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.text(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.text(visitor),
        }
    }

    integers! {
        deserialize_i8 by narrow deserialize_i16 by narrow deserialize_i32 by narrow deserialize_i64 by narrow
        deserialize_u8 by narrow deserialize_u16 by narrow deserialize_u32 by narrow deserialize_u64 by narrow
        deserialize_i128 by broad deserialize_u128 by broad
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        BorrowedStrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}
