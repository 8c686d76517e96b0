//! What a guest may tell of unhandled failures, and how much of it is kept.

use hotcell::limits::{UNHANDLED_BYTES_MAX, UNHANDLED_MAX};

use super::rig::{request, run, runtime};

#[tokio::test]
async fn cm_17_unhandled_failures_are_counted_and_the_first_are_kept_cut() {
    let runtime = runtime("unhandled-counted").await;
    for (told, kept) in [(0, 0), (49, 49), (50, 50), (51, 50), (2000, 50)] {
        let outcome = run(&runtime, request(told.to_string())).await;
        assert_eq!(outcome.result.map(|value| value.is_some()), Ok(true));
        assert_eq!((outcome.unhandled.count, outcome.unhandled.failures.len()), (told, kept));
        for failure in &outcome.unhandled.failures {
            assert_eq!(failure.call, None);
            assert!(failure.message.len() <= UNHANDLED_BYTES_MAX, "{} bytes", failure.message.len());
        }
    }
    assert_eq!(UNHANDLED_MAX, 50);
}
