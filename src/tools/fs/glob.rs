//! File-name patterns with `*` and `?`.
//!
//! Invariant: matching takes time in proportion to pattern times name, and no recursion.

use super::bounds::GLOB_BYTES_MAX;
use crate::runtime::CallError;

/// A pattern for whole file names: `*` is any number of characters, `?` is one, everything else is itself.
pub(super) struct Glob(Vec<char>);

impl Glob {
    /// The pattern written as `text`.
    pub(super) fn new(text: &str) -> Result<Self, CallError> {
        if text.len() > GLOB_BYTES_MAX {
            return Err(CallError::new(format!(
                "the argument `glob` has {} bytes; at most {GLOB_BYTES_MAX} are taken",
                text.len()
            )));
        }
        if text.contains('/') {
            return Err(CallError::new(
                "the argument `glob` has a `/` in it; it is compared with file names, which have none",
            ));
        }
        Ok(Self(text.chars().collect()))
    }

    /// Whether the whole of `name` is of this pattern.
    pub(super) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut here) = (0, 0);
        // Where to take up again after the last `*`: the pattern behind it, and one character further in the name.
        let mut retry: Option<(usize, usize)> = None;
        while let Some(one) = name.get(here) {
            match self.0.get(at) {
                Some('*') => {
                    at += 1;
                    retry = Some((at, here));
                }
                Some(wanted) if *wanted == '?' || wanted == one => {
                    at += 1;
                    here += 1;
                }
                Some(_) | None => {
                    let Some((after, from)) = retry else { return false };
                    at = after;
                    here = from + 1;
                    retry = Some((after, here));
                }
            }
        }
        self.0.iter().skip(at).all(|rest| *rest == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).expect("a good pattern").matches(name)
    }

    #[test]
    fn a_star_is_any_run_and_a_question_mark_one_character() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a.txt"),
            ("*.txt", ".txt"),
            ("*.txt", "a.txt.txt"),
            ("a*b*c", "a-b-b-c"),
            ("a**c", "ac"),
            ("?.rs", "é.rs"),
            ("", ""),
            ("[a].txt", "[a].txt"),
            ("a*", "a"),
        ] {
            assert!(matches(pattern, name), "{pattern} is the pattern of {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("?", ""),
            ("*.txt", "a.txt2"),
            ("*.txt", "a.TXT"),
            ("a*b*c", "a-c-b"),
            ("?.rs", "ab.rs"),
            ("[a].txt", "a.txt"),
        ] {
            assert!(!matches(pattern, name), "{pattern} is not the pattern of {name}");
        }
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_not() {
        assert!(!matches(&"*a".repeat(127), &format!("{}b", "a".repeat(254))));
    }

    #[test]
    fn a_bad_pattern_is_refused() {
        let refusal = |text: &str| Glob::new(text).err().map(|error| error.message().to_owned());
        assert_eq!(refusal(&"*".repeat(255)), None);
        assert_eq!(
            refusal(&"*".repeat(256)).as_deref(),
            Some("the argument `glob` has 256 bytes; at most 255 are taken")
        );
        assert_eq!(
            refusal("src/*.rs").as_deref(),
            Some("the argument `glob` has a `/` in it; it is compared with file names, which have none")
        );
    }
}
