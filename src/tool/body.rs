//! How a body fails.
//!
//! Invariant: what a model may see of a failed call is one message. Causes and backtraces stay on the host.

use std::fmt;

use crate::execution::ErrorCode;

/// Why a body failed. Any error becomes one with `?`; its own text is the message, its causes are left behind.
#[derive(Clone, PartialEq, Eq)]
pub struct BodyError {
    code: ErrorCode,
    message: String,
}

impl BodyError {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::ToolFailed, message: message.into() }
    }

    /// A failure that is not the body's own.
    pub(crate) fn with_code(code: ErrorCode, message: String) -> Self {
        Self { code, message }
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn into_parts(self) -> (ErrorCode, String) {
        (self.code, self.message)
    }
}

impl<E: std::error::Error> From<E> for BodyError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

impl fmt::Debug for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BodyError({:?})", self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_text_and_loses_its_causes() {
        fn fails() -> Result<u8, BodyError> {
            Ok("300".parse::<u8>()?)
        }
        assert_eq!(fails(), Err(BodyError::new("number too large to fit in target type")));
    }
}
