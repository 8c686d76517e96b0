//! The run report: what came of a call that was to run a program, as one JSON object, for programs.
//!
//! The command line prints it and other transports send it. Invariant: keys and their order are published; a key without
//! anything to say is absent, never `null`. Result and logs are those of the call's final result: what policy withheld is not
//! in the report either.

use std::sync::Arc;
use std::time::Duration;

use super::{CallRecord, Failure, GuestIdentity, Timings};
use crate::json::{Array, Object, Value};

/// The published code of a program that failed.
const CODE_RUN_FAILED: &str = "CODE_RUN_FAILED";

/// What a program did, beside its result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFacts {
    /// Who ran it, or would have.
    pub guest: Arc<GuestIdentity>,
    /// Why it failed; `None` where it did not, or was never run.
    pub failure: Option<Failure>,
    /// What a program that failed had logged. The logs of one that did not are in its result.
    pub logs: Vec<String>,
    /// Its calls, in order of submission.
    pub calls: Vec<CallRecord>,
    /// Where the time went.
    pub timings: Timings,
    /// Sentences about what the program left behind, for example calls that it never awaited.
    pub notes: Vec<String>,
}

/// How the call ended: the value of `run_code`, or code and message of its failure.
pub(crate) type Ended<'a> = Result<&'a Value, (&'a str, &'a str)>;

impl RunFacts {
    /// The facts where no program ran.
    pub(crate) fn none(guest: Arc<GuestIdentity>) -> Self {
        let (logs, calls, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { guest, failure: None, logs, calls, timings: Timings::default(), notes }
    }

    /// The report of a call with this id that ended so. Its calls have the ids `<id>:code:<n>`.
    pub(crate) fn report(&self, ended: Ended<'_>, id: &str) -> Value {
        let mut report = Object::new();
        report.insert("status", if ended.is_ok() { "completed" } else { "failed" });
        match ended {
            Ok(value) => {
                if let Some(result) = value.get("result") {
                    report.insert("result", result.clone());
                }
                report.insert("logs", value.get("logs").cloned().unwrap_or_else(|| Array::new().into()));
            }
            Err((code, message)) => {
                let failure = self.failure.as_ref().filter(|_| code == CODE_RUN_FAILED);
                let logs: &[String] = if failure.is_some() { &self.logs } else { &[] };
                report.insert("logs", texts(logs));
                report.insert("failure", failed(code, message, failure));
            }
        }
        report.insert("calls", self.calls.iter().map(|record| call(record, id)).collect::<Array>());
        report.insert(
            "timings",
            object([
                ("compute_ms", milliseconds(self.timings.compute)),
                ("wall_ms", milliseconds(self.timings.wall)),
                ("approval_ms", milliseconds(self.timings.approval)),
            ]),
        );
        report.insert(
            "guest",
            object([
                ("language", self.guest.language.as_str().into()),
                ("name", self.guest.name.as_str().into()),
                ("version", self.guest.version.as_str().into()),
                ("digest", self.guest.digest.as_str().into()),
            ]),
        );
        if !self.notes.is_empty() {
            report.insert("notes", texts(&self.notes));
        }
        report.into()
    }
}

fn failed(code: &str, message: &str, failure: Option<&Failure>) -> Value {
    match failure {
        None => object([("code", code.into()), ("message", message.into())]),
        Some(failure) => object([
            ("code", code.into()),
            ("kind", failure.kind.as_str().into()),
            ("message", failure.message.as_str().into()),
        ]),
    }
}

fn texts(texts: &[String]) -> Array {
    texts.iter().map(|text| Value::from(text.as_str())).collect()
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
    use crate::runtime::{CallState, FailureKind};

    fn facts() -> RunFacts {
        let guest = GuestIdentity {
            language: "javascript".to_owned(),
            name: "quickjs-ng".to_owned(),
            version: "1".to_owned(),
            digest: "ab".to_owned(),
        };
        let timings = Timings {
            compute: Duration::from_nanos(1_234_567),
            wall: Duration::from_secs(2),
            approval: Duration::from_millis(3),
        };
        RunFacts { timings, ..RunFacts::none(Arc::new(guest)) }
    }

    fn value(text: &str) -> Value {
        json::decode(text).expect("valid JSON")
    }

    fn encoded(facts: &RunFacts, ended: Ended<'_>) -> String {
        json::encode(&facts.report(ended, "run"))
    }

    const REST: &str = r#""timings":{"compute_ms":1.235,"wall_ms":2000.0,"approval_ms":3.0},"guest":{"language":"javascript","name":"quickjs-ng","version":"1","digest":"ab"}"#;

    #[test]
    fn os_01_a_completed_run_reports_its_result() {
        let text = encoded(&facts(), Ok(&value(r#"{"logs":["a"],"result":null}"#)));
        assert_eq!(text, format!(r#"{{"status":"completed","result":null,"logs":["a"],"calls":[],{REST}}}"#));
    }

    #[test]
    fn os_01_a_run_that_returned_nothing_has_no_result() {
        let text = encoded(&facts(), Ok(&value(r#"{"logs":[]}"#)));
        assert_eq!(text, format!(r#"{{"status":"completed","logs":[],"calls":[],{REST}}}"#));
    }

    #[test]
    fn os_01_a_failed_run_reports_code_kind_message_and_logs() {
        let failure = Some(Failure::new(FailureKind::OutputLimit, "too \"much\""));
        let facts = RunFacts { failure, logs: vec!["a".to_owned()], ..facts() };
        let text = encoded(&facts, Err((CODE_RUN_FAILED, "for the model")));
        let failure = r#"{"code":"CODE_RUN_FAILED","kind":"output-limit","message":"too \"much\""}"#;
        assert_eq!(text, format!(r#"{{"status":"failed","logs":["a"],"failure":{failure},"calls":[],{REST}}}"#));
    }

    #[test]
    fn os_01_what_policy_withheld_is_not_in_the_report() {
        let failure = Some(Failure::new(FailureKind::Exception, "secret"));
        let facts = RunFacts { failure, logs: vec!["secret".to_owned()], ..facts() };
        let text = encoded(&facts, Err(("BLOCKED", "withheld")));
        let failure = r#"{"code":"BLOCKED","message":"withheld"}"#;
        assert_eq!(text, format!(r#"{{"status":"failed","logs":[],"failure":{failure},"calls":[],{REST}}}"#));
    }

    #[test]
    fn os_01_calls_are_in_order_and_notes_come_last() {
        let states = [CallState::Done, CallState::Failed, CallState::Cancelled, CallState::NotStarted];
        let calls = states.into_iter().zip(1..).map(|(state, ordinal)| CallRecord {
            ordinal,
            name: "a b".into(),
            state,
            elapsed: Duration::from_micros(ordinal),
            abandoned: false,
        });
        let facts = RunFacts { calls: calls.collect(), notes: vec!["a note".to_owned()], ..facts() };
        let calls = concat!(
            r#"{"id":"run:code:1","name":"a b","state":"done","ms":0.001},"#,
            r#"{"id":"run:code:2","name":"a b","state":"failed","ms":0.002},"#,
            r#"{"id":"run:code:3","name":"a b","state":"cancelled","ms":0.003},"#,
            r#"{"id":"run:code:4","name":"a b","state":"not-started","ms":0.004}"#,
        );
        let text = format!(r#"{{"status":"completed","logs":[],"calls":[{calls}],{REST},"notes":["a note"]}}"#);
        assert_eq!(encoded(&facts, Ok(&value(r#"{"logs":[]}"#))), text);
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
