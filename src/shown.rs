//! Texts of strangers, made fit to be shown: what a program logs, returns or is called.
//!
//! Invariant: nothing of them is lost, only written otherwise.

use std::borrow::Cow;

/// `text` with everything escaped that a terminal would obey. Lines and tabs stay.
#[cfg(any(feature = "cli", test))]
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    escape(text, |c| obeyed(c) && c != '\n' && c != '\t')
}

/// `text` on one line, with everything escaped that a terminal would obey.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, |c| obeyed(c) || c == '\u{2028}' || c == '\u{2029}')
}

/// Whether a character does something else than stand in its place: control characters, and those that turn the
/// direction of the text around them.
fn obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes as JSON and JavaScript do, so that JSON stays JSON.
fn escape(text: &str, matches: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(matches) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if matches(c) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(harmless("\u{1b}[2J\u{1b}]0;title\u{7}"), "\\u001b[2J\\u001b]0;title\\u0007");
        assert_eq!(harmless("safe\rover"), "safe\\u000dover");
        assert_eq!(harmless("\u{9b}31m\u{7f}"), "\\u009b31m\\u007f");
        assert_eq!(harmless("a\u{202e}b\u{2066}c\u{61c}"), "a\\u202eb\\u2066c\\u061c");
    }

    #[test]
    fn ordinary_text_is_borrowed_as_it_is() {
        let text = "línea 1\n\tzwei 三 👩‍🚀 \\u001b";
        assert!(matches!(harmless(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn a_name_cannot_pretend_to_be_two_lines() {
        assert_eq!(one_line("a\nb\tc\u{2028}d"), "a\\u000ab\\u0009c\\u2028d");
    }

    #[test]
    fn escaped_json_is_the_same_json() {
        let text = "{\"a\":\"\u{9b}\u{202e}\"}";
        let escaped = harmless(text);
        assert_eq!(escaped, "{\"a\":\"\\u009b\\u202e\"}");
        assert_eq!(crate::json::decode(&escaped), crate::json::decode(text));
    }
}
