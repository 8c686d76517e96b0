//! What a model reads of a run.
//!
//! Invariant: all that was printed and returned is there as it is, once. Names are shown on one line each and clipped, and a
//! list of them holds [`NAMES_MAX`] at most.

use indexmap::IndexMap;

use crate::json::{self, Value, clip};
use crate::runtime::{CallRecord, CallState, Failure, Unhandled, UnhandledFailure};
use crate::shown::one_line;

/// How many names a list of calls holds.
const NAMES_MAX: usize = 50;

/// How many characters of a name are shown.
const NAME_CHARACTERS_MAX: usize = 80;

/// How many bytes of an unhandled failure's message are shown.
const MESSAGE_BYTES_MAX: usize = 200;

/// What a run says that says nothing itself.
const SILENCE: &str = "(the program printed nothing and returned nothing)";

/// The text for a run that completed, from the value of `run_code`: its logs, then its result.
pub(super) fn completed(value: &Value) -> String {
    let mut text = String::new();
    for entry in value.get("logs").and_then(Value::as_array).into_iter().flatten() {
        text.push_str(entry.as_str().unwrap_or_default());
        text.push('\n');
    }
    match value.get("result") {
        None => {}
        Some(Value::String(result)) => text.push_str(result),
        Some(result) => text.push_str(&json::pretty(result)),
    }
    match text.len() {
        0 => SILENCE.clone_into(&mut text),
        // One empty line was printed.
        1 => {}
        _ if value.get("result").is_none() => text.truncate(text.len() - 1),
        _ => {}
    }
    text
}

/// The text for a run that failed: why, what it had printed, which calls it had made, and what it left behind.
pub(super) fn failed(failure: &Failure, logs: &[String], calls: &[CallRecord], left: &Leftovers) -> String {
    let mut text = format!("code run failed ({}): {}", failure.kind, failure.message);
    if !logs.is_empty() {
        text.push_str("\ncaptured output:");
        for entry in logs {
            text.push('\n');
            text.push_str(entry);
        }
    }
    let made = calls_made(calls);
    if !made.is_empty() {
        text.push('\n');
        text.push_str(made.trim_end());
    }
    // Calls that were still running are among those made.
    for note in left.unhandled.iter().chain(&left.left_out) {
        text.push('\n');
        text.push_str(note);
    }
    text
}

/// Sentences about what a program left behind.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// The calls that it never awaited.
    pub(super) running: Option<String>,
    /// The failures that it never looked at.
    pub(super) unhandled: Option<String>,
    /// What of its calls' images and contexts does not reach the model.
    pub(super) left_out: Option<String>,
}

impl Leftovers {
    /// All of them.
    pub(super) fn sentences(&self) -> Vec<String> {
        [&self.running, &self.unhandled, &self.left_out].into_iter().flatten().cloned().collect()
    }
}

/// The sentence about calls that were outstanding when the program ended.
pub(super) fn still_running(calls: &[CallRecord]) -> Option<String> {
    let abandoned = calls.iter().filter(|call| call.abandoned);
    let names = counted_names(abandoned.map(|call| &*call.name), &mut { NAMES_MAX });
    (!names.is_empty()).then(|| format!("still running when the program ended: {names}"))
}

/// The sentence about failures that nothing in the program looked at. `class` is what the guest calls errors of calls.
pub(super) fn not_handled(unhandled: &Unhandled, calls: &[CallRecord], class: &str) -> Option<String> {
    let called = |call: u64| calls.get(usize::try_from(call).ok()?.checked_sub(1)?);
    let shown = |failure: &UnhandledFailure| {
        let line = failure.message.lines().next().unwrap_or_default();
        let message = line.strip_prefix(class).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line);
        let message = clip(&one_line(message), MESSAGE_BYTES_MAX).into_owned();
        match failure.call.and_then(called) {
            Some(call) => format!("{} ({message})", name(&call.name)),
            None => message,
        }
    };
    let mut failures: Vec<String> = unhandled.failures.iter().map(shown).collect();
    let more = unhandled.count.saturating_sub(failures.len() as u64);
    if more > 0 {
        failures.push(format!("and {more} more"));
    }
    (!failures.is_empty()).then(|| format!("failed, not handled: {}", failures.join("; ")))
}

/// The calls by how they ended: names in order of first submission, with counts. Empty where there were none.
pub(crate) fn calls_made(calls: &[CallRecord]) -> String {
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
        let ended = calls.iter().filter(|call| call.state == state);
        let names = counted_names(ended.map(|call| &*call.name), &mut room);
        if !names.is_empty() {
            text.push_str(&format!("  {label}: {names}\n"));
        }
    }
    text
}

/// Names in order of their first appearance, each with its count, as many as there is room for.
fn counted_names<'a>(names: impl Iterator<Item = &'a str>, room: &mut usize) -> String {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut shown: Vec<String> = counts.iter().take(*room).map(|(name, count)| counted(name, *count)).collect();
    *room -= shown.len();
    if shown.len() < counts.len() {
        shown.push(format!("and {} more names", counts.len() - shown.len()));
    }
    shown.join(", ")
}

fn counted(name: &str, count: usize) -> String {
    let shown = self::name(name);
    if count == 1 { shown } else { format!("{shown} ({count})") }
}

/// A name on one line, at most [`NAME_CHARACTERS_MAX`] characters of it.
fn name(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARACTERS_MAX) {
        Some((cut, _)) => format!("{}…", one_line(name.get(..cut).unwrap_or_default())),
        None => one_line(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::runtime::FailureKind;

    fn call(name: &str, state: CallState) -> CallRecord {
        CallRecord { ordinal: 1, name: name.into(), state, elapsed: Duration::ZERO, abandoned: false }
    }

    fn value(text: &str) -> Value {
        json::decode(text).expect("valid JSON")
    }

    #[test]
    fn cm_11_logs_come_first_and_strings_are_raw() {
        let text = |json: &str| completed(&value(json));
        assert_eq!(text(r#"{"logs":["a","b\nc"],"result":"x\"y"}"#), "a\nb\nc\nx\"y");
        assert_eq!(text(r#"{"logs":["a"]}"#), "a");
        assert_eq!(text(r#"{"logs":[],"result":{"a":[1]}}"#), "{\n  \"a\": [\n    1\n  ]\n}");
        assert_eq!(text(r#"{"logs":[],"result":null}"#), "null");
        assert_eq!(text(r#"{"logs":[],"result":false}"#), "false");
        assert_eq!(text(r#"{"logs":[""],"result":""}"#), "\n");
    }

    #[test]
    fn cm_11_silence_has_its_own_sentence() {
        assert_eq!(completed(&value(r#"{"logs":[]}"#)), SILENCE);
        assert_eq!(completed(&value(r#"{"logs":[],"result":""}"#)), SILENCE);
    }

    #[test]
    fn cm_16_a_failure_names_kind_output_and_calls() {
        let failure = Failure::new(FailureKind::Timeout, "too slow");
        let nothing = Leftovers::default();
        assert_eq!(failed(&failure, &[], &[], &nothing), "code run failed (timeout): too slow");
        let logs = ["one".to_owned(), "two".to_owned()];
        let calls = [call("send", CallState::Done), call("wait", CallState::Cancelled)];
        let left = Leftovers {
            running: Some("still running when the program ended: wait".to_owned()),
            unhandled: Some("failed, not handled: x".to_owned()),
            left_out: None,
        };
        let text = "code run failed (timeout): too slow\ncaptured output:\none\ntwo\ncalls made:\n  completed: \
                    send\n  cancelled while running: wait\nfailed, not handled: x";
        assert_eq!(failed(&failure, &logs, &calls, &left), text);
        let sentences = ["still running when the program ended: wait", "failed, not handled: x"];
        assert_eq!(left.sentences(), sentences);
    }

    #[test]
    fn cm_17_what_was_not_awaited_or_not_handled_is_named() {
        let abandoned = |name: &str| CallRecord { abandoned: true, ..call(name, CallState::Cancelled) };
        let calls = [call("done", CallState::Done), abandoned("a"), abandoned("b"), abandoned("a")];
        let running = still_running(&calls);
        assert_eq!(running.as_deref(), Some("still running when the program ended: a (2), b"));
        assert_eq!(still_running(&calls[..1]), None);
        let mut unhandled = Unhandled::default();
        assert_eq!(not_handled(&unhandled, &calls, "ToolCallError"), None);
        for (call, message) in [
            (Some(3), "ToolCallError: no such user\n    at program.js:1:1"),
            (None, "TypeError: x is \u{1b}[2J"),
            (Some(9), "odd"),
        ] {
            unhandled.failures.push(UnhandledFailure { call, message: message.to_owned() });
        }
        unhandled.count = 5;
        let text = "failed, not handled: b (no such user); TypeError: x is \\u001b[2J; odd; and 2 more";
        assert_eq!(not_handled(&unhandled, &calls, "ToolCallError").as_deref(), Some(text));
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
}
