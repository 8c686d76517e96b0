//! What comments say: the schema's own words, bounded, and what no type can say.
//!
//! Invariant: the words of a schema are data of strangers. They are cut at a bound that says so, and hold no control characters;
//! keeping them inside of a comment is each language's part.

use std::borrow::Cow;

use super::types::Docs;
use crate::json::{Object, Value, clip, encode};
use crate::shown::one_line;

/// How many bytes of a tool's description are shown.
pub const TOOL_WORDS_MAX: usize = 2048;

/// How many bytes of the description of one part of a schema are shown.
pub const PART_WORDS_MAX: usize = 512;

/// How many bytes of a default, an example or a pattern are shown.
const VALUE_BYTES_MAX: usize = 80;

/// Keywords that become a note, and how the note begins.
const NOTES: [(&str, &str); 16] = [
    ("format", "format"),
    ("pattern", "pattern"),
    ("minimum", "at least"),
    ("exclusiveMinimum", "more than"),
    ("maximum", "at most"),
    ("exclusiveMaximum", "less than"),
    ("multipleOf", "a multiple of"),
    ("minLength", "min length"),
    ("maxLength", "max length"),
    ("minItems", "min items"),
    ("maxItems", "max items"),
    ("minProperties", "min fields"),
    ("maxProperties", "max fields"),
    ("default", "default"),
    ("uniqueItems", "no item twice"),
    ("deprecated", "deprecated"),
];

/// What the comment on a part of a schema says. `name` is what the part is called.
pub(super) fn docs_of(schema: &Value, name: &str) -> Docs {
    let Some(schema) = schema.as_object() else { return Docs::default() };
    let text = |keyword| schema.get(keyword).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    // A title that is the name again is of no use to anybody.
    let title = text("title").filter(|title| folded(title) != folded(name));
    let mut lines = words(text("description").or(title).unwrap_or_default(), PART_WORDS_MAX);
    let notes = notes(schema);
    if !notes.is_empty() {
        let notes = notes.join(", ");
        match lines.last_mut().filter(|_| lines_are_short(&notes)) {
            Some(last) => {
                *last = format!("{last} ({notes})");
            }
            None => lines.push(notes),
        }
    }
    Docs { lines }
}

/// The words on a tool: its description, and what its arguments must be as a whole.
pub(super) fn tool_docs(description: &str, parameters: &Value) -> Vec<String> {
    let mut lines = words(description, TOOL_WORDS_MAX);
    let notes: Vec<String> = parameters.as_object().into_iter().flat_map(sentences).collect();
    if !notes.is_empty() {
        lines.push(format!("The arguments: {}.", notes.join(", ")));
    }
    lines
}

fn lines_are_short(notes: &str) -> bool {
    notes.len() <= 160
}

/// The letters and digits of a name, in one case.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Text of a stranger as lines, at most so many bytes of it.
pub(super) fn words(text: &str, bytes_max: usize) -> Vec<String> {
    let whole = text.len();
    let cut = text.len() > bytes_max;
    let text = if cut { text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default() } else { text };
    let mut lines: Vec<String> = Vec::new();
    let mut blank = true;
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let line = if line.contains('\t') { Cow::Owned(line.replace('\t', "    ")) } else { Cow::Borrowed(line) };
        let line = one_line(line.trim_end()).into_owned();
        if line.trim().is_empty() {
            blank = true;
            continue;
        }
        if blank && !lines.is_empty() {
            lines.push(String::new());
        }
        blank = false;
        lines.push(line);
    }
    if let Some(first) = lines.first_mut() {
        *first = first.trim_start().to_owned();
    }
    if cut {
        let note = format!("… (cut here; it has {whole} bytes)");
        match lines.last_mut() {
            Some(last) => last.push_str(&note),
            None => lines.push(note),
        }
    }
    lines
}

fn notes(schema: &Object) -> Vec<String> {
    // Schemas of parts have few keywords, so those are looked at, not all that there could be.
    let mut notes: Vec<(usize, String)> = schema
        .iter()
        .filter_map(|(keyword, value)| {
            let place = NOTES.iter().position(|(known, _)| *known == keyword)?;
            note(place, value).map(|note| (place, note))
        })
        .collect();
    notes.sort_by_key(|(place, _)| *place);
    notes.into_iter().map(|(_, note)| note).chain(sentences(schema)).collect()
}

/// What one of [`NOTES`] says.
fn note(place: usize, value: &Value) -> Option<String> {
    let (keyword, words) = NOTES.get(place)?;
    let shown = match (*keyword, value) {
        // That it may be left out, or be null, is in its type.
        ("default", Value::Null) => return None,
        ("default", Value::String(text)) if text.is_empty() => return None,
        ("format" | "pattern", Value::String(text)) => clip(&one_line(text), VALUE_BYTES_MAX).into_owned(),
        ("default", value) => clip(&one_line(&encode(value)), VALUE_BYTES_MAX).into_owned(),
        ("uniqueItems" | "deprecated", Value::Bool(true)) => return Some((*words).to_owned()),
        (_, Value::Integer(_) | Value::Float(_)) => encode(value),
        _ => return None,
    };
    Some(format!("{words} {shown}"))
}

fn sentences(schema: &Object) -> impl Iterator<Item = String> {
    schema.keys().filter_map(|keyword| sentence(schema, keyword))
}

/// Whether a keyword of combination is said by a note.
pub(super) fn has_sentence(schema: &Object, keyword: &str) -> bool {
    sentence(schema, keyword).is_some()
}

/// Branches that only require fields, as words: a type would have to repeat all other fields in each of them.
fn sentence(schema: &Object, keyword: &str) -> Option<String> {
    if keyword == "not" {
        let names = required_only(schema.get("not")?)?;
        return Some(format!("not with {}", names.join(" and ")));
    }
    let start = match keyword {
        "anyOf" => "needs at least one of",
        "oneOf" => "needs exactly one of",
        _ => return None,
    };
    let branches: Vec<String> = schema
        .get(keyword)?
        .as_array()?
        .iter()
        .map(|branch| required_only(branch).map(|names| names.join(" with ")))
        .collect::<Option<_>>()?;
    if branches.is_empty() || branches.len() > 8 {
        return None;
    }
    Some(format!("{start} {}", branches.join(", ")))
}

/// The names that a schema requires, where it says nothing else.
fn required_only(schema: &Value) -> Option<Vec<String>> {
    let schema = schema.as_object()?;
    if schema.len() != 1 {
        return None;
    }
    let names = schema.get("required")?.as_array()?;
    let names: Vec<String> = names
        .iter()
        .map(|name| name.as_str().map(|name| clip(&one_line(name), 40).into_owned()))
        .collect::<Option<_>>()?;
    (!names.is_empty() && names.len() <= 8).then_some(names)
}
