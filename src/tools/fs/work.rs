//! From a call to blocking work and back.
//!
//! Invariant: the work of a call is joined before the call is answered, and no more than [`CALLS_AT_ONCE`] calls of
//! one set of grants work at one time, whatever became of their futures.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::bounds::{Bounds, CALLS_AT_ONCE};
use super::fault::cancelled;
use super::path::Roots;
use super::{list, read, search, write};
use crate::json::Value;
use crate::runtime::{Bindings, CallError};

/// What all calls of one set of grants share.
pub(super) struct Shared {
    pub(super) roots: Roots,
    pub(super) bounds: Bounds,
    pub(super) turns: Arc<Semaphore>,
}

/// One tool's blocking half.
pub(super) type Work = fn(&Shared, &Value, &CancellationToken) -> Result<Value, CallError>;

pub(super) const TOOLS: [(&str, Work); 4] =
    [("fs_list", list::list), ("fs_read", read::read), ("fs_search", search::search), ("fs_stat", list::stat)];

/// The tool that is there only where something is writable.
pub(super) const WRITE: (&str, Work) = ("fs_write", write::write);

impl Shared {
    pub(super) fn new(roots: Roots, bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { roots, bounds, turns: Arc::new(Semaphore::new(CALLS_AT_ONCE)) })
    }
}

pub(super) fn bind(roots: Roots, bounds: Bounds, mut bindings: Bindings) -> Bindings {
    if roots.is_empty() {
        return bindings;
    }
    let write = roots.any_writable().then_some(WRITE);
    let shared = Shared::new(roots, bounds);
    for (name, work) in TOOLS.into_iter().chain(write) {
        let shared = Arc::clone(&shared);
        bindings = bindings.tool_with_call(name, move |call| {
            let shared = Arc::clone(&shared);
            async move { run(shared, Arc::new(call.arguments), &call.cancel, work).await }
        });
    }
    bindings
}

/// Does one call's work on the blocking pool, in its turn.
pub(super) async fn run(
    shared: Arc<Shared>,
    arguments: Arc<Value>,
    cancel: &CancellationToken,
    work: Work,
) -> Result<Value, CallError> {
    let cancel = cancel.child_token();
    // When this future is dropped, the work has to learn of it.
    let _stop = cancel.clone().drop_guard();
    let turn = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(cancelled()),
        turn = Arc::clone(&shared.turns).acquire_owned() => turn,
    };
    let task = tokio::task::spawn_blocking(move || {
        let answer = work(&shared, &arguments, &cancel);
        drop(turn);
        answer
    });
    match task.await {
        Ok(answer) => answer,
        // Whoever polls this future contains panics; a task of a runtime that shuts down never ran.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(cancelled()),
        },
    }
}
