//! Pre-execute listeners: an async chain that allows, denies, or asks for approval.
//!
//! Invariant: a listener sees the arguments and cannot change them; one that fails or panics ends the call, and no other
//! listener can hide that.

use std::fmt;
use std::sync::Arc;

use super::CallInfo;
use super::core::{Core, fault};
use crate::contain::Contained;
use crate::runtime::BoxFuture;

/// What a listener decides.
///
/// It decides for the listeners after it as well: one that returns a decision of its own without awaiting
/// [`NextPreExecute::run`] ends the chain, and they are not asked. A listener with nothing to say returns what that gives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a chain must understand every decision")]
pub enum Decision {
    /// Nothing stands against the call, whatever listeners after this one would have said: they are not asked, unless
    /// this is what [`NextPreExecute::run`] gave. Approval is not asked for either; guards still are.
    Allow,
    /// The call is denied, for this reason.
    Deny(String),
    /// A person shall decide, for this reason.
    Ask(Option<String>),
}

impl Decision {
    /// A denial.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(reason.into())
    }

    /// A question.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask(Some(reason.into()))
    }
}

/// The listeners after this one. They are asked by [`run`](Self::run) alone: dropped, it ends the chain here.
pub struct NextPreExecute {
    core: Arc<Core>,
    index: usize,
}

impl NextPreExecute {
    /// Asks them. Gives what they decide; [`Decision::Allow`] after the last one.
    pub async fn run(self) -> Decision {
        listen(self.core, self.index).await
    }
}

impl fmt::Debug for NextPreExecute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextPreExecute").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Asks the listeners from `index` on. A fault is noted in the core and reads as a denial to those before it.
pub(super) fn listen(core: Arc<Core>, index: usize) -> BoxFuture<'static, Decision> {
    let Some(listener) = core.view.policy().pre_execute.get(index).cloned() else {
        return Box::pin(std::future::ready(Decision::Allow));
    };
    let call: Arc<CallInfo> = Arc::clone(&core.call);
    let next = NextPreExecute { core: Arc::clone(&core), index: index + 1 };
    Box::pin(async move {
        let failed = match Contained::new(|| listener(call, next)).await {
            Ok(Ok(decision)) => return decision,
            Ok(Err(error)) => fault("a pre-execute listener", Some(error)),
            Err(_) => fault("a pre-execute listener", None),
        };
        core.note_fault(failed);
        Decision::deny("a pre-execute listener failed")
    })
}
