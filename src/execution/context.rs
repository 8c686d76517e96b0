//! What a body is given beside its arguments.
//!
//! Invariant: what a body defers belongs to the attempt it was part of, and is dropped with it.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::core::lock;
use super::program::Program;
use super::{Arguments, CallInfo, CallRequest, Context, Driven, ExecutionToken, ToolResult};

/// What the body of one attempt has left for the result.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    pub(super) contexts: Vec<Context>,
    pub(super) concludes: bool,
}

/// The surroundings of a running body.
#[derive(Clone, Debug)]
pub struct ToolContext {
    call: Arc<CallInfo>,
    cancel: CancellationToken,
    deferred: Arc<Mutex<Deferred>>,
}

impl ToolContext {
    pub(super) fn new(call: Arc<CallInfo>, cancel: CancellationToken, deferred: Arc<Mutex<Deferred>>) -> Self {
        Self { call, cancel, deferred }
    }

    /// The call this body answers.
    #[must_use]
    pub fn call(&self) -> &Arc<CallInfo> {
        &self.call
    }

    /// Cancelled when the body shall stop: the caller gave up, the tool's timeout passed, or a wrapper dropped the attempt.
    /// Cancelled too when the body has settled, for whatever it left behind.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The token of this execution. It dies when dispatch is over: no attempt of the body can follow.
    #[must_use]
    pub fn token(&self) -> &ExecutionToken {
        self.call.token()
    }

    /// Calls another tool as part of this execution, in the same scope, through the whole pipeline.
    pub fn invoke(&self, name: impl Into<Arc<str>>, arguments: impl Into<Arguments>) -> Driven<Arc<ToolResult>> {
        let request = CallRequest::new(name, arguments, self.cancel.clone()).with_parent(self.token());
        self.call.scope().call(request)
    }

    /// Says that this execution runs a program.
    pub(crate) fn run_program(&self, program: Arc<dyn Program>) {
        self.token().lend_to(program);
    }

    /// The program has ended: this execution takes no call any more, and those it has are cancelled.
    pub(crate) fn end_program(&self) {
        self.token().kill();
    }

    /// Leaves something for the model beside the result. It stays where the body fails later.
    pub fn defer(&self, context: Context) {
        lock(&self.deferred).contexts.push(context);
    }

    /// Marks the result as the end of the model's turn, if it is a success.
    pub fn conclude_turn(&self) {
        lock(&self.deferred).concludes = true;
    }
}
