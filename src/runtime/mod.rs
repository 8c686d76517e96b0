//! The seam between those who have tools and those who can run a program.
//!
//! A [`CodeRuntime`] runs one program with the bindings it is handed. It knows nothing of tool registries, sessions
//! or protocols. Invariant: whatever a program does, [`CodeRuntime::run`] answers `Ok` with a [`RunOutcome`]; an
//! `Err` means that the caller misused the runtime or that the host is broken.
//!
//! `session` is what every runtime shares: one run's calls, log, budgets and host-memory account, with no engine
//! in it. A runtime adds an interpreter to it; [`ScriptedRuntime`] adds a Rust closure.

mod bindings;
mod calls;
mod drive;
mod ledger;
mod names;
mod outcome;
mod pauses;
mod report;
mod request;
mod scripted;
mod session;

use std::future::Future;
use std::pin::Pin;

use crate::error::Error;

pub use bindings::Bindings;
pub use calls::{CallRecord, CallState};
pub use names::{is_portable, is_portable_property};
pub use outcome::{Failure, FailureKind, RunOutcome, Timings, Unhandled, UnhandledFailure};
pub use pauses::{Pause, Pauses};
pub use report::RunFacts;
pub use request::{Call, CallError, CallHandler, ErrorClass, LogSink, Namespace, RunRequest, no_log};
pub use scripted::{Script, ScriptedRuntime};

#[cfg(feature = "wasm")]
pub(crate) use drive::{Ended, drive};
#[cfg(feature = "wasm")]
pub(crate) use session::{Session, Settlement, Stop, Waited};

/// A future on the heap, for traits that are used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who runs the programs. Enough to tell two builds of a guest apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuestIdentity {
    /// The language its programs are written in, for example `javascript`.
    pub language: String,
    /// The interpreter, for example `quickjs-ng`.
    pub name: String,
    /// The interpreter's version.
    pub version: String,
    /// SHA-256 of the guest, in hexadecimal; empty where there is no artefact to digest.
    pub digest: String,
}

/// Something that can run programs of one language.
pub trait CodeRuntime: Send + Sync {
    /// The guest that runs the programs.
    fn guest(&self) -> &GuestIdentity;

    /// What separates a program from the host, as a label for people. It claims nothing.
    fn isolation(&self) -> &'static str;

    /// Runs one program in a fresh guest, to its end.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) for a request that cannot be meant,
    /// [`ShutDown`](crate::ErrorKind::ShutDown) after [`CodeRuntime::shutdown`], and
    /// [`Host`](crate::ErrorKind::Host) when the host cannot do its part.
    ///
    /// # Cancellation
    /// Cancelling [`RunRequest::cancel`] ends the run as [`FailureKind::Abort`], with its logs and calls. Dropping
    /// the future stops the guest where it is and drops the calls it had started.
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunOutcome, Error>>;

    /// Ends all runs as [`FailureKind::Abort`], waits for them, and refuses new ones from now on.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}
