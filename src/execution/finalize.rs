//! The end of a call: the tool's last word on the content, the frozen result, the observers.
//!
//! Invariant: the finalizer is the one the tool had when the call was created; it runs at most once, and can change content
//! alone. Each observer gets the frozen result exactly once.

use std::fmt;
use std::sync::Arc;

use super::core::{Core, Route};
use super::post_execute::Accepted;
use super::{ToolError, ToolResult};
use crate::contain::quietly;

/// A call whose result is final. Observers see it when it is published, or dropped.
pub(super) struct Final {
    core: Arc<Core>,
    result: Arc<ToolResult>,
    published: bool,
}

impl Accepted {
    /// Runs the finalizer, where the outcome passes it, and freezes the result.
    pub(super) fn finalize(self) -> Final {
        let Self { core, mut result, route } = self;
        result.run = core.run_facts();
        if let Some(tool) = core.call.tool.as_ref().filter(|_| route != Route::OnlyObservers) {
            match tool.finalize_content(&result) {
                Ok(None) => {}
                Ok(Some(content)) => result.content = content,
                Err(_) => result.fail(ToolError::panicked("the finalizer")),
            }
        }
        Final { core, result: Arc::new(result), published: false }
    }
}

impl Final {
    pub(super) fn result(&self) -> &Arc<ToolResult> {
        &self.result
    }

    /// Shows the result to the observers.
    pub(super) fn publish(mut self) -> Arc<ToolResult> {
        self.show();
        Arc::clone(&self.result)
    }

    fn show(&mut self) {
        if std::mem::replace(&mut self.published, true) {
            return;
        }
        for observer in self.core.view.policy().observers.iter() {
            // An observer that panics has seen the result; nobody else needs to know.
            quietly(|| observer(&self.core.call, &self.result));
        }
        self.core.leave();
    }
}

impl Drop for Final {
    fn drop(&mut self) {
        self.show();
    }
}

impl fmt::Debug for Final {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Final").field("result", &self.result).finish_non_exhaustive()
    }
}
