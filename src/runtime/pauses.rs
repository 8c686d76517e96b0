//! A wall clock that stops while somebody else has the word: a person who is asked for approval.
//!
//! Invariant: overlapping pauses count once, and together they never stop the clock for longer than the limit `approval`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock;
use crate::limits::{Limit, Limits};

/// The pauses of one run. Cloning it clones a pointer.
#[derive(Clone, Debug)]
pub struct Pauses(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many pauses last.
    lasting: usize,
    /// Since when there has been one.
    since: Option<Instant>,
    /// What the pauses before that took.
    used: Duration,
}

/// A pause. It lasts until it is dropped.
#[derive(Debug)]
#[must_use = "the pause ends when it is dropped"]
pub struct Pause(Pauses);

impl Pauses {
    /// No pause yet; all together may take as long as the limit `approval` says.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self(Arc::new(Inner { max: limits.duration(Limit::Approval), state: Mutex::default() }))
    }

    /// Begins a pause.
    pub fn begin(&self) -> Pause {
        let mut state = self.state();
        state.lasting += 1;
        state.since.get_or_insert_with(clock::timer_now);
        Pause(self.clone())
    }

    /// For how long the clock has stood.
    #[must_use]
    pub fn used(&self) -> Duration {
        let state = self.state();
        let current = state.since.map_or(Duration::ZERO, |since| clock::timer_now() - since);
        state.used.saturating_add(current).min(self.0.max)
    }

    /// For how much longer it may stand.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.0.max.saturating_sub(self.used())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.lasting -= 1;
        if state.lasting == 0
            && let Some(since) = state.since.take()
        {
            state.used = state.used.saturating_add(clock::timer_now() - since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(milliseconds: u64) -> Pauses {
        Pauses::new(&Limits::default().with(Limit::Approval, milliseconds).expect("in bounds"))
    }

    async fn pass(milliseconds: u64) {
        tokio::time::advance(Duration::from_millis(milliseconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn rt_05_overlapping_pauses_count_once() {
        let pauses = pauses(100);
        pass(5).await;
        let first = pauses.begin();
        pass(10).await;
        let second = pauses.begin();
        pass(10).await;
        drop(first);
        pass(10).await;
        assert_eq!(pauses.used(), Duration::from_millis(30));
        drop(second);
        pass(50).await;
        assert_eq!((pauses.used(), pauses.left()), (Duration::from_millis(30), Duration::from_millis(70)));
        let third = pauses.begin();
        pass(1).await;
        drop(third);
        assert_eq!(pauses.used(), Duration::from_millis(31));
    }

    #[tokio::test(start_paused = true)]
    async fn rt_05_pauses_stop_the_clock_up_to_the_limit() {
        let pauses = pauses(10);
        let _pause = pauses.begin();
        pass(9).await;
        assert_eq!((pauses.used(), pauses.left()), (Duration::from_millis(9), Duration::from_millis(1)));
        pass(1).await;
        assert_eq!((pauses.used(), pauses.left()), (Duration::from_millis(10), Duration::ZERO));
        pass(1).await;
        assert_eq!((pauses.used(), pauses.left()), (Duration::from_millis(10), Duration::ZERO));
    }
}
