//! Handles, texts, values and the order of calls: what a guest can get wrong about the boundary itself.

use hotcell::runtime::FailureKind;

use super::{Case, breaks, check_all, completes, exits, fails, refused};

const NOT_UNICODE: &str = "the guest sent a string that is not valid Unicode";
const OUTSIDE: &str = "string pointer/length out of bounds of memory";
const REENTERED: &str = "the guest called the host where it may not: from cabi_realloc or post-return";
const NOT_ANNOUNCED: &str = "the guest could not announce itself: ";

pub(super) fn handles() -> Vec<Case> {
    let made_up = |letter: char| breaks("handle-made-up", "unknown handle index 7").program(letter);
    let dropped = |digit: char| breaks("handle-after-drop", "unknown handle index 1").program(digit);
    let mut cases: Vec<Case> = ('a'..='m').map(made_up).collect();
    cases.extend(('1'..='6').map(dropped));
    cases.extend([
        breaks("handle-kept", "borrow handles still remain at the end of the call"),
        // Twice: what the first run saved must not be there in the second.
        completes("handle-saved", "1"),
        completes("handle-saved", "1"),
        refused(
            "handle-at-start",
            format!("{NOT_ANNOUNCED}the guest broke the boundary's contract: unknown handle index 1"),
        ),
        refused(
            "handle-in-announce",
            format!("{NOT_ANNOUNCED}the guest broke the boundary's contract: unknown handle index 1"),
        ),
        breaks("handles-endless", "cannot allocate another handle: store handle limit exceeded"),
    ]);
    cases
}

pub(super) fn texts() -> Vec<Case> {
    let mut cases = Vec::new();
    for digit in '1'..='6' {
        cases.extend([
            breaks("string-gigabyte", OUTSIDE).program(digit),
            breaks("string-outside", OUTSIDE).program(digit),
            breaks("string-wrapping", OUTSIDE).program(digit),
            exits("string-not-unicode", NOT_UNICODE).program(digit),
        ]);
    }
    cases.extend([
        completes("string-utf16", "1").program("0").logs(["é🦀"]),
        exits("string-utf16", NOT_UNICODE).program("1").logs(["é🦀"]),
    ]);
    cases
}

pub(super) fn values() -> Vec<Case> {
    vec![
        breaks("value-undefined", "invalid option discriminant").program("1"),
        breaks("value-undefined", "unexpected discriminant: 2").program("2"),
        breaks("value-undefined", "invalid option discriminant").program("3"),
        breaks("answer-outside", "pointer out of bounds").program("1"),
        breaks("answer-outside", "pointer not aligned").program("2"),
        breaks("realloc-outside", "realloc return: beyond end of memory"),
        breaks("realloc-odd", "realloc return: result not aligned"),
    ]
}

pub(super) fn order() -> Vec<Case> {
    let after = |digit: &str, what: &str| {
        exits("end-twice", format!("the guest called `{what}` after it had ended the program")).program(digit)
    };
    vec![
        after("1", "complete"),
        after("2", "fail"),
        after("3", "log"),
        after("4", "submit"),
        after("7", "unhandled"),
        exits("unhandled", "the guest told of call 0, which there is not").program("0"),
        exits("unhandled", "the guest told of call 1, which there is not").program("1"),
        exits("unhandled", "the guest told of call 18446744073709551615, which there is not")
            .program("18446744073709551615"),
        completes("end-twice", "1").program("6"),
        exits("end-missing", "the guest returned without ending the program").logs(["about to return"]),
        fails("failure", FailureKind::Exception, "boom").program("boom"),
        fails("failure", FailureKind::InvalidOutput, "!cyclic").program("!cyclic"),
        fails("failure", FailureKind::Exception, "é\n\u{1b}[2J\0").program("é\n\u{1b}[2J\0"),
    ]
}

pub(super) fn reentry() -> Vec<Case> {
    vec![
        exits("call-from-post-return", REENTERED),
        refused("call-from-post-announce", format!("{NOT_ANNOUNCED}{REENTERED}")),
        exits("call-from-realloc", REENTERED),
        exits("call-from-realloc-in-answer", REENTERED),
        exits("post-return-trap", "the guest aborted itself"),
    ]
}

#[tokio::test]
async fn wb_02_a_handle_is_lent_and_cannot_be_made_or_kept() {
    check_all(handles()).await;
}

#[tokio::test]
async fn wb_03_texts_are_checked_before_they_are_read() {
    check_all(texts()).await;
}

#[tokio::test]
async fn wb_03_values_outside_their_types_are_contained() {
    check_all(values()).await;
}

#[tokio::test]
async fn wb_03_nothing_follows_the_end_of_a_program() {
    check_all(order()).await;
}

#[tokio::test]
async fn wb_12_the_host_is_not_called_from_realloc_or_post_return() {
    check_all(reentry()).await;
}
