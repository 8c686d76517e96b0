//! What can be wrong with a path, in the words a program sees.
//!
//! Invariant: a fault is a phrase that follows the path as the program wrote it, never a message of the system, so that
//! no path of the host can be in it and the same fault reads the same everywhere.

use std::borrow::Cow;
use std::io;

use tokio_util::sync::CancellationToken;

use crate::runtime::CallError;

/// The longest piece of a program's text in a message, in bytes.
const SHOWN_BYTES_MAX: usize = 200;

const PHRASES: [(io::ErrorKind, &str); 4] = [
    (io::ErrorKind::NotFound, "does not exist"),
    (io::ErrorKind::PermissionDenied, "cannot be accessed: permission denied"),
    (io::ErrorKind::NotADirectory, "passes through something that is not a directory"),
    (io::ErrorKind::IsADirectory, "is a directory, not a file"),
];

/// Why one path was of no use.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The call was cancelled.
    Cancelled,
    /// A phrase of which the path is the subject, for example `does not exist`.
    Because(Cow<'static, str>),
}

impl Fault {
    pub(super) fn because(phrase: impl Into<Cow<'static, str>>) -> Self {
        Self::Because(phrase.into())
    }

    /// The phrase for what the system answered.
    pub(super) fn system(error: &io::Error) -> Self {
        if is_link_loop(error) {
            return Self::because("goes through too many links");
        }
        // cap-std makes this error itself; one of the system has a number.
        if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
            return Self::because("leads out of its granted directory");
        }
        match PHRASES.iter().find(|(kind, _)| *kind == error.kind()) {
            Some((_, phrase)) => Self::because(*phrase),
            None => Self::because(format!("cannot be accessed: {}", error.kind())),
        }
    }

    /// The failure of a call about `path`.
    pub(super) fn about(self, path: &str) -> CallError {
        match self {
            Self::Cancelled => cancelled(),
            Self::Because(phrase) => CallError::new(format!("`{}` {phrase}", shown(path))),
        }
    }
}

/// The failure of a cancelled call.
pub(super) fn cancelled() -> CallError {
    CallError::new("cancelled")
}

/// Stops a piece of work whose call was cancelled.
pub(super) fn check(cancel: &CancellationToken) -> Result<(), Fault> {
    if cancel.is_cancelled() { Err(Fault::Cancelled) } else { Ok(()) }
}

#[cfg(unix)]
fn is_link_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link_loop(_: &io::Error) -> bool {
    false
}

/// A program's text as it stands in a message: control characters escaped, and the middle of a long one left out.
pub(super) fn shown(text: &str) -> String {
    if text.len() <= SHOWN_BYTES_MAX {
        return escaped(text);
    }
    let (head, _) = text.split_at(text.floor_char_boundary(SHOWN_BYTES_MAX / 2));
    let (_, tail) = text.split_at(text.ceil_char_boundary(text.len() - SHOWN_BYTES_MAX / 2));
    format!("{}…{}", escaped(head), escaped(tail))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.chars() {
        if one.is_control() {
            out.extend(one.escape_default());
        } else {
            out.push(one);
        }
    }
    out
}

/// Names for a message: `` `a`, `b` ``.
pub(super) fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{}`", shown(name))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_system_become_phrases() {
        let phrase = |error: io::Error| Fault::system(&error).about("docs/x").message().to_owned();
        assert_eq!(phrase(io::ErrorKind::NotFound.into()), "`docs/x` does not exist");
        assert_eq!(
            phrase(io::Error::new(io::ErrorKind::PermissionDenied, "/host/path")),
            "`docs/x` leads out of its granted directory"
        );
        assert_eq!(phrase(io::Error::other("/host/path said no")), "`docs/x` cannot be accessed: other error");
    }

    #[cfg(unix)]
    #[test]
    fn numbers_of_the_system_become_phrases() {
        let phrase = |errno: rustix::io::Errno| Fault::system(&errno.into()).about("docs/x").message().to_owned();
        assert_eq!(phrase(rustix::io::Errno::ACCESS), "`docs/x` cannot be accessed: permission denied");
        assert_eq!(phrase(rustix::io::Errno::PERM), "`docs/x` cannot be accessed: permission denied");
        assert_eq!(phrase(rustix::io::Errno::LOOP), "`docs/x` goes through too many links");
        assert_eq!(phrase(rustix::io::Errno::NOSPC), "`docs/x` cannot be accessed: no storage space");
    }

    #[test]
    fn a_long_text_loses_its_middle_and_a_control_character_its_effect() {
        assert_eq!(shown("a\u{1b}[31m\0b"), "a\\u{1b}[31m\\u{0}b");
        assert_eq!(shown(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(shown(&"é".repeat(101)), format!("{}…{}", "é".repeat(50), "é".repeat(50)));
        assert_eq!(shown(&format!("a{}b", "é".repeat(100))).len(), 1 + 98 + 3 + 98 + 1);
    }
}
