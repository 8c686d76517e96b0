//! The first stage: a request becomes an execution.
//!
//! Invariant: the verdicts of creation come in one order (lossy arguments, cancelled, collapsed, invalid arguments), before
//! any listener, approval or guard. Nobody is asked about a call that can only fail.

use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use super::core::{Core, Route, Settled};
use super::request::{BLOCKING_BYTES, Decoded};
use super::slot::Part;
use super::{CallInfo, CallRequest, ErrorCode, ExecutionToken, ToolError};
use crate::json::{self, Value, clip};
use crate::registry::{Nesting, RUN_CODE, Resolved, Scope};
use crate::tool::{Schema, Tool, Violations};

/// Whether a call may overlap others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a scheduler must know every way to schedule")]
pub enum ExecutionMode {
    /// It may overlap other parallel calls.
    Parallel,
    /// It runs alone.
    Exclusive,
}

/// A call that nothing stands against yet, apart from policy.
pub(super) struct Materialized {
    pub(super) core: Arc<Core>,
    /// The definition the arguments were checked against; `None` for a name that means nothing.
    pub(super) checked: Option<Tool>,
}

/// Creates the execution. `cancel` is the call's own token, cancelled with the caller's; `part` is what a parent takes over.
pub(super) async fn materialize(
    scope: Scope,
    mut request: CallRequest,
    cancel: CancellationToken,
    part: Option<Weak<dyn Part>>,
) -> Result<Materialized, Settled> {
    let child = request.parent.as_ref().zip(part).and_then(|(parent, part)| parent.adopt(&scope, &cancel, part));
    let parent = request.parent.take().filter(|_| child.is_some());
    let nesting = parent.as_ref().map_or(Nesting::Direct, ExecutionToken::nesting);
    let decoded = request.decode(&scope.shared().limits).await;
    let view = scope.view();
    let name = request.name;
    let call = CallInfo {
        id: request.id.unwrap_or_else(|| scope.shared().next_call_id()),
        arguments: decoded.as_ref().ok().cloned(),
        nesting,
        token: ExecutionToken::new(scope.clone(), parent.clone(), &*name == RUN_CODE, request.caller),
        parent,
        scope,
        cancel,
        tool: view.get(&name).cloned(),
        name,
    };
    let core = Core::new(call, view, child);
    judge(core, decoded).await
}

async fn judge(core: Arc<Core>, decoded: Decoded) -> Result<Materialized, Settled> {
    let arguments = match decoded {
        Ok(arguments) => arguments,
        Err(message) => {
            let error = ToolError::new(ErrorCode::InvalidArgs, message);
            return Err(core.settle_with(error, Route::SkipPostExecute).await);
        }
    };
    if core.is_cancelled() {
        return Err(core.settle_with(ToolError::aborted_before_dispatch(), Route::SkipPostExecute).await);
    }
    let tool = match core.view.resolve(&core.call.name, core.call.nesting) {
        Resolved::Tool(tool) => tool,
        Resolved::Collapsed => {
            let error = collapsed(&core.call.name);
            return Err(core.settle_with(error, Route::OnlyObservers).await);
        }
        Resolved::Unknown => return Ok(Materialized { core, checked: None }),
    };
    if let Err(violations) = validate(tool.parameters(), &arguments).await {
        let error = invalid(&core.call.name, &violations);
        return Err(core.settle_with(error, Route::SkipPostExecute).await);
    }
    Ok(Materialized { core, checked: Some(tool) })
}

/// How many steps a check may take on the task that polls the call: about a millisecond's work.
const INLINE_STEPS: u64 = 20_000;

/// Checks a value; on the blocking pool where the value is large, or the schema makes long work of it.
pub(super) async fn validate(schema: &Schema, value: &Arc<Value>) -> Result<(), Violations> {
    if !value_is_large(value)
        && let Some(checked) = schema.validate_within(INLINE_STEPS, value)
    {
        return checked;
    }
    let (schema, value) = (schema.clone(), Arc::clone(value));
    match tokio::task::spawn_blocking(move || schema.validate(&value)).await {
        Ok(checked) => checked,
        // The pool does not take work any more: the process is going down.
        Err(_) => std::future::pending().await,
    }
}

/// Whether a value has more than a few parts. Looks at the few without walking the many.
fn value_is_large(value: &Value) -> bool {
    let small = match value {
        Value::Array(items) => items.len() < 16 && items.iter().all(is_scalar),
        Value::Object(entries) => entries.len() < 16 && entries.iter().all(|(_, value)| is_scalar(value)),
        scalar => is_scalar(scalar),
    };
    !small && json::cost(value) > BLOCKING_BYTES
}

fn is_scalar(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() < 1024,
        Value::Array(_) | Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => true,
    }
}

/// The error for arguments that break the tool's schema.
pub(super) fn invalid(name: &str, violations: &Violations) -> ToolError {
    let name = clip(name, 80);
    ToolError::new(ErrorCode::InvalidArgs, format!("the arguments of `{name}` are not valid:\n{violations}"))
}

/// The error for a name that means nothing to the call. Absent and hidden read alike.
pub(super) fn unknown(call: &CallInfo) -> ToolError {
    let name = clip(&call.name, 80);
    let message = if &*call.name == RUN_CODE && call.nesting == (Nesting::Nested { in_program: true }) {
        format!("`{name}` cannot be called from inside a program; call the tools themselves")
    } else {
        format!("unknown tool `{name}`")
    };
    ToolError::new(ErrorCode::UnknownTool, message)
}

/// The error for a tool that the mode hides from the model, with the way to it.
fn collapsed(name: &str) -> ToolError {
    let quoted = json::encode(&Value::from(clip(name, 200).into_owned()));
    ToolError::new(
        ErrorCode::UnknownTool,
        format!(
            "`{}` cannot be called directly; only `{RUN_CODE}` can. Call it from inside a program that you pass to \
             `{RUN_CODE}`, for example: return await tools[{quoted}]({{ … }})",
            clip(name, 80)
        ),
    )
}

impl Scope {
    /// Whether a call may overlap others. Whatever does not clearly say so, may not: a name that means nothing here, one that
    /// the mode hides, a tool without a classifier, a classifier that panics, arguments that are lossy.
    ///
    /// Decodes the request's arguments, once.
    pub async fn execution_mode(&self, request: &mut CallRequest) -> ExecutionMode {
        let decoded = request.decode(&self.shared().limits).await;
        let parent = request.parent.as_ref().filter(|parent| parent.may_lend_to(self));
        let nesting = parent.map_or(Nesting::Direct, ExecutionToken::nesting);
        match (decoded, self.view().resolve(&request.name, nesting)) {
            (Ok(arguments), Resolved::Tool(tool)) if tool.is_concurrency_safe(&arguments) => {
                ExecutionMode::Parallel
            }
            _ => ExecutionMode::Exclusive,
        }
    }
}
