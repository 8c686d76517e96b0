//! The one error of this module, and the path it names.
//!
//! Invariant: an error's text is bounded whatever the input was. Paths, keys
//! and quoted values lose their middle, never their ends, because the start
//! says where to look and the end says what is wrong.

use std::borrow::Cow;
use std::fmt;

use super::Value;
use super::encode::quoted;

/// The longest path an error holds, in bytes.
const PATH_BYTES_MAX: usize = 200;

/// The longest key a path holds, in bytes of its quoted form.
const KEY_BYTES_MAX: usize = 64;

/// What stands for the part left out.
const ELLIPSIS: &str = "…";

/// Why a text or a value was refused.
///
/// The message is lower case and names the offence, the path and, for text, the
/// byte offset: `duplicate key at $.items[3].a (byte 57)`. It is bounded in
/// length.
///
/// # Security
///
/// Paths and quoted pieces come from whoever wrote the text. Control characters
/// are escaped; everything else is as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    path: String,
    offset: Option<usize>,
    message: String,
}

/// What an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON.
    Syntax,
    /// An object has the same key twice.
    DuplicateKey,
    /// Nesting deeper than [`DEPTH_MAX`](super::DEPTH_MAX) levels.
    Depth,
    /// An integer of more than [`INTEGER_DIGITS_MAX`](super::INTEGER_DIGITS_MAX) digits.
    IntegerDigits,
    /// A float that is no finite binary64 number, or whose text is longer than
    /// [`FLOAT_BYTES_MAX`](super::FLOAT_BYTES_MAX) bytes.
    FloatRange,
    /// A string with half of a surrogate pair, which is no Unicode text.
    Surrogate,
    /// The value would cost more host memory than the caller allows.
    Cost,
    /// The bytes are not UTF-8.
    Utf8,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, message: String, path: String, offset: Option<usize>) -> Self {
        Self { kind, path, offset, message }
    }

    /// An error about a lone value.
    pub(super) fn at_root(kind: ErrorKind, message: String) -> Self {
        Self::new(kind, message, path([].into_iter()), None)
    }

    /// What the error is about.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where in the value: `$` is the value itself, `$.a[3]["b c"]` an element
    /// inside. At most 200 bytes; the middle of a longer path is left out and
    /// marked `…`, as is the middle of a long key.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where in the text, in bytes from its start; `None` when the error is
    /// about a value that did not come from text.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.message, self.path)?;
        if let Some(offset) = self.offset {
            write!(formatter, " (byte {offset})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// One step from a container to what it holds.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Index(usize),
    Key(&'a str),
}

/// The text of a path, within [`PATH_BYTES_MAX`].
pub(super) fn path<'a>(steps: impl Iterator<Item = Step<'a>>) -> String {
    joined(steps.map(step_text).collect())
}

/// The text of a path whose steps are texts already, within [`PATH_BYTES_MAX`].
pub(super) fn joined(steps: Vec<String>) -> String {
    let total = 1 + steps.iter().map(String::len).sum::<usize>();
    let mut text = String::from("$");
    if total <= PATH_BYTES_MAX {
        text.extend(steps);
        return text;
    }
    let mut room = (PATH_BYTES_MAX - ELLIPSIS.len()) / 2;
    for step in &steps {
        if text.len() + step.len() > room {
            break;
        }
        text.push_str(step);
    }
    text.push_str(ELLIPSIS);
    let mut kept = steps.len();
    for step in steps.iter().rev() {
        if step.len() > room {
            break;
        }
        room -= step.len();
        kept -= 1;
    }
    text.extend(steps.into_iter().skip(kept));
    text
}

/// Follows a JSON pointer. Gives the text of its path and, unless it leads out of the value, what
/// is there.
pub(crate) fn follow<'a>(root: &'a Value, pointer: &str) -> (String, Option<&'a Value>) {
    let mut steps = Vec::new();
    let mut here = Some(root);
    for token in pointer.split('/').skip(1) {
        let next = match here {
            Some(Value::Array(items)) => {
                token.parse().ok().and_then(|index: usize| items.get(index).map(|item| (Step::Index(index), item)))
            }
            Some(Value::Object(entries)) => {
                let key = token.replace("~1", "/").replace("~0", "~");
                entries.0.get_key_value(key.as_str()).map(|(key, value)| (Step::Key(key.as_str()), value))
            }
            _ => None,
        };
        here = next.map(|(_, value)| value);
        let Some((step, _)) = next else {
            break;
        };
        steps.push(step);
    }
    (path(steps.into_iter()), here)
}

/// The text of one step, bounded as its key is.
pub(super) fn step_text(step: Step<'_>) -> String {
    match step {
        Step::Index(index) => format!("[{index}]"),
        Step::Key(key) if is_plain(key) => format!(".{key}"),
        // Clipped before quoting to bound the work, after to bound the text.
        Step::Key(key) => {
            let quoted = quoted(&clip(key, KEY_BYTES_MAX));
            format!("[{}]", clip(&quoted, KEY_BYTES_MAX))
        }
    }
}

fn is_plain(key: &str) -> bool {
    let mut bytes = key.bytes();
    let starts = bytes.next().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic());
    starts && key.len() < KEY_BYTES_MAX && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The text itself, or its ends when it is longer than `bytes_max`.
pub(crate) fn clip(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let kept = bytes_max.saturating_sub(ELLIPSIS.len());
    let head = text.floor_char_boundary(kept - kept / 3);
    let tail = text.ceil_char_boundary(text.len() - kept / 3);
    let head = text.get(..head).unwrap_or_default();
    let tail = text.get(tail..).unwrap_or_default();
    Cow::Owned(format!("{head}{ELLIPSIS}{tail}"))
}
