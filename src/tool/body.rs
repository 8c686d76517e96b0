//! How a body fails.
//!
//! Invariant: what a model may see of a failed call is one message. Causes and backtraces stay on the host.

use std::fmt;

use crate::execution::ErrorCode;

/// Why a body failed. Its message is shown to the model.
///
/// A type that implements [`std::error::Error`] becomes one with `?`: its own text is the message, its causes are left behind.
/// What only shows itself, as `anyhow::Error` and `Box<dyn Error>` do, becomes one with [`BodyError::from_display`].
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

    /// A failure with the text of anything that can be shown, for example
    /// `outer().map_err(BodyError::from_display)?` where `outer` fails with a boxed error.
    pub fn from_display(error: impl fmt::Display) -> Self {
        Self::new(error.to_string())
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

    #[test]
    fn a_boxed_error_becomes_one_by_its_text() {
        fn boxed() -> Result<u8, Box<dyn std::error::Error + Send + Sync>> {
            Err("no such city".into())
        }
        fn fails() -> Result<u8, BodyError> {
            boxed().map_err(BodyError::from_display)
        }
        assert_eq!(fails(), Err(BodyError::new("no such city")));
    }
}
