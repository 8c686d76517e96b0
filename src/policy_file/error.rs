//! Why a policy file is refused, and the lines errors point to.
//!
//! Invariant: every error names a line, counted from 1, and its text is bounded whatever the file holds.

use std::fmt;
use std::ops::Range;

use crate::json::clip;

/// The longest message of an error, in bytes.
const MESSAGE_BYTES_MAX: usize = 1000;

/// The longest piece of the file that a message quotes, in bytes.
const QUOTED_BYTES_MAX: usize = 80;

/// Why a policy file was refused: `line 7: unknown key …`.
///
/// # Security
///
/// The message quotes pieces of the file. Control characters are escaped; everything else is as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    line: usize,
    message: String,
}

impl PolicyError {
    pub(super) fn new(line: usize, message: impl AsRef<str>) -> Self {
        Self { line, message: clip(message.as_ref(), MESSAGE_BYTES_MAX).into_owned() }
    }

    /// The line the error is about. The first one is 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong, without the line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for PolicyError {}

/// A piece of the file, as a message quotes it.
pub(super) fn quoted(text: &str) -> String {
    let clipped = clip(text, QUOTED_BYTES_MAX);
    let mut quoted = String::from("`");
    for character in clipped.chars() {
        if character.is_control() {
            quoted.extend(character.escape_default());
        } else {
            quoted.push(character);
        }
    }
    quoted.push('`');
    quoted
}

/// Names in a list for a message: "`a`, `b`".
pub(super) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Where the lines of a text begin.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line that a span begins in.
    pub(super) fn at(&self, span: Range<usize>) -> usize {
        self.starts.partition_point(|start| *start <= span.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::of("ab\nc\n\nd");
        let expected = [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 4), (7, 4)];
        for (offset, line) in expected {
            assert_eq!(lines.at(offset..offset), line, "{offset}");
        }
        assert_eq!(Lines::of("").at(0..0), 1);
    }

    #[test]
    fn messages_are_bounded_and_hold_no_control_characters() {
        let error = PolicyError::new(3, "x".repeat(5000));
        assert_eq!((error.line(), error.message().len()), (3, MESSAGE_BYTES_MAX));
        assert_eq!(quoted("a\u{1b}b\n"), r"`a\u{1b}b\n`");
        assert_eq!(quoted(&"y".repeat(200)).len(), QUOTED_BYTES_MAX + 2);
    }
}
