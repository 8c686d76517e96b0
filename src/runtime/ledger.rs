//! What a run's outcome may weigh.
//!
//! The weight is exact: the bytes of our own compact JSON of the logs array, plus those of the value or of the failure
//! message. Invariant: at the limit everything is kept; one byte over, the run ends as `output-limit`, the message's
//! bytes are reserved first, then come whole log entries, then the last one cut between two characters. A value is
//! never cut.

use super::{Failure, FailureKind};
use crate::json::{self, Value};
use crate::limits::{Limit, Limits};

/// Bytes of `[]`.
const EMPTY_ARRAY: usize = 2;

/// Keeps a run's log entries and weighs them.
#[derive(Debug)]
pub(crate) struct Ledger {
    bytes_max: usize,
    entries_max: usize,
    entries: Vec<String>,
    /// Bytes of `entries` as a JSON array.
    bytes: usize,
}

impl Ledger {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            bytes_max: limits.size(Limit::Output),
            entries_max: limits.size(Limit::LogLines),
            entries: Vec::new(),
            bytes: EMPTY_ARRAY,
        }
    }

    /// Keeps one entry. On `Err` the limit named was passed, and of the entry as much was kept as could matter.
    pub(crate) fn push(&mut self, entry: &str) -> Result<(), Limit> {
        if self.entries.len() >= self.entries_max {
            return Err(Limit::LogLines);
        }
        let bytes = self.bytes + json::string_len(entry) + usize::from(!self.entries.is_empty());
        let kept = if bytes > self.bytes_max { floor_char_boundary(entry, self.bytes_max) } else { entry };
        self.entries.push(kept.to_owned());
        self.bytes = bytes;
        if bytes > self.bytes_max { Err(Limit::Output) } else { Ok(()) }
    }

    /// Bytes of the logs array so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Weighs the whole outcome and makes it fit.
    pub(crate) fn close(
        mut self,
        result: Result<Option<Value>, Failure>,
        limits: &Limits,
    ) -> (Result<Option<Value>, Failure>, Vec<String>) {
        let body = match &result {
            Ok(None) => 0,
            Ok(Some(value)) => json::encoded_len(value),
            Err(failure) => json::string_len(&failure.message),
        };
        if self.bytes.saturating_add(body) <= self.bytes_max {
            return (result, self.entries);
        }
        let failure = match result {
            // How the host ended the run matters more than that its log was full.
            Err(failure) if is_host_made(failure.kind) => failure,
            Ok(_) | Err(_) => Failure::new(FailureKind::OutputLimit, limits.reached(Limit::Output)),
        };
        let mut failure = failure;
        if failure.kind != FailureKind::OutputLimit {
            failure.message.push_str(" (the log is cut to fit the limit `output`)");
        }
        self.trim(self.bytes_max.saturating_sub(json::string_len(&failure.message)));
        (Err(failure), self.entries)
    }

    /// Keeps what fits into `room` bytes of JSON array.
    fn trim(&mut self, room: usize) {
        let mut bytes = EMPTY_ARRAY;
        for index in 0..self.entries.len() {
            let Some(entry) = self.entries.get_mut(index) else { return };
            let comma = usize::from(index > 0);
            let whole = bytes + comma + json::string_len(entry);
            if whole <= room {
                bytes = whole;
                continue;
            }
            let cut = cut_to_encoded(entry, room.saturating_sub(bytes + comma));
            let kept = if cut == 0 { index } else { index + 1 };
            entry.truncate(cut);
            self.entries.truncate(kept);
            return;
        }
    }
}

/// Endings that are not the program's doing, whose messages are short and written by this crate.
fn is_host_made(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Timeout | FailureKind::Abort | FailureKind::GuestExit | FailureKind::OutputLimit)
}

/// The start of `text`, at most `bytes_max` bytes.
fn floor_char_boundary(text: &str, bytes_max: usize) -> &str {
    let end = text.floor_char_boundary(bytes_max);
    text.get(..end).unwrap_or_default()
}

/// How many bytes of `text` may stay so that its JSON string, quotes included, fits into `room`.
fn cut_to_encoded(text: &str, room: usize) -> usize {
    let mut used = json::string_len("");
    let mut buffer = [0; 4];
    for (place, character) in text.char_indices() {
        used += json::string_len(character.encode_utf8(&mut buffer)) - json::string_len("");
        if used > room {
            return place;
        }
    }
    if used > room { 0 } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: usize = 1024;

    fn limits() -> Limits {
        Limits::default().with(Limit::Output, CAP as u64).expect("in bounds")
    }

    /// The weight the contract defines, computed the long way.
    fn weight(result: &Result<Option<Value>, Failure>, logs: &[String]) -> usize {
        let array: Vec<Value> = logs.iter().map(|log| Value::from(log.as_str())).collect();
        json::encode(&Value::from(array)).len()
            + match result {
                Ok(None) => 0,
                Ok(Some(value)) => json::encode(value).len(),
                Err(failure) => json::encode(&Value::from(failure.message.as_str())).len(),
            }
    }

    fn output_limit() -> Failure {
        Failure::new(FailureKind::OutputLimit, limits().reached(Limit::Output))
    }

    #[test]
    fn rt_06_a_value_fits_up_to_the_cap_and_not_beyond() {
        // `[]` and two quotes.
        let fits = "x".repeat(CAP - 4);
        let close = |text: &str| Ledger::new(&limits()).close(Ok(Some(Value::from(text))), &limits());
        assert_eq!(close(&fits[1..]), (Ok(Some(Value::from(&fits[1..]))), vec![]));
        assert_eq!(close(&fits), (Ok(Some(Value::from(fits.as_str()))), vec![]));
        assert_eq!(close(&format!("{fits}x")), (Err(output_limit()), vec![]));
    }

    #[test]
    fn rt_06_logs_fit_up_to_the_cap_and_not_beyond() {
        let entry = "é\n\"".repeat(10);
        let one = json::string_len(&entry) + 1;
        let mut ledger = Ledger::new(&limits());
        let mut pushed = 0;
        while 2 + (pushed + 1) * one - 1 <= CAP {
            assert_eq!(ledger.push(&entry), Ok(()));
            pushed += 1;
        }
        assert_eq!(ledger.push(&entry), Err(Limit::Output));
        let (result, logs) = ledger.close(Err(output_limit()), &limits());
        assert_eq!(result, Err(output_limit()));
        let size = weight(&result, &logs);
        assert!(size <= CAP && size > CAP - 6, "the last entry is cut as late as possible: {size}");
        let (last, whole) = logs.split_last().expect("some logs are kept");
        assert!(whole.iter().all(|log| *log == entry));
        assert!(entry.starts_with(last.as_str()));
    }

    #[test]
    fn rt_06_the_program_s_own_failure_gives_way_and_the_host_s_does_not() {
        let full = |failure: Failure| {
            let mut ledger = Ledger::new(&limits());
            ledger.push(&"x".repeat(CAP - 4)).expect("exactly at the cap");
            ledger.close(Err(failure), &limits())
        };
        let (result, logs) = full(Failure::new(FailureKind::Exception, "boom"));
        assert_eq!(result, Err(output_limit()));
        assert_eq!(weight(&result, &logs), CAP);
        let (result, logs) = full(Failure::new(FailureKind::Timeout, "late"));
        let message = "late (the log is cut to fit the limit `output`)";
        assert_eq!(result, Err(Failure::new(FailureKind::Timeout, message)));
        assert_eq!(weight(&result, &logs), CAP);
    }

    #[test]
    fn rt_06_the_least_cap_holds_every_message_about_a_limit() {
        let least = Limits::default().with(Limit::Output, Limit::Output.bounds().0).expect("in bounds");
        for limit in Limit::ALL {
            let failure = Failure::new(FailureKind::GuestExit, least.reached(limit));
            assert_eq!(Ledger::new(&least).close(Err(failure.clone()), &least), (Err(failure), vec![]));
        }
    }

    #[test]
    fn log_entries_are_counted() {
        let limits = Limits::default().with(Limit::LogLines, 2).expect("in bounds");
        let mut ledger = Ledger::new(&limits);
        assert_eq!([ledger.push("a"), ledger.push("b"), ledger.push("c")], [Ok(()), Ok(()), Err(Limit::LogLines)]);
        assert_eq!(ledger.close(Ok(None), &limits), (Ok(None), vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn an_entry_that_cannot_be_kept_at_all_is_dropped() {
        let mut ledger = Ledger::new(&limits());
        ledger.push("first").expect("small");
        ledger.trim(json::string_len("first") + EMPTY_ARRAY);
        assert_eq!(ledger.entries, ["first"]);
        ledger.trim(EMPTY_ARRAY + 2);
        assert_eq!(ledger.entries, Vec::<String>::new());
    }
}
