//! The wrapper that honours a tool's timeout.
//!
//! Invariant: one attempt is told to stop when its time is over, and its result is then `TOOL_TIMEOUT`, whatever the body
//! makes of it.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::around::Attempt;
use super::{ErrorCode, ToolError};

/// Runs `attempt` for `limit` at most. It gets its own signal, fused with `cancel`.
pub(super) async fn limited<T>(
    limit: Duration,
    cancel: CancellationToken,
    attempt: impl FnOnce(CancellationToken) -> T,
) -> Attempt
where
    T: Future<Output = Attempt>,
{
    let fused = cancel.child_token();
    let mut attempt = std::pin::pin!(attempt(fused.clone()));
    tokio::select! {
        biased;
        attempt = &mut attempt => return attempt,
        () = tokio::time::sleep(limit) => {}
    }
    // What was cancelled before is stopping already; its time is the grace.
    if cancel.is_cancelled() {
        return attempt.await;
    }
    fused.cancel();
    let late = attempt.await;
    let message = format!("the tool took longer than its timeout of {limit:?}");
    late.turned_into(ToolError::new(ErrorCode::ToolTimeout, message))
}
