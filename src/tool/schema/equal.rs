//! When two JSON values are the same to a schema: numbers by what they are worth, objects in any
//! order.
//!
//! Invariant: exact. An integer of any length equals a float only when the float is that integer,
//! to the last digit. Depth is bounded by [`DEPTH_MAX`](crate::json::DEPTH_MAX), so these
//! functions may recurse; every value they look at is charged.

use std::hash::{BuildHasher, RandomState};

use crate::json::{Float, Integer, Value};

use super::meter::{charge, charge_text};

/// Bytes of text that are compared in the time of one step.
const TEXT_BYTES_PER_STEP: usize = 64;

/// A number by its worth: equal numbers are equal here, whatever their spelling.
#[derive(PartialEq, Eq, Hash)]
enum Worth {
    Small(i64),
    /// All digits of an integer beyond `i64`.
    Digits(String),
    /// The bits of a number that is no integer.
    Fraction(u64),
}

impl Worth {
    fn of_integer(integer: &Integer) -> Self {
        match integer.as_i64() {
            Some(small) => Self::Small(small),
            None => Self::Digits(integer.to_string()),
        }
    }

    fn of_float(float: f64) -> Self {
        if float.fract() != 0.0 {
            return Self::Fraction(float.to_bits());
        }
        // All digits of the integer the float is, at most 309 of them; `-0` is zero.
        let digits = format!("{float:.0}");
        match digits.parse() {
            Ok(small) => Self::Small(small),
            Err(_) => Self::Digits(digits),
        }
    }
}

fn integer_is_float(integer: &Integer, float: f64) -> bool {
    // The nearest float is equal if any is; this spares most comparisons the digits.
    integer.to_f64() == float && Worth::of_integer(integer) == Worth::of_float(float)
}

fn integer_is(integer: &Integer, expected: &serde_json::Number) -> bool {
    if let Some(expected) = expected.as_i64() {
        return integer.as_i64() == Some(expected);
    }
    if let Some(expected) = expected.as_u64() {
        return integer.as_u64() == Some(expected);
    }
    expected.as_f64().is_some_and(|expected| integer_is_float(integer, expected))
}

fn float_is(float: Float, expected: &serde_json::Number) -> bool {
    if let Some(expected) = expected.as_i64() {
        return integer_is_float(&Integer::from(expected), float.get());
    }
    if let Some(expected) = expected.as_u64() {
        return integer_is_float(&Integer::from(expected), float.get());
    }
    expected.as_f64() == Some(float.get())
}

fn text_is(text: &str, expected: &str) -> bool {
    text.len() == expected.len() && {
        charge_text(text.len(), TEXT_BYTES_PER_STEP);
        text == expected
    }
}

/// Whether an instance is a value of the schema.
pub(super) fn is(value: &Value, expected: &serde_json::Value) -> bool {
    use serde_json::Value as Expected;
    charge(1);
    match (value, expected) {
        (Value::Null, Expected::Null) => true,
        (Value::Bool(value), Expected::Bool(expected)) => value == expected,
        (Value::Integer(integer), Expected::Number(expected)) => integer_is(integer, expected),
        (Value::Float(float), Expected::Number(expected)) => float_is(*float, expected),
        (Value::String(text), Expected::String(expected)) => text_is(text, expected),
        (Value::Array(items), Expected::Array(expected)) => {
            items.len() == expected.len() && items.iter().zip(expected).all(|(item, expected)| is(item, expected))
        }
        (Value::Object(entries), Expected::Object(expected)) => {
            entries.len() == expected.len()
                && entries.iter().all(|(key, value)| expected.get(key).is_some_and(|expected| is(value, expected)))
        }
        _ => false,
    }
}

/// Whether a text is a value of the schema.
pub(super) fn name_is(name: &str, expected: &serde_json::Value) -> bool {
    charge(1);
    expected.as_str().is_some_and(|expected| text_is(name, expected))
}

/// Whether two instances are the same.
fn same(left: &Value, right: &Value) -> bool {
    charge(1);
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left.get() == right.get(),
        (Value::Integer(integer), Value::Float(float)) | (Value::Float(float), Value::Integer(integer)) => {
            integer_is_float(integer, float.get())
        }
        (Value::String(left), Value::String(right)) => text_is(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => false,
    }
}

/// A number that is equal for equal values and, but for chance, for no others. The keys are
/// random, so an instance cannot be made to collide.
fn fingerprint(value: &Value, keys: &RandomState) -> u64 {
    charge(1);
    match value {
        Value::Null => keys.hash_one(0_u8),
        Value::Bool(truth) => keys.hash_one((1_u8, truth)),
        Value::Integer(integer) => keys.hash_one((2_u8, Worth::of_integer(integer))),
        Value::Float(float) => {
            charge(8);
            keys.hash_one((2_u8, Worth::of_float(float.get())))
        }
        Value::String(text) => {
            charge_text(text.len(), TEXT_BYTES_PER_STEP);
            keys.hash_one((3_u8, text))
        }
        Value::Array(items) => {
            items.iter().fold(keys.hash_one(4_u8), |hash, item| keys.hash_one((hash, fingerprint(item, keys))))
        }
        Value::Object(entries) => {
            // A sum, so that the order does not count.
            entries.iter().fold(keys.hash_one(5_u8), |hash, (key, value)| {
                charge_text(key.len(), TEXT_BYTES_PER_STEP);
                hash.wrapping_add(keys.hash_one((key, fingerprint(value, keys))))
            })
        }
    }
}

/// Whether no two items are the same. Time grows as sorting does.
pub(super) fn all_differ(items: &[Value]) -> bool {
    if items.len() < 2 {
        return true;
    }
    let keys = RandomState::new();
    let mut marked: Vec<(u64, &Value)> = items.iter().map(|item| (fingerprint(item, &keys), item)).collect();
    marked.sort_unstable_by_key(|(mark, _)| *mark);
    marked.chunk_by(|left, right| left.0 == right.0).all(|alike| {
        // Mostly one; different values of one mark are too rare to count.
        alike
            .iter()
            .enumerate()
            .all(|(index, (_, left))| alike.iter().skip(index + 1).all(|(_, right)| !same(left, right)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    fn unique(text: &str) -> bool {
        all_differ(decode(text).unwrap().as_array().unwrap())
    }

    #[test]
    fn items_differ_by_worth_and_not_by_spelling() {
        let cases = [
            ("[]", true),
            ("[1]", true),
            ("[1,2,3]", true),
            ("[1,1.0]", false),
            ("[0,-0.0]", false),
            ("[0.0,-0.0]", false),
            ("[0.5,0.25]", true),
            ("[0.5,0.5]", false),
            ("[true,1]", true),
            ("[\"1\",1]", true),
            ("[null,false,0,\"\",[],{}]", true),
            ("[[1,[2]],[1.0,[2.0]]]", false),
            ("[[1,2],[2,1]]", true),
            ("[[],[[]]]", true),
            (r#"[{"a":1,"b":2},{"b":2.0,"a":1}]"#, false),
            (r#"[{"a":1,"b":2},{"a":2,"b":1}]"#, true),
            ("[100000000000000000000,1e20]", false),
            ("[100000000000000000001,1e20]", true),
            ("[9007199254740993,9007199254740992.0]", true),
        ];
        for (text, expected) in cases {
            assert_eq!(unique(text), expected, "{text}");
        }
    }

    #[test]
    fn constants_are_compared_to_the_last_digit() {
        let cases = [
            ("1", "1.0", true),
            ("1.0", "1", true),
            ("-0.0", "0", true),
            ("18446744073709551615", "18446744073709551615", true),
            ("18446744073709551616", "18446744073709551615", false),
            ("18446744073709551616.0", "18446744073709551615", false),
            ("100000000000000000000", "1e20", true),
            ("100000000000000000001", "1e20", false),
            ("9007199254740993", "9007199254740992.0", false),
            ("9007199254740992.0", "9007199254740993", false),
            ("1", "true", false),
            ("\"a\"", "\"a\"", true),
            ("\"a\"", "\"b\"", false),
            (r#"{"a":[1,null]}"#, r#"{"a":[1.0,null]}"#, true),
            (r#"{"a":[1,null]}"#, r#"{"a":[1.0,null],"b":1}"#, false),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
        ];
        for (value, expected, same) in cases {
            let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
            assert_eq!(is(&decode(value).unwrap(), &expected), same, "{value} {expected}");
        }
        assert!(name_is("a", &"a".into()));
        assert!(!name_is("a", &"b".into()));
        assert!(!name_is("1", &1.into()));
    }
}
