//! In which language a program is written.

use std::path::Path;

use clap::ValueEnum;

use super::exit::Problem;

/// The languages that can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    Typescript,
    Javascript,
    Python,
}

impl Language {
    /// What the extension of a program's file says.
    pub(super) fn of_file(path: &Path) -> Result<Self, Problem> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("ts") => Ok(Self::Typescript),
            Some("js" | "mjs") => Ok(Self::Javascript),
            Some("py") => Ok(Self::Python),
            _ => Err(Problem::misuse(anyhow::anyhow!(
                "the extension of `{}` names no language (.ts, .js, .mjs and .py do); say --language typescript, \
                 javascript or python",
                path.display()
            ))),
        }
    }

    /// Refuses a language whose guest does not exist yet.
    pub(super) fn check_built_in(self) -> Result<(), Problem> {
        match self {
            Self::Typescript | Self::Javascript => Ok(()),
            Self::Python => Err(Problem::misuse(anyhow::anyhow!(
                "the python guest is not built in yet; typescript and javascript are"
            ))),
        }
    }
}
