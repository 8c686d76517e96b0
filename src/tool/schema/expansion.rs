//! How much the keywords `unevaluatedProperties` and `unevaluatedItems` make the compiler repeat.
//!
//! For each of them the library compiles again what its neighbours lead to, and what that leads
//! to, once for every way there. A few lines of references have more ways than there is time.
//!
//! Invariant: [`is_bounded`] takes the same ways, with less work for each, and gives up beyond
//! [`EXPANSION_MAX`]. It recurses up to that deep, so it belongs on the compiler's stack.

use std::ptr::from_ref;

use crate::json::{Object, Value, follow};

use super::chain::{HERE, HERE_BY_NAME, REFERENCES};

/// The most work for all such keywords of a document together: [`SUBSCHEMA`] for each subschema that is compiled for them, and
/// one for each name or pattern that is copied, and for each 64 bytes of it.
pub(super) const EXPANSION_MAX: usize = 10_000 * SUBSCHEMA;

/// What compiling one subschema counts for.
const SUBSCHEMA: usize = 10;

/// Whether all such keywords together take no more than [`EXPANSION_MAX`].
pub(super) fn is_bounded(document: &Value) -> bool {
    let mut expansion = Expansion { document, named: Vec::new(), path: Vec::new(), left: EXPANSION_MAX };
    let mut starts = Vec::new();
    survey(document, &mut expansion.named, &mut starts);
    starts.into_iter().all(|start| expansion.enter(start))
}

/// Finds the schemas that may be referred to by a name, and those with such a keyword.
fn survey<'a>(value: &'a Value, named: &mut Vec<&'a Value>, starts: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| survey(item, named, starts)),
        Value::Object(schema) => {
            if ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"]
                .iter()
                .any(|key| schema.contains_key(key))
            {
                named.push(value);
            }
            if ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| schema.contains_key(key)) {
                starts.push(value);
            }
            schema.iter().for_each(|(_, value)| survey(value, named, starts));
        }
        _ => {}
    }
}

struct Expansion<'a> {
    document: &'a Value,
    named: Vec<&'a Value>,
    /// The addresses of the schemas on the way.
    path: Vec<usize>,
    left: usize,
}

impl<'a> Expansion<'a> {
    /// Goes everywhere a schema leads to, and tells whether that was not too much.
    fn enter(&mut self, value: &'a Value) -> bool {
        if !self.charge(SUBSCHEMA) {
            return false;
        }
        let Value::Object(schema) = value else {
            return true;
        };
        let address = from_ref(value).addr();
        if self.path.contains(&address) {
            return true;
        }
        self.path.push(address);
        let bounded = self.enter_all(schema);
        self.path.pop();
        bounded
    }

    fn charge(&mut self, work: usize) -> bool {
        let left = self.left.checked_sub(work);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    fn enter_all(&mut self, schema: &'a Object) -> bool {
        schema.iter().all(|(key, value)| match value {
            Value::Object(by_name) if matches!(key, "properties" | "patternProperties") => {
                by_name.keys().all(|name| self.charge(1 + name.len() / 64))
            }
            Value::Array(items) if matches!(key, "items" | "prefixItems") => self.charge(items.len()),
            Value::String(reference) if REFERENCES.contains(&key) => self.refer(reference),
            Value::Array(items) if HERE.contains(&key) => items.iter().all(|item| self.enter(item)),
            Value::Object(_) if HERE.contains(&key) => self.enter(value),
            Value::Object(by_name) if HERE_BY_NAME.contains(&key) => {
                by_name.iter().all(|(_, value)| self.enter(value))
            }
            _ => true,
        })
    }

    fn refer(&mut self, reference: &str) -> bool {
        if !self.charge(reference.len() / 64) {
            return false;
        }
        let pointer = reference.strip_prefix('#').filter(|pointer| !pointer.contains('%'));
        let plain = pointer.filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        if let Some(target) = plain.and_then(|pointer| follow(self.document, pointer).1) {
            return self.enter(target);
        }
        // A name, or a pointer from one: it may lead to any.
        let named = self.named.clone();
        named.into_iter().all(|target| self.enter(target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    fn doubling(levels: usize, keyword: &str) -> Value {
        let mut text = String::from("{\"$defs\":{");
        for level in 1..levels {
            let next = format!(r##"{{"$ref":"#/$defs/{}"}}"##, level + 1);
            text.push_str(&format!(r#""{level}":{{"anyOf":[{next},{next}]}},"#));
        }
        text.push_str(&format!(r##""{levels}":{{}}}},"$ref":"#/$defs/1",{keyword}}}"##));
        decode(&text).unwrap()
    }

    #[test]
    fn ways_are_counted_and_not_schemas() {
        // Three schemas for each way to each level but the first and last: 1 + 3 * (2^n - 1) + ...
        assert!(is_bounded(&doubling(12, r#""unevaluatedItems":false"#)));
        assert!(!is_bounded(&doubling(13, r#""unevaluatedItems":false"#)));
        assert!(is_bounded(&doubling(40, r#""items":false"#)));
    }

    #[test]
    fn a_loop_is_entered_once() {
        let text = r##"{"anyOf":[{"$ref":"#"},{"$dynamicRef":"#a"}],"$dynamicAnchor":"a","unevaluatedProperties":false}"##;
        assert!(is_bounded(&decode(text).unwrap()));
    }
}
