//! What a run makes the host allocate, seen from outside: in a process that does nothing else.

use std::process::Command;

use hotcell::json::Value;
use hotcell::limits::Limit;
use hotcell::runtime::CallState;

use super::rig::{limits, over, request, run, runtime, still_polite};

/// Bytes of the account in these tests.
const ACCOUNT: u64 = 32 << 20;

/// What a process of this size may take beside: buffers, the instance, and one tree that is built before it is charged.
const SLACK: u64 = ACCOUNT + (32 << 20);

/// The most memory that this process ever had in use, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has a peak");
    let kib = line.trim().strip_suffix(" kB").expect("in kB").parse::<u64>().expect("a number");
    kib * 1024
}

/// Set in the processes that measure themselves.
const ALONE: &str = "HOTCELL_TEST_ALONE";

/// Whether this process runs only the test named. If it does not, it starts one that does, and waits for it.
fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let this = std::env::current_exe().expect("a test has a path");
    let name = format!("wasm::footprint::{test}");
    let output = Command::new(this).args(["--exact", "--nocapture", &name]).env(ALONE, "1").output();
    let output = output.expect("the process starts");
    let printed = String::from_utf8(output.stdout).expect("it prints UTF-8");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let ran = printed.lines().filter(|line| line.starts_with("test result: ok. 1 passed;")).count();
    assert_eq!(ran, 1, "{name} is no test: {printed}");
    false
}

#[tokio::test]
async fn wb_11_large_arguments_are_decoded_within_the_account() {
    if !alone("wb_11_large_arguments_are_decoded_within_the_account") {
        return;
    }
    still_polite().await;
    let runtime = runtime("calls-large-endless").await;
    let before = peak();
    let mut request = request("1");
    request.limits = limits([(Limit::HostMemory, ACCOUNT), (Limit::OutstandingCalls, 20)]);
    let outcome = run(&runtime, request).await;
    let grown = peak() - before;
    let done = outcome.calls.iter().filter(|call| call.state == CallState::Done).count();
    println!("{done} of 20 calls of 13 MB each fitted into {ACCOUNT} bytes; the process grew by {grown}");
    assert_eq!(outcome.result, Ok(Some(Value::from(done as u64))));
    let mut logs = vec![over(Limit::OutstandingCalls, "20")];
    logs.resize(1 + 20 - done, over(Limit::HostMemory, "32MiB"));
    assert_eq!(outcome.logs, logs);
    assert!(grown <= ACCOUNT + SLACK, "the process grew by {grown} bytes");
}

#[tokio::test]
async fn wb_11_names_of_unknown_tools_are_kept_within_the_account() {
    if !alone("wb_11_names_of_unknown_tools_are_kept_within_the_account") {
        return;
    }
    still_polite().await;
    let runtime = runtime("names-endless").await;
    let before = peak();
    let mut request = request("1");
    request.limits = limits([(Limit::HostMemory, ACCOUNT)]);
    let outcome = run(&runtime, request).await;
    let grown = peak() - before;
    println!(
        "{} names of 60,000 bytes fitted into {ACCOUNT} bytes; the process grew by {grown}",
        outcome.calls.len()
    );
    assert_eq!(outcome.logs, [over(Limit::HostMemory, "32MiB")]);
    assert!(grown <= ACCOUNT + SLACK, "the process grew by {grown} bytes");
}
