//! The flow of a call. [`run`] is all of it.
//!
//! Invariant: there is one pipeline, whoever calls and in however many steps. A call that was begun is finished: each step
//! that is dropped instead of taken is taken by a task of its own, after cancelling the call.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::core::{Core, Settled};
use super::driven::Driven;
use super::finalize::Final;
use super::guard::Authorized;
use super::materialize::materialize;
use super::{CallRequest, ToolResult};
use crate::registry::Scope;

/// All stages of a call.
async fn run(scope: Scope, request: CallRequest, cancel: CancellationToken) -> Arc<ToolResult> {
    let settled = match prepare(scope, request, cancel).await {
        Ok(authorized) => authorized.dispatch().await,
        Err(settled) => settled,
    };
    finish(settled).await
}

async fn prepare(scope: Scope, request: CallRequest, cancel: CancellationToken) -> Result<Authorized, Settled> {
    materialize(scope, request, cancel).await?.authorize().await
}

async fn finish(settled: Settled) -> Arc<ToolResult> {
    settled.post_execute().await.finalize().publish()
}

impl Scope {
    /// Makes a call and takes it to its one result. A failure is a result too.
    ///
    /// # Cancellation
    /// Cancelling the request's token ends the call within the limit `grace`; so does dropping the future, and a task of
    /// its own then takes the call to its result, which observers see.
    pub fn call(&self, request: CallRequest) -> Driven<Arc<ToolResult>> {
        let cancel = request.cancel.child_token();
        Driven::new(cancel.clone(), run(self.clone(), request, cancel))
    }

    /// The first of four steps, for schedulers: creates the call and puts it before policy.
    ///
    /// Steps of different calls may interleave. A scheduler that wants listeners to see one call at a time runs `prepare`,
    /// `finalize` and `finish` one after another and overlaps `dispatch` alone; [`Scheduler`](super::Scheduler) does.
    pub fn prepare(&self, request: CallRequest) -> Driven<Prepared> {
        let cancel = request.cancel.child_token();
        let scope = self.clone();
        Driven::new(cancel.clone(), async move { Prepared(Held::new(prepare(scope, request, cancel).await)) })
    }
}

/// A call that was put before policy.
#[must_use = "dropping a prepared call cancels it"]
#[derive(Debug)]
pub struct Prepared(Held<Result<Authorized, Settled>>);

impl Prepared {
    /// The second step: the wrappers and the body. Nothing is left to do where policy refused the call.
    pub fn dispatch(self) -> Driven<Dispatched> {
        self.0.step(|prepared| async move {
            Dispatched(Held::new(match prepared {
                Ok(authorized) => authorized.dispatch().await,
                Err(settled) => settled,
            }))
        })
    }
}

/// A call whose body has settled.
#[must_use = "a dropped call is finished by a task of its own"]
#[derive(Debug)]
pub struct Dispatched(Held<Settled>);

impl Dispatched {
    /// The third step: post-execute listeners and the finalizer.
    pub fn finalize(self) -> Driven<Finalized> {
        self.0.step(|settled| async move { Finalized(settled.post_execute().await.finalize()) })
    }
}

/// A call whose result is final.
#[must_use = "a dropped call is finished where it is dropped"]
#[derive(Debug)]
pub struct Finalized(Final);

impl Finalized {
    /// The last step: observers get the result.
    #[must_use]
    pub fn finish(self) -> Arc<ToolResult> {
        self.0.publish()
    }
}

/// A step that somebody holds between two stages, and where to finish when it is dropped.
struct Held<S: Step>(Option<S>, Option<Handle>);

/// What is left of a call.
trait Step: Sized + Send + 'static {
    fn core(&self) -> &Core;

    fn rest(self) -> impl Future<Output = Arc<ToolResult>> + Send + 'static;
}

impl Step for Result<Authorized, Settled> {
    fn core(&self) -> &Core {
        match self {
            Ok(authorized) => &authorized.core,
            Err(settled) => &settled.core,
        }
    }

    async fn rest(self) -> Arc<ToolResult> {
        match self {
            Ok(authorized) => finish(authorized.dispatch().await).await,
            Err(settled) => finish(settled).await,
        }
    }
}

impl Step for Settled {
    fn core(&self) -> &Core {
        &self.core
    }

    fn rest(self) -> impl Future<Output = Arc<ToolResult>> + Send + 'static {
        finish(self)
    }
}

impl<S: Step> Held<S> {
    fn new(step: S) -> Self {
        Self(Some(step), Handle::try_current().ok())
    }

    /// Goes on with `work`. Until it is polled, dropping it is dropping the step.
    fn step<T, F>(mut self, work: impl FnOnce(S) -> F + Send + 'static) -> Driven<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send,
    {
        let cancel = self.0.as_ref().map(|step| step.core().call.cancel.clone()).unwrap_or_default();
        Driven::new(cancel, async move {
            match self.0.take() {
                Some(step) => work(step).await,
                None => std::future::pending().await,
            }
        })
    }
}

impl<S: Step> Drop for Held<S> {
    fn drop(&mut self) {
        if let (Some(step), Some(runtime)) = (self.0.take(), self.1.take()) {
            step.core().call.cancel.cancel();
            runtime.spawn(step.rest());
        }
    }
}

impl<S: Step> fmt::Debug for Held<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").field(&self.0.as_ref().map(|step| &step.core().call.id)).finish()
    }
}
