//! Work that comes to its end even where whoever holds it neither goes on with it nor lets go of it.
//!
//! Invariant: one at a time polls the work. Once the execution it is a part of takes it over, that execution alone does, and the
//! holder waits for what comes out. When the work is said to be over, nothing of it is left.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker, ready};

use super::core::lock;
use super::steps::Steps;
use crate::contain::quietly;
use crate::runtime::BoxFuture;

/// Work, and what came out of it.
pub(super) struct Slot<T> {
    state: Mutex<State<T>>,
    /// Where the work stops until its holder lets it go on. An owner does not stop.
    steps: Steps,
}

struct State<T> {
    /// `None` while somebody polls it, and when it is over.
    work: Option<BoxFuture<'static, T>>,
    over: bool,
    /// What came out, or what it panicked with, until the holder takes it.
    output: Option<std::thread::Result<T>>,
    /// Whether the owner has taken it over.
    taken: bool,
    holder: Option<Waker>,
    owner: Option<Waker>,
}

/// Who polls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Whoever made the call, or the attempt; or a task in its place.
    Holder,
    /// The execution that it is a part of.
    Owner,
}

/// Work of any kind, for the execution that it is a part of.
pub(super) trait Part: Send + Sync {
    /// Takes the work over, and polls it. Ready once it is over.
    fn take_over(&self, context: &mut Context<'_>) -> Poll<()>;

    /// Leaves it to its holder again.
    fn give_back(&self);
}

impl<T: Send + 'static> Slot<T> {
    /// A slot for the work that `make` makes. Polled for the first time, the work may give the pointer to its owner.
    pub(super) fn new<F>(steps: Steps, make: impl FnOnce(Weak<dyn Part>) -> F) -> Arc<Self>
    where
        F: Future<Output = T> + Send + 'static,
    {
        Arc::new_cyclic(|slot: &Weak<Self>| {
            let part: Weak<dyn Part> = slot.clone();
            let state = State {
                work: Some(Box::pin(make(part)) as BoxFuture<'static, T>),
                over: false,
                output: None,
                taken: false,
                holder: None,
                owner: None,
            };
            Self { state: Mutex::new(state), steps }
        })
    }

    pub(super) fn steps(&self) -> &Steps {
        &self.steps
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.state).over
    }

    /// What came out, once it is over; `None` before, and the second time. Panics where the work did.
    pub(super) fn take_output(&self) -> Option<T> {
        let output = lock(&self.state).output.take()?;
        Some(output.unwrap_or_else(|payload| resume_unwind(payload)))
    }

    /// Polls the work, where it is `side`'s to poll. Ready once it is over.
    pub(super) fn poll_for(&self, side: Side, context: &mut Context<'_>) -> Poll<()> {
        let mut work = match self.begin(side, context.waker()) {
            Ok(work) => work,
            Err(over) => return over,
        };
        let output = match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => {
                self.put_back(side, work);
                return Poll::Pending;
            }
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(payload),
        };
        quietly(|| drop(work));
        let wakers = {
            let mut state = lock(&self.state);
            (state.over, state.output) = (true, Some(output));
            [state.holder.take(), state.owner.take()]
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
        Poll::Ready(())
    }

    /// Takes the work out. `Err` where `side` has nothing to poll now; it is woken when it has, or when the work is over.
    fn begin(&self, side: Side, waker: &Waker) -> Result<BoxFuture<'static, T>, Poll<()>> {
        let mut state = lock(&self.state);
        if state.over {
            return Err(Poll::Ready(()));
        }
        state.taken |= side == Side::Owner;
        let place = if side == Side::Owner { &mut state.owner } else { &mut state.holder };
        // What was there before is other people's code when it is dropped.
        let before = if place.as_ref().is_some_and(|before| before.will_wake(waker)) {
            None
        } else {
            place.replace(waker.clone())
        };
        let mine = side == Side::Owner || !state.taken;
        let work = if mine { state.work.take() } else { None };
        drop(state);
        drop(before);
        work.ok_or(Poll::Pending)
    }

    fn put_back(&self, side: Side, work: BoxFuture<'static, T>) {
        let mut state = lock(&self.state);
        state.work = Some(work);
        // The owner came for it while the holder polled it.
        let waits = if side == Side::Holder && state.taken { state.owner.take() } else { None };
        drop(state);
        waits.into_iter().for_each(Waker::wake);
    }
}

impl<T: Send + 'static> Part for Slot<T> {
    fn take_over(&self, context: &mut Context<'_>) -> Poll<()> {
        self.steps.open_all();
        self.poll_for(Side::Owner, context)
    }

    fn give_back(&self) {
        let holder = {
            let mut state = lock(&self.state);
            state.taken = false;
            state.holder.take()
        };
        holder.into_iter().for_each(Waker::wake);
    }
}

/// An owner at work on a part.
pub(super) struct Takeover(pub(super) Arc<dyn Part>);

impl Future for Takeover {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.take_over(context)
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

/// The holder's end of a slot. Dropping it drops the work where it stands, unless the owner has taken it over.
pub(super) struct Holding<T>(pub(super) Arc<Slot<T>>);

impl<T: Send + 'static> Future for Holding<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        ready!(self.0.poll_for(Side::Holder, context));
        self.0.take_output().map_or(Poll::Pending, Poll::Ready)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The waker of one side, and how often it was woken.
    fn side() -> (Waker, Arc<Woken>) {
        let woken = Arc::<Woken>::default();
        (Arc::clone(&woken).into(), woken)
    }

    fn times(woken: &Woken) -> usize {
        woken.0.load(Ordering::Relaxed)
    }

    #[test]
    fn an_owner_that_comes_while_the_holder_polls_is_woken_when_it_is_done() {
        let (owner, woken) = side();
        let mut polls = 0;
        let slot = Slot::new(Steps::default(), |part| {
            poll_fn(move |_| {
                polls += 1;
                if polls == 1 {
                    // As if on another thread.
                    let part = part.upgrade().expect("it is polled");
                    assert!(part.take_over(&mut Context::from_waker(&owner)).is_pending());
                    return Poll::Pending;
                }
                Poll::Ready(polls)
            })
        });
        let (holder, told) = side();
        let mut context = Context::from_waker(&holder);
        assert!(slot.poll_for(Side::Holder, &mut context).is_pending());
        assert_eq!((times(&woken), times(&told)), (1, 0));
        // It is the owner's now.
        assert!(slot.poll_for(Side::Holder, &mut context).is_pending());
        let (owner, _) = side();
        assert!(slot.take_over(&mut Context::from_waker(&owner)).is_ready());
        assert_eq!((times(&told), slot.take_output(), slot.take_output()), (1, Some(2), None));
        assert!(slot.poll_for(Side::Holder, &mut context).is_ready());
    }

    #[test]
    fn what_an_owner_gives_back_is_the_holders_again() {
        let slot = Slot::new(Steps::default(), |_| pending::<()>());
        let (holder, told) = side();
        let mut context = Context::from_waker(&holder);
        let mut takeover = Takeover(Arc::<Slot<()>>::clone(&slot));
        let (owner, _) = side();
        assert!(Pin::new(&mut takeover).poll(&mut Context::from_waker(&owner)).is_pending());
        assert!(slot.poll_for(Side::Holder, &mut context).is_pending());
        drop(takeover);
        assert_eq!((times(&told), lock(&slot.state).taken), (1, false));
        assert!(slot.poll_for(Side::Holder, &mut context).is_pending());
        assert!(!slot.is_over());
    }

    #[test]
    fn work_that_panics_is_over_and_its_holder_panics() {
        let slot = Slot::new(Steps::default(), |_| async { panic!("on purpose") });
        assert!(slot.take_over(&mut Context::from_waker(Waker::noop())).is_ready());
        let taken = catch_unwind(AssertUnwindSafe(|| slot.take_output()));
        assert_eq!(taken.expect_err("it panics").downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
