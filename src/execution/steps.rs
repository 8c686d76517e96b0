//! Where a call that is made in steps stops until its holder takes the next one.
//!
//! Invariant: a call passes its stops in one order, and none is passed before somebody opened it. Whoever opens one polls the
//! call afterwards, so nobody needs to be woken.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use super::core::lock;
use super::{CallInfo, ToolResult};

/// The stops of a call; `None` for a call that is made in one go.
#[derive(Clone, Default)]
pub(super) struct Steps(Option<Arc<Mutex<Progress>>>);

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// It was begun.
    #[default]
    Begun,
    /// Policy has judged it.
    Prepared,
    /// Its body has settled.
    Dispatched,
    /// Its result is final.
    Finalized,
}

#[derive(Default)]
struct Progress {
    reached: Stop,
    /// The last stop it may pass.
    open: Stop,
    call: Option<Arc<CallInfo>>,
    result: Option<Arc<ToolResult>>,
}

impl Steps {
    /// Stops at each step.
    pub(super) fn staged() -> Self {
        Self(Some(Arc::default()))
    }

    /// Lets the call pass every stop up to this one.
    pub(super) fn open(&self, stop: Stop) {
        if let Some(progress) = &self.0 {
            let mut progress = lock(progress);
            progress.open = progress.open.max(stop);
        }
    }

    pub(super) fn open_all(&self) {
        self.open(Stop::Finalized);
    }

    /// Whether the call has come to this stop.
    pub(super) fn reached(&self, stop: Stop) -> bool {
        self.0.as_ref().is_some_and(|progress| lock(progress).reached >= stop)
    }

    /// The call, once it was prepared.
    pub(super) fn call(&self) -> Option<Arc<CallInfo>> {
        lock(self.0.as_ref()?).call.clone()
    }

    /// The final result, once there is one.
    pub(super) fn result(&self) -> Option<Arc<ToolResult>> {
        lock(self.0.as_ref()?).result.clone()
    }

    /// The call comes to its first stop.
    pub(super) async fn prepared(&self, call: &Arc<CallInfo>) {
        self.pass(Stop::Prepared, |progress| progress.call = Some(Arc::clone(call))).await;
    }

    /// The call comes to its second stop.
    pub(super) async fn dispatched(&self) {
        self.pass(Stop::Dispatched, |_| ()).await;
    }

    /// The call comes to its last stop.
    pub(super) async fn finalized(&self, result: &Arc<ToolResult>) {
        self.pass(Stop::Finalized, |progress| progress.result = Some(Arc::clone(result))).await;
    }

    async fn pass(&self, stop: Stop, note: impl FnOnce(&mut Progress)) {
        let Some(progress) = &self.0 else {
            return;
        };
        {
            let mut progress = lock(progress);
            note(&mut progress);
            progress.reached = stop;
        }
        poll_fn(|_| if lock(progress).open >= stop { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}
