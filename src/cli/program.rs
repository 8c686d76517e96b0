//! Where the program's text comes from.
//!
//! Invariant: no more is read than the limit `program` allows, however large the file or endless the pipe.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow};

use super::exit::Problem;
use crate::limits::{Limit, Limits};

/// The path that means stdin.
pub(super) const STDIN: &str = "-";

/// The text that was given as `eval`, or else what is in the file `path`.
pub(super) fn read(path: Option<&Path>, eval: Option<String>, limits: &Limits) -> Result<String, Problem> {
    let bytes = match (eval, path) {
        (Some(text), _) => Ok(text.into_bytes()),
        (None, Some(path)) if path != Path::new(STDIN) => {
            let opened = File::open(path).and_then(|file| take(file, limits));
            opened.with_context(|| format!("cannot read the program `{}`", path.display()))
        }
        (None, _) => take(io::stdin().lock(), limits).context("cannot read the program from stdin"),
    };
    let bytes = bytes.map_err(Problem::misuse)?;
    if bytes.len() > limits.size(Limit::Program) {
        return Err(Problem::misuse(anyhow!("{}", limits.reached(Limit::Program))));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Problem::misuse(anyhow!("the program is not UTF-8: there is no character at byte {offset}"))
    })?;
    if text.trim().is_empty() {
        return Err(Problem::misuse(anyhow!("the program is empty")));
    }
    Ok(text)
}

/// Everything up to one byte over the limit.
fn take(source: impl Read, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limits.get(Limit::Program) + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
