//! Why a Rust value and a [`Value`](super::Value) do not convert into each other.
//!
//! Invariant: a conversion that succeeds builds no path. While a [`Fault`] travels outwards each container adds the step to
//! the child it came from; only then is it made a [`ConvertError`], whose text is bounded whatever the input was.

use std::fmt::{self, Write as _};

use serde::de::{self, Expected, Unexpected};
use serde::ser;

use super::encode::quoted;
use super::error::{Step, clip, joined, step_text};
use super::number::{Float, Integer, QUOTED_BYTES_MAX};

/// The longest message a [`ConvertError`] holds, in bytes.
const MESSAGE_BYTES_MAX: usize = 400;

/// The longest string, key or name that a message quotes, in bytes before quoting.
const FOUND_BYTES_MAX: usize = 64;

/// The most options and newtypes on the way from the root to a value.
///
/// They leave no trace in JSON but take native stack each, so they are counted beside the levels of nesting: two for
/// every level that may be.
pub(super) const WRAPPERS_MAX: usize = 2 * super::DEPTH_MAX;

/// The most elements that room is made for because a length was announced.
pub(super) const ANNOUNCED_MAX: usize = 1024;

/// Why a conversion was refused.
///
/// The text names the path first: `$.items[3].a: invalid type: string "x", expected u32`. It is bounded in length: at most
/// 200 bytes of path and 400 of message, both without their middle when they would be longer.
///
/// # Security
///
/// Paths and quoted pieces come from whoever wrote the value. Control characters are escaped; everything else is as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertError {
    path: String,
    message: String,
}

impl ConvertError {
    /// Where in the value: `$` is the value itself, `$.a[3]["b c"]` an element inside.
    ///
    /// What serde buffers (flattened fields, untagged and internally tagged enums) has no path of its own; the path ends at
    /// what was buffered.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for ConvertError {}

/// A [`ConvertError`] on its way to the root.
#[derive(Debug)]
pub(super) struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    message: String,
    /// The innermost step first.
    steps: Vec<String>,
}

impl Fault {
    pub(super) fn new(message: &str) -> Self {
        Self(Box::new(Parts { message: tame(message), steps: Vec::new() }))
    }

    /// The same fault, seen from the container that `step` leads out of.
    pub(super) fn at(mut self, step: Step<'_>) -> Self {
        self.0.steps.push(step_text(step));
        self
    }

    pub(super) fn finish(self) -> ConvertError {
        let Parts { message, mut steps } = *self.0;
        steps.reverse();
        ConvertError { path: joined(steps), message }
    }

    fn mismatch(about: &str, found: &Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(&format!("invalid {about}: {}, expected {expected}", found_text(found)))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.0.steps.iter().rev() {
            formatter.write_str(step)?;
        }
        formatter.write_str(if self.0.steps.is_empty() { "" } else { ": " })?;
        formatter.write_str(&self.0.message)
    }
}

impl std::error::Error for Fault {}

impl ser::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(&message.to_string())
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(&message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch("type", &found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::mismatch("value", &found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(&unknown("variant", variant, expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(&unknown("field", field, expected))
    }
}

fn unknown(what: &str, name: &str, expected: &[&str]) -> String {
    let name = quoted(&clip(name, FOUND_BYTES_MAX));
    match expected {
        [] => format!("unknown {what} {name}, expected none"),
        [only] => format!("unknown {what} {name}, expected {}", quoted(only)),
        _ => {
            let known: Vec<String> = expected.iter().map(|known| quoted(known)).collect();
            format!("unknown {what} {name}, expected one of {}", known.join(", "))
        }
    }
}

/// What was found, in the words of [`Value::kind`](super::Value::kind).
fn found_text(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit | Unexpected::Option => "null".to_owned(),
        Unexpected::Bool(truth) => format!("boolean {truth}"),
        Unexpected::Signed(number) => format!("integer {number}"),
        Unexpected::Unsigned(number) => format!("integer {number}"),
        Unexpected::Float(number) => format!("float {number:?}"),
        Unexpected::Str(text) => format!("string {}", quoted(&clip(text, FOUND_BYTES_MAX))),
        Unexpected::Seq => "array".to_owned(),
        Unexpected::Map => "object".to_owned(),
        // How an integer that fits no method of a visitor is offered to it.
        Unexpected::NewtypeStruct => "integer beyond 128 bits".to_owned(),
        _ => found.to_string(),
    }
}

/// The text of an integer in a message, clipped.
pub(super) fn integer_text(integer: &Integer) -> String {
    format!("integer {}", clip(&integer.to_string(), QUOTED_BYTES_MAX))
}

/// The message for a float that JSON has no text for.
pub(super) fn not_finite(number: impl fmt::Display) -> String {
    format!("float {number} is not finite")
}

/// The message for a float that is too large for the type asked for.
pub(super) fn beyond_f32(float: Float) -> String {
    format!("float {float} is beyond {:?}, the largest f32", f32::MAX)
}

/// The message for more options and newtypes than are followed.
pub(super) fn too_wrapped() -> String {
    format!("nested in more than {WRAPPERS_MAX} options and newtypes")
}

/// A message without control characters, within its bound.
fn tame(message: &str) -> String {
    let message = clip(message, MESSAGE_BYTES_MAX);
    if !message.contains(char::is_control) {
        return message.into_owned();
    }
    let mut tamed = String::with_capacity(message.len());
    for character in message.chars() {
        if character.is_control() {
            let written = write!(tamed, "\\u{:04x}", u32::from(character));
            debug_assert!(written.is_ok(), "a string takes any text");
        } else {
            tamed.push(character);
        }
    }
    clip(&tamed, MESSAGE_BYTES_MAX).into_owned()
}

#[cfg(test)]
mod tests {
    use serde::de::Error as _;

    use super::*;

    #[test]
    fn a_message_is_bounded_and_has_no_control_characters() {
        let fault = |message: &str| Fault::new(message).finish().to_string();
        assert_eq!(fault("a\u{1b}[31m\n\u{9b}"), "$: a\\u001b[31m\\u000a\\u009b");
        let most = "x".repeat(MESSAGE_BYTES_MAX);
        assert_eq!(fault(&most), format!("$: {most}"));
        for long in ["x".repeat(MESSAGE_BYTES_MAX + 1), "\n".repeat(MESSAGE_BYTES_MAX), "é".repeat(100_000)] {
            let message = fault(&long);
            assert!((MESSAGE_BYTES_MAX - 8..=MESSAGE_BYTES_MAX + 3).contains(&message.len()), "{message}");
            assert!(message.contains('…'));
        }
    }

    #[test]
    fn a_fault_reads_from_the_outside_in() {
        let fault = Fault::custom("no").at(Step::Index(3)).at(Step::Key("b c")).at(Step::Key("a"));
        assert_eq!(fault.to_string(), r#".a["b c"][3]: no"#);
        let error = fault.finish();
        assert_eq!((error.path(), error.to_string().as_str()), (r#"$.a["b c"][3]"#, r#"$.a["b c"][3]: no"#));
        assert_eq!(Fault::custom("no").to_string(), "no");
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let text = |expected| Fault::unknown_field("[x]\n", expected).to_string();
        assert_eq!(text(&[]), r#"unknown field "[x]\n", expected none"#);
        assert_eq!(text(&["a"]), r#"unknown field "[x]\n", expected "a""#);
        assert_eq!(text(&["a", "b"]), r#"unknown field "[x]\n", expected one of "a", "b""#);
        let variant = Fault::unknown_variant(&"v".repeat(100_000), &["a"]).to_string();
        assert!(variant.len() < 120, "{variant}");
    }
}
