//! The flow of a call. [`run`] is all of it.
//!
//! Invariant: there is one pipeline, whoever calls and in however many steps. A call that was begun is finished: each step
//! that is dropped instead of taken is taken by a task of its own, after cancelling the call, and what is held beyond the end of
//! its parent is taken to its end by the parent.

use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use super::core::Settled;
use super::driven::{Driven, Held};
use super::guard::Authorized;
use super::materialize::materialize;
use super::slot::{Part, Slot};
use super::steps::{Steps, Stop};
use super::{CallInfo, CallRequest, ToolResult};
use crate::registry::Scope;

/// All stages of a call.
async fn run(
    scope: Scope,
    request: CallRequest,
    cancel: CancellationToken,
    part: Option<Weak<dyn Part>>,
    steps: Steps,
) -> Arc<ToolResult> {
    let prepared = prepare(scope, request, cancel, part).await;
    steps.prepared(call(&prepared)).await;
    let settled = match prepared {
        Ok(authorized) => authorized.dispatch().await,
        Err(settled) => settled,
    };
    steps.dispatched().await;
    let last = settled.post_execute().await.finalize();
    steps.finalized(last.result()).await;
    last.publish()
}

async fn prepare(
    scope: Scope,
    request: CallRequest,
    cancel: CancellationToken,
    part: Option<Weak<dyn Part>>,
) -> Result<Authorized, Settled> {
    materialize(scope, request, cancel, part).await?.authorize().await
}

fn call(prepared: &Result<Authorized, Settled>) -> &Arc<CallInfo> {
    match prepared {
        Ok(authorized) => &authorized.core.call,
        Err(settled) => &settled.core.call,
    }
}

/// A call that its parent can take over, and whose holder can stop it between its steps.
fn held(scope: Scope, request: CallRequest, steps: Steps) -> Held {
    let cancel = request.cancel.child_token();
    let (signal, stops) = (cancel.clone(), steps.clone());
    Held::new(Slot::new(steps, |part| run(scope, request, signal, Some(part), stops)), cancel)
}

impl Scope {
    /// Makes a call and takes it to its one result. A failure is a result too.
    ///
    /// # Cancellation
    /// Cancelling the request's token ends the call within the limit `grace`; so does dropping the future, and a task of
    /// its own then takes the call to its result, which observers see. The grace is one, from the moment the call sees the
    /// cancellation, for the body, the wrappers, the nested calls and the post-execute listeners together: who comes when it is used
    /// up is polled once and dropped. A failure then stays what it is; a success that its listeners did not come to accept is
    /// [`Aborted`](super::ErrorCode::Aborted). A call that runs a program has a second grace after that of the program's calls, so
    /// that it comes back with what the program did.
    pub fn call(&self, request: CallRequest) -> Driven<Arc<ToolResult>> {
        if request.parent.is_some() {
            return Driven::shared(held(self.clone(), request, Steps::default()), |held| {
                held.slot().take_output().ok_or(held)
            });
        }
        let cancel = request.cancel.child_token();
        Driven::own(cancel.clone(), run(self.clone(), request, cancel, None, Steps::default()))
    }

    /// The first of four steps, for schedulers: creates the call and puts it before policy.
    ///
    /// Steps of different calls may interleave. A scheduler that wants listeners to see one call at a time runs `prepare`,
    /// `finalize` and `finish` one after another and overlaps `dispatch` alone; [`Scheduler`](super::Scheduler) does.
    pub fn prepare(&self, request: CallRequest) -> Driven<Prepared> {
        Driven::shared(held(self.clone(), request, Steps::staged()), |held| match held.slot().steps().call() {
            Some(call) => Ok(Prepared { held, call }),
            None => Err(unfinished(held)),
        })
    }
}

/// A call that has not come to the step yet. Panics where it never will, because it panicked.
fn unfinished(held: Held) -> Held {
    held.slot().take_output();
    held
}

/// A call that was put before policy.
#[must_use = "dropping a prepared call cancels it"]
#[derive(Debug)]
pub struct Prepared {
    held: Held,
    call: Arc<CallInfo>,
}

impl Prepared {
    /// The second step: the wrappers and the body. Nothing is left to do where policy refused the call.
    pub fn dispatch(self) -> Driven<Dispatched> {
        self.held.slot().steps().open(Stop::Prepared);
        Driven::shared(self.held, |held| {
            if held.slot().steps().reached(Stop::Dispatched) {
                Ok(Dispatched(held))
            } else {
                Err(unfinished(held))
            }
        })
    }

    pub(super) fn call(&self) -> &Arc<CallInfo> {
        &self.call
    }
}

/// A call whose body has settled.
#[must_use = "a dropped call is finished by a task of its own"]
#[derive(Debug)]
pub struct Dispatched(Held);

impl Dispatched {
    /// The third step: post-execute listeners and the finalizer.
    pub fn finalize(self) -> Driven<Finalized> {
        self.0.slot().steps().open(Stop::Dispatched);
        Driven::shared(self.0, |held| match held.slot().steps().result() {
            Some(result) => Ok(Finalized { held, result }),
            None => Err(unfinished(held)),
        })
    }
}

/// A call whose result is final.
#[must_use = "a dropped call is finished where it is dropped"]
#[derive(Debug)]
pub struct Finalized {
    held: Held,
    result: Arc<ToolResult>,
}

impl Finalized {
    /// The last step: observers get the result.
    #[must_use]
    pub fn finish(self) -> Arc<ToolResult> {
        Arc::clone(&self.result)
    }
}

impl Drop for Finalized {
    fn drop(&mut self) {
        self.held.finish_here();
    }
}
