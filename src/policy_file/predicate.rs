//! Predicates over the arguments of a call: a JSON pointer, and what must be there.
//!
//! Invariant: numbers are equal when they are the same number, however they are written, so that writing `1.0` for `1`
//! evades nothing. Comparing takes the native stack only as deep as the policy file nests, which its parser bounds.

use super::glob::Glob;
use crate::json::{Integer, Value};

/// One condition.
#[derive(Clone, Debug)]
pub(super) struct Predicate {
    pub(super) pointer: Pointer,
    pub(super) test: Test,
}

/// What must be at the pointer.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// One of these values.
    OneOf(Vec<Value>),
    /// A string that the glob matches.
    Glob(Glob),
    /// Anything at all, or nothing.
    Present(bool),
}

impl Predicate {
    /// Whether it holds for these arguments.
    pub(super) fn holds(&self, arguments: &Value) -> bool {
        let found = self.pointer.find(arguments);
        match &self.test {
            Test::OneOf(values) => found.is_some_and(|found| values.iter().any(|value| same(value, found))),
            Test::Glob(glob) => found.and_then(Value::as_str).is_some_and(|text| glob.matches(text)),
            Test::Present(expected) => found.is_some() == *expected,
        }
    }
}

/// A JSON pointer of RFC 6901.
#[derive(Clone, Debug)]
pub(super) struct Pointer(Vec<String>);

impl Pointer {
    /// Reads a pointer.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let Some(inner) = text.strip_prefix('/') else {
            let whole = text.is_empty();
            return if whole { Ok(Self(Vec::new())) } else { Err("it must be empty or begin with `/`") };
        };
        inner.split('/').map(step).collect::<Option<_>>().map(Self).ok_or("after `~` there must be `0` or `1`")
    }

    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match value {
            Value::Object(entries) => entries.get(step),
            Value::Array(items) => items.get(index(step)?),
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::String(_) => None,
        })
    }
}

/// One step, with `~1` for `/` and `~0` for `~`.
fn step(text: &str) -> Option<String> {
    let mut step = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        step.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(step)
}

/// An index as the RFC writes it: digits without leading zeros.
fn index(step: &str) -> Option<usize> {
    let plain = step.bytes().all(|byte| byte.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    if plain { step.parse().ok() } else { None }
}

/// Whether two values are the same, with numbers compared as numbers.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found.iter()).all(|(e, f)| same(e, f))
        }
        (Value::Object(expected), Value::Object(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Integer(_) | Value::Float(_), Value::Integer(_) | Value::Float(_)) => {
            match (whole(expected), whole(found)) {
                (Some(expected), Some(found)) => expected == found,
                (None, None) => expected == found,
                (Some(_), None) | (None, Some(_)) => false,
            }
        }
        (Value::Null | Value::Bool(_) | Value::String(_), _) => expected == found,
        (Value::Array(_) | Value::Object(_) | Value::Integer(_) | Value::Float(_), _) => false,
    }
}

/// A number as an integer, if it is one.
fn whole(number: &Value) -> Option<Integer> {
    match number {
        Value::Integer(integer) => Some(integer.clone()),
        // Adding zero turns -0.0 into 0.0. A float without a fraction prints all its digits.
        Value::Float(float) if float.get().fract() == 0.0 => {
            Integer::parse(&format!("{:.0}", float.get() + 0.0)).ok()
        }
        Value::Float(_) | Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    fn find(pointer: &str, text: &str) -> Option<Value> {
        let value = decode(text).expect("valid JSON");
        Pointer::parse(pointer).expect("a valid pointer").find(&value).cloned()
    }

    #[test]
    fn pointers_lead_where_the_rfc_says() {
        let document =
            r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "i\\j": 5, " ": 7, "m~n": 8, "0": 9}"#;
        let cases = [
            ("", Some(document)),
            ("/foo", Some(r#"["bar", "baz"]"#)),
            ("/foo/0", Some(r#""bar""#)),
            ("/foo/00", None),
            ("/foo/2", None),
            ("/foo/-", None),
            ("/foo/+1", None),
            ("/foo/", None),
            ("/foo/99999999999999999999", None),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/c%d", Some("2")),
            ("/i\\j", Some("5")),
            ("/ ", Some("7")),
            ("/m~0n", Some("8")),
            ("/0", Some("9")),
            ("/absent", None),
            ("/0/x", None),
        ];
        for (pointer, expected) in cases {
            let expected = expected.map(|text| decode(text).expect("valid JSON"));
            assert_eq!(find(pointer, document), expected, "{pointer}");
        }
        for bad in ["foo", "/~", "/~2", "/a/~x", "#/foo"] {
            assert!(Pointer::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let cases = [
            ("1", "1.0", true),
            ("1.0", "1", true),
            ("0", "-0.0", true),
            ("100", "1e2", true),
            ("0.5", "5e-1", true),
            ("0.5", "0", false),
            ("1", "1.5", false),
            ("9007199254740993", "9007199254740992.0", false),
            ("9007199254740992", "9007199254740992.0", true),
            ("100000000000000000000", "1e20", true),
            ("[1, {\"a\": 2.0}]", "[1.0, {\"a\": 2}]", true),
            ("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", true),
            ("{\"a\": 1}", "{\"a\": 1, \"b\": 2}", false),
            ("[1]", "[1, 2]", false),
            ("1", "\"1\"", false),
            ("\"1\"", "1", false),
            ("true", "true", true),
            ("true", "1", false),
            ("[]", "{}", false),
        ];
        for (expected, found, equal) in cases {
            let [left, right] = [expected, found].map(|text| decode(text).expect("valid JSON"));
            assert_eq!(same(&left, &right), equal, "{expected} {found}");
        }
    }
}
