//! One run, from its place in the pool to its outcome. This function owns the flow.
//!
//! Invariant: a store lives inside one call of [`run`], the guest's future is dropped before its calls are settled, and both
//! before the outcome is made: nothing a run owned is alive when it returns.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::guest::Guest;
use super::host::State;
use super::trap;
use crate::error::{Error, ErrorKind};
use crate::limits::Limit;
use crate::runtime::{
    BoxFuture, CodeRuntime, Ended, Failure, FailureKind, GuestIdentity, RunOutcome, RunRequest, Session, drive,
};

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
        let Some(place) = place else {
            let stop = Failure::new(FailureKind::Abort, "the run was cancelled while it waited for a place");
            return Ok(session.close(Some(stop), None, Duration::ZERO).await);
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
        drop((store, ticking, place));
        session.settle().await;
        Ok(session.close(stop, refused, compute).await)
    }

    /// Waits for a place in the pool, charged to no budget. `None` where the run was cancelled meanwhile.
    async fn place(&self, cancel: &CancellationToken) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let places = Arc::clone(self.guest.engine().places());
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(None),
            () = self.shutdown.cancelled() => Ok(None),
            place = places.acquire_owned() => place
                .map(Some)
                .map_err(|error| Error::with_source(ErrorKind::Host, "the pool is closed", error)),
        }
    }
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
