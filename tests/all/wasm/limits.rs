//! The limits that count, each just under, exactly at and just over. Those of time and memory are with the hostile guests.

use hotcell::ErrorKind;
use hotcell::json::Value;
use hotcell::json::{cost, encoded_len, string_len};
use hotcell::limits::Limit;
use hotcell::runtime::{Bindings, CallState, CodeRuntime as _, FailureKind};

use super::rig::{Seen, completed, failed, limits, over, request, request_with, run, runtime, soon};

/// What `logs-counted` logs.
const ENTRY: &str = "0123456789";

async fn seen(guest: &str, program: &str, limit: Limit, value: u64) -> Seen {
    let mut request = request(program);
    request.limits = limits([(limit, value)]);
    run(&runtime(guest).await, request).await.into()
}

#[tokio::test]
async fn rt_05_one_outstanding_call_too_many_fails_alone() {
    let seen = async |calls| seen("calls-counted", calls, Limit::OutstandingCalls, 3).await;
    assert_eq!(seen("2").await, completed("2").calls("echo", 2, CallState::Done));
    assert_eq!(seen("3").await, completed("3").calls("echo", 3, CallState::Done));
    let refusal = over(Limit::OutstandingCalls, "3");
    let expected = completed("3").logs(&[&refusal]).calls("echo", 3, CallState::Done);
    assert_eq!(seen("4").await, expected);
}

#[tokio::test]
async fn a_cancelled_call_leaves_its_place_once_it_is_received() {
    // Each call is outstanding once, until its cancellation is received.
    let mut request = request("3");
    request.limits = limits([(Limit::OutstandingCalls, 3)]);
    let seen = Seen::from(run(&runtime("cancel-unread").await, request).await);
    assert_eq!(seen, completed("3").calls("echo", 3, CallState::NotStarted));
}

#[tokio::test]
async fn rt_05_one_log_entry_too_many_is_an_output_limit() {
    let seen = async |entries| seen("logs-counted", entries, Limit::LogLines, 3).await;
    assert_eq!(seen("2").await, completed("1").logs(&[ENTRY; 2]));
    assert_eq!(seen("3").await, completed("1").logs(&[ENTRY; 3]));
    let message = over(Limit::LogLines, "3");
    assert_eq!(seen("4").await, failed(FailureKind::OutputLimit, &message).logs(&[ENTRY; 3]));
}

#[tokio::test]
async fn rt_06_output_is_counted_to_the_byte() {
    let entries = vec![ENTRY; 100];
    let array: Vec<Value> = entries.iter().map(|&entry| entry.into()).collect();
    let weight = encoded_len(&Value::from(array)) + "1".len();
    let seen = async |limit: usize| seen("logs-counted", "100", Limit::Output, limit as u64).await;
    assert_eq!(seen(weight + 1).await, completed("1").logs(&entries));
    assert_eq!(seen(weight).await, completed("1").logs(&entries));
    let message = over(Limit::Output, &format!("{}B", weight - 1));
    let kept = kept(weight - 1 - string_len(&message));
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    assert_eq!(seen(weight - 1).await, failed(FailureKind::OutputLimit, &message).logs(&kept));
}

/// As many entries as a JSON array of this many bytes holds, the last one cut.
fn kept(room: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    loop {
        let array: Vec<Value> = kept.iter().map(|entry| entry.as_str().into()).collect();
        let comma = usize::from(!kept.is_empty());
        let left = room - encoded_len(&Value::from(array)) - comma;
        if left < string_len(ENTRY) {
            let cut = &ENTRY[..left.saturating_sub(string_len(""))];
            kept.extend((!cut.is_empty()).then(|| cut.to_owned()));
            return kept;
        }
        kept.push(ENTRY.to_owned());
    }
}

#[tokio::test]
async fn rt_06_endless_logs_are_cut_to_the_output_limit() {
    let seen = seen("logs-endless", ENTRY, Limit::Output, 1024).await;
    let message = over(Limit::Output, "1KiB");
    let kept = kept(1024 - string_len(&message));
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    assert_eq!(seen, failed(FailureKind::OutputLimit, &message).logs(&kept));
}

#[tokio::test]
async fn rt_06_a_value_over_the_output_limit_is_no_value() {
    let program = format!("\"{}\"", "x".repeat(1020));
    let seen = async |limit: u64| seen("json-result", &program, Limit::Output, limit).await;
    // The value's 1,022 bytes and the two of an empty array.
    assert_eq!(seen(1025).await, completed(&program));
    assert_eq!(seen(1024).await, completed(&program));
    let program = format!("\"{}\"", "x".repeat(1021));
    let mut request = request(program);
    request.limits = limits([(Limit::Output, 1024)]);
    let outcome = Seen::from(run(&runtime("json-result").await, request).await);
    assert_eq!(outcome, failed(FailureKind::OutputLimit, &over(Limit::Output, "1KiB")));
}

#[tokio::test]
async fn rt_06_a_message_over_the_output_limit_is_no_message() {
    let message = "x".repeat(1020);
    let seen_of = async |message: &str| seen("failure", message, Limit::Output, 1024).await;
    assert_eq!(seen_of(&message).await, failed(FailureKind::Exception, &message));
    let longer = format!("{message}x");
    assert_eq!(seen_of(&longer).await, failed(FailureKind::OutputLimit, &over(Limit::Output, "1KiB")));
}

#[tokio::test]
async fn wb_11_the_host_memory_account_is_exact_for_logs() {
    let entries = vec![ENTRY; 2000];
    // Each entry with its place in the list, the result's one byte, and the value that it becomes.
    let weight = (2000 * (ENTRY.len() + size_of::<String>()) + 1 + cost(&Value::from(1_i64))) as u64;
    let seen = async |limit| seen("logs-counted", "2000", Limit::HostMemory, limit).await;
    assert_eq!(seen(weight + 1).await, completed("1").logs(&entries));
    assert_eq!(seen(weight).await, completed("1").logs(&entries));
    let message = over(Limit::HostMemory, &format!("{}B", weight - 1));
    assert_eq!(seen(weight - 1).await, failed(FailureKind::GuestExit, &message).logs(&entries));
}

#[tokio::test]
async fn wb_11_arguments_are_charged_until_their_call_is_over() {
    let argument = format!("\"{}\"", "x".repeat(10_000));
    // Calls that never end give nothing back.
    let tools = Bindings::new().tool("echo", |_| std::future::pending());
    let mut request = request_with(argument, tools.into_namespace("tools").expect("portable"));
    request.limits = limits([(Limit::HostMemory, 1 << 20)]);
    let Seen { result, logs, calls } = run(&runtime("calls-endless").await, request).await.into();
    assert!((85..=104).contains(&calls.len()), "{} calls of 10,000 bytes fit into 1 MiB", calls.len());
    assert_eq!(result, Ok(Some(calls.len().to_string())));
    assert_eq!(logs, [over(Limit::HostMemory, "1MiB")]);
    // Those that the guest's own time let start were cancelled.
    let ended = [CallState::Cancelled, CallState::NotStarted];
    assert!(calls.iter().all(|(name, state)| name == "echo" && ended.contains(state)), "{calls:?}");
}

#[tokio::test]
async fn wb_11_answers_are_charged_until_they_are_received() {
    let mut request = request("large");
    request.limits = limits([(Limit::HostMemory, 65_536)]);
    let seen = Seen::from(run(&runtime("answers-unread").await, request).await);
    // Eight calls hold 64 bytes each for their records; an answer has 10,002 bytes.
    let refusal = over(Limit::HostMemory, "64KiB");
    let expected = completed("6").logs(&[&*refusal; 2]);
    assert_eq!(seen, expected.calls("large", 6, CallState::Done).calls("large", 2, CallState::Failed));
}

#[tokio::test]
async fn rt_05_the_program_text_is_limited() {
    let runtime = runtime("nothing").await;
    let request = |program: &str| {
        let mut request = request(program);
        request.limits = limits([(Limit::Program, 3)]);
        request
    };
    for program in ["ab", "abc"] {
        let seen = Seen::from(run(&runtime, request(program)).await);
        assert_eq!(seen, Seen { result: Ok(None), logs: vec![], calls: vec![] });
    }
    let error = soon(runtime.run(request("abcd"))).await.expect_err("too long");
    let message = "the program text is longer than the limit `program` of 3B allows; do less in one run, or raise the \
                   limit `program` (it has 4 bytes)";
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Misuse, message.to_owned()));
}

#[tokio::test]
async fn rt_05_waiting_costs_no_compute() {
    let mut request = request("1");
    request.limits = limits([(Limit::Compute, 1000), (Limit::Wall, 1500)]);
    let outcome = run(&runtime("sleep-endless").await, request).await;
    assert!(outcome.timings.compute < outcome.timings.wall, "{:?}", outcome.timings);
    let expected = failed(FailureKind::Timeout, &over(Limit::Wall, "1500ms")).logs(&["about to sleep"]);
    assert_eq!(Seen::from(outcome), expected);
}
