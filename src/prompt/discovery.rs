//! The two tools with which programs find others, where these are too many to declare.
//!
//! Invariant: they exist inside programs only, and only where the declarations of the scope are partial at that moment; they
//! show what the scope sees and nothing else. Calls of them pass policy like any other.

use std::sync::{Arc, LazyLock};

use super::search::Index;
use crate::execution::ToolContext;
use crate::json::{Array, Object, Value, clip};
use crate::language::Language;
use crate::limits::Limit;
use crate::registry::{DESCRIBE_TOOLS, SEARCH_TOOLS, View};
use crate::tool::{BodyError, Tool};

/// How many tools one search shows at most.
const MATCHES_MAX: usize = 50;

/// How many where the program does not say.
const MATCHES_DEFAULT: usize = 10;

/// How many tools can be described at one time.
const DESCRIBED_MAX: usize = 50;

/// How many bytes of a description a match shows.
const WORDS_MAX: usize = 200;

const SEARCH_PARAMETERS: &str = r#"{
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words of names and descriptions"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}
    },
    "required": ["query"],
    "additionalProperties": false
}"#;

const SEARCH_OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "matches": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
                "required": ["name", "description"]
            }
        },
        "matched": {"type": "integer", "description": "How many tools match, shown or not"},
        "tools": {"type": "integer", "description": "How many tools there are"}
    },
    "required": ["matches", "matched", "tools"]
}"#;

const DESCRIBE_PARAMETERS: &str = r#"{
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 50}},
    "required": ["names"],
    "additionalProperties": false
}"#;

const DESCRIBE_OUTPUT: &str = r#"{
    "type": "object",
    "properties": {
        "declarations": {"type": "string"},
        "unknown": {"type": "array", "items": {"type": "string"}, "description": "Names that no tool has"}
    },
    "required": ["declarations", "unknown"]
}"#;

/// Both of them. Made once; what they show depends on the call's scope.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| [search(), describe()].into_iter().flatten().collect());

/// The tool of this name, which is one of the two.
pub(crate) fn tool(name: &str) -> Option<Tool> {
    TOOLS.iter().find(|tool| tool.name() == name).cloned()
}

fn search() -> Option<Tool> {
    let tool = Tool::builder(SEARCH_TOOLS)
        .description("Finds tools by words of their names and descriptions, the best first.")
        .parameters(SEARCH_PARAMETERS)
        .output(SEARCH_OUTPUT)
        .concurrency_safe(|_| true)
        .body(async |arguments: Arc<Value>, context: ToolContext| {
            let view = context.call().scope().view();
            let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
            let limit = arguments
                .get("limit")
                .and_then(Value::as_u64)
                .map_or(MATCHES_DEFAULT, |limit| usize::try_from(limit).unwrap_or(MATCHES_MAX).min(MATCHES_MAX));
            Ok(found(&view, query, limit))
        });
    tool.build().ok()
}

fn found(view: &View, query: &str, limit: usize) -> Value {
    let index = view.search_index();
    let places = index.search(query);
    let matches: Array = places
        .iter()
        .take(limit)
        .filter_map(|place| view.programs_tools().nth(*place))
        .map(|tool| {
            let mut shown = Object::new();
            shown.insert("name", tool.name());
            shown.insert("description", clip(tool.description(), WORDS_MAX).into_owned());
            Value::from(shown)
        })
        .collect();
    let mut answer = Object::new();
    answer.insert("matches", matches);
    answer.insert("matched", places.len() as u64);
    answer.insert("tools", view.programs_tools().count() as u64);
    answer.into()
}

fn describe() -> Option<Tool> {
    let tool = Tool::builder(DESCRIBE_TOOLS)
        .description("Gives the declarations of tools.")
        .parameters(DESCRIBE_PARAMETERS)
        .output(DESCRIBE_OUTPUT)
        .concurrency_safe(|_| true)
        .body(async |arguments: Arc<Value>, context: ToolContext| {
            let scope = context.call().scope();
            let view = scope.view();
            let names = arguments.get("names").and_then(Value::as_array).into_iter().flatten();
            let names = names.filter_map(Value::as_str).take(DESCRIBED_MAX);
            described(&view, names, scope.shared().limits.size(Limit::Sdk))
        });
    tool.build().ok()
}

fn described<'a>(view: &View, names: impl Iterator<Item = &'a str>, bytes_max: usize) -> Result<Value, BodyError> {
    let language = view.language().and_then(|language| Language::find(language).ok());
    let language = language.ok_or(BodyError::new("programs here have no language with declarations"))?;
    let (mut known, mut unknown) = (Vec::new(), Array::new());
    for name in names {
        match view.programs_tools().find(|tool| tool.name() == name) {
            Some(tool) if known.iter().any(|other: &&Tool| other.is(tool)) => {}
            Some(tool) => known.push(tool),
            None => unknown.push(name.into()),
        }
    }
    let sdk = language.declarations(known.into_iter().map(Tool::sdk));
    let length = sdk.text().len();
    if length > bytes_max {
        let most = Limit::Sdk.display(bytes_max as u64);
        return Err(BodyError::new(format!(
            "the declarations have {length} bytes, which is more than the limit `sdk` of {most} allows; ask for fewer tools"
        )));
    }
    let mut answer = Object::new();
    answer.insert("declarations", &**sdk.text());
    answer.insert("unknown", unknown);
    Ok(answer.into())
}

impl Index {
    /// The index of the tools that programs of a view can call.
    pub(crate) fn of(view: &View) -> Self {
        Self::new(view.programs_tools().map(|tool| (tool.name(), tool.description())))
    }
}
