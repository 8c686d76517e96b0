//! A runtime without an interpreter: its programs are Rust closures.
//!
//! For testing whatever stands on [`CodeRuntime`] without an engine. Invariant: it goes through the
//! same session and the same drive as a real guest, so calls, logs, limits and endings behave alike; only compute time
//! is that of a Rust future, which cannot be interrupted between two awaits.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::drive::{Ended, drive};
use super::session::{Session, Settlement, Stop, Waited};
use super::{BoxFuture, CallError, CodeRuntime, FailureKind, GuestIdentity, RunOutcome, RunRequest};
use crate::error::{Error, ErrorKind};
use crate::json::{self, Value};

type Body = Arc<dyn Fn(Script) -> BoxFuture<'static, Result<Option<Value>, String>> + Send + Sync>;

/// Runs Rust closures as if they were programs. The text of a request is handed to the closure.
pub struct ScriptedRuntime {
    body: Body,
    guest: GuestIdentity,
    runs: TaskTracker,
    shutdown: CancellationToken,
}

impl ScriptedRuntime {
    /// A runtime whose every run is `body`. An `Err` from it is an uncaught exception with that message.
    pub fn new<F, T>(body: F) -> Self
    where
        F: Fn(Script) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Option<Value>, String>> + Send + 'static,
    {
        let guest = GuestIdentity {
            language: "javascript".to_owned(),
            name: "scripted".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: String::new(),
        };
        Self {
            body: Arc::new(move |script| Box::pin(body(script))),
            guest,
            runs: TaskTracker::new(),
            shutdown: CancellationToken::new(),
        }
    }
}

impl std::fmt::Debug for ScriptedRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedRuntime").field("guest", &self.guest).finish_non_exhaustive()
    }
}

impl CodeRuntime for ScriptedRuntime {
    fn guest(&self) -> &GuestIdentity {
        &self.guest
    }

    fn isolation(&self) -> &'static str {
        "none"
    }

    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunOutcome, Error>> {
        Box::pin(async move {
            let _run = self.runs.token();
            if self.shutdown.is_cancelled() {
                return Err(Error::new(ErrorKind::ShutDown, "the runtime was shut down"));
            }
            request.check()?;
            let session = Arc::new(Session::new(&request));
            let script = Script {
                program: request.program.into(),
                session: Arc::clone(&session),
                received: Arc::default(),
            };
            let guest = async {
                match (self.body)(script).await {
                    Ok(value) => session.complete(value.as_ref().map(json::encode).as_deref()),
                    Err(message) => session.fail(FailureKind::Exception, &message),
                }
            };
            let (ended, compute) = drive(&session, guest, &request.cancel, &self.shutdown).await;
            let stop = match ended {
                Ended::Guest(Ok(())) => None,
                Ended::Guest(Err(stop)) | Ended::Stopped(stop) => Some(stop),
            };
            session.settle().await;
            Ok(session.close(stop, None, compute).await)
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.shutdown.cancel();
            self.runs.close();
            self.runs.wait().await;
        })
    }
}

/// A scripted program's side of the boundary.
#[derive(Clone)]
pub struct Script {
    program: Arc<str>,
    session: Arc<Session>,
    /// Settlements that `next` has handed over and nobody has asked for yet, in their order.
    received: Arc<Mutex<IndexMap<u64, Settlement>>>,
}

impl Script {
    /// The text of the request.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Logs one entry.
    ///
    /// # Errors
    /// When a limit ends the run. A script has to pass that on.
    pub fn log(&self, entry: &str) -> Result<(), String> {
        self.session.log(entry).map_err(|stop: Stop| stop.message)
    }

    /// The members of the first namespace, sorted.
    #[must_use]
    pub fn members(&self) -> Arc<[Arc<str>]> {
        self.session.members(0).unwrap_or_default()
    }

    /// Starts a call of a member of the first namespace, without waiting for it.
    ///
    /// # Errors
    /// What the program would see at once: a limit, or arguments that cannot cross.
    pub fn submit(&self, member: &str, arguments: &Value) -> Result<u64, String> {
        self.session.submit(0, member, &json::encode(arguments)).map_err(|stop| stop.message)?
    }

    /// Tells of a failure that nothing in the program looked at.
    ///
    /// # Errors
    /// When there is no such call. A script has to pass that on.
    pub fn unhandled(&self, call: Option<u64>, message: &str) -> Result<(), String> {
        self.session.unhandled(call, message).map_err(|stop| stop.message)
    }

    /// Gives a call up.
    pub fn cancel(&self, call: u64) {
        self.session.cancel(call);
    }

    /// Waits for one submitted call.
    ///
    /// # Errors
    /// The failure as the program would see it; `cancelled` where the script gave the call up.
    pub async fn wait(&self, call: u64) -> Result<Value, CallError> {
        self.wait_any(&[call]).await?;
        match self.received().shift_remove(&call) {
            Some(Settlement::Success(text)) => {
                json::decode(&text).map_err(|error| CallError::new(error.to_string()))
            }
            Some(Settlement::Failure(message)) => Err(CallError::new(message)),
            Some(Settlement::Cancelled) | None => Err(CallError::new("cancelled")),
        }
    }

    /// Waits until one of these submitted calls has settled, and says which did first. [`Script::wait`] then has its answer.
    ///
    /// # Errors
    /// Where none of them can settle any more.
    pub async fn wait_any(&self, calls: &[u64]) -> Result<u64, CallError> {
        loop {
            let known = self.received().keys().copied().find(|call| calls.contains(call));
            if let Some(call) = known {
                return Ok(call);
            }
            match self.session.next(None).await {
                Waited::Settled(settled, settlement) => {
                    self.received().insert(settled, settlement);
                }
                Waited::Elapsed | Waited::Idle => {
                    return Err(CallError::new("the program awaits something that no pending call can settle"));
                }
            }
        }
    }

    fn received(&self) -> MutexGuard<'_, IndexMap<u64, Settlement>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a member of the first namespace and waits for the answer.
    ///
    /// # Errors
    /// As [`Script::submit`] and [`Script::wait`].
    pub async fn call(&self, member: &str, arguments: &Value) -> Result<Value, CallError> {
        let call = self.submit(member, arguments).map_err(CallError::new)?;
        self.wait(call).await
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("program", &self.program).finish_non_exhaustive()
    }
}
