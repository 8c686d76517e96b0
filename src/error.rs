//! The host's own errors: what went wrong on *our* side of the boundary, or in how we were called.
//!
//! Invariant: what a program does never becomes an [`Error`]; it becomes data in a
//! [`RunOutcome`](crate::runtime::RunOutcome). What a guest may see of a failed call is a
//! [`CallError`](crate::runtime::CallError). The three channels are never mixed.

use std::error::Error as StdError;
use std::fmt;

/// Why the host could not do what it was asked.
///
/// Opaque, so that it can grow. [`Error::kind`] says whose move it is; the text says what to do.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Whose fault an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The embedder passed something that cannot be meant: a bad name, a limit out of bounds.
    Misuse,
    /// A guest component was refused: it imports what is not offered, or speaks another contract.
    Refused,
    /// The machine or the engine failed: a file cannot be read, a pool cannot be reserved.
    Host,
    /// The runtime was shut down.
    ShutDown,
}

impl Error {
    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: None }))
    }

    pub(crate) fn misuse(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Misuse, message)
    }

    #[cfg(any(feature = "wasm", feature = "fs"))]
    pub(crate) fn with_source(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: Some(source.into()) }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
