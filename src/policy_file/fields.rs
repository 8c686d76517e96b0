//! Typed access to the tables of a policy file.
//!
//! Invariant: whatever is not as expected is an error with the line of the very key or value it is about.

use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::error::{Lines, PolicyError, listed, quoted};
use crate::json::{self, Array, Float, Integer, Object, Value};

/// One value, and the line it begins in.
#[derive(Clone, Copy)]
pub(super) struct Field<'t> {
    pub(super) line: usize,
    value: &'t DeValue<'t>,
    lines: &'t Lines,
}

/// One table of the file.
pub(super) struct Section<'t> {
    /// What messages call it.
    what: &'static str,
    line: usize,
    table: &'t DeTable<'t>,
    lines: &'t Lines,
}

impl<'t> Section<'t> {
    pub(super) fn new(what: &'static str, line: usize, table: &'t DeTable<'t>, lines: &'t Lines) -> Self {
        Self { what, line, table, lines }
    }

    /// Where it begins.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Refuses the first key that is not one of `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), PolicyError> {
        let unknown = self.table.iter().filter(|(key, _)| !known.contains(&key.get_ref().as_ref()));
        let Some((key, _)) = unknown.min_by_key(|(key, _)| key.span().start) else {
            return Ok(());
        };
        let (name, what) = (key.get_ref(), self.what);
        let hint = if name == "default" { "; `default` must stand before the first `[[…]]`" } else { "" };
        let message = format!("unknown key {} in {what}; known are {}{hint}", quoted(name), listed(known));
        Err(PolicyError::new(self.lines.at(key.span()), message))
    }

    pub(super) fn get(&self, key: &str) -> Option<Field<'t>> {
        let value = self.table.get(key)?;
        Some(Field::new(value, self.lines))
    }

    pub(super) fn need(&self, key: &str, what: &str) -> Result<Field<'t>, PolicyError> {
        self.get(key)
            .ok_or_else(|| PolicyError::new(self.line, format!("{} has no `{key}`; it must be {what}", self.what)))
    }

    /// The tables under `key`, each called `what`. Where `lone` says so, one table that is in no list will do.
    pub(super) fn tables(&self, key: &str, what: &'static str, lone: bool) -> Result<Vec<Self>, PolicyError> {
        let Some(field) = self.get(key) else {
            return Ok(Vec::new());
        };
        if lone && let DeValue::Table(table) = field.value {
            return Ok(vec![Section::new(what, field.line, table, self.lines)]);
        }
        let expected = if lone { "a table or a list of tables" } else { "a list of tables" };
        let items = field.items().ok_or_else(|| field.wrong(key, expected))?;
        items
            .into_iter()
            .map(|item| match item.value {
                DeValue::Table(table) => Ok(Section::new(what, item.line, table, self.lines)),
                _ => Err(item.wrong(key, expected)),
            })
            .collect()
    }
}

impl<'t> Field<'t> {
    fn new(value: &'t Spanned<DeValue<'t>>, lines: &'t Lines) -> Self {
        Self { line: lines.at(value.span()), value: value.get_ref(), lines }
    }

    pub(super) fn error(&self, message: impl AsRef<str>) -> PolicyError {
        PolicyError::new(self.line, message)
    }

    /// The error for a value of a wrong type.
    pub(super) fn wrong(&self, key: &str, expected: &str) -> PolicyError {
        self.error(format!("`{key}` must be {expected}, not {}", self.kind()))
    }

    fn kind(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    pub(super) fn items(&self) -> Option<Vec<Self>> {
        let items = self.value.as_array()?;
        Some(items.iter().map(|item| Field::new(item, self.lines)).collect())
    }

    pub(super) fn text(&self, key: &str) -> Result<&'t str, PolicyError> {
        self.value.as_str().ok_or_else(|| self.wrong(key, "a string"))
    }

    pub(super) fn truth(&self, key: &str) -> Result<bool, PolicyError> {
        self.value.as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }

    /// An integer from 1 on.
    pub(super) fn count(&self, key: &str) -> Result<u64, PolicyError> {
        let DeValue::Integer(integer) = self.value else {
            return Err(self.wrong(key, "an integer"));
        };
        match i64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .and_then(|count| u64::try_from(count).ok())
        {
            Some(0) => {
                Err(self
                    .error(format!("`{key}` is 0; to allow no call at all, use a rule with the action `deny`")))
            }
            Some(count) => Ok(count),
            None => Err(self.error(format!("`{key}` must be an integer from 1 to {}", i64::MAX))),
        }
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, PolicyError> {
        let text = self.text(key)?;
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.error(format!("`{key}` must be one of {}, not {}", listed(&known), quoted(text)))
        })
    }

    /// Any value, as JSON.
    pub(super) fn json(&self) -> Result<Value, PolicyError> {
        let value = self.convert()?;
        json::check(&value).map_err(|error| self.error(error.to_string()))?;
        Ok(value)
    }

    /// Recurses as deep as the value is; the parser bounds that, and the stack of `parse` is made for it.
    fn convert(&self) -> Result<Value, PolicyError> {
        match self.value {
            DeValue::String(text) => Ok(Value::from(text.as_ref())),
            DeValue::Boolean(truth) => Ok(Value::Bool(*truth)),
            DeValue::Integer(number) => integer(number)
                .map(Value::Integer)
                .ok_or_else(|| self.error(format!("{} is too large a number", quoted(&number.to_string())))),
            DeValue::Float(number) => float(number)
                .map(Value::Float)
                .ok_or_else(|| self.error(format!("{} is no number that JSON knows", quoted(number.as_str())))),
            DeValue::Datetime(_) => Err(self.error("JSON knows no dates and times; write a string")),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| Field::new(item, self.lines).convert());
                items.collect::<Result<Array, _>>().map(Value::Array)
            }
            DeValue::Table(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    Ok((key.get_ref().clone().into_owned(), Field::new(value, self.lines).convert()?))
                });
                entries.collect::<Result<Object, _>>().map(Value::Object)
            }
        }
    }
}

fn integer(number: &DeInteger<'_>) -> Option<Integer> {
    if number.radix() != 10 {
        return i128::from_str_radix(number.as_str(), number.radix()).ok().map(Integer::from);
    }
    let digits = number.as_str().trim_start_matches('+');
    Integer::parse(if digits == "-0" { "0" } else { digits }).ok()
}

fn float(number: &DeFloat<'_>) -> Option<Float> {
    number.as_str().parse().ok().and_then(Float::new)
}
