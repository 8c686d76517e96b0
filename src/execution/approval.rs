//! Asking a person.
//!
//! Invariant: silence is a no. Without a service, without a caller, after the limit `approval`, and when the service fails,
//! the call is denied, with a reason that tells a person's no from a missing channel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::core::Core;
use super::{CallInfo, Caller, ErrorCode, ToolError};
use crate::contain::Contained;
use crate::json::clip;
use crate::limits::Limit;
use crate::runtime::BoxFuture;

/// What a person is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call.
    pub call: Arc<CallInfo>,
    /// Why a listener wants approval, where it said so.
    pub reason: Option<String>,
    /// The route to who is asked.
    pub caller: Caller,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every answer needs its own sentence for the model")]
pub enum ApprovalAnswer {
    /// Yes, this once.
    AllowedOnce,
    /// No, with what the person said.
    Rejected(Option<String>),
    /// The question was withdrawn or dismissed.
    Cancelled,
    /// Nobody answered in time.
    TimedOut,
    /// Nobody can be asked, for this reason.
    Unavailable(String),
}

/// Asks people. One service serves a whole registry; whom to ask is in [`ApprovalRequest::caller`].
pub trait ApprovalService: Send + Sync {
    /// Asks, and waits for the answer. The future is dropped when the call is cancelled and when the limit `approval` has
    /// passed.
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer>;
}

/// Asks for approval of a call, and gives the error for any answer but yes.
pub(super) async fn approve(core: &Core, reason: Option<String>) -> Result<(), ToolError> {
    let shared = core.call.scope.shared();
    let Some(service) = &shared.approval else {
        return Err(denied(
            &core.call,
            "it needs approval, and nobody can be asked: there is no approval service",
        ));
    };
    let Some(caller) = core.call.caller().cloned() else {
        return Err(denied(&core.call, "it needs approval, and nobody can be asked: the call has no caller"));
    };
    let asked_because = reason.clone();
    let request = ApprovalRequest { call: Arc::clone(&core.call), reason, caller };
    let panicked = AtomicBool::new(false);
    let ask = async {
        let asked = Contained::new(|| service.request(request));
        match tokio::time::timeout(shared.limits.duration(Limit::Approval), asked).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                panicked.store(true, Ordering::Relaxed);
                ApprovalAnswer::Cancelled
            }
            Err(_) => ApprovalAnswer::TimedOut,
        }
    };
    let answer = match core.call.token.program() {
        Some(program) => program.question(&core.call, asked_because, Box::pin(ask)).await,
        None => ask.await,
    };
    if panicked.into_inner() {
        return Err(ToolError::panicked("the approval service"));
    }
    let reason = match answer {
        ApprovalAnswer::AllowedOnce => return Ok(()),
        ApprovalAnswer::Rejected(None) => "a person said no".to_owned(),
        ApprovalAnswer::Rejected(Some(words)) => format!("a person said no: {words}"),
        ApprovalAnswer::Cancelled => "the question for approval was dismissed without an answer".to_owned(),
        ApprovalAnswer::TimedOut => {
            let waited = Limit::Approval.display(shared.limits.get(Limit::Approval));
            format!("it needs approval, and nobody answered within {waited}, the limit `approval`")
        }
        ApprovalAnswer::Unavailable(why) => format!("it needs approval, and nobody can be asked: {why}"),
    };
    Err(denied(&core.call, &reason))
}

/// The error for a call that policy does not let through.
pub(super) fn denied(call: &CallInfo, reason: &str) -> ToolError {
    ToolError::new(ErrorCode::Denied, format!("the call of `{}` was denied: {reason}", clip(&call.name, 80)))
}
