//! The only file that reads clocks.
//!
//! Invariant: what a guest is told passes through [`coarse`]; what budgets are judged by does not.

#![expect(clippy::disallowed_methods, reason = "the one place where time enters")]

#[cfg(any(feature = "wasm", test))]
use std::time::Duration;
use std::time::Instant;
#[cfg(feature = "wasm")]
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(any(feature = "wasm", test))]
use crate::limits::CLOCK_STEP;

/// The monotonic clock, for measuring.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The clock that timers go by.
pub(crate) fn timer_now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Nanoseconds since the Unix epoch, in coarse steps; 0 on a machine whose clock stands before it.
#[cfg(feature = "wasm")]
pub(crate) fn wall_nanoseconds() -> u64 {
    coarse(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Nanoseconds since `start`, in coarse steps.
#[cfg(feature = "wasm")]
pub(crate) fn nanoseconds_since(start: Instant) -> u64 {
    coarse(start.elapsed())
}

/// `duration` in nanoseconds, rounded down to whole steps of [`CLOCK_STEP`].
#[cfg(any(feature = "wasm", test))]
fn coarse(duration: Duration) -> u64 {
    let steps = duration.as_nanos() / CLOCK_STEP.as_nanos();
    u64::try_from(steps * CLOCK_STEP.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_see_whole_steps_only() {
        let step = u64::try_from(CLOCK_STEP.as_nanos()).expect("a step is short");
        assert_eq!(coarse(Duration::ZERO), 0);
        assert_eq!(coarse(CLOCK_STEP - Duration::from_nanos(1)), 0);
        assert_eq!(coarse(CLOCK_STEP), step);
        assert_eq!(coarse(CLOCK_STEP * 3 + Duration::from_nanos(1)), 3 * step);
        assert_eq!(coarse(Duration::MAX), u64::MAX);
    }
}
