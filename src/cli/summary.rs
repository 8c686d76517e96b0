//! What is shown when a run has ended.
//!
//! Invariant: a run with a result prints it and nothing else on stdout; a run without one prints on stderr why, and which
//! calls it had made, so that nobody repeats side effects unknowingly. The list of names is bounded.

use anyhow::Context as _;

use super::exit::{Exit, Problem};
use super::terminal;
use crate::code_mode::calls_made;
use crate::execution::{ErrorCode, ToolResult};
use crate::json::{self, Object, Value};
use crate::runtime::{Failure, FailureKind};

/// Shows how a call ended.
pub(super) fn show(result: &ToolResult, as_json: bool) -> Result<Exit, Problem> {
    let text = match result.outcome() {
        _ if as_json => json::encode(&report(result)) + "\n",
        Ok(value) => {
            let facts = result.run_facts();
            let notes = facts.map(|facts| facts.notes.as_slice()).unwrap_or_default();
            notes.iter().for_each(|note| terminal::stderr(&format!("note: {note}\n")));
            // Of a run the result alone: its logs have been shown.
            let value = if facts.is_some() { value.get("result") } else { Some(value) };
            value.map(readable).unwrap_or_default()
        }
        Err(_) => {
            terminal::stderr(&failed(result));
            String::new()
        }
    };
    terminal::stdout(&text).context("cannot write to stdout").map_err(Problem::host)?;
    Ok(Exit::of_result(result))
}

/// Why a call failed, and what its program had done.
fn failed(result: &ToolResult) -> String {
    let Some(error) = result.error() else { return String::new() };
    let ran = result.run_facts().filter(|_| error.code() == ErrorCode::CodeRunFailed);
    let Some((facts, failure)) = ran.and_then(|facts| Some((facts, facts.failure.as_ref()?))) else {
        return format!("error: {error}\n");
    };
    let mut text = format!("error: {failure}\n{}", calls_made(&facts.calls));
    facts.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
    text
}

/// The run report, or what there is to tell of a call that was to run no program.
fn report(result: &ToolResult) -> Value {
    if let Some(report) = result.run_report() {
        return report;
    }
    let mut report = Object::new();
    match result.outcome() {
        Ok(value) => {
            report.insert("status", "completed");
            report.insert("result", value.clone());
        }
        Err(error) => {
            let mut failure = Object::new();
            failure.insert("code", error.code().as_str());
            failure.insert("message", error.message());
            report.insert("status", "failed");
            report.insert("failure", failure);
        }
    }
    report.into()
}

/// Says that there is no outcome because the user did not wait for one.
pub(super) fn interrupted() -> Exit {
    terminal::stderr("error: abort: interrupted before the program started\n");
    Exit::Interrupted
}

/// Adds to a syntax error of the program's own text that TypeScript's syntax is a likely reason.
pub(super) fn explain_typescript(failure: &mut Failure) {
    let is_syntax = failure.kind == FailureKind::Exception && failure.message.starts_with("SyntaxError");
    // Only an error from parsing the program has a position outside of any function.
    if is_syntax && failure.message.lines().any(|line| line.starts_with("    at program.js:")) {
        failure.message.push_str("\nTypeScript syntax is not supported yet; leave types out");
    }
}

/// Tells whoever ran a program for file tools without a directory what is missing.
pub(super) fn hint_at_directories(program: &str) {
    if program.contains("tools.fs_") {
        terminal::stderr("hint: there are file tools only where a directory is granted, with --dir NAME=PATH\n");
    }
}

/// A string as it is, anything else as JSON, both ending in a line break.
fn readable(value: &Value) -> String {
    let mut text = value.as_str().map_or_else(|| json::pretty(value), str::to_owned);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_end_in_one_line_break() {
        assert_eq!(readable(&Value::from("text")), "text\n");
        assert_eq!(readable(&Value::from("text\n")), "text\n");
        assert_eq!(readable(&Value::from("")), "");
        assert_eq!(readable(&Value::Null), "null\n");
        assert_eq!(readable(&Value::from(vec![Value::from(1)])), "[\n  1\n]\n");
    }
}
