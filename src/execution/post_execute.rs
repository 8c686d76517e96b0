//! Post-execute listeners: an async chain that accepts a result, changes what is seen of it, or blocks it.
//!
//! Invariant: a replaced value passes the tool's output contract; a failure never gains a value.

use std::fmt;
use std::sync::Arc;

use super::core::{Core, Route, Settled, fault};
use super::dispatch;
use super::{CallInfo, Context, ErrorCode, ToolError, ToolResult};
use crate::contain::Contained;
use crate::content::Content;
use crate::json::Value;
use crate::runtime::BoxFuture;

/// What a listener decides about a result.
///
/// It decides for the listeners after it as well: one that returns a decision of its own without awaiting
/// [`NextPostExecute::run`] ends the chain, and they do not see the result. A listener with nothing to say returns what that
/// gives.
#[derive(Clone, Debug)]
pub struct PostDecision {
    verdict: PostVerdict,
    contexts: Vec<Context>,
}

#[derive(Clone, Debug)]
enum PostVerdict {
    Accept,
    ReplaceContent(Vec<Content>),
    ReplaceValue(Value),
    Block(String),
}

impl PostDecision {
    /// The result stays as it is, whatever listeners after this one would have said: they are not asked, unless this is
    /// what [`NextPostExecute::run`] gave.
    #[must_use]
    pub fn accept() -> Self {
        PostVerdict::Accept.into()
    }

    /// The model sees this content instead. The value stays.
    #[must_use]
    pub fn replace_content(content: Vec<Content>) -> Self {
        PostVerdict::ReplaceContent(content).into()
    }

    /// The call has this value instead. It is checked and rendered as if the tool had returned it; a failure's value cannot
    /// be replaced.
    #[must_use]
    pub fn replace_value(value: Value) -> Self {
        PostVerdict::ReplaceValue(value).into()
    }

    /// The result is withheld; the model gets this feedback. What the body deferred goes with it.
    pub fn block(feedback: impl Into<String>) -> Self {
        PostVerdict::Block(feedback.into()).into()
    }

    /// Adds something for the model, after what the body deferred.
    #[must_use]
    pub fn with_context(mut self, context: Context) -> Self {
        self.contexts.push(context);
        self
    }
}

impl From<PostVerdict> for PostDecision {
    fn from(verdict: PostVerdict) -> Self {
        Self { verdict, contexts: Vec::new() }
    }
}

/// The listeners after this one. They are asked by [`run`](Self::run) alone: dropped, it ends the chain here.
pub struct NextPostExecute {
    core: Arc<Core>,
    result: Arc<ToolResult>,
    index: usize,
}

impl NextPostExecute {
    /// Asks them. Gives what they decide; [`PostDecision::accept`] after the last one.
    pub async fn run(self) -> PostDecision {
        listen(self.core, self.result, self.index).await
    }
}

impl fmt::Debug for NextPostExecute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextPostExecute").field("index", &self.index).finish_non_exhaustive()
    }
}

/// A call whose result only the finalizer may touch.
pub(super) struct Accepted {
    pub(super) core: Arc<Core>,
    pub(super) result: ToolResult,
    pub(super) route: Route,
}

impl Settled {
    /// Puts the result before the listeners.
    pub(super) async fn post_execute(self) -> Accepted {
        let Self { core, result, route } = self;
        if route != Route::All || core.view.policy().post_execute.is_empty() {
            return Accepted { core, result, route };
        }
        let shown = Arc::new(result);
        let listening = listen(Arc::clone(&core), Arc::clone(&shown), 0);
        let decision = core.within_grace(listening, &core.call.cancel).await;
        let mut result = Arc::unwrap_or_clone(shown);
        match (core.take_fault(), decision) {
            (Some(fault), _) => result.fail(fault),
            // A success that its listeners never came to accept is withheld; a failure has said why.
            (None, None) if result.outcome.is_ok() => result.fail(ToolError::aborted()),
            (None, None) => {}
            (None, Some(decision)) => result = apply(&core, result, decision).await,
        }
        Accepted { core, result, route }
    }
}

async fn apply(core: &Core, mut result: ToolResult, decision: PostDecision) -> ToolResult {
    match decision.verdict {
        PostVerdict::Accept => {}
        PostVerdict::ReplaceContent(content) => result.content = content,
        PostVerdict::ReplaceValue(_) if result.outcome.is_err() => {
            let message = "a post-execute listener tried to give a failed call a value";
            result.fail(ToolError::new(ErrorCode::PolicyFailed, message));
        }
        PostVerdict::ReplaceValue(value) => match dispatch::replaced(core, Arc::new(value)).await {
            Ok(ToolResult { outcome, content, meta, .. }) => {
                (result.outcome, result.content, result.meta) = (outcome, content, meta);
            }
            Err(error) => result.fail(error),
        },
        PostVerdict::Block(feedback) => {
            result.contexts.clear();
            result.fail(ToolError::new(ErrorCode::Blocked, feedback));
        }
    }
    result.contexts.extend(decision.contexts);
    result
}

/// Asks the listeners from `index` on. A fault is noted in the core and reads as a block to those before it.
fn listen(core: Arc<Core>, result: Arc<ToolResult>, index: usize) -> BoxFuture<'static, PostDecision> {
    let Some(listener) = core.view.policy().post_execute.get(index).cloned() else {
        return Box::pin(std::future::ready(PostDecision::accept()));
    };
    let call: Arc<CallInfo> = Arc::clone(&core.call);
    let next = NextPostExecute { core: Arc::clone(&core), result: Arc::clone(&result), index: index + 1 };
    Box::pin(async move {
        let failed = match Contained::new(|| listener(call, result, next)).await {
            Ok(Ok(decision)) => return decision,
            Ok(Err(error)) => fault("a post-execute listener", Some(error)),
            Err(_) => fault("a post-execute listener", None),
        };
        core.note_fault(failed);
        PostDecision::block("a post-execute listener failed")
    })
}
