//! What an execution that runs a program means to the calls below it, and what it leaves for its own result.
//!
//! Invariant: whoever asks a person on behalf of a program, however deep below it, does so through [`Program::question`].

use std::sync::Arc;

use super::{ApprovalAnswer, CallInfo};
use crate::runtime::{BoxFuture, RunFacts};

/// A program that runs. The execution that runs it lends it to its token.
pub(crate) trait Program: Send + Sync {
    /// Asks a person about a call below the program, with `ask`, or answers instead.
    fn question<'a>(
        &'a self,
        call: &'a Arc<CallInfo>,
        reason: Option<String>,
        ask: BoxFuture<'a, ApprovalAnswer>,
    ) -> BoxFuture<'a, ApprovalAnswer>;

    /// What the program did, once it has ended.
    fn facts(&self) -> Option<Arc<RunFacts>>;
}
