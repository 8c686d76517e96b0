//! What is wrong with a value, in words.
//!
//! Invariant: every text here is bounded, and building it never costs more than its bound: values
//! are written to a text that stops taking when it is full.

use std::fmt::{self, Write};

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};

use crate::json::{Value, clip, follow};

/// The most violations that are reported of one value.
pub const VIOLATIONS_MAX: usize = 64;

/// The longest message, in bytes.
const MESSAGE_BYTES_MAX: usize = 300;

/// The longest piece of a value that a message quotes, in bytes.
const EXCERPT_BYTES_MAX: usize = 80;

/// What stands for the part left out.
const ELLIPSIS: &str = "…";

/// One way in which a value does not match its schema.
///
/// # Security
///
/// The message quotes the beginning of the value and of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    path: String,
    message: String,
}

impl Violation {
    /// Where in the value: `$` is the value itself, `$.items[3].a` an element inside. Bounded as
    /// [`Error::path`](crate::json::Error::path) is.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What was expected and what was found, in lower case and at most 300 bytes.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A violation by the value as a whole.
    pub(super) fn of_all(message: &str) -> Self {
        Self { path: "$".to_owned(), message: message.to_owned() }
    }

    /// What the library found in `root`, in our words.
    pub(super) fn describe(root: &Value, error: &ValidationError<'_>) -> Self {
        let (path, found) = follow(root, error.instance_path().as_str());
        Self { path, message: bounded(MESSAGE_BYTES_MAX, |text| write_kind(text, error, found)) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Every way in which a value does not match its schema, at most [`VIOLATIONS_MAX`] of them.
///
/// The text has one line for each, such as `$.a: expected string, found integer 5`, and ends with
/// the line `and more` when there are others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    list: Vec<Violation>,
    more: bool,
}

impl Violations {
    /// The first violations of a list, which must not be empty, and whether there are more.
    pub(super) fn new(list: Vec<Violation>, more: bool) -> Self {
        debug_assert!(!list.is_empty() && list.len() <= VIOLATIONS_MAX, "one violation or more, within the bound");
        Self { list, more }
    }

    /// One violation by the value as a whole.
    pub(super) fn of_all(message: &str) -> Self {
        Self::new(vec![Violation::of_all(message)], false)
    }

    /// The violations in the order in which they were found.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Violation> {
        self.list.iter()
    }

    /// Whether there are more than are listed.
    #[must_use]
    pub fn more(&self) -> bool {
        self.more
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            fmt::Display::fmt(violation, f)?;
        }
        if self.more { f.write_str("\nand more") } else { Ok(()) }
    }
}

impl std::error::Error for Violations {}

/// A text that takes no more than it may.
struct Bounded {
    text: String,
    bytes_max: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let left = self.bytes_max - self.text.len();
        if piece.len() <= left {
            self.text.push_str(piece);
            return Ok(());
        }
        let fits = piece.floor_char_boundary(left);
        self.text.push_str(piece.get(..fits).unwrap_or_default());
        Err(fmt::Error)
    }
}

/// What a function writes, or its beginning and an ellipsis when that is longer than `bytes_max`.
pub(super) fn bounded(bytes_max: usize, write: impl FnOnce(&mut dyn Write) -> fmt::Result) -> String {
    let mut whole = Bounded { text: String::new(), bytes_max };
    if write(&mut whole).is_err() {
        let kept = whole.text.floor_char_boundary(bytes_max.saturating_sub(ELLIPSIS.len()));
        whole.text.truncate(kept);
        whole.text.push_str(ELLIPSIS);
    }
    whole.text
}

/// The beginning of what a value or a text looks like.
pub(super) fn excerpt(value: impl fmt::Display) -> String {
    bounded(EXCERPT_BYTES_MAX, |text| write!(text, "{value}"))
}

/// Writes `found` with its kind.
fn write_found(text: &mut dyn Write, found: Option<&Value>) -> fmt::Result {
    match found {
        Some(Value::Null) => text.write_str("null"),
        Some(value) => {
            let shown = bounded(EXCERPT_BYTES_MAX, |text| write!(text, "{value:?}"));
            write!(text, "{} {shown}", value.kind())
        }
        None => text.write_str("a value"),
    }
}

/// Writes names in quotes, as JSON does.
fn write_names(text: &mut dyn Write, what: [&str; 2], names: &[String]) -> fmt::Result {
    let [one, many] = what;
    text.write_str(if names.len() == 1 { one } else { many })?;
    for (index, name) in names.iter().enumerate() {
        let before = if index == 0 { ' ' } else { ',' };
        text.write_char(before)?;
        if index > 0 {
            text.write_char(' ')?;
        }
        write_quoted(text, name)?;
    }
    Ok(())
}

fn write_quoted(text: &mut dyn Write, name: &str) -> fmt::Result {
    // Clipped before it is copied; the text it goes into is shorter than that.
    let end = name.floor_char_boundary(MESSAGE_BYTES_MAX);
    write!(text, "{:?}", Value::from(name.get(..end).unwrap_or_default()))
}

/// Writes a bound on a count and the count itself.
fn write_count(
    text: &mut dyn Write,
    bound: &str,
    limit: u64,
    what: [&str; 2],
    found: Option<usize>,
) -> fmt::Result {
    let [one, many] = what;
    write!(text, "expected {bound} {limit} {}", if limit == 1 { one } else { many })?;
    found.map_or(Ok(()), |found| write!(text, ", found {found}"))
}

const ITEMS: [&str; 2] = ["item", "items"];
const PROPERTIES: [&str; 2] = ["property", "properties"];
const UNEXPECTED: [&str; 2] = ["unexpected property", "unexpected properties"];
const CHARACTERS: [&str; 2] = ["character", "characters"];

fn items(found: Option<&Value>) -> Option<usize> {
    Some(found?.as_array()?.len())
}

fn properties(found: Option<&Value>) -> Option<usize> {
    Some(found?.as_object()?.len())
}

fn characters(found: Option<&Value>) -> Option<usize> {
    Some(found?.as_str()?.chars().count())
}

fn write_kind(text: &mut dyn Write, error: &ValidationError<'_>, found: Option<&Value>) -> fmt::Result {
    match error.kind() {
        Kind::AdditionalItems { limit } => {
            write_count(text, "at most", super::meter::whole(*limit), ITEMS, items(found))
        }
        Kind::MaxItems { limit } => write_count(text, "at most", *limit, ITEMS, items(found)),
        Kind::MinItems { limit } => write_count(text, "at least", *limit, ITEMS, items(found)),
        Kind::MaxProperties { limit } => write_count(text, "at most", *limit, PROPERTIES, properties(found)),
        Kind::MinProperties { limit } => write_count(text, "at least", *limit, PROPERTIES, properties(found)),
        Kind::MaxLength { limit } => write_count(text, "at most", *limit, CHARACTERS, characters(found)),
        Kind::MinLength { limit } => write_count(text, "at least", *limit, CHARACTERS, characters(found)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            write_names(text, UNEXPECTED, unexpected)
        }
        Kind::UnevaluatedItems { unexpected } => {
            write!(
                text,
                "{} unexpected {}",
                unexpected.len(),
                if unexpected.len() == 1 { "item" } else { "items" }
            )
        }
        Kind::Required { property } => write!(text, "missing property {property}"),
        Kind::PropertyNames { error } => {
            text.write_str("property name ")?;
            if let Some(name) = error.instance().as_str() {
                write_quoted(text, name)?;
                text.write_str(": ")?;
            }
            write_inner(text, error)
        }
        Kind::Contains => text.write_str("too few or too many items match the schema in contains"),
        Kind::UniqueItems => text.write_str("expected items that differ"),
        Kind::FalseSchema if forbids_properties(error) => {
            let names: Vec<String> = found
                .and_then(Value::as_object)
                .into_iter()
                // More would not fit the message, but their number decides about a word.
                .flat_map(|entries| entries.keys().take(MESSAGE_BYTES_MAX))
                .map(|name| clip(name, MESSAGE_BYTES_MAX).into_owned())
                .collect();
            write_names(text, UNEXPECTED, &names)
        }
        Kind::FalseSchema => text.write_str("no value is allowed here"),
        Kind::Referencing(error) => write!(text, "{error}"),
        Kind::Format { format } if format == "regex" => {
            text.write_str("the pattern is no regular expression, or too large when compiled")
        }
        Kind::BacktrackLimitExceeded { .. } => text.write_str("matching a pattern took too many steps"),
        Kind::RegexEngineFailure { .. } => text.write_str("a pattern could not be matched"),
        // The one keyword of our own says what it expects.
        Kind::Custom { message, .. } => {
            write!(text, "expected {message}, found ")?;
            write_found(text, found)
        }
        kind => {
            write_expected(text, kind)?;
            text.write_str(", found ")?;
            write_found(text, found)
        }
    }
}

/// Whether `false` stands for all properties of an object, rather than for a value.
fn forbids_properties(error: &ValidationError<'_>) -> bool {
    const KEYWORD: &str = "/additionalProperties";
    // A property may be called like the keyword.
    error.schema_path().as_str().ends_with(KEYWORD) && !error.instance_path().as_str().ends_with(KEYWORD)
}

/// An error about a property's name, which no path leads to.
fn write_inner(text: &mut dyn Write, error: &ValidationError<'_>) -> fmt::Result {
    match error.kind() {
        Kind::MaxLength { limit } => write_count(text, "at most", *limit, CHARACTERS, None),
        Kind::MinLength { limit } => write_count(text, "at least", *limit, CHARACTERS, None),
        Kind::FalseSchema => text.write_str("no name is allowed"),
        kind => write_expected(text, kind),
    }
}

/// What was expected, of errors that go on with what was found.
fn write_expected(text: &mut dyn Write, kind: &Kind) -> fmt::Result {
    text.write_str("expected ")?;
    match kind {
        Kind::Type { kind: TypeKind::Single(one) } => write!(text, "{one}"),
        Kind::Type { kind: TypeKind::Multiple(some) } => {
            for (index, one) in some.iter().enumerate() {
                write!(text, "{}{one}", if index == 0 { "" } else { " or " })?;
            }
            Ok(())
        }
        Kind::Constant { expected_value } => text.write_str(&excerpt(expected_value)),
        Kind::Enum { options } => write!(text, "one of {}", excerpt(options)),
        Kind::ExclusiveMaximum { limit } => write!(text, "less than {limit}"),
        Kind::ExclusiveMinimum { limit } => write!(text, "more than {limit}"),
        Kind::Maximum { limit } => write!(text, "at most {limit}"),
        Kind::Minimum { limit } => write!(text, "at least {limit}"),
        Kind::MultipleOf { multiple_of } => write!(text, "a multiple of {multiple_of}"),
        Kind::Pattern { pattern } => write!(text, "a match of the pattern {}", excerpt(pattern)),
        Kind::Format { format } => write!(text, "the format {}", excerpt(format)),
        Kind::ContentEncoding { content_encoding } => write!(text, "the encoding {}", excerpt(content_encoding)),
        Kind::ContentMediaType { content_media_type } => {
            write!(text, "the media type {}", excerpt(content_media_type))
        }
        Kind::AnyOf { .. } => text.write_str("a match of a schema in anyOf"),
        Kind::OneOfNotValid { .. } => text.write_str("a match of a schema in oneOf"),
        Kind::OneOfMultipleValid { .. } => text.write_str("a match of only one schema in oneOf"),
        Kind::Not { .. } => text.write_str("no match of the schema in not"),
        other => write!(text, "what {} allows", excerpt(other.keyword())),
    }
}
