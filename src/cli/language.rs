//! In which language a program is written.
//!
//! Invariant: languages are looked up in the table of languages; what is particular here is which of them have a guest.

use std::path::Path;

use anyhow::anyhow;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::exit::Problem;
use crate::language::Language;

/// The language of programs that do not say which.
pub(super) const DEFAULT: &str = "typescript";

/// Reads the name of a language.
pub(super) fn parser() -> impl TypedValueParser<Value = &'static Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::id)).try_map(|id| Language::find(&id))
}

/// What the extension of a program's file says.
pub(super) fn of_file(path: &Path) -> Result<&'static Language, Problem> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.and_then(Language::of_extension).ok_or_else(|| {
        let mut known: Vec<String> =
            Language::ALL.iter().flat_map(|language| language.extensions()).map(|end| format!(".{end}")).collect();
        let last = known.pop().unwrap_or_default();
        let (shown, known) = (path.display(), known.join(", "));
        let mut ids: Vec<&str> = Language::ALL.iter().map(|language| language.id()).collect();
        let last_id = ids.pop().unwrap_or_default();
        Problem::misuse(anyhow!(
            "the extension of `{shown}` names no language ({known} and {last} do); say --language {} or {last_id}",
            ids.join(", ")
        ))
    })
}

/// Refuses a language whose guest does not exist yet.
pub(super) fn check_built_in(language: &Language) -> Result<(), Problem> {
    match language.id() {
        "typescript" | "javascript" => Ok(()),
        other => {
            Err(Problem::misuse(anyhow!("the {other} guest is not built in yet; typescript and javascript are")))
        }
    }
}
