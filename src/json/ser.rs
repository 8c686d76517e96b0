//! Rust values to [`Value`]s.
//!
//! Invariant: nothing is lost. A number keeps its value, an object its keys, and what JSON cannot say is an error. The
//! levels of the value under construction are counted, and so are the wrappers that leave no level, so that the native
//! stack is bounded before it is used.

use std::fmt;

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::convert::{ANNOUNCED_MAX, ConvertError, Fault, WRAPPERS_MAX, not_finite, too_wrapped};
use super::error::Step;
use super::keys::KeySerializer;
use super::measure::too_deep;
use super::serde::ASIDE;
use super::{Array, DEPTH_MAX, Float, Integer, Object, Value};

/// Makes a [`Value`] of anything that serializes.
///
/// Everything is as `serde_json` writes it, except where that would change a value: integers of any width stay exact; an
/// `f32` becomes the float of its shortest text (`0.1_f32` is `0.1`, not `0.10000000149011612`); a [`Value`] becomes itself.
/// Bytes become an array of integers, `None` and units `null`, enums are tagged as their attributes say. The keys of a map
/// may be strings, characters, integers, booleans and unit variants, also inside newtypes.
///
/// # Errors
///
/// With the path: a float that is NaN or infinite; a key that occurs twice or is nothing of the above; nesting deeper than
/// [`DEPTH_MAX`] levels, or inside more than twice as many options and newtypes; whatever a `Serialize` of the value
/// reports.
///
/// # Limits
///
/// Recurses over the value, at most as deep as said; the tests, without optimization, need less than one mebibyte of stack.
/// Memory is in proportion to the value.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, ConvertError> {
    value.serialize(ValueSerializer { depth: 0, wrappers: 0 }).map_err(Fault::finish)
}

/// Makes one value, `depth` containers and `wrappers` wrappers below the root.
#[derive(Clone, Copy)]
struct ValueSerializer {
    depth: usize,
    wrappers: usize,
}

impl ValueSerializer {
    /// For the children of a container.
    fn inside(self) -> Result<Self, Fault> {
        if self.depth == DEPTH_MAX {
            return Err(Fault::new(&too_deep()));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    /// For what an option or a newtype holds.
    fn wrapped(self) -> Result<Self, Fault> {
        if self.wrappers == WRAPPERS_MAX {
            return Err(Fault::new(&too_wrapped()));
        }
        Ok(Self { wrappers: self.wrappers + 1, ..self })
    }

    fn items(self, announced: usize) -> Result<Items, Fault> {
        Ok(Items { items: Vec::with_capacity(announced.min(ANNOUNCED_MAX)), child: self.inside()?, variant: None })
    }

    fn entries(self) -> Result<Entries, Fault> {
        Ok(Entries { object: Object::new(), child: self.inside()?, key: None, variant: None })
    }
}

macro_rules! integers {
    ($($method:ident: $kind:ty as $wide:ty),*) => {$(
        fn $method(self, number: $kind) -> Result<Value, Fault> {
            Ok(Value::Integer(Integer::from(<$wide>::from(number))))
        }
    )*};
}

impl Serializer for ValueSerializer {
    type Ok = Value;
    type Error = Fault;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    integers! {
        serialize_i8: i8 as i64, serialize_i16: i16 as i64, serialize_i32: i32 as i64, serialize_i64: i64 as i64,
        serialize_u8: u8 as i64, serialize_u16: u16 as i64, serialize_u32: u32 as i64, serialize_u64: u64 as u64,
        serialize_i128: i128 as i128, serialize_u128: u128 as u128
    }

    fn serialize_bool(self, truth: bool) -> Result<Value, Fault> {
        Ok(Value::Bool(truth))
    }

    fn serialize_f32(self, number: f32) -> Result<Value, Fault> {
        // Text that reads as a finite f32 reads as a finite f64.
        let shortest = number.to_string().parse().ok().and_then(Float::new);
        shortest.map(Value::Float).ok_or_else(|| Fault::new(&not_finite(number)))
    }

    fn serialize_f64(self, number: f64) -> Result<Value, Fault> {
        Float::new(number).map(Value::Float).ok_or_else(|| Fault::new(&not_finite(number)))
    }

    fn serialize_char(self, character: char) -> Result<Value, Fault> {
        Ok(Value::String(character.to_string()))
    }

    fn serialize_str(self, text: &str) -> Result<Value, Fault> {
        Ok(Value::from(text))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, Fault> {
        self.inside()?;
        Ok(Value::Array(bytes.iter().map(|byte| Value::from(u32::from(*byte))).collect()))
    }

    fn serialize_none(self) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Fault> {
        value.serialize(self.wrapped()?)
    }

    fn serialize_unit(self) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, Fault> {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value, Fault> {
        if name == ASIDE { listen(value) } else { value.serialize(self.wrapped()?) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Fault> {
        let value = value.serialize(self.inside()?).map_err(|fault| fault.at(Step::Key(variant)))?;
        Ok(tagged(variant, value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items, Fault> {
        self.items(len.unwrap_or_default())
    }

    fn serialize_tuple(self, len: usize) -> Result<Items, Fault> {
        self.items(len)
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Items, Fault> {
        self.items(len)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items, Fault> {
        let items = self.inside()?.items(len).map_err(|fault| fault.at(Step::Key(variant)))?;
        Ok(Items { variant: Some(variant), ..items })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, Fault> {
        self.entries()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries, Fault> {
        self.entries()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries, Fault> {
        let entries = self.inside()?.entries().map_err(|fault| fault.at(Step::Key(variant)))?;
        Ok(Entries { variant: Some(variant), ..entries })
    }
}

/// The value of a variant that has data.
fn tagged(variant: &str, value: Value) -> Value {
    let mut object = Object::new();
    object.insert(variant, value);
    Value::Object(object)
}

/// What a [`Value`] says aside: the digits of an integer that serde has no method for, or why it is refused.
fn listen<T: Serialize + ?Sized>(value: &T) -> Result<Value, Fault> {
    let Err(Heard(text)) = value.serialize(KeySerializer::new()) else {
        return Err(Fault::new("the name of this newtype is reserved"));
    };
    Integer::parse(&text).map(Value::Integer).map_err(|_| Fault::new(&text))
}

/// An error whose text is the alternate form of what was reported.
#[derive(Debug)]
struct Heard(String);

impl fmt::Display for Heard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Heard {}

impl ser::Error for Heard {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(format!("{message:#}"))
    }
}

/// An array under construction, the data of `variant` if there is one.
struct Items {
    items: Vec<Value>,
    child: ValueSerializer,
    variant: Option<&'static str>,
}

impl Items {
    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Fault> {
        let made = item.serialize(self.child).map_err(|fault| {
            let fault = fault.at(Step::Index(self.items.len()));
            outside(fault, self.variant)
        })?;
        self.items.push(made);
        Ok(())
    }

    fn close(self) -> Value {
        let array = Value::Array(Array::from(self.items));
        match self.variant {
            Some(variant) => tagged(variant, array),
            None => array,
        }
    }
}

/// A fault in the data of a variant, seen from outside of the variant.
fn outside(fault: Fault, variant: Option<&'static str>) -> Fault {
    match variant {
        Some(variant) => fault.at(Step::Key(variant)),
        None => fault,
    }
}

macro_rules! sequences {
    ($($sequence:ident by $method:ident)*) => {$(
        impl $sequence for Items {
            type Ok = Value;
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Fault> {
                self.push(item)
            }

            fn end(self) -> Result<Value, Fault> {
                Ok(self.close())
            }
        }
    )*};
}

sequences! {
    SerializeSeq by serialize_element SerializeTuple by serialize_element
    SerializeTupleStruct by serialize_field SerializeTupleVariant by serialize_field
}

/// An object under construction, the data of `variant` if there is one.
struct Entries {
    object: Object,
    child: ValueSerializer,
    /// A key whose value comes next.
    key: Option<String>,
    variant: Option<&'static str>,
}

impl Entries {
    fn put<T: Serialize + ?Sized>(&mut self, key: String, value: &T) -> Result<(), Fault> {
        let fault = match value.serialize(self.child) {
            Ok(_) if self.object.contains_key(&key) => Fault::new("duplicate key"),
            Ok(made) => {
                self.object.insert(key, made);
                return Ok(());
            }
            Err(fault) => fault,
        };
        Err(outside(fault.at(Step::Key(&key)), self.variant))
    }

    fn close(self) -> Result<Value, Fault> {
        if let Some(key) = self.key {
            return Err(Fault::new("a key without a value").at(Step::Key(&key)));
        }
        let object = Value::Object(self.object);
        Ok(match self.variant {
            Some(variant) => tagged(variant, object),
            None => object,
        })
    }
}

impl SerializeMap for Entries {
    type Ok = Value;
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        match self.key.replace(key.serialize(KeySerializer::new())?) {
            Some(key) => Err(Fault::new("a key without a value").at(Step::Key(&key))),
            None => Ok(()),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        match self.key.take() {
            Some(key) => self.put(key, value),
            None => Err(Fault::new("a value without a key")),
        }
    }

    fn end(self) -> Result<Value, Fault> {
        self.close()
    }
}

macro_rules! structs {
    ($($kind:ident)*) => {$(
        impl $kind for Entries {
            type Ok = Value;
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Fault> {
                self.put(key.to_owned(), value)
            }

            fn end(self) -> Result<Value, Fault> {
                self.close()
            }
        }
    )*};
}

structs! { SerializeStruct SerializeStructVariant }
