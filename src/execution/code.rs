//! The closed table of error codes, and the error a model sees.
//!
//! Invariant: every failure of a call has one of these codes, and its content is `Error: ` and its message, which is bounded.

use std::fmt;

use crate::content::Content;

/// The longest message of a failed call, in bytes. What is longer is cut, and says so; a listing of a directory or a page of
/// HTML in an error would fill a model's context.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// Why a call failed, for programs that look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "published as a closed table")]
pub enum ErrorCode {
    /// There is no such tool here, or it cannot be called directly.
    UnknownTool,
    /// The arguments are lossy, break the tool's schema, or do not fit the Rust types of a
    /// [typed](crate::tool::Tool::typed) tool, where its schema allows more than they do.
    InvalidArgs,
    /// The tool's value is lossy, or breaks its own schema.
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
    /// An error. A message longer than [`MESSAGE_BYTES_MAX`] loses its end, and tells how long it was.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::unclipped(code, cut(message.into()))
    }

    /// An error whose message is bounded by other means.
    pub(crate) fn unclipped(code: ErrorCode, message: String) -> Self {
        Self { code, message }
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

    pub(super) fn program_is_over() -> Self {
        Self::new(ErrorCode::Aborted, "the program has ended, and a call runs its program once")
    }

    pub(super) fn aborted() -> Self {
        Self::new(ErrorCode::Aborted, "the call was cancelled")
    }
}

/// The message itself, or its beginning and how long it was.
fn cut(mut message: String) -> String {
    let bytes = message.len();
    if bytes > MESSAGE_BYTES_MAX {
        let note = format!("… [cut: the message had {bytes} bytes]");
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX.saturating_sub(note.len())));
        message.push_str(&note);
        message.shrink_to_fit();
    }
    message
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        ToolError::new(ErrorCode::ToolFailed, text).message().to_owned()
    }

    #[test]
    fn a_message_is_kept_up_to_its_bound_and_cut_beyond() {
        for bytes in [MESSAGE_BYTES_MAX - 1, MESSAGE_BYTES_MAX] {
            let text = "x".repeat(bytes);
            assert_eq!(message(&text), text);
        }
        let note = "… [cut: the message had 16385 bytes]";
        let expected = format!("{}{note}", "x".repeat(MESSAGE_BYTES_MAX - note.len()));
        assert_eq!(message(&"x".repeat(MESSAGE_BYTES_MAX + 1)), expected);
        assert_eq!(expected.len(), MESSAGE_BYTES_MAX);
    }

    #[test]
    fn a_message_is_cut_between_characters() {
        for before in ["", "x", "xx"] {
            let text = format!("{before}{}", "路".repeat(MESSAGE_BYTES_MAX));
            let note = format!("… [cut: the message had {} bytes]", text.len());
            let cut = message(&text);
            let kept = cut.strip_suffix(&note).expect("it says so");
            assert!(text.starts_with(kept) && (MESSAGE_BYTES_MAX - 2..=MESSAGE_BYTES_MAX).contains(&cut.len()));
        }
    }

    #[test]
    fn a_message_that_is_bounded_by_other_means_stays_whole() {
        let text = "x".repeat(MESSAGE_BYTES_MAX + 1);
        assert_eq!(ToolError::unclipped(ErrorCode::CodeRunFailed, text.clone()).message(), text);
    }
}
