//! From a materialized call to one that may be dispatched: listeners, approval, guards.
//!
//! Invariant: guards come last and can only deny; what anybody denied before stays denied. Cancellation wins over a yes, not
//! over a no. An approval is for the tool that was asked about, and for no other of its name.

use std::sync::Arc;

use super::approval::{approve, denied};
use super::core::{Core, Route, Settled};
use super::materialize::Materialized;
use super::pre_execute::{Decision, listen};
use super::{CallInfo, ErrorCode, ToolError, Verdict};
use crate::contain::contain;
use crate::tool::Tool;

/// How deep calls may nest. Each level holds a pipeline on the stack of the task that polls it.
pub const NESTING_DEPTH_MAX: usize = 16;

/// A call that policy lets through.
pub(super) struct Authorized {
    pub(super) core: Arc<Core>,
    pub(super) checked: Option<Tool>,
}

impl Materialized {
    /// Puts the call before policy.
    pub(super) async fn authorize(self) -> Result<Authorized, Settled> {
        let Self { core, checked } = self;
        match judge(&core, checked.as_ref()).await {
            Ok(()) => Ok(Authorized { core, checked }),
            Err((error, route)) => Err(core.settle_with(error, route).await),
        }
    }
}

async fn judge(core: &Arc<Core>, checked: Option<&Tool>) -> Result<(), (ToolError, Route)> {
    let policy = core.view.policy();
    // Before any listener: one that makes nested calls would otherwise never get here.
    if core.call.token.depth() >= NESTING_DEPTH_MAX {
        let reason = format!("calls nest deeper than {NESTING_DEPTH_MAX} levels");
        return Err((denied(&core.call, &reason), Route::All));
    }
    let decision = if policy.pre_execute.is_empty() {
        Some(Decision::Allow)
    } else {
        tokio::select! {
            biased;
            decision = listen(Arc::clone(core), 0) => Some(decision),
            () = core.call.cancel.cancelled() => None,
        }
    };
    if let Some(fault) = core.take_fault() {
        return Err((fault, Route::SkipPostExecute));
    }
    let aborted = || (ToolError::aborted_before_dispatch(), Route::All);
    match decision {
        None => return Err(aborted()),
        Some(Decision::Deny(reason)) => return Err((denied(&core.call, &reason), Route::All)),
        Some(Decision::Allow) => {}
        Some(Decision::Ask(_)) if core.is_cancelled() => return Err(aborted()),
        Some(Decision::Ask(reason)) => {
            // Nobody is asked about a tool that is not there, nor about another one than the question would show.
            same_tool(core, checked, "before approval was asked").map_err(|error| (error, Route::All))?;
            let answer = tokio::select! {
                biased;
                answer = approve(core, reason) => Some(answer),
                () = core.call.cancel.cancelled() => None,
            };
            match answer {
                None => return Err(aborted()),
                Some(Err(error)) if error.code() == ErrorCode::Internal => {
                    return Err((error, Route::SkipPostExecute));
                }
                Some(Err(error)) => return Err((error, Route::All)),
                Some(Ok(())) => {
                    core.note_approved();
                    same_tool(core, checked, "while approval was asked").map_err(|error| (error, Route::All))?;
                }
            }
        }
    }
    if core.is_cancelled() {
        return Err(aborted());
    }
    for guard in policy.guards.iter() {
        match contain(|| guard(&core.call)) {
            Ok(Verdict::Pass) => {}
            Ok(Verdict::Deny(reason)) => return Err((denied(&core.call, &reason), Route::All)),
            Err(_) => return Err((denied(&core.call, "a guard panicked"), Route::SkipPostExecute)),
        }
    }
    Ok(())
}

/// Whether the name still means the tool the arguments were checked against, which is the one a person is asked about.
fn same_tool(core: &Core, checked: Option<&Tool>, when: &str) -> Result<(), ToolError> {
    let tool = core.tool()?;
    if checked.is_some_and(|checked| checked.is(&tool)) { Ok(()) } else { Err(replaced(&core.call, when)) }
}

/// The error for a call whose tool is another one now than a person was, or would be, asked about.
pub(super) fn replaced(call: &CallInfo, when: &str) -> ToolError {
    denied(call, &format!("the tool was replaced {when}; ask again"))
}
