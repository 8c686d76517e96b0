//! Tools from Rust types: the schemas are derived, the values converted.
//!
//! Invariant: nothing is rounded or lost in the conversion; a value that the types cannot take exactly fails the call.

use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{BodyError, Tool, ToolBuilder};
use crate::execution::{ErrorCode, ToolContext};
use crate::json::{self, Value, clip};

impl Tool {
    /// A tool that takes an `A` and gives an `O`. Its schemas are derived from the two types by `schemars`.
    ///
    /// ```
    /// # use hotcell::tool::Tool;
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Deserialize, schemars::JsonSchema)]
    /// struct Add {
    ///     a: i64,
    ///     b: i64,
    /// }
    ///
    /// let add = Tool::typed("add", "Adds two integers.", async |add: Add| Ok(add.a + add.b));
    /// ```
    ///
    /// # Errors
    /// A body that fails gives a [`BodyError`], which most errors become with `?`. Arguments that the schema allows and `A` does
    /// not take are `INVALID_ARGS`; a value that is no JSON, a float that is not finite for example, is `INVALID_TOOL_OUTPUT`.
    pub fn typed<A, O, F, T>(name: impl Into<String>, description: impl Into<String>, body: F) -> ToolBuilder
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(A) -> T + Send + Sync + 'static,
        T: Future<Output = Result<O, BodyError>> + Send + 'static,
    {
        Self::typed_with_context(name, description, move |arguments, _| body(arguments))
    }

    /// The same, for a body that looks at its [`ToolContext`]: to stop by itself when it is cancelled, to call other tools,
    /// to leave context for the model.
    pub fn typed_with_context<A, O, F, T>(
        name: impl Into<String>,
        description: impl Into<String>,
        body: F,
    ) -> ToolBuilder
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(A, ToolContext) -> T + Send + Sync + 'static,
        T: Future<Output = Result<O, BodyError>> + Send + 'static,
    {
        let body = Arc::new(body);
        let name: Arc<str> = name.into().into();
        let named = Arc::clone(&name);
        Self::builder(&*name)
            .description(description)
            .parameters(schema_of::<A>(SchemaSettings::draft2020_12().for_deserialize()))
            .output(schema_of::<O>(SchemaSettings::draft2020_12().for_serialize()))
            .body(move |arguments, context| {
                let (body, name) = (Arc::clone(&body), Arc::clone(&named));
                async move {
                    let output = body(taken(&name, &arguments)?, context).await?;
                    given(&name, &output)
                }
            })
    }
}

/// The arguments as the type takes them. A type may refuse what its schema allows, an integer out of its range for example; that
/// is the caller's fault, not the body's.
fn taken<A: DeserializeOwned>(name: &str, arguments: &Value) -> Result<A, BodyError> {
    json::from_value(arguments).map_err(|error| {
        let message = format!("the arguments of `{}` are not valid:\n{error}", clip(name, 80));
        BodyError::with_code(ErrorCode::InvalidArgs, message)
    })
}

/// The value that the type gives, where JSON can say it.
fn given<O: Serialize>(name: &str, output: &O) -> Result<Value, BodyError> {
    json::to_value(output).map_err(|error| {
        let name = clip(name, 80);
        let message = format!("the tool `{name}` returned a value that cannot be taken without loss: {error}");
        BodyError::with_code(ErrorCode::InvalidToolOutput, message)
    })
}

/// The schema of a type, as text.
fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> String {
    settings.into_generator().into_root_schema_for::<T>().as_value().to_string()
}
