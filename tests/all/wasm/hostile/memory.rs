//! Memory and tables: one limit for all of them together, named when it ends a run.

use hotcell::limits::Limit;

use super::super::rig::over;
use super::{Case, check_all, completes, exits, refused};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 64 << 10;

/// What wit-component's adapter takes of the limit: a table with an element for each import that needs the guest's memory.
const ADAPTER: u64 = 8 * size_of::<usize>() as u64;

pub(super) fn cases() -> Vec<Case> {
    let named = |value: &str, ending: &str| format!("{}; it ended with: {ending}", over(Limit::Memory, value));
    let aborted = "the guest aborted itself";
    vec![
        // A table of the module that adapts the guest takes the rest of the last page.
        completes("memory-grow", "15").program("1").limit(Limit::Memory, MIB),
        completes("memory-grow", "4095").program("1"),
        exits("memory-grow", named("1MiB", aborted)).program("2").limit(Limit::Memory, MIB),
        exits("memory-grow", named("1MiB", "out of memory")).program("3").limit(Limit::Memory, MIB),
        completes("memory-grow-huge", "1"),
        completes("memory-large", "1").limit(Limit::Memory, 100 * PAGE + ADAPTER + 1),
        completes("memory-large", "1").limit(Limit::Memory, 100 * PAGE + ADAPTER),
        exits(
            "memory-large",
            named(
                "6553663B",
                "the guest broke the boundary's contract: memory minimum size of 100 pages exceeds memory limits",
            ),
        )
        .limit(Limit::Memory, 100 * PAGE + ADAPTER - 1),
        refused(
            "memory-whole",
            "the guest could not announce itself: the guest broke the boundary's contract: memory minimum size of 65536 \
             pages exceeds memory limits",
        ),
        completes("start-grows", "1"),
        completes("start-grows", "1").limit(Limit::Memory, MIB),
        // Two pages, three of one, and three times nine.
        completes("memories-sum", "1").limit(Limit::Memory, 32 * PAGE),
        exits("memories-sum", named("2097151B", aborted)).limit(Limit::Memory, 32 * PAGE - 1),
        completes("memory-answer", "1").program("huge").limit(Limit::Memory, 4 * PAGE + 1024),
        exits("memory-answer", named("129KiB", aborted)).program("huge").limit(Limit::Memory, 2 * PAGE + 1024),
        exits("table-grow", named("192KiB", aborted)).limit(Limit::Memory, 3 * PAGE),
        exits("table-grow", aborted),
        completes("table-large", "1"),
    ]
}

#[tokio::test]
async fn rt_05_memory_is_limited_in_all_memories_and_tables_together() {
    check_all(cases()).await;
}
