//! The body, and what is around it.
//!
//! Invariant: a body runs only on arguments that its present definition accepts, and a success has passed that definition's
//! output contract. When dispatch is over, the body has settled or was dropped.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::around::{Attempt, NextAttempt, Origin};
use super::core::{Core, Route, Settled, lock};
use super::guard::{self, Authorized};
use super::materialize::{invalid, validate};
use super::{ErrorCode, ToolContext, ToolError, ToolResult, heavy, timeout};
use crate::contain::Contained;
use crate::json::{self, Value, clip};
use crate::tool::Tool;

impl Authorized {
    /// Runs the wrappers and the body.
    pub(super) async fn dispatch(self) -> Settled {
        let Self { core, checked } = self;
        if core.is_cancelled() {
            return core.settle_with(ToolError::aborted_before_dispatch(), Route::All).await;
        }
        if let Err(unknown) = core.tool() {
            return core.settle_with(unknown, Route::All).await;
        }
        let mut first = NextAttempt::first(Arc::clone(&core), checked);
        let attempt = core.within_grace(first.run(), &core.call.cancel).await;
        drop(first);
        let attempt = attempt.unwrap_or_else(|| {
            let contexts = core.take_deferred().contexts;
            Attempt::failed(&core, core.aborted(), contexts)
        });
        let route = if attempt.faulty { Route::SkipPostExecute } else { Route::All };
        // Cancelled is cancelled: a success that came too late would tell the caller otherwise.
        let attempt = attempt.within(&core);
        let attempt = match attempt.outcome {
            Ok(_) if core.is_cancelled() => attempt.turned_into(core.aborted()),
            Ok(_) | Err(_) => attempt,
        };
        let result = normalize(&core, attempt).await;
        core.settle(result, route).await
    }
}

/// One attempt, with the tool's timeout: the innermost wrapper, and the only one that is always there.
pub(super) async fn attempt(core: Arc<Core>, checked: Option<Tool>, cancel: CancellationToken) -> Attempt {
    let tool = match core.tool() {
        Ok(tool) => tool,
        Err(unknown) => return Attempt::failed(&core, unknown, Vec::new()),
    };
    // Told to stop when it is dropped, too.
    let cancel = cancel.child_token();
    let _stopped = cancel.clone().drop_guard();
    if cancel.is_cancelled() {
        return Attempt::failed(&core, core.aborted(), Vec::new());
    }
    let arguments = core.call.arguments.clone().unwrap_or_else(|| Arc::new(Value::Null));
    if !checked.is_some_and(|checked| checked.is(&tool)) {
        if core.is_approved() {
            return Attempt::failed(&core, guard::replaced(&core.call, "after approval was given"), Vec::new());
        }
        if let Err(violations) = validate(tool.parameters(), &arguments, heavy::is_heavy(&arguments)).await {
            return Attempt::failed(&core, invalid(&core.call.name, &violations), Vec::new());
        }
    }
    match tool.timeout() {
        Some(limit) => timeout::limited(limit, cancel, |cancel| body(core, tool, arguments, cancel)).await,
        None => body(core, tool, arguments, cancel).await,
    }
}

/// Runs the body once, and checks what it gives.
async fn body(core: Arc<Core>, tool: Tool, arguments: Arc<Value>, cancel: CancellationToken) -> Attempt {
    let deferred = core.open_deferred();
    let context = ToolContext::new(Arc::clone(&core.call), cancel.clone(), Arc::clone(&deferred));
    core.note_started();
    let running = Contained::new(|| tool.call(Arc::clone(&arguments), context));
    let settled = core.within_grace(running, &cancel).await;
    let outcome = match settled {
        None => Err(ToolError::aborted()),
        Some(Err(_)) => Err(ToolError::panicked("the body")),
        Some(Ok(Err(error))) => {
            let (code, message) = error.into_parts();
            // What a program printed is bounded by its own limits.
            let whole = code == ErrorCode::CodeRunFailed && tool.guest().is_some();
            Err(if whole { ToolError::unclipped(code, message) } else { ToolError::new(code, message) })
        }
        Some(Ok(Ok(value))) => contract(&core, &tool, &arguments, Arc::new(value)).await,
    };
    // Its own, not the core's: a wrapper that tries again may have left an attempt running.
    let deferred = std::mem::take(&mut *lock(&deferred));
    match outcome {
        Err(error) => Attempt::failed(&core, error, deferred.contexts),
        Ok(mut result) => {
            result.contexts = deferred.contexts;
            result.concludes = deferred.concludes;
            Attempt::succeeded(&core, result)
        }
    }
}

/// The output contract: a value that is valid, rendered. Metadata for a card is made for direct calls only.
pub(super) async fn contract(
    core: &Core,
    tool: &Tool,
    arguments: &Value,
    value: Arc<Value>,
) -> Result<ToolResult, ToolError> {
    let wrong = |what: String| {
        let name = clip(tool.name(), 80);
        ToolError::new(ErrorCode::InvalidToolOutput, format!("the tool `{name}` returned {what}"))
    };
    let is_heavy = heavy::is_heavy(&value);
    if let Err(error) = heavy::with(&value, is_heavy, json::check).await {
        return Err(wrong(format!("a value that cannot be taken without loss: {error}")));
    }
    if let Err(violations) = validate(tool.output(), &value, is_heavy).await {
        return Err(wrong(format!("a value that its own schema does not allow:\n{violations}")));
    }
    let content = tool.render(arguments, &value).map_err(|_| ToolError::panicked("the renderer"))?;
    let meta = if core.call.is_nested() {
        None
    } else {
        tool.presentation_meta(arguments, &value).map_err(|_| ToolError::panicked("the metadata's projection"))?
    };
    Ok(core.call.success(value, content, meta))
}

/// What the wrappers gave, as a result of this call.
async fn normalize(core: &Core, attempt: Attempt) -> ToolResult {
    let failed = |error, contexts| {
        let mut result = core.call.failure(error);
        result.contexts = contexts;
        result
    };
    let value = match attempt.outcome {
        Err(error) => return failed(error, attempt.contexts),
        Ok(Origin::Body(result)) => return *result,
        Ok(Origin::Wrapper(value)) => value,
    };
    match replaced(core, value).await {
        Ok(result) => result,
        Err(error) => failed(error, Vec::new()),
    }
}

/// A result of this call from a value that the body did not return.
pub(super) async fn replaced(core: &Core, value: Arc<Value>) -> Result<ToolResult, ToolError> {
    let tool = core.tool()?;
    let arguments = core.call.arguments.clone().unwrap_or_else(|| Arc::new(Value::Null));
    contract(core, &tool, &arguments, value).await
}
