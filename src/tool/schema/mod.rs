//! JSON Schema: what a tool's arguments and results must look like.
//!
//! A [`Schema`] is compiled once and then checks values where they are, without copying them. The
//! rules are those of the `jsonschema` crate; what this module adds are exact numbers (see
//! `node.rs` for which), paths and messages in our words, and bounds.
//!
//! Invariant: neither a schema nor a value, whoever wrote it, makes [`Schema::compile`] or
//! [`Schema::validate`] hang, fetch anything or run out of stack. Compiling is bounded by what is
//! counted in the document before (here, in `chain.rs` and in `expansion.rs`) and by a stack of its
//! own; validating is bounded by the meter of `meter.rs`.

mod chain;
mod constant;
mod convert;
mod equal;
mod expansion;
mod meter;
mod node;
mod size;
mod violation;

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationError, Validator};

use crate::json::{self, Value, encoded_len};
use crate::stack::on_large_stack;

pub use violation::{VIOLATIONS_MAX, Violation, Violations};

use meter::{Bounds, INLINE_STACK_BYTES, STACK_BYTES_MAX, Stop, Used, whole};
use node::{Exact, Reader};
use size::Size;

/// The longest schema, in bytes of its compact text.
pub const SCHEMA_BYTES_MAX: usize = 1024 * 1024;

/// The deepest schema, in levels of its document. Compiling and matching take stack for each.
const SCHEMA_DEPTH_MAX: usize = 128;

/// The most subschemas that may look at one value inside of each other. Each takes stack.
const CHAIN_MAX: usize = 512;

/// The most of them where the stack is used by others: ordinary schemas have a few.
const INLINE_CHAIN_MAX: usize = 128;

/// The most patterns of a schema. Each may take [`PATTERN_BYTES_MAX`] and the time to compile that.
const PATTERNS_MAX: usize = 256;

/// The most items of one `allOf`. The library compares the names in them with each other at the first check.
const ALL_OF_MAX: usize = 500;

/// The most bytes that the places of all parts of a schema take together, as JSON pointers. The library keeps one for each.
const PLACES_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The most bytes that all identifiers and references take together, each with the bases above it. The library keeps several
/// copies of each.
const URIS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How many steps checking an empty value may take.
///
/// A step is one look of one keyword at the value. A value that is not empty may take 32 steps
/// more for each value and each key inside, and one more for each byte of its texts.
pub const VALIDATION_STEPS_MAX: u64 = 4_000_000;

/// What each value inside adds to the steps.
const STEPS_PER_VALUE: u64 = 32;

/// Bytes that describing violations may take, besides what the size of the value adds.
const ROOM_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes that one violation takes, besides pieces of the schema and its path.
const ERROR_BYTES: u64 = 1024;

/// The most steps back that matching one pattern may take.
const BACKTRACK_MAX: usize = 10_000;

/// Steps for each text and key when a pattern of the schema backtracks.
const BACKTRACK_STEPS: u64 = 1024;

/// The largest compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 256 * 1024;

/// The longest text of a [`SchemaError`], in bytes.
const ERROR_TEXT_BYTES_MAX: usize = 600;

/// A JSON Schema, compiled.
///
/// Cheap to clone. Formats are notes and never checked. The `Debug` form is the document.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    document: Value,
    validator: Validator<Exact>,
    /// Whether a pattern may be given up on, so that the library may ask for a copy of the value.
    backtracks: bool,
    /// Bytes of the schema that one violation may take with it.
    error_bytes: u64,
    /// How many subschemas may look at one value inside of each other.
    chain: usize,
}

/// How much a caller is ready to spend on each pass over a value.
#[derive(Clone, Copy)]
struct Effort {
    steps: u64,
    /// Bytes of native stack.
    stack: usize,
}

impl Schema {
    /// Compiles a schema of draft 2020-12, or of the draft that `$schema` names.
    ///
    /// # Errors
    ///
    /// When the document is no schema: neither object nor boolean, a keyword with a value it does
    /// not take, a reference that leads nowhere or out of the document, a pattern that is no
    /// regular expression. When it is too much: longer than [`SCHEMA_BYTES_MAX`], deeper than 128
    /// levels, with more than 256 patterns or a very large one, with more than 512 subschemas that
    /// may look at one value inside of each other, or with unevaluated keywords that lead to more
    /// than 10,000 subschemas. And when it has an integer beyond 64 bits, which could not be
    /// compared exactly.
    pub fn compile(document: Value) -> Result<Self, SchemaError> {
        if !matches!(document, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError::new(&format!("a schema is an object or a boolean, not {}", document.kind())));
        }
        json::check(&document).map_err(|error| SchemaError::new(&error.to_string()))?;
        let bytes = encoded_len(&document);
        if bytes > SCHEMA_BYTES_MAX {
            return Err(SchemaError::new(&format!(
                "schema of {bytes} bytes is longer than {SCHEMA_BYTES_MAX} bytes"
            )));
        }
        let chain = check_nesting(&document)?;
        let converted = convert::exact(&document)
            .map_err(|integer| SchemaError::new(&format!("integer {integer} does not fit 64 bits")))?;
        let (validator, backtracks) = build(&document, &converted)?;
        let error_bytes = error_bytes(&document);
        Ok(Self(Arc::new(Inner { document, validator, backtracks, error_bytes, chain })))
    }

    /// The document as it was given.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.0.document
    }

    /// Checks a value. Nothing is changed: defaults are notes.
    ///
    /// # Errors
    ///
    /// Every way in which the value does not match. A value nested deeper than
    /// [`DEPTH_MAX`](json::DEPTH_MAX) levels never matches, nor does one that takes more than
    /// [`VALIDATION_STEPS_MAX`] steps, or more than 1.25 MiB of stack below the caller: call it on threads with
    /// the 2 MiB that tokio gives them, and not from deep below.
    pub fn validate(&self, instance: &Value) -> Result<(), Violations> {
        json::check(instance).map_err(|error| Violations::of_all(&error.to_string()))?;
        let given_up = || Err(Violations::of_all("checking was given up"));
        self.validate_within(Effort { steps: u64::MAX, stack: STACK_BYTES_MAX }, instance).unwrap_or_else(given_up)
    }

    /// The same, if each pass over the value takes no more than `steps` and little stack, and `None` otherwise: then it
    /// is work for a thread that nobody waits on and that nobody else stands on. The caller has seen that the value is not
    /// too [deep](json::check).
    pub(crate) fn validate_inline(&self, steps: u64, instance: &Value) -> Option<Result<(), Violations>> {
        // What a chain takes is not metered.
        if self.0.chain > INLINE_CHAIN_MAX {
            return None;
        }
        self.validate_within(Effort { steps, stack: INLINE_STACK_BYTES }, instance)
    }

    fn validate_within(&self, effort: Effort, instance: &Value) -> Option<Result<(), Violations>> {
        let size = Size::of(instance);
        let bounds = Bounds {
            steps: size.steps().min(effort.steps),
            stack: effort.stack,
            room: u64::MAX,
            text_steps: self.text_steps(),
            error_bytes: 0,
        };
        let root = if self.0.backtracks { Reader::Root(instance) } else { Reader::Value(instance) };
        match meter::bounded(bounds, || self.0.validator.is_valid(root)) {
            Ok((true, _)) => Some(Ok(())),
            Ok((false, _)) => self.explain(instance, root, size, bounds).map(Err),
            Err(stop) if could_go_on(stop, bounds, size) => None,
            Err(stop) => Some(Err(Violations::of_all(&gave_up(stop, bounds.steps)))),
        }
    }

    fn text_steps(&self) -> u64 {
        if self.0.backtracks { BACKTRACK_STEPS } else { 0 }
    }

    /// Finds out how a value does not match. `None` where that takes more than there is, and there could be more.
    #[cold]
    fn explain(&self, instance: &Value, root: Reader<'_>, size: Size, looking: Bounds) -> Option<Violations> {
        let bounds = Bounds {
            room: ROOM_BYTES.saturating_add(size.bytes.saturating_mul(4)),
            error_bytes: ERROR_BYTES.saturating_add(size.path).saturating_add(self.0.error_bytes),
            ..looking
        };
        let pass = meter::bounded(bounds, || self.0.validator.iter_errors(root).collect::<Vec<_>>());
        let (errors, used) = match pass {
            Ok(found) => found,
            Err(stop) if could_go_on(stop, bounds, size) => return None,
            // All are too many; the first one ends the search.
            Err(stop) => return Some(self.explain_first(instance, root, bounds, stop)),
        };
        let mut list: Vec<Violation> = Vec::new();
        let mut more = used.full_at.is_some();
        for error in &errors {
            if used.full_at.is_some_and(|full_at| !is_before(error, full_at)) {
                continue;
            }
            if list.len() == VIOLATIONS_MAX {
                more = true;
                break;
            }
            list.push(Violation::describe(instance, error));
        }
        if list.is_empty() {
            return Some(Violations::of_all("no match, in too many ways to tell"));
        }
        Some(Violations::new(list, more))
    }

    /// Finds out one way in which a value does not match.
    fn explain_first(&self, instance: &Value, root: Reader<'_>, bounds: Bounds, stop: Stop) -> Violations {
        let pass = meter::bounded(bounds, || self.0.validator.validate(root).err());
        if let Ok((Some(error), Used { full_at: None })) = pass {
            return Violations::new(vec![Violation::describe(instance, &error)], true);
        }
        Violations::of_all(&format!("no match, and finding out why failed: {}", gave_up(stop, bounds.steps)))
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.document).finish()
    }
}

/// Whether an error was described before there was no more room.
fn is_before(error: &ValidationError<'_>, full_at: u64) -> bool {
    error.instance().as_u64().is_some_and(|number| number < full_at)
}

/// Whether a pass that ended early would have gone on where there is more time and more stack.
fn could_go_on(stop: Stop, bounds: Bounds, size: Size) -> bool {
    match stop {
        Stop::Steps => bounds.steps < size.steps(),
        Stop::Stack => bounds.stack < STACK_BYTES_MAX,
        Stop::Panic => false,
    }
}

fn gave_up(stop: Stop, steps: u64) -> String {
    match stop {
        Stop::Steps => format!("checking takes more than {steps} steps"),
        Stop::Stack => format!("checking takes more than {} bytes of stack", STACK_BYTES_MAX),
        Stop::Panic => "the validator failed".to_owned(),
    }
}

/// Builds the validator on a large stack: the compiler's recursion is several times as deep as the
/// document, and a test build takes ten kilobytes for each level.
fn build(document: &Value, converted: &serde_json::Value) -> Result<(Validator<Exact>, bool), SchemaError> {
    on_large_stack(|| build_here(document, converted))
        .unwrap_or_else(|why| Err(SchemaError::new(&format!("the schema cannot be compiled: {why}"))))
}

/// Builds the validator with an engine for patterns that takes linear time or, if a pattern needs
/// more, with one that backtracks. Tells whether it backtracks.
fn build_here(document: &Value, converted: &serde_json::Value) -> Result<(Validator<Exact>, bool), SchemaError> {
    if !expansion::is_bounded(document) {
        let most = expansion::EXPANSION_MAX;
        return Err(SchemaError::new(&format!(
            "unevaluated keywords lead to too much work: more than {most} parts"
        )));
    }
    let options = || {
        let options = jsonschema::options_for::<Exact>().offline().should_validate_formats(false);
        options.with_keyword("const", constant::compile)
    };
    let linear = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
    if let Ok(validator) = options().with_pattern_options(linear).build(converted) {
        return Ok((validator, false));
    }
    let backtracking = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_MAX).size_limit(PATTERN_BYTES_MAX);
    let built = options().with_pattern_options(backtracking).build(converted);
    built.map(|validator| (validator, true)).map_err(|error| SchemaError::describe(document, &error))
}

/// Checks what would take too much stack or time.
/// Counts what the library has no bounds for. Gives the length of the longest chain.
fn check_nesting(document: &Value) -> Result<usize, SchemaError> {
    let depth = levels(document);
    if depth > SCHEMA_DEPTH_MAX {
        return Err(SchemaError::new(&format!(
            "schema of {depth} levels is deeper than {SCHEMA_DEPTH_MAX} levels"
        )));
    }
    let patterns = patterns(document);
    if patterns > PATTERNS_MAX {
        return Err(SchemaError::new(&format!(
            "schema of {patterns} patterns has more than {PATTERNS_MAX} patterns"
        )));
    }
    let all_of = longest_all_of(document);
    if all_of > ALL_OF_MAX {
        return Err(SchemaError::new(&format!("an `allOf` of {all_of} items has more than {ALL_OF_MAX} items")));
    }
    let mut names = Names::default();
    names.add(document, 0, 0);
    if names.places > PLACES_BYTES_MAX || names.uris > URIS_BYTES_MAX {
        return Err(SchemaError::new(
            "its names are too long for how many parts it has: shorten keys with many parts below them, or identifiers",
        ));
    }
    let chain = chain::longest(document);
    if chain > CHAIN_MAX {
        let message =
            format!("up to {chain} subschemas look at one value inside of each other, more than {CHAIN_MAX}");
        return Err(SchemaError::new(&message));
    }
    Ok(chain)
}

/// How many bytes the compiler spends on saying where it is.
#[derive(Default)]
struct Names {
    places: u64,
    uris: u64,
}

impl Names {
    /// Adds a value at a place of `path` bytes, below identifiers of `base` bytes.
    fn add(&mut self, value: &Value, path: u64, base: u64) {
        self.places = self.places.saturating_add(path);
        match value {
            Value::Array(items) => {
                // A slash and an index.
                let path = path + 2 + u64::from(whole(items.len()).checked_ilog10().unwrap_or(0));
                for item in items {
                    self.add(item, path, base);
                }
            }
            Value::Object(entries) => {
                let text = |key: &str| whole(entries.get(key).and_then(Value::as_str).map_or(0, str::len));
                let base = base + text("$id") + text("id");
                for (key, value) in entries {
                    let names = ["$id", "id", "$anchor", "$dynamicAnchor"].contains(&key)
                        || chain::REFERENCES.contains(&key);
                    if let Some(uri) = value.as_str().filter(|_| names) {
                        self.uris = self.uris.saturating_add(base).saturating_add(whole(uri.len()));
                    }
                    // A slash, and some characters are escaped with two.
                    self.add(value, path + 1 + 2 * whole(key.len()), base);
                }
            }
            _ => {}
        }
    }
}

/// The most items of one `allOf`.
fn longest_all_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest_all_of).max().unwrap_or(0),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let here = value.as_array().filter(|_| key == "allOf").map_or(0, |items| items.len());
                here.max(longest_all_of(value))
            })
            .max()
            .unwrap_or(0),
        _ => 0,
    }
}

/// How many patterns a schema has, or seems to have.
fn patterns(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(patterns).sum(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| {
                let here = match (key, value) {
                    ("pattern", Value::String(_)) => 1,
                    ("patternProperties", Value::Object(by_pattern)) => by_pattern.len(),
                    _ => 0,
                };
                here + patterns(value)
            })
            .sum(),
        _ => 0,
    }
}

/// How deep a value is. The value is not deeper than [`DEPTH_MAX`](json::DEPTH_MAX).
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(entries) => 1 + entries.iter().map(|(_, value)| levels(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// How many bytes of a schema an error may take with it: any text, or the schema inside of a `not`.
fn error_bytes(document: &Value) -> u64 {
    fn longest_text(value: &Value) -> Option<usize> {
        match value {
            Value::String(text) => Some(text.len()),
            Value::Array(items) => {
                items.iter().try_fold(0, |longest, item| Some(longest.max(longest_text(item)?)))
            }
            Value::Object(entries) => entries.iter().try_fold(0, |longest, (key, value)| {
                let text = (key != "not").then(|| longest_text(value))??;
                Some(longest.max(key.len()).max(text))
            }),
            _ => Some(0),
        }
    }
    whole(longest_text(document).unwrap_or_else(|| json::cost(document)))
}

/// Why a document is no schema that we take.
///
/// The text names the reason and, where there is one, the place: `invalid schema at $.type: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    message: String,
}

impl SchemaError {
    fn new(message: &str) -> Self {
        let message = violation::bounded(ERROR_TEXT_BYTES_MAX, |text| text.write_str(message));
        Self { message }
    }

    fn describe(document: &Value, error: &ValidationError<'_>) -> Self {
        let found = Violation::describe(document, error);
        Self::new(&format!("invalid schema at {}: {}", found.path(), found.message()))
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SchemaError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_much_stack_is_left_to_another_thread() {
        let schema = |text: &str| Schema::compile(json::decode(text).unwrap()).unwrap();
        let inline = |schema: &Schema, text: &str| {
            schema.validate_inline(1_000_000, &json::decode(text).unwrap()).map(|checked| checked.is_ok())
        };
        let list = schema(r##"{"type":"array","items":{"$ref":"#"}}"##);
        assert_eq!(inline(&list, "[[],[[]]]"), Some(true));
        assert_eq!(inline(&list, "[[],[1]]"), Some(false));
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(511), "]".repeat(511));
        assert_eq!(inline(&list, &deep("[]")), None);
        assert_eq!(inline(&list, &deep("1")), None);
        let chain = |links: usize| {
            let link = |number| format!(r##""{number}":{{"$ref":"#/$defs/{}"}},"##, number + 1);
            let inner: String = (1..links).map(link).collect();
            schema(&format!(r##"{{"$defs":{{{inner}"{links}":{{}}}},"$ref":"#/$defs/1"}}"##))
        };
        for (links, expected) in [(INLINE_CHAIN_MAX - 1, Some(true)), (INLINE_CHAIN_MAX, None)] {
            assert_eq!((chain(links).0.chain, inline(&chain(links), "1")), (links + 1, expected));
        }
    }
}
