//! Time: loops, waits, and guests that never come back from where the host called them.

use hotcell::limits::Limit;
use hotcell::runtime::FailureKind;

use super::super::rig::over;
use super::{Case, check_all, fails};

pub(super) fn cases() -> Vec<Case> {
    let computes = |guest, program: &str| {
        fails(guest, FailureKind::Timeout, over(Limit::Compute, "20ms")).program(program).limit(Limit::Compute, 20)
    };
    let waits = |guest, program: &str| {
        fails(guest, FailureKind::Timeout, over(Limit::Wall, "50ms")).program(program).limit(Limit::Wall, 50)
    };
    vec![
        computes("loop-endless", ""),
        waits("loop-endless", ""),
        computes("loop-with-call", "never"),
        computes("polling-endless", ""),
        computes("end-twice", "5"),
        computes("realloc-endless", ""),
        computes("post-return-endless", ""),
        computes("sleep-zero-endless", ""),
        waits("sleep-endless", "").logs(["about to sleep"]),
        waits("next-endless", "never"),
    ]
}

#[tokio::test]
async fn rt_05_time_budgets_end_a_guest_wherever_it_is() {
    check_all(cases()).await;
}
