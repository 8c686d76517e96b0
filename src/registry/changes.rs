//! Notifications that a scope sees something else than before.
//!
//! Invariant: a change is never missed; several changes may be told as one.

use std::fmt;

use tokio::sync::watch;

use super::Scope;

/// Waits for changes of what one scope sees: tools, restrictions, mode, language, order, policy.
pub struct Changes {
    scope: Scope,
    version: watch::Receiver<u64>,
    seen: u64,
}

impl Changes {
    pub(super) fn new(scope: Scope, version: watch::Receiver<u64>) -> Self {
        Self { seen: scope.version(), scope, version }
    }

    /// Resolves once the scope sees something else than when this was last called, or made.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn changed(&mut self) {
        loop {
            self.version.mark_unchanged();
            let stamp = self.scope.version();
            if stamp != self.seen {
                self.seen = stamp;
                return;
            }
            if self.version.changed().await.is_err() {
                // The scope keeps the sender alive; this cannot end, and must not spin if it did.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("scope", &self.scope).field("seen", &self.seen).finish_non_exhaustive()
    }
}
