//! More of everything: calls, names, logs, answers, random bytes.

use hotcell::limits::Limit;
use hotcell::runtime::FailureKind;

use super::super::rig::over;
use super::{Case, check_all, completes, exits, fails};

pub(super) fn cases() -> Vec<Case> {
    let too_many = over(Limit::OutstandingCalls, "3");
    let log_memory = over(Limit::HostMemory, "64KiB");
    vec![
        completes("calls-endless", "3").program("{}").limit(Limit::OutstandingCalls, 3).logs([&too_many]),
        completes("calls-endless", "16384").program("{}").logs([over(Limit::OutstandingCalls, "16384")]),
        // Each call keeps its name.
        completes("names-endless", "17").limit(Limit::HostMemory, 1 << 20).logs([over(Limit::HostMemory, "1MiB")]),
        fails("logs-endless", FailureKind::OutputLimit, over(Limit::LogLines, "3"))
            .program("é")
            .limit(Limit::LogLines, 3)
            .logs(["é", "é", "é"]),
        exits("logs-endless", &log_memory)
            .program("x".repeat(30_000))
            .limit(Limit::HostMemory, 65_536)
            .logs(["x".repeat(30_000), "x".repeat(30_000)]),
        // An entry that does not fit by itself.
        exits("logs-endless", &log_memory).program("x".repeat(65_536)).limit(Limit::HostMemory, 65_536),
        completes("name-long", "1").program("65536").logs([format!("unknown tool `{}…`", "a".repeat(80))]),
        completes("name-long", "1")
            .program("65537")
            .logs(["a tool name has 65537 bytes; at most 65536 are taken"]),
        completes("namespace-unknown", "1").program("1").logs(["there is no namespace 1; this run has 1"]),
        completes("namespace-unknown", "1")
            .program("4294967295")
            .logs(["there is no namespace 4294967295; this run has 1"]),
        completes("members", "5").program("0"),
        exits("members", "the guest asked for namespace 1").program("1"),
        exits("members", "the guest asked for namespace 4294967295").program("4294967295"),
        completes("entropy", "0").program("0"),
        exits("entropy", "the guest asked for 65537 random bytes; at most 65536 are given at once")
            .program("65537"),
        exits("entropy", "the guest asked for 4294967295 random bytes; at most 65536 are given at once")
            .program("4294967295"),
        fails("entropy-endless", FailureKind::Timeout, over(Limit::Compute, "20ms")).limit(Limit::Compute, 20),
        completes("call", "null").program("echo"),
        completes("call", "1").program("").logs(["unknown tool ``"]),
        completes("call", "1").program("ecko").logs(["unknown tool `ecko`; did you mean `echo`?"]),
        completes("call", "1").program("\0\u{1b}[2J").logs(["unknown tool `\0\u{1b}[2J`"]),
        completes("call", "1").program("fail").logs(["it failed"]),
        // Each answer has 10,002 bytes; four fit beside what the calls themselves hold.
        completes("answers-unread", "8").program("large"),
    ]
}

#[tokio::test]
async fn wb_03_floods_end_at_a_limit() {
    check_all(cases()).await;
}
