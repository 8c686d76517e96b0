//! A named part of a prompt.
//!
//! Invariant: text that somebody else wrote is never searched for variables; only a template is, and it was well formed when it was
//! made.

use std::sync::Arc;

use super::variables::{self, Variables};
use crate::error::Error;
use crate::json::clip;

/// The longest name of a section, in bytes.
pub const SECTION_NAME_BYTES_MAX: usize = 256;

/// A named part of a prompt. Sections are told by order, and by name where the order is the same.
///
/// By custom, sections about single tools are called `tool:NAME` and have an order from 100 to 199.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    name: Arc<str>,
    order: i32,
    text: Arc<str>,
    is_template: bool,
}

impl Section {
    /// A section whose text is told as it is.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) for a blank name and for one longer than [`SECTION_NAME_BYTES_MAX`].
    pub fn new(name: &str, order: i32, text: impl Into<Arc<str>>) -> Result<Self, Error> {
        if name.trim().is_empty() {
            return Err(Error::misuse("a section needs a name that is not blank"));
        }
        if name.len() > SECTION_NAME_BYTES_MAX {
            return Err(Error::misuse(format!(
                "the name `{}` of a section has {} bytes; at most {SECTION_NAME_BYTES_MAX} are allowed",
                clip(name, 80),
                name.len()
            )));
        }
        Ok(Self::made(name, order, text.into()))
    }

    /// A section with variables: `{{name}}` stands for the value of `name`. A name has letters, digits and `_`.
    ///
    /// # Errors
    /// As [`Section::new`], and for braces that are not closed or hold no name.
    pub fn template(name: &str, order: i32, text: impl Into<Arc<str>>) -> Result<Self, Error> {
        let section = Self { is_template: true, ..Self::new(name, order, text)? };
        variables::check(&section.text).map_err(|wrong| {
            Error::misuse(format!("the section `{}` is no template: {wrong}", clip(section.name(), 80)))
        })?;
        Ok(section)
    }

    /// A section of our own.
    pub(super) fn made(name: &str, order: i32, text: Arc<str>) -> Self {
        Self { name: name.into(), order, text, is_template: false }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its order: lower ones are told first.
    #[must_use]
    pub fn order(&self) -> i32 {
        self.order
    }

    /// Its text, variables not filled in before the prompt is made.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Where it is told.
    pub(super) fn place(&self) -> (i32, &str) {
        (self.order, &self.name)
    }

    /// The same with its variables filled in.
    pub(super) fn filled(self, variables: &Variables) -> Result<Self, Error> {
        if !self.is_template {
            return Ok(self);
        }
        let text = variables.fill(&self.text).map_err(|unknown| {
            let (section, unknown) = (clip(&self.name, 80), clip(unknown, 80));
            Error::misuse(format!(
                "the section `{section}` needs the variable `{unknown}`, which has no value; {}",
                variables.listed()
            ))
        })?;
        Ok(Self { text: text.into(), is_template: false, ..self })
    }
}
