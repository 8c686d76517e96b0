//! From parts to a complete [`Tool`].
//!
//! Invariant: `build` gives a tool or an error that names it and says which part is wrong.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::{
    Body, BodyError, Classify, Definition, Finalize, PresentCall, PresentResult, Project, Render, Schema, Tool,
};
use crate::contain::Quiet;
use crate::content::Content;
use crate::error::Error;
use crate::execution::{ToolContext, ToolResult};
use crate::json::{self, Value, clip};
use crate::runtime::GuestIdentity;

/// The longest name of a tool, in bytes. What a guest may send is bounded by the same number.
pub const NAME_BYTES_MAX: usize = crate::limits::NAME_BYTES_MAX;

/// The longest timeout of a tool: a week, as long as a run may take.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// Where a schema comes from: JSON text, a value, or one that is compiled already.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SchemaSource {
    /// JSON text.
    Text(String),
    /// The document.
    Value(Value),
    /// A compiled schema, to share one between tools.
    Schema(Schema),
}

impl From<&str> for SchemaSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SchemaSource {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for SchemaSource {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Schema> for SchemaSource {
    fn from(schema: Schema) -> Self {
        Self::Schema(schema)
    }
}

impl SchemaSource {
    fn compile(self) -> Result<Schema, String> {
        match self {
            Self::Text(text) => {
                let document = json::decode(&text).map_err(|error| error.to_string())?;
                Schema::compile(document).map_err(|error| error.to_string())
            }
            Self::Value(document) => Schema::compile(document).map_err(|error| error.to_string()),
            Self::Schema(schema) => Ok(schema),
        }
    }
}

/// The parts of a tool. `parameters`, `output` and `body` are required.
#[must_use = "a tool exists once it is registered"]
pub struct ToolBuilder {
    name: String,
    description: String,
    parameters: Option<SchemaSource>,
    output: Option<SchemaSource>,
    body: Option<Body>,
    render: Option<Render>,
    presentation_meta: Option<Project>,
    finalize_content: Option<Finalize>,
    timeout: Option<Duration>,
    is_concurrency_safe: Option<Classify>,
    present_call: Option<PresentCall>,
    present_result: Option<PresentResult>,
    guest: Option<Arc<GuestIdentity>>,
}

impl Tool {
    /// Starts a tool of this name. Any name is fine that is not empty; it is never changed on its way.
    ///
    /// A reserved name (`registry::RESERVED_NAMES`) is refused only where the tool is registered: a transport is built like any
    /// other tool, and must have one.
    pub fn builder(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder {
            name: name.into(),
            description: String::new(),
            parameters: None,
            output: None,
            body: None,
            render: None,
            presentation_meta: None,
            finalize_content: None,
            timeout: None,
            is_concurrency_safe: None,
            present_call: None,
            present_result: None,
            guest: None,
        }
    }
}

impl ToolBuilder {
    /// What it does, in words for the model.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// The JSON Schema of its arguments.
    pub fn parameters(mut self, schema: impl Into<SchemaSource>) -> Self {
        self.parameters = Some(schema.into());
        self
    }

    /// The JSON Schema of its value.
    pub fn output(mut self, schema: impl Into<SchemaSource>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// What it does. The arguments have been checked against `parameters`, the value will be against `output`.
    ///
    /// # Cancellation
    /// When the call is cancelled, [`ToolContext::cancel`] is, and the future has the limit `grace` to settle before it is
    /// dropped. That counts as stopped: blocking work must be joined by the body.
    pub fn body<F, T>(mut self, body: F) -> Self
    where
        F: Fn(Arc<Value>, ToolContext) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Value, BodyError>> + Send + 'static,
    {
        let body = Quiet::new(body);
        self.body = Some(Arc::new(move |arguments, context| Box::pin((*body)(arguments, context))));
        self
    }

    /// Shows a value to the model, from the arguments and the value. Pure. Without it, a string is shown as it is and
    /// anything else as indented JSON.
    pub fn render(mut self, render: impl Fn(&Value, &Value) -> Vec<Content> + Send + Sync + 'static) -> Self {
        let render = Quiet::new(render);
        self.render = Some(Arc::new(move |arguments, value| (*render)(arguments, value)));
        self
    }

    /// Metadata for a card, from the arguments and the value. Pure; called for direct calls only.
    pub fn presentation_meta(mut self, project: impl Fn(&Value, &Value) -> Value + Send + Sync + 'static) -> Self {
        let project = Quiet::new(project);
        self.presentation_meta = Some(Arc::new(move |arguments, value| (*project)(arguments, value)));
        self
    }

    /// The last word on the content of a result, failures included; `None` leaves it. Must return for every result.
    pub fn finalize_content(
        mut self,
        finalize: impl Fn(&ToolResult) -> Option<Vec<Content>> + Send + Sync + 'static,
    ) -> Self {
        let finalize = Quiet::new(finalize);
        self.finalize_content = Some(Arc::new(move |result| (*finalize)(result)));
        self
    }

    /// How long one attempt may take, at most [`TIMEOUT_MAX`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Which calls may overlap others. Without it none may.
    pub fn concurrency_safe(mut self, classify: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        let classify = Quiet::new(classify);
        self.is_concurrency_safe = Some(Arc::new(move |arguments| (*classify)(arguments)));
        self
    }

    /// A card for a call, for people. Pure; may be called again when a transcript is shown again.
    pub fn present_call(mut self, present: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let present = Quiet::new(present);
        self.present_call = Some(Arc::new(move |arguments| (*present)(arguments)));
        self
    }

    /// A card for a result, for people. Pure; may be called again when a transcript is shown again.
    pub fn present_result(
        mut self,
        present: impl Fn(&Value, &ToolResult) -> Value + Send + Sync + 'static,
    ) -> Self {
        let present = Quiet::new(present);
        self.present_result = Some(Arc::new(move |arguments, result| (*present)(arguments, result)));
        self
    }

    /// Who runs the programs that the tool is given.
    pub(crate) fn guest(mut self, guest: Arc<GuestIdentity>) -> Self {
        self.guest = Some(guest);
        self
    }

    /// Puts the parts together. Compiles the schemas that are not compiled yet, each on a thread of its own, and waits for it:
    /// some microseconds for ordinary ones.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse), naming the tool, for an empty or over-long name, a missing part, a schema that
    /// does not compile, and a timeout of zero or above [`TIMEOUT_MAX`].
    pub fn build(self) -> Result<Tool, Error> {
        let name = self.name;
        if name.is_empty() {
            return Err(Error::misuse("a tool needs a name; this one is empty"));
        }
        let wrong = |what: &str| Error::misuse(format!("the tool `{}` {what}", clip(&name, 80)));
        if name.len() > NAME_BYTES_MAX {
            return Err(wrong(&format!("has a name of {} bytes; at most {NAME_BYTES_MAX} are taken", name.len())));
        }
        let schema = |source: Option<SchemaSource>, part: &str, broken: &str| {
            let source = source.ok_or_else(|| wrong(&format!("has no {part}; give it a JSON Schema")))?;
            source.compile().map_err(|error| wrong(&format!("has {broken}: {error}")))
        };
        let parameters = schema(self.parameters, "parameters", "parameters that do not compile")?;
        let output = schema(self.output, "output declaration", "an output declaration that does not compile")?;
        let body = self.body.ok_or_else(|| wrong("has no body"))?;
        if let Some(timeout) = self.timeout.filter(|timeout| timeout.is_zero() || *timeout > TIMEOUT_MAX) {
            return Err(wrong(&format!(
                "has a timeout of {timeout:?}; it must be above zero and at most {TIMEOUT_MAX:?}"
            )));
        }
        Ok(Tool(Arc::new(Definition {
            name: name.into(),
            description: self.description,
            parameters,
            output,
            body,
            render: self.render.unwrap_or_else(|| Arc::new(|_, value| vec![Content::text(plain(value))])),
            presentation_meta: self.presentation_meta,
            finalize_content: self.finalize_content,
            timeout: self.timeout,
            is_concurrency_safe: self.is_concurrency_safe,
            present_call: self.present_call,
            present_result: self.present_result,
            guest: self.guest,
        })))
    }
}

/// A value as text: a string as it is, anything else as indented JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| json::pretty(value), str::to_owned)
}

impl TryFrom<ToolBuilder> for Tool {
    type Error = Error;

    fn try_from(builder: ToolBuilder) -> Result<Self, Error> {
        builder.build()
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl fmt::Debug for ToolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder")
            .field("name", &self.name)
            .field("parameters", &self.parameters)
            .field("output", &self.output)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
