//! The first stage: a request becomes an execution.
//!
//! Invariant: the verdicts of creation come in one order (lossy arguments, cancelled, collapsed, invalid arguments), before
//! any listener, approval or guard. Nobody is asked about a call that can only fail.

use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use super::core::{Core, Route, Settled};
use super::request::Decoded;
use super::slot::Part;
use super::{CallInfo, CallRequest, ErrorCode, ExecutionToken, ToolError, heavy};
use crate::json::{self, Value, clip};
use crate::registry::{DESCRIBE_TOOLS, Nesting, RUN_CODE, Resolved, SEARCH_TOOLS, Scope};
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
    let idempotency_key = request.idempotency_key.or_else(|| request.id.clone());
    let call = CallInfo {
        id: request.id.unwrap_or_else(|| scope.shared().next_call_id()),
        arguments: decoded.as_ref().ok().cloned(),
        nesting,
        token: ExecutionToken::new(scope.clone(), parent.clone(), &*name == RUN_CODE, request.caller),
        parent,
        scope,
        cancel,
        tool: view.get(&name).cloned(),
        stamp: request.stamp,
        idempotency_key,
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
    if let Err(violations) = validate(tool.parameters(), &arguments, heavy::is_heavy(&arguments)).await {
        let error = invalid(&core.call.name, &violations);
        return Err(core.settle_with(error, Route::SkipPostExecute).await);
    }
    Ok(Materialized { core, checked: Some(tool) })
}

/// How many steps a check may take on the task that polls the call: about a millisecond's work.
const INLINE_STEPS: u64 = 20_000;

/// Checks a value; on the blocking pool where it is heavy, or the schema makes long work of it.
pub(super) async fn validate(schema: &Schema, value: &Arc<Value>, is_heavy: bool) -> Result<(), Violations> {
    if !is_heavy && let Some(checked) = schema.validate_inline(INLINE_STEPS, value) {
        return checked;
    }
    let schema = schema.clone();
    heavy::with(value, true, move |value| schema.validate(value)).await
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
    } else if [SEARCH_TOOLS, DESCRIBE_TOOLS].contains(&&*call.name) {
        format!("`{name}` exists only inside programs, and only where the tools are too many to declare")
    } else {
        format!("unknown tool `{name}`")
    };
    ToolError::new(ErrorCode::UnknownTool, message)
}

/// The longest name that an example shows, in bytes.
const EXAMPLE_BYTES_MAX: usize = 200;

/// The error for a tool that the mode hides from the model, with the way to it.
fn collapsed(name: &str) -> ToolError {
    // A name that is cut would be the name of no tool.
    let example = if name.len() > EXAMPLE_BYTES_MAX {
        String::new()
    } else {
        format!(", for example: return await tools[{}]({{ … }})", json::encode(&Value::from(name)))
    };
    ToolError::new(
        ErrorCode::UnknownTool,
        format!(
            "`{}` cannot be called directly; only `{RUN_CODE}` can. Call it from inside a program that you pass to \
             `{RUN_CODE}`{example}",
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
