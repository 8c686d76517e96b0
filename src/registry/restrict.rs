//! Masks over what a scope inherits.
//!
//! Invariant: a restriction names only what the scope inherits at that moment, so that a misspelled name cannot leave a door
//! open; and it lasts as long as its scope, so that nobody lifts it by dropping something.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Scope;
use super::layer::Restriction;
use super::mode::RESERVED_NAMES;
use crate::error::Error;
use crate::json::clip;

/// How many of the known names an error lists.
const LISTED_MAX: usize = 40;

impl Scope {
    /// Hides everything this scope inherits, except these names. Tools that appear above it later stay hidden.
    ///
    /// What the scope registers itself is never hidden. Several restrictions intersect, and reach all descendants.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) in the global scope, for no names at all, for reserved names, and for names the
    /// scope does not inherit.
    pub fn restrict_to<I>(&self, names: I) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.restrict(true, names)
    }

    /// Hides these names, if the scope inherits them. Tools that appear above it later are seen.
    ///
    /// What the scope registers itself is never hidden. Several restrictions intersect, and reach all descendants.
    ///
    /// # Errors
    /// As [`Scope::restrict_to`].
    pub fn restrict_from<I>(&self, names: I) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.restrict(false, names)
    }

    fn restrict<I>(&self, allows: bool, names: I) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        if self.is_global() {
            return Err(Error::misuse(
                "the global scope inherits nothing and cannot be restricted; restrict a child",
            ));
        }
        let names: BTreeSet<Arc<str>> = names.into_iter().map(|name| Arc::from(name.as_ref())).collect();
        let scope = clip(self.name(), 80).into_owned();
        if names.is_empty() {
            return Err(Error::misuse(format!(
                "a restriction of scope `{scope}` names no tool; name at least one"
            )));
        }
        if let Some(reserved) = names.iter().find(|name| RESERVED_NAMES.contains(&&***name)) {
            return Err(Error::misuse(format!("`{reserved}` is reserved and cannot be restricted")));
        }
        let inherited = self.inherited();
        let known: BTreeSet<&str> = inherited.inheritable().collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&***name)) {
            return Err(Error::misuse(format!(
                "the scope `{scope}` inherits no tool `{}`; it inherits {}",
                clip(unknown, 80),
                listed(&known)
            )));
        }
        self.change(|state| {
            state.restrictions.push(Arc::new(Restriction { allows, names: names.into_iter().collect() }));
            Ok(())
        })
    }
}

fn listed(known: &BTreeSet<&str>) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    let mut text =
        known.iter().take(LISTED_MAX).map(|name| format!("`{}`", clip(name, 80))).collect::<Vec<_>>().join(", ");
    if let Some(more) = known.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
