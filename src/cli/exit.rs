//! Exit codes, and what ends a command before there is an outcome.
//!
//! Invariant: the codes are published; a change is a line in the changelog.

use std::fmt;
use std::process::ExitCode;

use super::terminal;
use crate::execution::{ErrorCode, ToolResult};
use crate::runtime::FailureKind;
use crate::{Error, ErrorKind};

/// The codes, as help texts print them.
pub(super) const HELP: &str = "\
Exit codes:
  0    completed
  1    the program failed: it threw, or returned what JSON cannot hold; for `call`, the tool failed
  2    misuse: a bad flag, a missing file, an unknown language, arguments that the tool does not take
  3    a limit or the guest's death ended it; for `inspect`, the component is not sealed
  4    refused: the tool is unknown here, cannot be called directly, or policy denies it
  130  interrupted";

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Completed = 0,
    ProgramFailed = 1,
    Misuse = 2,
    Stopped = 3,
    Refused = 4,
    Interrupted = 130,
}

impl Exit {
    pub(super) const fn of(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Exception | FailureKind::InvalidOutput => Self::ProgramFailed,
            FailureKind::Timeout | FailureKind::GuestExit | FailureKind::OutputLimit => Self::Stopped,
            FailureKind::Abort => Self::Interrupted,
        }
    }

    /// The ending of a call with this result.
    pub(super) fn of_result(result: &ToolResult) -> Self {
        let Some(code) = result.code() else { return Self::Completed };
        match code {
            ErrorCode::CodeRunFailed => {
                let failure = result.run_facts().and_then(|facts| facts.failure.as_ref());
                failure.map_or(Self::ProgramFailed, |failure| Self::of(failure.kind))
            }
            ErrorCode::InvalidArgs => Self::Misuse,
            ErrorCode::UnknownTool | ErrorCode::Denied | ErrorCode::Blocked | ErrorCode::LanguageMismatch => {
                Self::Refused
            }
            ErrorCode::ToolFailed | ErrorCode::InvalidToolOutput => Self::ProgramFailed,
            ErrorCode::ToolTimeout | ErrorCode::PolicyFailed | ErrorCode::Internal => Self::Stopped,
            ErrorCode::Aborted | ErrorCode::AbortedBeforeDispatch => Self::Interrupted,
        }
    }

    pub(super) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command has no outcome.
#[derive(Debug)]
pub(super) struct Problem {
    exit: Exit,
    error: anyhow::Error,
}

impl Problem {
    /// The user can put it right.
    pub(super) fn misuse(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Misuse, error: error.into() }
    }

    /// The machine failed.
    pub(super) fn host(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Stopped, error: error.into() }
    }

    /// Tells the user and answers with the exit code.
    pub(super) fn report(&self) -> Exit {
        terminal::stderr(&format!("error: {self}\n"));
        self.exit
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Misuse => Self::misuse(error),
            ErrorKind::Refused | ErrorKind::Host | ErrorKind::ShutDown => Self::host(error),
        }
    }
}
