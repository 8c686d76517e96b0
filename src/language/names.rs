//! Names for what has none in its schema.
//!
//! Invariant: a name is short and plain in every language, and nothing else in the text has it.

use std::collections::HashMap;

/// How long the name of a declared type may be, apart from a number after it.
const NAME_MAX: usize = 60;

/// A name of words, each with a capital letter. Letters and digits of ASCII only; starts with a letter.
pub(super) fn pascal(name: &str) -> String {
    let mut pascal = String::new();
    let mut starts = true;
    for character in name.chars() {
        if pascal.len() >= NAME_MAX {
            break;
        }
        if !character.is_ascii_alphanumeric() {
            starts = true;
            continue;
        }
        if pascal.is_empty() && character.is_ascii_digit() {
            pascal.push('T');
        }
        pascal.push(if starts { character.to_ascii_uppercase() } else { character });
        starts = false;
    }
    if pascal.is_empty() { "Type".to_owned() } else { pascal }
}

/// The names of one text.
pub(super) struct Names {
    /// With the number that the next one like it is tried with.
    taken: HashMap<String, usize>,
}

impl Names {
    /// Some names that must not be taken.
    pub(super) fn without(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|name| ((*name).to_owned(), 2)).collect() }
    }

    /// `wanted`, short, and with a number where it is taken.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let short: String = wanted.chars().take(NAME_MAX).collect();
        let Some(&next) = self.taken.get(&short) else {
            self.taken.insert(short.clone(), 2);
            return short;
        };
        let mut number = next;
        let name = loop {
            let name = format!("{short}{number}");
            number += 1;
            if !self.taken.contains_key(&name) {
                break name;
            }
        };
        self.taken.insert(short, number);
        self.taken.insert(name.clone(), 2);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_short_and_unique() {
        for (name, expected) in [
            ("list_issues", "ListIssues"),
            ("get-URL.v2", "GetURLV2"),
            ("2fa", "T2fa"),
            ("", "Type"),
            ("\u{8def}\u{5f84}", "Type"),
            ("a b\u{0}c", "ABC"),
        ] {
            assert_eq!(pascal(name), expected);
        }
        assert_eq!(pascal(&"x".repeat(1000)).len(), NAME_MAX);
        let mut names = Names::without(&["Any"]);
        let mut unique = |wanted: &str| names.unique(wanted);
        assert_eq!([unique("A"), unique("A"), unique("A2"), unique("Any")], ["A", "A2", "A22", "Any2"]);
        assert_eq!(unique(&"y".repeat(61)), "y".repeat(60));
        assert_eq!(unique(&"y".repeat(62)), format!("{}2", "y".repeat(60)));
    }
}
