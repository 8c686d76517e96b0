//! One run, from its place in the pool to its outcome. This function owns the flow.
//!
//! Invariant: a store lives inside one call of `WasmRuntime::run`, the guest's future is dropped before its calls are settled, and both
//! before the outcome is made: nothing a run owned is alive when it returns.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wasmtime::Store;

use super::guest::Guest;
use super::host::State;
use super::trap;
use crate::error::{Error, ErrorKind};
use crate::limits::Limit;
use crate::runtime::{
    BoxFuture, CodeRuntime, Ended, Failure, FailureKind, GuestIdentity, RunOutcome, RunRequest, Session, Stop,
    drive,
};

/// From this size on, an instance is dropped on the blocking pool: about a millisecond's work.
const LARGE_INSTANCE_BYTES: usize = 8 << 20;

/// Runs programs in fresh instances of one guest.
#[derive(Debug)]
pub struct WasmRuntime {
    guest: Guest,
    runs: TaskTracker,
    shutdown: CancellationToken,
}

impl WasmRuntime {
    /// A runtime over a loaded guest. It starts nothing by itself.
    #[must_use]
    pub fn new(guest: Guest) -> Self {
        Self { guest, runs: TaskTracker::new(), shutdown: CancellationToken::new() }
    }

    async fn run(&self, request: RunRequest) -> Result<RunOutcome, Error> {
        let _run = self.runs.token();
        if self.shutdown.is_cancelled() {
            return Err(Error::new(ErrorKind::ShutDown, "the runtime was shut down"));
        }
        request.check()?;
        let place = self.place(&request.cancel).await?;
        let session = Arc::new(Session::new(&request));
        let place = match place {
            Ok(place) => place,
            Err(stop) => return Ok(session.close(Some(stop), None, Duration::ZERO).await),
        };
        let ticking = self.guest.engine().ticker().tick();
        let mut store = self.guest.store(State::of_run(&request, Arc::clone(&session))?);
        let guest = self.guest.run(&mut store, &session, &request.program);
        let (ended, compute) = drive(&session, guest, &request.cancel, &self.shutdown).await;
        let stop = match ended {
            Ended::Guest(Ok(())) => None,
            Ended::Guest(Err(error)) => Some(trap::failure(&error)),
            Ended::Stopped(stop) => Some(stop),
        };
        let refused = store.data().limiter.refused().then_some(Limit::Memory);
        dispose(store).await;
        drop((ticking, place));
        session.settle().await;
        Ok(session.close(stop, refused, compute).await)
    }

    /// Waits for a place in the pool, charged to no budget.
    async fn place(&self, cancel: &CancellationToken) -> Result<Result<OwnedSemaphorePermit, Stop>, Error> {
        let places = Arc::clone(self.guest.engine().places());
        let abort = |message| Ok(Err(Failure::new(FailureKind::Abort, message)));
        tokio::select! {
            biased;
            () = cancel.cancelled() => abort("the caller cancelled the run before it had a place in the pool"),
            () = self.shutdown.cancelled() => abort("the runtime was shut down"),
            place = places.acquire_owned() => match place {
                Ok(place) => Ok(Ok(place)),
                Err(error) => Err(Error::with_source(ErrorKind::Host, "the pool is closed", error)),
            },
        }
    }
}

/// Drops an instance. Giving back a large memory takes milliseconds, which the blocking pool can spare.
async fn dispose(store: Store<State>) {
    if store.data().limiter.bytes() < LARGE_INSTANCE_BYTES {
        return drop(store);
    }
    // A task that only drops does not fail; if it is cancelled by the runtime's end, the store is gone all the same.
    tokio::task::spawn_blocking(move || drop(store)).await.ok();
}

impl CodeRuntime for WasmRuntime {
    fn guest(&self) -> &GuestIdentity {
        self.guest.identity()
    }

    fn isolation(&self) -> &'static str {
        "wasm"
    }

    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunOutcome, Error>> {
        Box::pin(self.run(request))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.shutdown.cancel();
            self.runs.close();
            self.runs.wait().await;
        })
    }
}
