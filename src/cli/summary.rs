//! What is shown when a run has ended.
//!
//! Invariant: a run with a result prints it and nothing else on stdout; a run without one prints on stderr why, and which
//! calls it had made, so that nobody repeats side effects unknowingly. The list of names is bounded.

use anyhow::Context as _;
use indexmap::IndexMap;

use super::exit::{Exit, Problem};
use super::terminal;
use crate::json::{self, Value};
use crate::runtime::{CallRecord, CallState, Failure, FailureKind, GuestIdentity, RunOutcome, report};

/// How many names a list of calls holds.
const NAMES_MAX: usize = 50;

/// How many characters of a name are shown.
const NAME_CHARACTERS_MAX: usize = 80;

/// The prefix of the ids of a run's calls.
const PARENT: &str = "run";

/// Shows how a run ended.
pub(super) fn show(outcome: &RunOutcome, guest: &GuestIdentity, as_json: bool) -> Result<Exit, Problem> {
    let exit = outcome.result.as_ref().map_or_else(|failure| Exit::of(failure.kind), |_| Exit::Completed);
    let text = match &outcome.result {
        _ if as_json => json::encode(&report(outcome, guest, PARENT)) + "\n",
        Ok(value) => value.as_ref().map(readable).unwrap_or_default(),
        Err(failure) => {
            terminal::stderr(&format!("error: {failure}\n{}", calls_made(&outcome.calls)));
            String::new()
        }
    };
    terminal::stdout(&text).context("cannot write to stdout").map_err(Problem::host)?;
    Ok(exit)
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

/// The calls by how they ended: names in order of first submission, with counts.
fn calls_made(calls: &[CallRecord]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let mut text = "calls made:\n".to_owned();
    let mut room = NAMES_MAX;
    for (state, label) in [
        (CallState::Done, "completed"),
        (CallState::Failed, "failed"),
        (CallState::Cancelled, "cancelled while running"),
        (CallState::NotStarted, "not started"),
    ] {
        let mut counts: IndexMap<&str, usize> = IndexMap::new();
        for call in calls.iter().filter(|call| call.state == state) {
            *counts.entry(&*call.name).or_default() += 1;
        }
        if counts.is_empty() {
            continue;
        }
        let mut names: Vec<String> = counts.iter().take(room).map(|(name, count)| counted(name, *count)).collect();
        room -= names.len();
        if names.len() < counts.len() {
            names.push(format!("and {} more names", counts.len() - names.len()));
        }
        text.push_str(&format!("  {label}: {}\n", names.join(", ")));
    }
    text
}

fn counted(name: &str, count: usize) -> String {
    let shown = match name.char_indices().nth(NAME_CHARACTERS_MAX) {
        Some((cut, _)) => format!("{}…", terminal::one_line(name.get(..cut).unwrap_or_default())),
        None => terminal::one_line(name).into_owned(),
    };
    if count == 1 { shown } else { format!("{shown} ({count})") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn call(name: &str, state: CallState) -> CallRecord {
        CallRecord { ordinal: 1, name: name.into(), state, elapsed: Duration::ZERO }
    }

    #[test]
    fn calls_are_grouped_by_ending_and_counted() {
        let calls = [
            call("b", CallState::Done),
            call("a", CallState::Failed),
            call("c", CallState::NotStarted),
            call("a", CallState::Done),
            call("b", CallState::Done),
            call("d", CallState::Cancelled),
        ];
        let text =
            "calls made:\n  completed: b (2), a\n  failed: a\n  cancelled while running: d\n  not started: c\n";
        assert_eq!(calls_made(&calls), text);
        assert_eq!(calls_made(&[]), "");
    }

    #[test]
    fn the_list_of_names_is_bounded_over_all_endings() {
        let names = |count: usize| (0..count).map(|n| format!("t{n}"));
        let calls = |count, state| names(count).map(move |name| call(&name, state));
        let all: Vec<CallRecord> = calls(49, CallState::Done).chain(calls(3, CallState::Failed)).collect();
        let done = names(49).collect::<Vec<_>>().join(", ");
        let text = format!("calls made:\n  completed: {done}\n  failed: t0, and 2 more names\n");
        assert_eq!(calls_made(&all), text);
    }

    #[test]
    fn a_hostile_name_stays_on_its_line_and_short() {
        let line = |name: &str| calls_made(&[call(name, CallState::Done)]);
        assert_eq!(line("x\nerror: \u{1b}[0m"), "calls made:\n  completed: x\\u000aerror: \\u001b[0m\n");
        assert_eq!(line(&"ö".repeat(81)), format!("calls made:\n  completed: {}…\n", "ö".repeat(80)));
        assert_eq!(line(&"ö".repeat(80)), format!("calls made:\n  completed: {}\n", "ö".repeat(80)));
    }

    #[test]
    fn results_end_in_one_line_break() {
        assert_eq!(readable(&Value::from("text")), "text\n");
        assert_eq!(readable(&Value::from("text\n")), "text\n");
        assert_eq!(readable(&Value::from("")), "");
        assert_eq!(readable(&Value::Null), "null\n");
        assert_eq!(readable(&Value::from(vec![Value::from(1)])), "[\n  1\n]\n");
    }
}
