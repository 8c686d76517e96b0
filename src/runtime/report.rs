//! The run report: a whole outcome as one JSON object, for programs that started the run.
//!
//! The command line prints it and other transports send it. Invariant: keys and their order are published; a key
//! without anything to say is absent, never `null`.

use std::time::Duration;

use super::{CallRecord, Failure, GuestIdentity, RunOutcome};
use crate::json::{Array, Object, Value};

/// The published code of every failed run of a program.
const CODE_RUN_FAILED: &str = "CODE_RUN_FAILED";

/// The report of a run whose calls have the ids `<parent>:code:<n>`.
#[must_use]
pub fn report(outcome: &RunOutcome, guest: &GuestIdentity, parent: &str) -> Value {
    let mut report = Object::new();
    report.insert("status", if outcome.result.is_ok() { "completed" } else { "failed" });
    if let Ok(Some(value)) = &outcome.result {
        report.insert("result", value.clone());
    }
    report.insert("logs", outcome.logs.iter().map(|entry| Value::from(entry.as_str())).collect::<Array>());
    if let Err(failure) = &outcome.result {
        report.insert("failure", failed(failure));
    }
    report.insert("calls", outcome.calls.iter().map(|record| call(record, parent)).collect::<Array>());
    let timings = &outcome.timings;
    report.insert(
        "timings",
        object([
            ("compute_ms", milliseconds(timings.compute)),
            ("wall_ms", milliseconds(timings.wall)),
            ("approval_ms", milliseconds(Duration::ZERO)),
        ]),
    );
    report.insert(
        "guest",
        object([
            ("language", guest.language.as_str().into()),
            ("name", guest.name.as_str().into()),
            ("version", guest.version.as_str().into()),
            ("digest", guest.digest.as_str().into()),
        ]),
    );
    report.into()
}

fn failed(failure: &Failure) -> Value {
    object([
        ("code", CODE_RUN_FAILED.into()),
        ("kind", failure.kind.as_str().into()),
        ("message", failure.message.as_str().into()),
    ])
}

fn call(record: &CallRecord, parent: &str) -> Value {
    object([
        ("id", format!("{parent}:code:{}", record.ordinal).into()),
        ("name", (&*record.name).into()),
        ("state", record.state.as_str().into()),
        ("ms", milliseconds(record.elapsed)),
    ])
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>().into()
}

/// A duration in milliseconds, to the nearest microsecond.
fn milliseconds(duration: Duration) -> Value {
    let microseconds = duration.saturating_add(Duration::from_nanos(500)).as_micros();
    // A duration's microseconds are finite as a float, so the conversion has a value.
    Value::try_from(microseconds as f64 / 1000.0).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::runtime::{CallState, FailureKind, Timings};

    fn guest() -> GuestIdentity {
        GuestIdentity {
            language: "javascript".to_owned(),
            name: "quickjs-ng".to_owned(),
            version: "1".to_owned(),
            digest: "ab".to_owned(),
        }
    }

    fn outcome(result: Result<Option<Value>, Failure>) -> RunOutcome {
        let timings = Timings { compute: Duration::from_nanos(1_234_567), wall: Duration::from_secs(2) };
        RunOutcome { result, logs: Vec::new(), calls: Vec::new(), timings }
    }

    fn encoded(outcome: &RunOutcome) -> String {
        json::encode(&report(outcome, &guest(), "run"))
    }

    const REST: &str = r#""timings":{"compute_ms":1.235,"wall_ms":2000.0,"approval_ms":0.0},"guest":{"language":"javascript","name":"quickjs-ng","version":"1","digest":"ab"}}"#;

    #[test]
    fn os_01_a_completed_run_reports_its_result() {
        let text = encoded(&outcome(Ok(Some(Value::Null))));
        assert_eq!(text, format!(r#"{{"status":"completed","result":null,"logs":[],"calls":[],{REST}"#));
    }

    #[test]
    fn os_01_a_run_that_returned_nothing_has_no_result() {
        let text = encoded(&outcome(Ok(None)));
        assert_eq!(text, format!(r#"{{"status":"completed","logs":[],"calls":[],{REST}"#));
    }

    #[test]
    fn os_01_a_failed_run_reports_code_kind_and_message() {
        let failure = Failure::new(FailureKind::OutputLimit, "too \"much\"");
        let text = encoded(&outcome(Err(failure)));
        let failure = r#"{"code":"CODE_RUN_FAILED","kind":"output-limit","message":"too \"much\""}"#;
        assert_eq!(text, format!(r#"{{"status":"failed","logs":[],"failure":{failure},"calls":[],{REST}"#));
    }

    #[test]
    fn os_01_logs_and_calls_are_in_order() {
        let mut outcome = outcome(Ok(None));
        outcome.logs = vec!["one".to_owned(), String::new()];
        let states = [CallState::Done, CallState::Failed, CallState::Cancelled, CallState::NotStarted];
        outcome.calls = states
            .into_iter()
            .zip(1..)
            .map(|(state, ordinal)| CallRecord {
                ordinal,
                name: "a b".into(),
                state,
                elapsed: Duration::from_micros(ordinal),
            })
            .collect();
        let calls = concat!(
            r#"{"id":"run:code:1","name":"a b","state":"done","ms":0.001},"#,
            r#"{"id":"run:code:2","name":"a b","state":"failed","ms":0.002},"#,
            r#"{"id":"run:code:3","name":"a b","state":"cancelled","ms":0.003},"#,
            r#"{"id":"run:code:4","name":"a b","state":"not-started","ms":0.004}"#,
        );
        let text = format!(r#"{{"status":"completed","logs":["one",""],"calls":[{calls}],{REST}"#);
        assert_eq!(encoded(&outcome), text);
    }

    #[test]
    fn durations_have_three_decimals() {
        let text = |nanoseconds| json::encode(&milliseconds(Duration::from_nanos(nanoseconds)));
        assert_eq!(text(0), "0.0");
        assert_eq!(text(499), "0.0");
        assert_eq!(text(500), "0.001");
        assert_eq!(text(12_345_678_912), "12345.679");
        assert_eq!(json::encode(&milliseconds(Duration::MAX)), "1.8446744073709552e22");
    }
}
