//! What a model is told of tools: declarations in every language, over every construct, and over anything at all.

mod bounds;
mod budget;
mod constructs;
#[cfg(feature = "wasm")]
mod promises;

use hotcell::json::{self, Value};
use hotcell::language::{Language, SdkTool};

/// A tool as a file has it.
pub struct Listed {
    pub name: String,
    pub description: String,
    pub parameters: Value,
    pub output: Value,
}

impl Listed {
    pub fn new(name: &str, parameters: Value) -> Self {
        Self { name: name.to_owned(), description: String::new(), parameters, output: Value::Bool(true) }
    }

    pub fn sdk(&self) -> SdkTool<'_> {
        SdkTool {
            name: &self.name,
            description: &self.description,
            parameters: &self.parameters,
            output: &self.output,
        }
    }
}

/// The tools of a file below `tests/data`.
pub fn listed(path: &str) -> Vec<Listed> {
    let path = format!("{}/tests/data/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let document = json::decode(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let tools = document.get("tools").and_then(Value::as_array).expect("a list of tools");
    let part = |tool: &Value, name: &str| tool.get(name).cloned();
    let text =
        |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    tools
        .iter()
        .map(|tool| Listed {
            name: text(part(tool, "name")),
            description: text(part(tool, "description")),
            parameters: part(tool, "inputSchema").expect("it has one"),
            output: part(tool, "outputSchema").unwrap_or(Value::Bool(true)),
        })
        .collect()
}

pub fn language(id: &str) -> &'static Language {
    Language::find(id).expect("it is known")
}

/// The bare declarations in a language, and what in them is wider than it could be.
pub fn declared(id: &str, tools: &[Listed]) -> (String, Vec<String>) {
    let sdk = language(id).declarations(tools.iter().map(Listed::sdk));
    let wider = sdk.degradations().map(|(tool, degradation)| format!("{tool}: {degradation}")).collect();
    (sdk.text().to_string(), wider)
}
