//! JSON that cannot cross: an error value for arguments, `invalid-output` for results.

use hotcell::limits::Limit;
use hotcell::runtime::FailureKind;

use super::super::rig::over;
use super::{Case, check_all, completes, exits, fails};

const ARGUMENTS: &str = "the arguments are not JSON that can cross without loss: ";
const RESULT: &str = "the guest's result is not JSON that can cross without loss: ";

/// Texts that are refused, and why.
fn lossy() -> Vec<(String, String)> {
    let of = |text: &str, why: &str| (text.to_owned(), why.to_owned());
    vec![
        of("", "expected a value, found the end of the text at $ (byte 0)"),
        of("NaN", "expected a value, found \"N\" at $ (byte 0)"),
        of("[1] 2", "expected the end of the text, found \"2\" at $ (byte 4)"),
        of("{\"a\":{\"b\":1,\"b\":2}}", "duplicate key at $.a.b (byte 12)"),
        of("[\"\\ud800\"]", "lone surrogate \\ud800 at $[0] (byte 2)"),
        of("[1e400]", "float 1e400 is beyond 1.7976931348623157e308, the largest binary64 at $[0] (byte 1)"),
        (
            format!("[-{}]", "9".repeat(4097)),
            "integer of 4097 digits is longer than 4096 digits at $[0] (byte 1)".to_owned(),
        ),
        (format!("{}{}", "[".repeat(513), "]".repeat(513)), deep(513)),
        ("[".repeat(100_000), deep(100_000)),
    ]
}

/// Why arrays nested this deeply are refused. The path loses its middle.
fn deep(_levels: usize) -> String {
    format!("nesting deeper than 512 levels at ${}…{} (byte 512)", "[0]".repeat(32), "[0]".repeat(32))
}

pub(super) fn arguments() -> Vec<Case> {
    let mut cases: Vec<Case> = lossy()
        .into_iter()
        .map(|(text, why)| completes("json-arguments", "1").program(text).logs([format!("{ARGUMENTS}{why}")]))
        .collect();
    let kept = ["{\"b\":1,\"a\":[-0.0,1.0,1e300]}".to_owned(), "9".repeat(4096), nested(512)];
    cases.extend(kept.map(|text| completes("json-arguments", &text).program(&*text)));
    cases.push(completes("json-deep-arguments", "1").logs([format!("{ARGUMENTS}{}", deep(100_000))]));
    cases
}

pub(super) fn results() -> Vec<Case> {
    let mut cases: Vec<Case> = lossy()
        .into_iter()
        .map(|(text, why)| {
            fails("json-result", FailureKind::InvalidOutput, format!("{RESULT}{why}")).program(text)
        })
        .collect();
    let kept = ["{\"b\":1,\"a\":[-0.0,1.0,1e300]}".to_owned(), "9".repeat(4096), nested(512)];
    cases.extend(kept.map(|text| completes("json-result", &text).program(&*text)));
    let wide = format!("[{}{{}}]", "{},".repeat(9_999));
    cases.extend([
        fails("json-deep-result", FailureKind::InvalidOutput, format!("{RESULT}{}", deep(100_000))),
        // 30,000 bytes of text, a hundred times that as a tree.
        completes("json-result", &wide).program(&*wide),
        exits("json-result", over(Limit::HostMemory, "1MiB")).program(wide).limit(Limit::HostMemory, 1 << 20),
    ]);
    cases
}

fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

#[tokio::test]
async fn wb_03_arguments_that_lose_something_are_an_error_value() {
    check_all(arguments()).await;
}

#[tokio::test]
async fn wb_03_results_that_lose_something_are_invalid_output() {
    check_all(results()).await;
}
