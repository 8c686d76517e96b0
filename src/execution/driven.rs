//! A future that is finished even where nobody waits for it.
//!
//! Invariant: once it has been polled, the work is driven to its end: by whoever polls it, or, when it is dropped before, by
//! a task of its own, after cancelling it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::runtime::BoxFuture;

/// A call, or a step of one. Does nothing until it is polled, inside a tokio runtime with timers.
///
/// # Cancellation
/// Dropping it after it was polled equals cancelling the call: a task of its own takes it to its one result, which the
/// observers get.
#[must_use = "a call does nothing until it is awaited"]
pub struct Driven<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    cancel: CancellationToken,
    /// Where to finish; known from the first poll on.
    runtime: Option<Handle>,
}

impl<T: Send + 'static> Driven<T> {
    pub(super) fn new(cancel: CancellationToken, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), cancel, runtime: None }
    }
}

impl<T: Send + 'static> Future for Driven<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if self.runtime.is_none() {
            self.runtime = Handle::try_current().ok();
        }
        let Some(work) = self.work.as_mut() else {
            return Poll::Pending;
        };
        let ready = std::task::ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(ready)
    }
}

impl<T: Send + 'static> Drop for Driven<T> {
    fn drop(&mut self) {
        if let (Some(work), Some(runtime)) = (self.work.take(), self.runtime.take()) {
            self.cancel.cancel();
            // Its output is dropped where it ends, which drives the next step of a staged call.
            runtime.spawn(async move { drop(work.await) });
        }
    }
}

impl<T: Send + 'static> fmt::Debug for Driven<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driven").field("finished", &self.work.is_none()).finish_non_exhaustive()
    }
}
