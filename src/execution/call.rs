//! A call as policy sees it.
//!
//! Invariant: nothing in it changes while the call runs.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Caller, ExecutionToken};
use crate::content::Content;
use crate::execution::{ToolError, ToolResult};
use crate::json::Value;
use crate::registry::{Nesting, PresentationStamp, Scope};
use crate::tool::Tool;

/// One call, for listeners, guards, wrappers, observers and bodies.
#[derive(Debug)]
pub struct CallInfo {
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) arguments: Option<Arc<Value>>,
    pub(super) nesting: Nesting,
    pub(super) token: ExecutionToken,
    pub(super) parent: Option<ExecutionToken>,
    pub(super) scope: Scope,
    pub(super) cancel: CancellationToken,
    pub(super) tool: Option<Tool>,
    pub(super) stamp: Option<PresentationStamp>,
    pub(super) idempotency_key: Option<Arc<str>>,
}

impl CallInfo {
    /// The platform's id of the call, or the registry's.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name that was called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments. `None` where they could not be taken, which only observers see.
    #[must_use]
    pub fn arguments(&self) -> Option<&Arc<Value>> {
        self.arguments.as_ref()
    }

    /// Whether a live parent lent its token. Decided when the call was created.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        self.nesting != Nesting::Direct
    }

    /// The same, with what is above it.
    #[must_use]
    pub fn nesting(&self) -> Nesting {
        self.nesting
    }

    /// The call's own token.
    #[must_use]
    pub fn token(&self) -> &ExecutionToken {
        &self.token
    }

    /// The token of the call that made this one; `None` for a direct call.
    #[must_use]
    pub fn parent(&self) -> Option<&ExecutionToken> {
        self.parent.as_ref()
    }

    /// The token of the outermost call above this one: the run it belongs to. Its own token for a direct call.
    #[must_use]
    pub fn root(&self) -> &ExecutionToken {
        self.token.root()
    }

    /// The scope it is made in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Cancelled when the caller does not want the result any more.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The tool of this name that was visible when the call was created.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.tool.as_ref()
    }

    /// What the caller says the model was told, where it says so.
    #[must_use]
    pub fn stamp(&self) -> Option<&PresentationStamp> {
        self.stamp.as_ref()
    }

    /// A key for services that do a thing once per key: the same when the same call is made again.
    ///
    /// It is the one the request brought, or else the platform's id of the call. A program's call has its program's key with
    /// `:code:` and its number behind it; where that program has none, the key is good for this one run. `None` for other
    /// calls without an id of the platform.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// The id, to share.
    pub(crate) fn shared_id(&self) -> &Arc<str> {
        &self.id
    }

    /// Who can be asked for approval.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.token.caller()
    }

    /// A success of this call, without contexts or conclusion.
    pub(super) fn success(&self, value: Arc<Value>, content: Vec<Content>, meta: Option<Value>) -> ToolResult {
        ToolResult {
            id: Arc::clone(&self.id),
            name: Arc::clone(&self.name),
            outcome: Ok(value),
            content,
            meta,
            contexts: Vec::new(),
            concludes: false,
            run: None,
        }
    }

    /// A failure of this call, without contexts.
    pub(super) fn failure(&self, error: ToolError) -> ToolResult {
        ToolResult {
            id: Arc::clone(&self.id),
            name: Arc::clone(&self.name),
            content: error.content(),
            outcome: Err(error),
            meta: None,
            contexts: Vec::new(),
            concludes: false,
            run: None,
        }
    }
}
