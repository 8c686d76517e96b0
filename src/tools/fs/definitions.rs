//! The file tools as a registry knows them: what they are told to be, take and give.
//!
//! Invariant: a schema allows what the tool's own check of its arguments allows, bounds of sizes aside, which that check
//! names better.

use std::sync::Arc;

use super::work::{Shared, TOOLS, WRITE, Work, run};
use crate::error::Error;
use crate::tool::{BodyError, Tool};

/// What a model is told of one tool.
struct Told {
    description: &'static str,
    parameters: &'static str,
    output: &'static str,
    /// Whether its calls may overlap others.
    reads_only: bool,
}

const PATH: &str =
    r#""path": {"type": "string", "description": "NAME/relative/path, NAME being a granted directory"}"#;

const SKIPPED: &str = r#"{
    "type": "array",
    "items": {"type": "object", "properties": {"path": {"type": "string"}, "reason": {"type": "string"}},
        "required": ["path", "reason"]}
}"#;

fn told(name: &str) -> Told {
    match name {
        "fs_list" => Told {
            description: "Lists a directory, with everything below it where `recursive` is true. The path \"\" lists the \
                          granted directories.",
            parameters: r#"{"type": "object", "properties": {PATH, "recursive": {"type": "boolean", "default": false},
                "limit": {"type": "integer", "default": 1000, "description": "how many entries at most, up to 10000"}},
                "required": ["path"], "additionalProperties": false}"#,
            output: r#"{"type": "object", "properties": {
                "entries": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"},
                    "kind": {"enum": ["file", "directory", "link", "other"]}, "size": {"type": "integer"},
                    "access": {"enum": ["read-only", "read-write"]}}, "required": ["path", "kind", "size"]}},
                "skipped": SKIPPED, "truncated": {"type": "boolean"}},
                "required": ["entries", "skipped", "truncated"]}"#,
            reads_only: true,
        },
        "fs_stat" => Told {
            description: "Describes a file or directory.",
            parameters: r#"{"type": "object", "properties": {PATH}, "required": ["path"], "additionalProperties": false}"#,
            output: r#"{"type": "object", "properties": {"path": {"type": "string"},
                "kind": {"enum": ["file", "directory", "link", "other"]}, "size": {"type": "integer"},
                "modified": {"type": ["string", "null"], "format": "date-time"}, "writable": {"type": "boolean"}},
                "required": ["path", "kind", "size", "modified", "writable"]}"#,
            reads_only: true,
        },
        "fs_read" => Told {
            description: "Reads a text file, or a range of its bytes. Gives the text itself.",
            parameters: r#"{"type": "object", "properties": {PATH,
                "offset": {"type": "integer", "default": 0, "description": "where to begin, in bytes"},
                "length": {"type": "integer", "description": "how many bytes at most, up to 16 MiB"}},
                "required": ["path"], "additionalProperties": false}"#,
            output: r#"{"type": "string"}"#,
            reads_only: true,
        },
        "fs_search" => Told {
            description: "Finds the lines below a path that match a regular expression.",
            parameters: r#"{"type": "object", "properties": {PATH,
                "pattern": {"type": "string", "description": "a regular expression without look-around"},
                "glob": {"type": "string", "description": "only files whose relative path matches, for example **/*.md"},
                "ignore_case": {"type": "boolean", "default": false},
                "limit": {"type": "integer", "default": 200, "description": "how many matches at most, up to 5000"}},
                "required": ["path", "pattern"], "additionalProperties": false}"#,
            output: r#"{"type": "object", "properties": {
                "matches": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"},
                    "line": {"type": "integer"}, "column": {"type": "integer"}, "text": {"type": "string"}},
                    "required": ["path", "line", "column", "text"]}},
                "files_searched": {"type": "integer"}, "files_skipped": SKIPPED,
                "files_skipped_total": {"type": "integer"}, "truncated": {"type": "boolean"}},
                "required": ["matches", "files_searched", "files_skipped", "files_skipped_total", "truncated"]}"#,
            reads_only: true,
        },
        _ => Told {
            description: "Writes a text file: a new one, or with `mode` in place of the old one or after its end.",
            parameters: r#"{"type": "object", "properties": {PATH, "text": {"type": "string"},
                "mode": {"enum": ["create", "replace", "append"], "default": "create"},
                "parents": {"type": "boolean", "default": false, "description": "make missing directories"}},
                "required": ["path", "text"], "additionalProperties": false}"#,
            output: r#"{"type": "object", "properties": {"path": {"type": "string"}, "bytes": {"type": "integer"}},
                "required": ["path", "bytes"]}"#,
            reads_only: false,
        },
    }
}

/// The tools for these grants.
pub(super) fn tools(shared: &Arc<Shared>) -> Result<Vec<Tool>, Error> {
    let writable = shared.roots.any_writable();
    let granted = TOOLS.into_iter().filter(|_| !shared.roots.is_empty()).chain(writable.then_some(WRITE));
    granted.map(|(name, work)| tool(shared, name, work)).collect()
}

fn tool(shared: &Arc<Shared>, name: &str, work: Work) -> Result<Tool, Error> {
    let Told { description, parameters, output, reads_only } = told(name);
    let shared = Arc::clone(shared);
    Tool::builder(name)
        .description(description)
        .parameters(parameters.replace("PATH", PATH))
        .output(output.replace("SKIPPED", SKIPPED))
        .concurrency_safe(move |_| reads_only)
        .body(move |arguments, context| {
            let shared = Arc::clone(&shared);
            async move { run(shared, arguments, context.cancel(), work).await.map_err(BodyError::from) }
        })
        .build()
}
