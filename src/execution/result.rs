//! The result of a call.
//!
//! Invariant: a result that left the pipeline never changes; only a success has a value and can conclude a turn.

use std::sync::Arc;

use super::{ErrorCode, ToolError};
use crate::content::Content;
use crate::json::Value;
use crate::runtime::RunFacts;

/// Something for the model beside the result itself, for example a hint or a file that a tool found relevant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    content: Vec<Content>,
}

impl Context {
    /// A context of these blocks.
    #[must_use]
    pub fn new(content: Vec<Content>) -> Self {
        Self { content }
    }

    /// A context of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }

    /// The blocks.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.content
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) outcome: Result<Arc<Value>, ToolError>,
    pub(super) content: Vec<Content>,
    pub(super) meta: Option<Value>,
    pub(super) contexts: Vec<Context>,
    pub(super) concludes: bool,
    /// What a program did, where the call was to run one.
    pub(super) run: Option<Arc<RunFacts>>,
}

impl ToolResult {
    /// The id of the call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name that was called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value of a success, the error of a failure.
    ///
    /// # Errors
    /// The call's own error.
    pub fn outcome(&self) -> Result<&Value, &ToolError> {
        self.outcome.as_deref()
    }

    /// The value of a success.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.outcome.as_deref().ok()
    }

    /// The error of a failure.
    #[must_use]
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }

    /// The code of a failure.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.error().map(ToolError::code)
    }

    /// What the model sees.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.content
    }

    /// Metadata for a card; successes of direct calls may have it.
    #[must_use]
    pub fn presentation_meta(&self) -> Option<&Value> {
        self.meta.as_ref()
    }

    /// What else the model shall see, in order.
    #[must_use]
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// Whether the model's turn ends with this result.
    #[must_use]
    pub fn concludes_turn(&self) -> bool {
        self.concludes && self.outcome.is_ok()
    }

    /// The value of a success, to share.
    pub(crate) fn shared_value(&self) -> Option<&Arc<Value>> {
        self.outcome.as_ref().ok()
    }

    /// The report of the run that the call was to make, whatever came of it; `None` for calls of other tools.
    ///
    /// It agrees with the result: what policy withheld or replaced is withheld or replaced in it. Its form is that of
    /// `hotcell run --json`.
    #[must_use]
    pub fn run_report(&self) -> Option<Value> {
        let facts = self.run.as_deref()?;
        let ended = match &self.outcome {
            Ok(value) => Ok(&**value),
            Err(error) => Err((error.code().as_str(), error.message())),
        };
        Some(facts.report(ended, &self.id))
    }

    /// What the program did, for calls that ran one.
    #[must_use]
    pub fn run_facts(&self) -> Option<&RunFacts> {
        self.run.as_deref()
    }

    /// Makes it a failure. Contexts stay; value, metadata and conclusion go.
    pub(super) fn fail(&mut self, error: ToolError) {
        self.content = error.content();
        self.outcome = Err(error);
        self.meta = None;
        self.concludes = false;
    }
}
