//! Keeping the panics of other people's code out of ours.
//!
//! Invariant: whatever a closure or a future does when it is made, polled or dropped, the caller gets [`Panicked`] and goes
//! on. What the panic carried is dropped here, since its own drop may panic too.

use std::any::Any;
use std::future::Future;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Somebody's code panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs `work` to its end or to its panic.
pub(crate) fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(discard)
}

/// Runs `work`; whether it panicked does not matter.
pub(crate) fn quietly(work: impl FnOnce()) {
    contain(work).unwrap_or_default();
}

/// Drops a panic's payload, whose own drop may panic.
pub(crate) fn discard(payload: Box<dyn Any + Send>) -> Panicked {
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // A payload that panics when dropped is leaked rather than given another chance.
        Box::leak(second);
    }
    Panicked
}

/// A future whose panics are contained, those of its drop included.
pub(crate) struct Contained<F>(Option<Pin<Box<F>>>);

impl<F: Future> Contained<F> {
    /// Makes the future by calling `make`, which may panic as well.
    pub(crate) fn new(make: impl FnOnce() -> F) -> Self {
        Self(contain(make).ok().map(Box::pin))
    }

    fn finish(&mut self) {
        quietly(|| drop(self.0.take()));
    }
}

impl<F: Future> Future for Contained<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = self.0.as_mut() else {
            return Poll::Ready(Err(Panicked));
        };
        match contain(|| future.as_mut().poll(context)) {
            Ok(Poll::Pending) => Poll::Pending,
            // What came out is kept even where the empty future panics on its way out.
            Ok(Poll::Ready(output)) => {
                self.finish();
                Poll::Ready(Ok(output))
            }
            Err(panicked) => {
                self.finish();
                Poll::Ready(Err(panicked))
            }
        }
    }
}

impl<F> Drop for Contained<F> {
    fn drop(&mut self) {
        quietly(|| drop(self.0.take()));
    }
}

/// Somebody's value, kept for them. A panic of its drop is contained.
pub(crate) struct Quiet<T>(Option<T>);

impl<T> Quiet<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> Deref for Quiet<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => unreachable!("only its drop takes it out"),
        }
    }
}

impl<T> Drop for Quiet<T> {
    fn drop(&mut self) {
        quietly(|| drop(self.0.take()));
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, pending, ready};

    use super::*;

    /// Panics when dropped.
    struct Spiteful;

    impl Drop for Spiteful {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[tokio::test]
    async fn a_panic_is_contained_wherever_it_happens() {
        assert_eq!(Contained::new(|| ready(1)).await, Ok(1));
        assert_eq!(Contained::new(|| -> Ready<()> { panic!("made") }).await, Err(Panicked));
        assert_eq!(Contained::new(|| async { panic!("polled") }).await, Err::<(), _>(Panicked));
        drop(Contained::new(|| async {
            let _kept = Spiteful;
            pending::<()>().await;
        }));
        let mut started = Box::pin(Contained::new(|| async {
            let _kept = Spiteful;
            pending::<()>().await;
        }));
        assert!(futures_util::poll!(&mut started).is_pending());
        drop(started);
    }

    #[test]
    fn a_value_that_is_kept_for_somebody_drops_quietly() {
        drop(Quiet::new(Spiteful));
        drop([Quiet::new((1, Spiteful)), Quiet::new((2, Spiteful))]);
        assert_eq!(*Quiet::new(3), 3);
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_leaked() {
        assert_eq!(contain(|| std::panic::panic_any(Spiteful)), Err::<(), _>(Panicked));
    }
}
