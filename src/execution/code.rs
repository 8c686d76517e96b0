//! The closed table of error codes, and the error a model sees.
//!
//! Invariant: every failure of a call has one of these codes, and its content is `Error: ` and its message.

use std::fmt;

use crate::content::Content;

/// Why a call failed, for programs that look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "published as a closed table")]
pub enum ErrorCode {
    /// There is no such tool here, or it cannot be called directly.
    UnknownTool,
    /// The arguments are lossy, or break the tool's schema.
    InvalidArgs,
    /// The tool's value breaks its own schema.
    InvalidToolOutput,
    /// A listener, an approval or a guard said no.
    Denied,
    /// A post-execute listener withheld the result.
    Blocked,
    /// The body failed.
    ToolFailed,
    /// The body took longer than the tool's timeout.
    ToolTimeout,
    /// The call was cancelled after its body had started.
    Aborted,
    /// The call was cancelled before its body started.
    AbortedBeforeDispatch,
    /// A listener or a wrapper failed.
    PolicyFailed,
    /// A program failed.
    CodeRunFailed,
    /// A program was written for another language or guest.
    LanguageMismatch,
    /// Somebody's code panicked.
    Internal,
}

impl ErrorCode {
    /// The published name, for example `UNKNOWN_TOOL`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "UNKNOWN_TOOL",
            Self::InvalidArgs => "INVALID_ARGS",
            Self::InvalidToolOutput => "INVALID_TOOL_OUTPUT",
            Self::Denied => "DENIED",
            Self::Blocked => "BLOCKED",
            Self::ToolFailed => "TOOL_FAILED",
            Self::ToolTimeout => "TOOL_TIMEOUT",
            Self::Aborted => "ABORTED",
            Self::AbortedBeforeDispatch => "ABORTED_BEFORE_DISPATCH",
            Self::PolicyFailed => "POLICY_FAILED",
            Self::CodeRunFailed => "CODE_RUN_FAILED",
            Self::LanguageMismatch => "LANGUAGE_MISMATCH",
            Self::Internal => "INTERNAL",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed call, as a model may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    code: ErrorCode,
    message: String,
}

impl ToolError {
    /// An error.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Its code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// What to tell the model.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the model sees of it.
    pub(super) fn content(&self) -> Vec<Content> {
        vec![Content::text(format!("Error: {}", self.message))]
    }

    /// The error for code that panicked in `stage`, for example `the body`.
    pub(super) fn panicked(stage: &str) -> Self {
        Self::new(ErrorCode::Internal, format!("internal error: {stage} panicked"))
    }

    pub(super) fn lost() -> Self {
        Self::new(ErrorCode::Internal, "internal error: the call was lost with its task")
    }

    pub(super) fn aborted_before_dispatch() -> Self {
        Self::new(ErrorCode::AbortedBeforeDispatch, "the call was cancelled before it was dispatched")
    }

    pub(super) fn aborted() -> Self {
        Self::new(ErrorCode::Aborted, "the call was cancelled")
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ToolError {}
