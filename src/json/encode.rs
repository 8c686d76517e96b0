//! Values to text.
//!
//! Invariant: one writer produces the compact text, the indented text and the
//! length, so a length is exact by construction. The writer is a loop whose
//! memory grows with the depth of the value, not its size. The only characters
//! escaped are the ones RFC 8259 requires: `"`, `\` and those below U+0020.

use std::fmt::{self, Write};

use super::Value;
use super::tree::Walk;

/// How many levels of containers the indented form spreads over lines: the
/// contents of the fifth start at column ten.
const PRETTY: usize = 5;

/// No container is spread over lines.
pub(super) const COMPACT: usize = 0;

/// The compact text of a value: no spaces, no line breaks, keys in order.
#[must_use]
pub fn encode(value: &Value) -> String {
    let mut out = String::new();
    encode_into(value, &mut out);
    out
}

/// Appends the compact text of a value to `out`.
pub fn encode_into(value: &Value, out: &mut String) {
    let written = write(out, value, COMPACT);
    debug_assert!(written.is_ok(), "a string takes any text");
}

/// The length in bytes of the compact text, exactly `encode(value).len()`.
///
/// Writes nothing; memory grows with the depth of the value only.
#[must_use]
pub fn encoded_len(value: &Value) -> usize {
    let mut counter = Counter(0);
    let written = write(&mut counter, value, COMPACT);
    debug_assert!(written.is_ok(), "a counter takes any text");
    counter.0
}

/// The length in bytes of one string's JSON text, both quotes included.
#[must_use]
pub fn string_len(text: &str) -> usize {
    let mut counter = Counter(0);
    let written = write_string(&mut counter, text);
    debug_assert!(written.is_ok(), "a counter takes any text");
    counter.0
}

/// The text of a value for a reader: two spaces of indentation per level.
///
/// An array or object whose contents would be indented by more than ten
/// columns is written compactly on its line, so the text never grows with the
/// square of the depth.
#[must_use]
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    let written = write(&mut out, value, PRETTY);
    debug_assert!(written.is_ok(), "a string takes any text");
    out
}

/// The JSON text of one string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    let written = write_string(&mut out, text);
    debug_assert!(written.is_ok(), "a string takes any text");
    out
}

struct Counter(usize);

impl Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.saturating_add(text.len());
        Ok(())
    }
}

/// A container whose opening bracket is written.
struct Level<'a> {
    walk: Walk<'a>,
    separator: &'static str,
}

/// Writes a value; the outermost `broken` levels of containers are spread over
/// lines.
///
/// # Errors
///
/// Only those of `out`.
pub(super) fn write<W: Write>(out: &mut W, value: &Value, broken: usize) -> fmt::Result {
    let mut stack: Vec<Level<'_>> = Vec::new();
    enter(out, value, &mut stack)?;
    loop {
        let depth = stack.len();
        let Some(level) = stack.last_mut() else {
            return Ok(());
        };
        let Some((key, child)) = level.walk.next() else {
            let closer = level.walk.closer();
            stack.pop();
            if depth <= broken {
                write_break(out, depth - 1)?;
            }
            out.write_str(closer)?;
            continue;
        };
        out.write_str(level.separator)?;
        level.separator = ",";
        if depth <= broken {
            write_break(out, depth)?;
        }
        if let Some(key) = key {
            write_string(out, key)?;
            out.write_str(if depth <= broken { ": " } else { ":" })?;
        }
        enter(out, child, &mut stack)?;
    }
}

/// Writes a scalar or an empty container, or opens any other container.
fn enter<'a, W: Write>(out: &mut W, value: &'a Value, stack: &mut Vec<Level<'a>>) -> fmt::Result {
    match value {
        Value::Null => out.write_str("null"),
        Value::Bool(true) => out.write_str("true"),
        Value::Bool(false) => out.write_str("false"),
        Value::Integer(integer) => write!(out, "{integer}"),
        Value::Float(float) => write!(out, "{float}"),
        Value::String(text) => write_string(out, text),
        Value::Array(array) if array.is_empty() => out.write_str("[]"),
        Value::Object(object) if object.is_empty() => out.write_str("{}"),
        Value::Array(array) => {
            stack.push(Level { walk: Walk::array(array), separator: "" });
            out.write_str("[")
        }
        Value::Object(object) => {
            stack.push(Level { walk: Walk::object(object), separator: "" });
            out.write_str("{")
        }
    }
}

fn write_break<W: Write>(out: &mut W, level: usize) -> fmt::Result {
    out.write_str("\n")?;
    for _ in 0..level {
        out.write_str("  ")?;
    }
    Ok(())
}

/// Writes a string with its quotes.
fn write_string<W: Write>(out: &mut W, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    let mut rest = text;
    loop {
        // The run ends at an ASCII byte, so both halves are whole characters.
        let (run, tail) = rest.split_at_checked(plain_run(rest.as_bytes())).unwrap_or((rest, ""));
        out.write_str(run)?;
        let mut characters = tail.chars();
        match characters.next() {
            None => return out.write_str("\""),
            Some('"') => out.write_str("\\\"")?,
            Some('\\') => out.write_str("\\\\")?,
            Some('\n') => out.write_str("\\n")?,
            Some('\t') => out.write_str("\\t")?,
            Some('\r') => out.write_str("\\r")?,
            Some('\u{8}') => out.write_str("\\b")?,
            Some('\u{c}') => out.write_str("\\f")?,
            Some(control) => write!(out, "\\u{:04x}", u32::from(control))?,
        }
        rest = characters.as_str();
    }
}

/// How many leading bytes stand for themselves in a JSON string: none of them
/// is a quote, a backslash or a control character.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            let byte = special.trailing_zeros() / 8;
            return index * 8 + usize::try_from(byte).unwrap_or(0);
        }
    }
    let plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
    let tail = rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
    words.len() * 8 + tail
}

/// Sets the high bit of each byte that is special; the lowest set bit is exact
/// (a borrow can only mark bytes above a byte that is special itself).
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero_in = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let quote = zero_in(word ^ (ONES * 0x22));
    let backslash = zero_in(word ^ (ONES * 0x5c));
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    quote | backslash | control
}

#[cfg(test)]
mod tests {
    use super::plain_run;

    #[test]
    fn plain_run_agrees_with_a_byte_by_byte_scan() {
        for special in 0..=255_u8 {
            for length in 0..20 {
                for (position, filler) in (0..length).zip([0xc3, b' ', b'!', b'#', b'['].into_iter().cycle()) {
                    let mut bytes = vec![filler; length];
                    bytes[position] = special;
                    let expected = bytes
                        .iter()
                        .position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))
                        .unwrap_or(length);
                    assert_eq!(plain_run(&bytes), expected, "{special} at {position}");
                }
            }
        }
    }
}
