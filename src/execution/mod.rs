//! The life of one call, from its creation to its one final result.
//!
//! *materialize* → *pre-execute* listeners → *approval* → *guards* → *around* wrappers → body → *post-execute* listeners →
//! `finalize_content` → frozen result → observers. [`Scope::call`](crate::registry::Scope::call) goes through all of them;
//! [`Scope::prepare`](crate::registry::Scope::prepare) lets a scheduler go through them in four steps.
//!
//! Each stage is a value that only the stage before it makes, so none can be skipped; `pipeline.rs` owns the flow. Which
//! outcome passes which later stage:
//!
//! | outcome | post-execute | finalizer | observers |
//! |---|---|---|---|
//! | success, failure of the body, unknown tool | yes | yes | yes |
//! | denied by a listener, an approval or a guard; cancelled during policy | yes | yes | yes |
//! | a listener, guard or wrapper that failed or panicked | no | yes | yes |
//! | lossy or invalid arguments; cancelled before it began | no | yes | yes |
//! | collapsed: hidden from the model by the mode | no | no | yes |
//!
//! Invariant: every call that was created has exactly one result, and when it is there, everything the call owned has
//! stopped. Whatever a platform's own code does, panics included, ends in a result.

mod approval;
mod around;
mod call;
mod code;
mod context;
mod core;
mod dispatch;
mod driven;
mod finalize;
mod guard;
mod heavy;
mod materialize;
mod pipeline;
mod policy;
mod post_execute;
mod pre_execute;
mod program;
mod request;
mod result;
mod scheduler;
mod slot;
mod spans;
mod steps;
mod timeout;
mod token;

pub use approval::{ApprovalAnswer, ApprovalRequest, ApprovalService};
pub use around::{Attempt, NextAttempt};
pub use call::CallInfo;
pub use code::{ErrorCode, MESSAGE_BYTES_MAX, ToolError};
pub use context::ToolContext;
pub use driven::Driven;
pub use guard::NESTING_DEPTH_MAX;
pub use materialize::ExecutionMode;
pub use pipeline::{Dispatched, Finalized, Prepared};
pub use policy::{BoxError, Verdict};
pub use post_execute::{NextPostExecute, PostDecision};
pub use pre_execute::{Decision, NextPreExecute};
pub use request::{Arguments, CallRequest, Caller};
pub use result::{Context, ToolResult};
pub use scheduler::Scheduler;
pub use spans::spans;
pub use token::ExecutionToken;

pub(crate) use policy::{HookId, Policy};
pub(crate) use program::Program;
pub(crate) use token::TokenKey;
