//! Variables in the texts of sections.
//!
//! Invariant: a value is put in as it is and is not searched again, so that it cannot name another variable.

use std::collections::BTreeMap;

/// Values for the variables of templates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a value for one more variable. A later value of the same name replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The template with values. `Err` is the first variable without one.
    pub(super) fn fill<'a>(&self, template: &'a str) -> Result<String, &'a str> {
        let mut text = String::with_capacity(template.len());
        for piece in pieces(template) {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Variable(name) => text.push_str(self.0.get(name).ok_or(name)?),
                // It was checked when the section was made.
                Piece::Wrong { rest, .. } => text.push_str(rest),
            }
        }
        Ok(text)
    }

    /// The names there are, for a message.
    pub(super) fn listed(&self) -> String {
        if self.0.is_empty() {
            return "no variable has one".to_owned();
        }
        let names: Vec<String> = self.0.keys().take(40).map(|name| format!("`{name}`")).collect();
        format!("there are values for {}", names.join(", "))
    }
}

enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
    Wrong { at: usize, rest: &'a str },
}

/// Says what is wrong with a template, if something is.
pub(super) fn check(template: &str) -> Result<(), String> {
    let wrong = pieces(template).find_map(|piece| match piece {
        Piece::Wrong { at, .. } => Some(at),
        Piece::Text(_) | Piece::Variable(_) => None,
    });
    wrong.map_or(Ok(()), |at| {
        let line = template.get(..at).unwrap_or_default().matches('\n').count() + 1;
        Err(format!("the `{{{{` in line {line} has no name and `}}}}` after it"))
    })
}

/// The pieces of a template. A wrong one is the last.
fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let (piece, after) = match rest.split_once("{{") {
            _ if rest.is_empty() => return None,
            None => (Piece::Text(rest), ""),
            Some(("", after)) => match after.split_once("}}") {
                Some((name, after)) if is_name(name.trim()) => (Piece::Variable(name.trim()), after),
                _ => (Piece::Wrong { at: template.len() - rest.len(), rest }, ""),
            },
            Some((before, _)) => (Piece::Text(before), rest.get(before.len()..).unwrap_or_default()),
        };
        rest = after;
        Some(piece)
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_once_and_strictly() {
        let variables = Variables::new().with("a", "{{b}}").with("b", "x").with("tag_1", "ö");
        let fill = |template| variables.fill(template);
        assert_eq!(fill(""), Ok(String::new()));
        assert_eq!(fill("no { } }} variable"), Ok("no { } }} variable".to_owned()));
        assert_eq!(fill("{{a}}{{ b }}, {{tag_1}}!"), Ok("{{b}}x, ö!".to_owned()));
        assert_eq!(fill("{{a}} {{c}} {{d}}"), Err("c"));
        assert_eq!(Variables::new().listed(), "no variable has one");
        assert_eq!(variables.listed(), "there are values for `a`, `b`, `tag_1`");
    }

    #[test]
    fn a_template_is_checked_when_it_is_made() {
        assert_eq!(check("{{a}} and {{ ünïcode_1 }} }}"), Ok(()));
        for (template, line) in [("{{", 1), ("a\n{{}}", 2), ("{{a\n}", 1), ("\n\n{{a b}}", 3), ("{{{a}}}", 1)] {
            let expected = format!("the `{{{{` in line {line} has no name and `}}}}` after it");
            assert_eq!(check(template), Err(expected), "{template}");
        }
    }
}
