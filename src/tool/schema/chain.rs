//! How long a chain of subschemas may become that all look at the same value.
//!
//! The library follows such a chain by recursion and does not look at the value in between, so the
//! meter cannot see it. It is bounded before compiling instead.
//!
//! Invariant: [`longest`] is never less than the number of subschemas the library can be inside of
//! at once without going down into the value. It may be more: a loop of references is entered
//! once by the library, and counted here as if each reference led to all it can lead to.

use std::collections::{HashMap, HashSet};
use std::ptr::from_ref;

use crate::json::{Object, Value, follow};

/// Keywords whose schemas look at the value itself.
pub(super) const HERE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords with such schemas by the name of a property.
pub(super) const HERE_BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords that name another schema for the value itself.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// What is known of a document after a walk over it.
#[derive(Default)]
struct Survey<'a> {
    /// By the address of an object: how many subschemas lead to its deepest reference, none if
    /// there is none, and to its deepest subschema.
    depths: HashMap<usize, (usize, usize)>,
    references: HashSet<&'a str>,
    /// The largest distance to a reference.
    deepest: usize,
    /// The largest distance to a subschema.
    nesting: usize,
    /// Whether a part of the document has a name of its own, from which pointers may start.
    named_parts: bool,
}

/// An upper bound on the length of a chain, in subschemas.
pub(super) fn longest(document: &Value) -> usize {
    let mut survey = Survey::default();
    survey.visit(document, true);
    let by_references = survey
        .references
        .iter()
        .map(|reference| survey.depth_of(document, reference))
        .fold(survey.deepest, usize::saturating_add);
    by_references.saturating_add(survey.nesting)
}

impl<'a> Survey<'a> {
    /// Visits a value that may be a schema. Gives how many subschemas lead to its deepest
    /// reference, none if there is none, and to its deepest subschema.
    fn visit(&mut self, value: &'a Value, is_root: bool) -> (usize, usize) {
        match value {
            // Arrays between keywords and schemas are no step.
            Value::Array(items) => items.iter().map(|item| self.visit(item, false)).fold((0, 0), deeper),
            Value::Object(schema) => self.visit_object(schema, from_ref(value).addr(), is_root),
            _ => (0, 0),
        }
    }

    fn visit_object(&mut self, schema: &'a Object, address: usize, is_root: bool) -> (usize, usize) {
        let mut below = (0, 0);
        let mut refers = false;
        for (key, value) in schema {
            let inside = self.visit(value, false);
            if REFERENCES.contains(&key) {
                refers = true;
                self.references.extend(value.as_str());
            }
            self.named_parts |= !is_root && matches!(key, "$id" | "id");
            if HERE.contains(&key) {
                below = deeper(below, inside);
            }
            if HERE_BY_NAME.contains(&key) {
                below = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(_, schema)| self.known(schema))
                    .fold(below, deeper);
            }
        }
        let to_reference = if refers || below.0 > 0 { below.0 + 1 } else { 0 };
        let depths = (to_reference, below.1 + 1);
        self.depths.insert(address, depths);
        self.deepest = self.deepest.max(depths.0);
        self.nesting = self.nesting.max(depths.1);
        depths
    }

    /// How far from the target of a reference the chain can go on.
    fn depth_of(&self, document: &Value, reference: &str) -> usize {
        let pointer = reference.strip_prefix('#').filter(|_| !self.named_parts);
        let plain = pointer.filter(|pointer| pointer.starts_with('/') && !pointer.contains('%'));
        let target = plain.and_then(|pointer| follow(document, pointer).1);
        // Where it leads is unknown, or is no object: then anything may be there.
        target.filter(|target| target.as_object().is_some()).map_or(self.deepest, |target| self.known(target).0)
    }

    /// What a visit found of a value.
    fn known(&self, value: &Value) -> (usize, usize) {
        self.depths.get(&from_ref(value).addr()).copied().unwrap_or((0, 0))
    }
}

fn deeper(left: (usize, usize), right: (usize, usize)) -> (usize, usize) {
    (left.0.max(right.0), left.1.max(right.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    #[test]
    fn chains_are_counted_by_what_references_can_reach() {
        let cases = [
            ("true", 0),
            ("{}", 1),
            (r#"{"properties":{"a":{"properties":{"b":{}}}}}"#, 1),
            (r#"{"allOf":[{"anyOf":[{"not":{}}]}]}"#, 4),
            (r#"{"dependentSchemas":{"a":{"dependencies":{"b":["c"],"d":{}}}}}"#, 3),
            (r##"{"$ref":"#"}"##, 3),
            // Two objects that hold each other never look at one value for long.
            (r##"{"$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/a"}}}},"$ref":"#/$defs/a"}"##, 2),
            (r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/c"},"c":{}},"$ref":"#/$defs/a"}"##, 4),
            (r##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{}]},"b":{}},"$ref":"#/$defs/a"}"##, 6),
            (r##"{"$defs":{"a":{"$anchor":"a"}},"$ref":"#a"}"##, 3),
        ];
        for (text, expected) in cases {
            assert_eq!(longest(&decode(text).unwrap()), expected, "{text}");
        }
    }
}
