//! Around wrappers: timeouts, retries, metrics.
//!
//! Invariant: a wrapper decides how often and how long the delegated part runs, never on what: it can replace the
//! cancellation signal alone, and the caller's is always fused back in. A success it did not get from this very call passes
//! the tool's output contract again.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::core::{Core, fault};
use super::dispatch;
use super::slot::{Holding, Slot};
use super::steps::Steps;
use super::{CallInfo, Context, ErrorCode, ExecutionToken, ToolError, ToolResult};
use crate::contain::Contained;
use crate::json::Value;
use crate::runtime::BoxFuture;
use crate::tool::Tool;

/// What one attempt came to, or what a wrapper says it did.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub(super) outcome: Result<Origin, ToolError>,
    /// What the body had deferred when the attempt failed.
    pub(super) contexts: Vec<Context>,
    /// Whose attempt it was; `None` where a wrapper made it up.
    pub(super) of: Option<ExecutionToken>,
    /// Whether a wrapper failed on the way, so that no post-execute listener sees the result.
    pub(super) faulty: bool,
}

/// Where a success comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// From the body, and the pipeline has checked it. It is good for the call it was an attempt of only.
    Body(Box<ToolResult>),
    /// From a wrapper.
    Wrapper(Arc<Value>),
}

impl Attempt {
    /// A success that a wrapper makes up, for example from a cache.
    #[must_use]
    pub fn success(value: Value) -> Self {
        Self { outcome: Ok(Origin::Wrapper(Arc::new(value))), contexts: Vec::new(), of: None, faulty: false }
    }

    /// A failure that a wrapper makes up.
    pub fn failure(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { outcome: Err(ToolError::new(code, message)), contexts: Vec::new(), of: None, faulty: false }
    }

    pub(super) fn succeeded(core: &Core, result: ToolResult) -> Self {
        let of = Some(core.call.token.clone());
        Self { outcome: Ok(Origin::Body(Box::new(result))), contexts: Vec::new(), of, faulty: false }
    }

    pub(super) fn failed(core: &Core, error: ToolError, contexts: Vec<Context>) -> Self {
        Self { outcome: Err(error), contexts, of: Some(core.call.token.clone()), faulty: false }
    }

    /// What counts of it in this execution. Of another one's attempt, for example out of a cache, that is the value or the
    /// error alone.
    pub(super) fn within(mut self, core: &Core) -> Self {
        if self.of.as_ref() == Some(&core.call.token) {
            return self;
        }
        self.contexts.clear();
        self.outcome = match self.outcome {
            Ok(Origin::Body(result)) => result.outcome.map(Origin::Wrapper),
            other => other,
        };
        self
    }

    /// The same attempt as a failure. What its body deferred stays.
    pub(super) fn turned_into(self, error: ToolError) -> Self {
        let contexts = match self.outcome {
            Ok(Origin::Body(result)) => result.contexts,
            Ok(Origin::Wrapper(_)) | Err(_) => self.contexts,
        };
        Self { outcome: Err(error), contexts, of: self.of, faulty: self.faulty }
    }

    /// The value of a success.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match &self.outcome {
            Ok(Origin::Body(result)) => result.value(),
            Ok(Origin::Wrapper(value)) => Some(value),
            Err(_) => None,
        }
    }

    /// The error of a failure.
    #[must_use]
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }
}

/// The delegated part: the wrappers after this one, and the body.
pub struct NextAttempt {
    core: Arc<Core>,
    checked: Option<Tool>,
    cancel: CancellationToken,
    index: usize,
}

impl NextAttempt {
    pub(super) fn first(core: Arc<Core>, checked: Option<Tool>) -> Self {
        let cancel = core.call.cancel.clone();
        Self { core, checked, cancel, index: 0 }
    }

    /// Makes an attempt. May be called again when it is over; what the attempt before it deferred is then dropped.
    ///
    /// A call that runs a program runs it once, since what it did cannot be undone: further attempts are
    /// [`Aborted`](super::ErrorCode::Aborted).
    pub async fn run(&mut self) -> Attempt {
        self.delegate(self.cancel.clone()).await
    }

    /// The same, with another cancellation signal beside the caller's.
    pub async fn run_with(&mut self, cancel: &CancellationToken) -> Attempt {
        let fused = self.cancel.child_token();
        let mut attempt = self.delegate(fused.clone());
        tokio::select! {
            biased;
            attempt = &mut attempt => return attempt,
            () = cancel.cancelled() => fused.cancel(),
        }
        attempt.await
    }

    /// Begins the delegated part. What a wrapper holds of the execution is a part of it all the same: it is cancelled and taken to
    /// its end with it, and none begins when it is over. The outermost part is the pipeline's own.
    fn delegate(&self, cancel: CancellationToken) -> BoxFuture<'static, Attempt> {
        if self.index == 0 {
            return self.begin(cancel);
        }
        let (core, next) = (Arc::clone(&self.core), self.at(self.index, cancel.clone()));
        Box::pin(Holding(Slot::new(Steps::default(), |part| async move {
            let cancel = cancel.child_token();
            let _stopped = cancel.clone().drop_guard();
            let aborted = |core: &Core| Attempt::failed(core, core.aborted(), Vec::new());
            let Some(_place) = core.call.token.adopt(&core.call.scope, &cancel, part) else {
                return match core.call.token.own_program() {
                    Some(_) => Attempt::failed(&core, ToolError::program_is_over(), Vec::new()),
                    None => aborted(&core),
                };
            };
            let attempt = core.within_grace(next.begin(cancel.clone()), &cancel).await;
            attempt.unwrap_or_else(|| aborted(&core))
        })))
    }

    fn begin(&self, cancel: CancellationToken) -> BoxFuture<'static, Attempt> {
        let policy = self.core.view.policy();
        let Some(wrapper) = policy.around.get(self.index).cloned() else {
            return Box::pin(dispatch::attempt(Arc::clone(&self.core), self.checked.clone(), cancel));
        };
        let call: Arc<CallInfo> = Arc::clone(&self.core.call);
        let next = self.at(self.index + 1, cancel);
        Box::pin(async move {
            let error = match Contained::new(|| wrapper(call, next)).await {
                Ok(Ok(attempt)) => return attempt,
                Ok(Err(error)) => fault("an around wrapper", Some(error)),
                Err(_) => fault("an around wrapper", None),
            };
            Attempt { outcome: Err(error), contexts: Vec::new(), of: None, faulty: true }
        })
    }

    fn at(&self, index: usize, cancel: CancellationToken) -> Self {
        Self { core: Arc::clone(&self.core), checked: self.checked.clone(), cancel, index }
    }
}

impl fmt::Debug for NextAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextAttempt").field("index", &self.index).finish_non_exhaustive()
    }
}
