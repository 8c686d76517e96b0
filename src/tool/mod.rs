//! Tools: what they are called, what they take and give, and what they do.
//!
//! A [`Tool`] is made once, by [`Tool::builder`] from JSON Schemas or by [`Tool::typed`] from Rust types, and can then be
//! registered anywhere. Invariant: a `Tool` is complete and its schemas compile; whatever is wrong with one is said when it
//! is built, with its name.
//!
//! This module knows nothing of registries, scopes or policy. How a tool is called is in [`execution`](crate::execution).

mod body;
mod build;
mod schema;
mod typed;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::contain::{Panicked, contain};
use crate::content::Content;
use crate::execution::{ToolContext, ToolResult};
use crate::json::Value;
use crate::runtime::{BoxFuture, GuestIdentity};

pub use body::BodyError;
pub use build::{NAME_BYTES_MAX, SchemaSource, TIMEOUT_MAX, ToolBuilder};
pub use schema::{
    SCHEMA_BYTES_MAX, Schema, SchemaError, VALIDATION_STEPS_MAX, VIOLATIONS_MAX, Violation, Violations,
};

type Body = Arc<dyn Fn(Arc<Value>, ToolContext) -> BoxFuture<'static, Result<Value, BodyError>> + Send + Sync>;
type Render = Arc<dyn Fn(&Value, &Value) -> Vec<Content> + Send + Sync>;
type Project = Arc<dyn Fn(&Value, &Value) -> Value + Send + Sync>;
type Finalize = Arc<dyn Fn(&ToolResult) -> Option<Vec<Content>> + Send + Sync>;
type Classify = Arc<dyn Fn(&Value) -> bool + Send + Sync>;
type PresentCall = Arc<dyn Fn(&Value) -> Value + Send + Sync>;
type PresentResult = Arc<dyn Fn(&Value, &ToolResult) -> Value + Send + Sync>;

/// A complete definition of a tool. Cloning it clones a pointer.
#[derive(Clone)]
pub struct Tool(Arc<Definition>);

struct Definition {
    name: Arc<str>,
    description: String,
    parameters: Schema,
    output: Schema,
    body: Body,
    render: Render,
    presentation_meta: Option<Project>,
    finalize_content: Option<Finalize>,
    timeout: Option<Duration>,
    is_concurrency_safe: Option<Classify>,
    present_call: Option<PresentCall>,
    present_result: Option<PresentResult>,
    /// Who runs programs, where this is the transport.
    guest: Option<Arc<GuestIdentity>>,
}

/// What a model is told of a tool, and nothing more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WireTool {
    /// The name to call it by.
    pub name: Arc<str>,
    /// What it does.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Schema,
}

impl Tool {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its name, to share.
    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.0.name
    }

    /// What it does, in words for the model.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The schema of its arguments.
    #[must_use]
    pub fn parameters(&self) -> &Schema {
        &self.0.parameters
    }

    /// The schema of its value.
    #[must_use]
    pub fn output(&self) -> &Schema {
        &self.0.output
    }

    /// How long one attempt of a call may take; `None` where only the caller decides.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }

    /// The tool as a model sees it.
    #[must_use]
    pub fn wire(&self) -> WireTool {
        WireTool {
            name: Arc::clone(&self.0.name),
            description: self.0.description.clone(),
            parameters: self.0.parameters.clone(),
        }
    }

    /// A card for a call, for people; `None` where the tool has none or its function panicked.
    #[must_use]
    pub fn present_call(&self, arguments: &Value) -> Option<Value> {
        let present = self.0.present_call.as_ref()?;
        contain(|| present(arguments)).ok()
    }

    /// A card for a result, for people; `None` where the tool has none or its function panicked.
    #[must_use]
    pub fn present_result(&self, arguments: &Value, result: &ToolResult) -> Option<Value> {
        let present = self.0.present_result.as_ref()?;
        contain(|| present(arguments, result)).ok()
    }

    /// Whether a call with these arguments may overlap others. A tool that does not say, and one that panics, may not.
    pub(crate) fn is_concurrency_safe(&self, arguments: &Value) -> bool {
        let classify = self.0.is_concurrency_safe.as_ref();
        classify.is_some_and(|classify| contain(|| classify(arguments)).unwrap_or(false))
    }

    /// Starts the body.
    pub(crate) fn call(
        &self,
        arguments: Arc<Value>,
        context: ToolContext,
    ) -> BoxFuture<'static, Result<Value, BodyError>> {
        (self.0.body)(arguments, context)
    }

    pub(crate) fn render(&self, arguments: &Value, value: &Value) -> Result<Vec<Content>, Panicked> {
        contain(|| (self.0.render)(arguments, value))
    }

    pub(crate) fn presentation_meta(&self, arguments: &Value, value: &Value) -> Result<Option<Value>, Panicked> {
        self.0.presentation_meta.as_ref().map(|project| contain(|| project(arguments, value))).transpose()
    }

    /// The content that replaces the result's; `None` where it stays.
    pub(crate) fn finalize_content(&self, result: &ToolResult) -> Result<Option<Vec<Content>>, Panicked> {
        self.0.finalize_content.as_ref().map_or(Ok(None), |finalize| contain(|| finalize(result)))
    }

    /// Who runs the programs that the tool is given; `None` for tools that run none.
    #[must_use]
    pub fn guest(&self) -> Option<&Arc<GuestIdentity>> {
        self.0.guest.as_ref()
    }

    /// Whether both are the same definition, not only equal ones.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.0.name)
            .field("parameters", &self.0.parameters)
            .field("output", &self.0.output)
            .field("timeout", &self.0.timeout)
            .finish_non_exhaustive()
    }
}
