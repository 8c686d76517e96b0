//! Every way in which the engine ends a guest, as an outcome.

use super::{Case, check_all, exits};

pub(super) fn cases() -> Vec<Case> {
    let trap = |letter: &str, message: &str| exits("trap", message).program(letter).logs(["about to trap"]);
    vec![
        trap("a", "the guest aborted itself"),
        trap("b", "the guest trapped: wasm trap: integer divide by zero"),
        trap("c", "the guest trapped: wasm trap: integer overflow"),
        trap("d", "the guest trapped: wasm trap: invalid conversion to integer"),
        trap("e", "the guest accessed memory outside its bounds"),
        trap("f", "the guest accessed a table outside its bounds"),
        trap("g", "the guest trapped: wasm trap: uninitialized element"),
        trap("h", "the guest trapped: wasm trap: indirect call type mismatch"),
        trap("i", "the guest accessed memory outside its bounds"),
        trap("j", "the guest accessed a table outside its bounds"),
        exits("recursion-endless", "the guest overflowed its stack"),
        exits("recursion-calls-host", "the guest overflowed its stack"),
    ]
}

#[tokio::test]
async fn rt_03_every_trap_is_a_guest_exit_that_says_which() {
    check_all(cases()).await;
}
