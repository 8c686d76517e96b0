//! What all stages of one call share.
//!
//! Invariant: what is decided at creation (nesting, policy, finalizer) is stored here and never asked again; what may change
//! while a call runs (which tool the name means) is asked here each time, through the one resolver.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::Deferred;
use super::token::Child;
use super::{BoxError, CallInfo, ErrorCode, ToolError, ToolResult};
use crate::contain::contain;
use crate::limits::Limit;
use crate::registry::{Resolved, View};
use crate::runtime::RunFacts;
use crate::tool::Tool;

/// One execution.
pub(super) struct Core {
    pub(super) call: Arc<CallInfo>,
    /// What the scope saw when the call was created. Its policy judges the call.
    pub(super) view: Arc<View>,
    /// Set by the first listener that failed; it decides, whatever the others say. Wrappers may try again, so theirs is in
    /// the attempt.
    fault: Mutex<Option<ToolError>>,
    /// Whether some attempt has started the body.
    started: AtomicBool,
    /// Whether a person approved of the call, and so of the tool it was created for.
    approved: AtomicBool,
    /// What the latest attempt's body defers; shared with that attempt.
    deferred: Mutex<Option<Arc<Mutex<Deferred>>>>,
    /// The place among the parent's children; given back when the call is over.
    child: Mutex<Option<Child>>,
}

/// Which later stages an outcome passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    All,
    /// No post-execute listeners.
    SkipPostExecute,
    /// Neither post-execute listeners nor the finalizer.
    OnlyObservers,
}

/// A call with an outcome. Its token is dead, and nothing it owned runs any more.
pub(super) struct Settled {
    pub(super) core: Arc<Core>,
    pub(super) result: ToolResult,
    pub(super) route: Route,
}

impl Core {
    pub(super) fn new(call: CallInfo, view: Arc<View>, child: Option<Child>) -> Arc<Self> {
        Arc::new(Self {
            call: Arc::new(call),
            view,
            fault: Mutex::default(),
            started: AtomicBool::new(false),
            approved: AtomicBool::new(false),
            deferred: Mutex::default(),
            child: Mutex::new(child),
        })
    }

    /// What the name means now.
    pub(super) fn resolve(&self) -> Resolved {
        self.call.scope.view().resolve(&self.call.name, self.call.nesting)
    }

    /// The tool the name means now, or the error for none.
    pub(super) fn tool(&self) -> Result<Tool, ToolError> {
        match self.resolve() {
            Resolved::Tool(tool) => Ok(tool),
            Resolved::Collapsed | Resolved::Unknown => Err(super::materialize::unknown(&self.call)),
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.call.cancel.is_cancelled()
    }

    /// What there is to tell about the program, where the call was to run one.
    pub(super) fn run_facts(&self) -> Option<Arc<RunFacts>> {
        let guest = self.call.tool.as_ref().and_then(Tool::guest)?;
        let facts = self.call.token.own_program().and_then(|program| program.facts());
        Some(facts.unwrap_or_else(|| Arc::new(RunFacts::none(Arc::clone(guest)))))
    }

    fn grace(&self) -> Duration {
        self.call.scope.shared().limits.duration(Limit::Grace)
    }

    /// When the grace of the call is over. The first stage that sees the cancellation fixes it for all.
    fn deadline(&self) -> Instant {
        self.call.token.deadline(self.grace())
    }

    /// Awaits `future`; once `cancel` is cancelled, for what is left of the grace at most. Where nothing is left, it was polled
    /// once. A part that is told to stop while the call goes on has a grace of its own.
    pub(super) async fn within_grace<F: Future>(
        &self,
        future: F,
        cancel: &CancellationToken,
    ) -> Option<F::Output> {
        let mut future = std::pin::pin!(future);
        tokio::select! {
            biased;
            output = &mut future => return Some(output),
            () = cancel.cancelled() => {}
        }
        let now = Instant::now();
        let deadline = if self.is_cancelled() { self.deadline() } else { now + self.grace() };
        if deadline <= now {
            return None;
        }
        tokio::time::timeout_at(deadline, future).await.ok()
    }

    /// Notes that somebody's code failed in `stage`. The first one counts.
    pub(super) fn note_fault(&self, error: ToolError) {
        lock(&self.fault).get_or_insert(error);
    }

    pub(super) fn take_fault(&self) -> Option<ToolError> {
        lock(&self.fault).take()
    }

    pub(super) fn note_started(&self) {
        self.started.store(true, Ordering::Relaxed);
    }

    pub(super) fn note_approved(&self) {
        self.approved.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_approved(&self) -> bool {
        self.approved.load(Ordering::Relaxed)
    }

    /// The error for a call that was cancelled, before or after its body started.
    pub(super) fn aborted(&self) -> ToolError {
        let started = self.started.load(Ordering::Relaxed);
        if started { ToolError::aborted() } else { ToolError::aborted_before_dispatch() }
    }

    /// A fresh place for what the next attempt's body defers. What the attempt before it deferred is that attempt's alone.
    pub(super) fn open_deferred(&self) -> Arc<Mutex<Deferred>> {
        let fresh = Arc::<Mutex<Deferred>>::default();
        *lock(&self.deferred) = Some(Arc::clone(&fresh));
        fresh
    }

    /// What the latest attempt's body has deferred and not taken itself, for an attempt that was dropped.
    pub(super) fn take_deferred(&self) -> Deferred {
        let current = lock(&self.deferred).take();
        current.map(|current| std::mem::take(&mut *lock(&current))).unwrap_or_default()
    }

    /// Ends the execution: its token dies, and the calls it was lent to are taken to their ends.
    pub(super) async fn settle(self: Arc<Self>, result: ToolResult, route: Route) -> Settled {
        self.call.token.kill();
        if self.call.token.has_children() {
            let mut over = std::pin::pin!(self.call.token.take_over());
            // What is below shares the grace of a call that was cancelled, so it must be known from when on.
            tokio::select! {
                biased;
                () = self.call.cancel.cancelled() => {
                    self.deadline();
                    over.await;
                }
                () = &mut over => {}
            }
        }
        Settled { core: self, result, route }
    }

    /// Gives back the place among the parent's children, whoever still holds the core.
    pub(super) fn leave(&self) {
        let child = lock(&self.child).take();
        drop(child);
    }

    /// Ends the execution with an error.
    pub(super) async fn settle_with(self: Arc<Self>, error: ToolError, route: Route) -> Settled {
        let result = self.call.failure(error);
        self.settle(result, route).await
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Reached alive only where the executor itself went away in the middle of a call.
        self.call.token.kill();
    }
}

/// The error for a listener or wrapper that failed or panicked.
pub(super) fn fault(stage: &str, error: Option<BoxError>) -> ToolError {
    // To show an error and to drop it are other people's code as well.
    match error.and_then(|error| contain(move || error.to_string()).ok()) {
        Some(error) => ToolError::new(ErrorCode::PolicyFailed, format!("{stage} failed: {error}")),
        None => ToolError::panicked(stage),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
