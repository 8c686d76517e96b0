//! A future that is finished even where nobody waits for it.
//!
//! Invariant: once it has been polled, the work is driven to its end: by whoever polls it, or, when it is dropped before, by
//! a task of its own, after cancelling it; or, where a parent owns it, by the parent.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::ToolResult;
use super::slot::{Side, Slot};
use crate::runtime::BoxFuture;

/// A call, or a step of one. Does nothing until it is polled, inside a tokio runtime with timers.
///
/// # Cancellation
/// Dropping it after it was polled equals cancelling the call: a task of its own takes it to its one result, which the
/// observers get.
///
/// A nested call that is still held when its parent's dispatch is over, neither polled nor dropped, is cancelled and taken to its
/// result by the parent, which waits for it. The holder may go on afterwards, and gets that result.
#[must_use = "a call does nothing until it is awaited"]
pub struct Driven<T: Send + 'static>(Work<T>);

enum Work<T: Send + 'static> {
    Own(Own<T>),
    Shared(Held, Ready<T>),
    Over,
}

/// What comes of a call that has got so far; the call itself where it has not.
type Ready<T> = fn(Held) -> Result<T, Held>;

/// A direct call, which nobody else drives.
struct Own<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    cancel: CancellationToken,
    /// Where to finish; known from the first poll on.
    runtime: Option<Handle>,
}

/// A call that somebody else may have to finish: its parent, or the holder of another step.
pub(super) struct Held {
    slot: Arc<Slot<Arc<ToolResult>>>,
    cancel: CancellationToken,
    runtime: Option<Handle>,
}

impl<T: Send + 'static> Driven<T> {
    pub(super) fn own(cancel: CancellationToken, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Work::Own(Own { work: Some(Box::pin(work)), cancel, runtime: None }))
    }

    /// Drives a call until it is `ready`.
    pub(super) fn shared(held: Held, ready: Ready<T>) -> Self {
        Self(Work::Shared(held, ready))
    }
}

impl<T: Send + 'static> Future for Driven<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Work::Own(own) => return own.poll(context),
            Work::Shared(held, _) => held.poll(context),
            Work::Over => return Poll::Pending,
        }
        let Work::Shared(held, ready) = std::mem::replace(&mut self.0, Work::Over) else {
            return Poll::Pending;
        };
        ready(held).map_or_else(
            |held| {
                self.0 = Work::Shared(held, ready);
                Poll::Pending
            },
            Poll::Ready,
        )
    }
}

impl<T: Send + 'static> Own<T> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<T> {
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

impl<T: Send + 'static> Drop for Own<T> {
    fn drop(&mut self) {
        if let (Some(work), Some(runtime)) = (self.work.take(), self.runtime.take()) {
            self.cancel.cancel();
            runtime.spawn(work);
        }
    }
}

impl Held {
    pub(super) fn new(slot: Arc<Slot<Arc<ToolResult>>>, cancel: CancellationToken) -> Self {
        Self { slot, cancel, runtime: None }
    }

    pub(super) fn slot(&self) -> &Slot<Arc<ToolResult>> {
        &self.slot
    }

    fn poll(&mut self, context: &mut Context<'_>) {
        if self.runtime.is_none() {
            self.runtime = Handle::try_current().ok();
        }
        // How far it came is in the slot.
        let _over = self.slot.poll_for(Side::Holder, context);
    }

    /// Takes what is left of the call, where nothing of it waits.
    pub(super) fn finish_here(&mut self) {
        self.slot.steps().open_all();
        self.poll(&mut Context::from_waker(Waker::noop()));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take().filter(|_| !self.slot.is_over()) else {
            return;
        };
        self.cancel.cancel();
        self.slot.steps().open_all();
        let slot = Arc::clone(&self.slot);
        runtime.spawn(poll_fn(move |context| slot.poll_for(Side::Holder, context)));
    }
}

impl<T: Send + 'static> fmt::Debug for Driven<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = match &self.0 {
            Work::Own(own) => own.work.is_none(),
            Work::Shared(held, _) => held.slot.is_over(),
            Work::Over => true,
        };
        f.debug_struct("Driven").field("finished", &finished).finish_non_exhaustive()
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(&self.slot.steps().call().map(|call| call.id().to_owned())).finish()
    }
}
