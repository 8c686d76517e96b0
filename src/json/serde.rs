//! Handing a [`Value`] to whatever speaks serde.
//!
//! Invariant: nothing is rounded. An integer beyond what serde's data model holds is an error, and the value is checked for
//! depth before the serializer, which recurses, sees it.

use serde::ser::{Error as _, Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use super::{Integer, Value, check};

impl Serialize for Value {
    /// # Errors
    /// Beyond the serializer's own: a value deeper than [`DEPTH_MAX`](super::DEPTH_MAX), and an integer outside the ranges
    /// of `i128` and `u128`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        check(self).map_err(S::Error::custom)?;
        Checked(self).serialize(serializer)
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
        return serializer.serialize_i64(small);
    }
    if let Some(small) = value.as_u64() {
        return serializer.serialize_u64(small);
    }
    let text = value.to_string();
    match (text.parse::<i128>(), text.parse::<u128>()) {
        (Ok(wide), _) => serializer.serialize_i128(wide),
        (_, Ok(wide)) => serializer.serialize_u128(wide),
        _ => Err(S::Error::custom(format_args!(
            "an integer of {} digits is beyond what serde can carry; at most 128 bits are",
            text.trim_start_matches('-').len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Array, decode};
    use super::*;

    #[test]
    fn a_value_serializes_as_it_reads() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,-170141183460469231731687303715884105728,1.5,"x"]}"#;
        let value = decode(text).expect("valid");
        assert_eq!(serde_json::to_string(&value).expect("serializes"), text);
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
