//! The short way to hand async closures to a program.
//!
//! Invariant: names are kept exactly as given; an unknown one fails its call with the nearest known name.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use super::{BoxFuture, Call, CallError, CallHandler, Namespace};
use crate::error::Error;
use crate::json::Value;

type Answer = BoxFuture<'static, Result<Arc<Value>, CallError>>;
type Tool = Arc<dyn Fn(Call) -> Answer + Send + Sync>;

/// Named async closures, JSON in and JSON out.
#[derive(Clone, Default)]
pub struct Bindings {
    tools: BTreeMap<Arc<str>, Tool>,
}

impl Bindings {
    /// No closures yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool that is simply dropped when its call is cancelled. A second one of the same name replaces it.
    #[must_use]
    pub fn tool<F, T>(self, name: &str, body: F) -> Self
    where
        F: Fn(Value) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Value, CallError>> + Send + 'static,
    {
        self.tool_with_call(name, move |call| {
            let cancelled = call.cancel;
            let answer = body(call.arguments);
            async move {
                tokio::select! {
                    biased;
                    answer = answer => answer,
                    () = cancelled.cancelled() => Err(CallError::new("cancelled")),
                }
            }
        })
    }

    /// Adds a tool that sees the whole [`Call`] and settles by itself when it is cancelled.
    #[must_use]
    pub fn tool_with_call<F, T>(mut self, name: &str, body: F) -> Self
    where
        F: Fn(Call) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Value, CallError>> + Send + 'static,
    {
        let tool = move |call| -> Answer {
            let answer = body(call);
            Box::pin(async move { answer.await.map(Arc::new) })
        };
        self.tools.insert(name.into(), Arc::new(tool));
        self
    }

    /// Binds the tools to a global, for example `tools`.
    ///
    /// # Errors
    /// As [`Namespace::new`].
    pub fn into_namespace(self, global: &str) -> Result<Namespace, Error> {
        let members: Vec<Arc<str>> = self.tools.keys().cloned().collect();
        Namespace::new(global, members, Arc::new(self))
    }

    fn unknown(&self, name: &str) -> CallError {
        match nearest(name, self.tools.keys().map(AsRef::as_ref)) {
            Some(known) => CallError::new(format!("unknown tool `{}`; did you mean `{known}`?", shorten(name))),
            None => CallError::new(format!("unknown tool `{}`", shorten(name))),
        }
    }
}

impl std::fmt::Debug for Bindings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

impl CallHandler for Bindings {
    fn call(&self, call: Call) -> Answer {
        match self.tools.get(&call.member) {
            Some(tool) => tool(call),
            None => Box::pin(std::future::ready(Err(self.unknown(&call.member)))),
        }
    }
}

/// A name as it stands in a message: at most 80 characters.
fn shorten(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name.to_owned(),
    }
}

/// The known name that differs from `name` by the fewest edits, if those are at most a third of it.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let wanted: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if wanted.len() > LONGEST {
        return None;
    }
    let (distance, best) = known.map(|one| (distance(&wanted, one), one)).min()?;
    (distance <= wanted.len().div_ceil(3)).then_some(best)
}

/// Levenshtein distance, ignoring case and `_` against `-`.
fn distance(wanted: &[char], known: &str) -> usize {
    let fold = |c: char| if c == '-' { '_' } else { c.to_ascii_lowercase() };
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    for (line, there) in known.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (column, here) in wanted.iter().enumerate() {
            let above = row.get(column + 1).copied().unwrap_or(usize::MAX - 1);
            let same = usize::from(fold(*here) != fold(there));
            let cell = (diagonal + same).min(above + 1).min(left + 1);
            diagonal = above;
            if let Some(slot) = row.get_mut(column) {
                *slot = left;
            }
            left = cell;
        }
        if let Some(slot) = row.last_mut() {
            *slot = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_name_is_answered_with_the_nearest_one() {
        let known = ["fs_read", "fs_list", "fetch_page"];
        assert_eq!(nearest("fs-read", known.into_iter()), Some("fs_read"));
        assert_eq!(nearest("fsRead", known.into_iter()), Some("fs_read"));
        assert_eq!(nearest("fetchpage", known.into_iter()), Some("fetch_page"));
        assert_eq!(nearest("mail_send", known.into_iter()), None);
        assert_eq!(nearest("", known.into_iter()), None);
        assert_eq!(nearest(&"fs_read".repeat(10), known.into_iter()), None);
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("kitten"), "sitting"), 3);
        assert_eq!(distance(&chars(""), "abc"), 3);
        assert_eq!(distance(&chars("abc"), ""), 3);
        assert_eq!(distance(&chars("flaw"), "lawn"), 2);
    }
}
