//! How a run ended: data, never an error.
//!
//! Invariant: every ending, good or bad, carries the same things: what was logged, which calls were made and how each
//! ended, and where the time went.

use std::fmt;
use std::time::Duration;

use super::CallRecord;
use crate::json::{Value, clip};
use crate::limits::{UNHANDLED_BYTES_MAX, UNHANDLED_MAX};

/// Everything there is to know about a run that has ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunOutcome {
    /// What the program returned, `None` where it returned nothing, or why there is no result.
    pub result: Result<Option<Value>, Failure>,
    /// What it logged, in order. After a limit stopped it, as much as the limit `output` has room for.
    pub logs: Vec<String>,
    /// Its calls, in order of submission.
    pub calls: Vec<CallRecord>,
    /// The failures that nothing in the program looked at.
    pub unhandled: Unhandled,
    /// Where the time went.
    pub timings: Timings,
}

/// Failures that nothing in a program looked at. They end no run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unhandled {
    /// The first [`UNHANDLED_MAX`](crate::limits::UNHANDLED_MAX) of them.
    pub failures: Vec<UnhandledFailure>,
    /// How many there are.
    pub count: u64,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnhandledFailure {
    /// The number of the call that failed; `None` where it was no call.
    pub call: Option<u64>,
    /// What the guest says of it, at most [`UNHANDLED_BYTES_MAX`](crate::limits::UNHANDLED_BYTES_MAX) bytes.
    pub message: String,
}

impl Unhandled {
    /// Notes one more.
    pub(super) fn add(&mut self, call: Option<u64>, message: &str) {
        self.count += 1;
        if self.failures.len() < UNHANDLED_MAX {
            self.failures
                .push(UnhandledFailure { call, message: clip(message, UNHANDLED_BYTES_MAX).into_owned() });
        }
    }
}

impl RunOutcome {
    /// The outcome of a run that did nothing.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self {
            result: Err(failure),
            logs: Vec::new(),
            calls: Vec::new(),
            unhandled: Unhandled::default(),
            timings: Timings::default(),
        }
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of ending it is.
    pub kind: FailureKind,
    /// What happened, for whoever wrote the program or set the limits.
    pub message: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// The kinds of failed ending. Closed: reports and exit codes are built on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "published as a closed list; reports map every kind")]
pub enum FailureKind {
    /// The program threw, did not parse, or waited for what cannot happen.
    Exception,
    /// A time budget was used up; the message says which.
    Timeout,
    /// The caller cancelled the run, or the runtime shut down.
    Abort,
    /// The guest died under the program: a trap, memory, the host-memory account, a broken contract.
    GuestExit,
    /// The result cannot cross as JSON without loss.
    InvalidOutput,
    /// The outcome is larger than the limits `output` or `log-lines`.
    OutputLimit,
}

impl FailureKind {
    /// The kind's published name, for example `guest-exit`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::Abort => "abort",
            Self::GuestExit => "guest-exit",
            Self::InvalidOutput => "invalid-output",
            Self::OutputLimit => "output-limit",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a run's time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// Time in which the guest executed.
    pub compute: Duration,
    /// Time from the run's start to its end, waiting for a place in the pool not included.
    pub wall: Duration,
    /// How much of it was spent waiting for approvals.
    pub approval: Duration,
}
