//! One run as its guest sees it, with no engine in it.
//!
//! Every operation of the boundary ends here, whichever runtime serves it: the checks, the accounts and the sentences are
//! the same for all guests. Invariant: nothing a guest sends makes the host panic, or hold more memory than the run's
//! account and output limit allow.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio_util::sync::CancellationToken;

use super::calls::{BLOCKING_BYTES, Calls, blocking, lossy};
use super::ledger::Ledger;
use super::{
    BoxFuture, Call, Failure, FailureKind, LogSink, Namespace, Pauses, RunOutcome, RunRequest, Timings, Unhandled,
};
use crate::clock;
use crate::contain::{discard, quietly};
use crate::json::{self, Value};
use crate::limits::{Limit, Limits, NAME_BYTES_MAX};

pub(crate) use super::calls::Settlement;

/// Why a guest is stopped where it stands.
pub(crate) type Stop = Failure;

/// The answer to a submission: the call's number, or why there is no call.
pub(crate) type Submitted = Result<u64, String>;

/// What a wait saw.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Settled(u64, Settlement),
    Elapsed,
    Idle,
}

/// What the guest reported as the program's end.
#[derive(Debug)]
enum Reported {
    Complete(Option<String>),
    Fail(Failure),
}

/// One run.
pub(crate) struct Session {
    namespaces: Vec<Namespace>,
    limits: Arc<Limits>,
    log: LogSink,
    pauses: Pauses,
    /// Cancelled when the run is over, and at once when the caller cancels it: a call that just runs sees it as it happens.
    over: CancellationToken,
    started: Instant,
    calls: Calls,
    running: Mutex<FuturesUnordered<BoxFuture<'static, ()>>>,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    unhandled: Unhandled,
    reported: Option<Reported>,
    /// Set while the guest waits in `next`: the driver then polls it again as soon as a call settles.
    waiting: bool,
}

impl Session {
    /// Opens a run. Its wall clock starts now.
    pub(crate) fn new(request: &RunRequest) -> Self {
        Self {
            namespaces: request.namespaces.clone(),
            limits: Arc::new(request.limits.clone()),
            log: Arc::clone(&request.log),
            pauses: request.pauses.clone(),
            over: request.cancel.child_token(),
            started: clock::now(),
            calls: Calls::new(&request.limits),
            running: Mutex::new(FuturesUnordered::new()),
            state: Mutex::new(State {
                ledger: Ledger::new(&request.limits),
                unhandled: Unhandled::default(),
                reported: None,
                waiting: false,
            }),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    #[cfg(feature = "wasm")]
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// The globals to bind, in the order in which `submit` counts them.
    #[cfg(feature = "wasm")]
    pub(crate) fn globals(&self) -> impl Iterator<Item = (&str, Option<&super::ErrorClass>)> {
        self.namespaces.iter().map(|one| (one.global.as_str(), one.error_class.as_ref()))
    }

    /// The member names of one namespace, sorted.
    pub(crate) fn members(&self, namespace: u32) -> Option<Arc<[Arc<str>]>> {
        Some(Arc::clone(&self.namespace(namespace)?.members))
    }

    fn namespace(&self, index: u32) -> Option<&Namespace> {
        self.namespaces.get(usize::try_from(index).ok()?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, FuturesUnordered<BoxFuture<'static, ()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a call. An inner `Err` is for the program; the outer one stops the guest.
    pub(crate) fn submit(&self, namespace: u32, name: &str, arguments: &str) -> Result<Submitted, Stop> {
        self.refuse_after_end("submit")?;
        Ok(self.try_submit(namespace, name, arguments))
    }

    fn try_submit(&self, namespace: u32, name: &str, arguments: &str) -> Submitted {
        let Some(bound) = self.namespace(namespace) else {
            return Err(format!("there is no namespace {namespace}; this run has {}", self.namespaces.len()));
        };
        if name.len() > NAME_BYTES_MAX {
            return Err(format!("a tool name has {} bytes; at most {NAME_BYTES_MAX} are taken", name.len()));
        }
        let known = bound.member(name).cloned();
        let name_cost = if known.is_some() { 0 } else { name.len() };
        let room = self.calls.lock().room();
        let (value, text, cost) = if arguments.len() > BLOCKING_BYTES {
            // Long texts are copied out here and decoded on the blocking pool.
            if arguments.len() > room {
                return Err(self.limits.reached(Limit::HostMemory));
            }
            (Value::Null, Some(arguments.to_owned()), arguments.len())
        } else {
            let (value, cost) =
                json::decode_bounded(arguments, room).map_err(|error| lossy(&error, &self.limits))?;
            (value, None, cost)
        };
        let member = known.unwrap_or_else(|| Arc::from(name));
        let cancel = self.over.child_token();
        let ordinal = self
            .calls
            .lock()
            .submit(Arc::clone(&member), name_cost, cost, cancel.clone(), &self.limits)
            .map_err(|limit| self.limits.reached(limit))?;
        let call = Call { ordinal, member, arguments: value, cancel };
        let execute = self.calls.clone().execute(call, text, Arc::clone(&bound.handler), Arc::clone(&self.limits));
        self.running().push(Box::pin(execute));
        Ok(ordinal)
    }

    /// Gives one call up.
    pub(crate) fn cancel(&self, call: u64) {
        self.calls.lock().cancel(call);
    }

    /// Emits and keeps one log entry.
    pub(crate) fn log(&self, entry: &str) -> Result<(), Stop> {
        self.refuse_after_end("log")?;
        let kept = {
            let mut state = self.state();
            let charged = self.calls.lock().account().charge(entry.len() + size_of::<String>());
            charged.map_err(|limit| Stop::new(FailureKind::GuestExit, self.limits.reached(limit)))?;
            state.ledger.push(entry)
        };
        kept.map_err(|limit| Stop::new(FailureKind::OutputLimit, self.limits.reached(limit)))?;
        catch_unwind(AssertUnwindSafe(|| (self.log)(entry))).map_err(|payload| {
            discard(payload);
            Stop::new(FailureKind::GuestExit, "internal error: the log sink panicked")
        })
    }

    /// Notes a failure that nothing in the program looked at.
    pub(crate) fn unhandled(&self, call: Option<u64>, message: &str) -> Result<(), Stop> {
        self.refuse_after_end("unhandled")?;
        if let Some(call) = call.filter(|call| !self.calls.lock().is_known(*call)) {
            let message = format!("the guest told of call {call}, which there is not");
            return Err(Stop::new(FailureKind::GuestExit, message));
        }
        self.state().unhandled.add(call, message);
        Ok(())
    }

    /// Takes the program's result, or its failure, as the guest reports it.
    pub(crate) fn complete(&self, value: Option<&str>) -> Result<(), Stop> {
        self.report("complete", value.map_or(0, str::len), || Reported::Complete(value.map(str::to_owned)))
    }

    /// Takes the program's failure, as the guest reports it.
    pub(crate) fn fail(&self, kind: FailureKind, message: &str) -> Result<(), Stop> {
        self.report("fail", message.len(), || Reported::Fail(Failure::new(kind, message)))
    }

    fn report(&self, what: &str, bytes: usize, make: impl FnOnce() -> Reported) -> Result<(), Stop> {
        self.refuse_after_end(what)?;
        let charged = self.calls.lock().account().charge(bytes);
        charged.map_err(|limit| Stop::new(FailureKind::GuestExit, self.limits.reached(limit)))?;
        self.state().reported = Some(make());
        Ok(())
    }

    fn refuse_after_end(&self, what: &str) -> Result<(), Stop> {
        if self.state().reported.is_some() {
            let message = format!("the guest called `{what}` after it had ended the program");
            return Err(Stop::new(FailureKind::GuestExit, message));
        }
        Ok(())
    }

    /// Waits for the next settlement, for the timeout, or finds that there is nothing to wait for.
    pub(crate) async fn next(&self, timeout: Option<Duration>) -> Waited {
        let mut timer = std::pin::pin!(timeout.filter(|timeout| !timeout.is_zero()).map(tokio::time::sleep));
        let waited = poll_fn(|cx| {
            {
                let mut table = self.calls.lock();
                if let Some((call, settlement)) = table.receive() {
                    return Poll::Ready(Waited::Settled(call, settlement));
                }
                if timeout == Some(Duration::ZERO) {
                    return Poll::Ready(Waited::Elapsed);
                }
                if timeout.is_none() && !table.any_pending() {
                    return Poll::Ready(Waited::Idle);
                }
            }
            if let Some(timer) = timer.as_mut().as_pin_mut()
                && timer.poll(cx).is_ready()
            {
                return Poll::Ready(Waited::Elapsed);
            }
            self.state().waiting = true;
            Poll::Pending
        })
        .await;
        self.state().waiting = false;
        waited
    }

    /// Lets the calls progress. Whether the guest can now be polled again at once.
    pub(super) fn poll_calls(&self, cx: &mut Context<'_>) -> bool {
        let mut running = self.running();
        while let Poll::Ready(Some(())) = running.poll_next_unpin(cx) {}
        self.state().waiting && self.calls.lock().any_settled()
    }

    /// Ends all calls: tells them to stop and waits until they have, each at most for its grace.
    pub(crate) async fn settle(&self) {
        self.calls.lock().cancel_all();
        self.over.cancel();
        for namespace in &self.namespaces {
            quietly(|| namespace.handler.ended());
        }
        poll_fn(|cx| {
            let mut running = self.running();
            while let Poll::Ready(Some(())) = running.poll_next_unpin(cx) {}
            if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Makes the outcome.
    ///
    /// `stop` is why the guest was stopped, `None` where it returned by itself. `refused` is a limit at which the guest
    /// was refused memory: if the run failed after that, the limit is named as the reason.
    pub(crate) async fn close(&self, stop: Option<Stop>, refused: Option<Limit>, compute: Duration) -> RunOutcome {
        let reported = self.state().reported.take();
        let result = match (stop, reported) {
            (Some(stop), _) => Err(stop),
            (None, Some(Reported::Fail(failure))) => Err(failure),
            (None, Some(Reported::Complete(None))) => Ok(None),
            (None, Some(Reported::Complete(Some(text)))) => self.decode_result(text).await.map(Some),
            (None, None) => {
                Err(Failure::new(FailureKind::GuestExit, "the guest returned without ending the program"))
            }
        };
        let result = result.map_err(|failure| self.blame(refused, failure));
        let ledger = std::mem::replace(&mut self.state().ledger, Ledger::new(&self.limits));
        let size = ledger.bytes() + result.as_ref().map_or(0, |value| value.as_ref().map_or(0, json::cost));
        let limits = Arc::clone(&self.limits);
        let weigh = move || ledger.close(result, &limits);
        let (result, logs) = if size > BLOCKING_BYTES {
            let failed = |message| (Err(Failure::new(FailureKind::GuestExit, message)), Vec::new());
            blocking(weigh).await.unwrap_or_else(failed)
        } else {
            weigh()
        };
        let calls = self.calls.lock().take_records();
        let wall = clock::now().duration_since(self.started);
        let unhandled = std::mem::take(&mut self.state().unhandled);
        RunOutcome {
            result,
            logs,
            calls,
            unhandled,
            timings: Timings { compute, wall, approval: self.pauses.used() },
        }
    }

    fn blame(&self, refused: Option<Limit>, failure: Failure) -> Failure {
        match (refused, failure.kind) {
            (Some(limit), FailureKind::Exception | FailureKind::GuestExit) => Failure::new(
                FailureKind::GuestExit,
                format!("{}; it ended with: {}", self.limits.reached(limit), failure.message),
            ),
            _ => failure,
        }
    }

    async fn decode_result(&self, text: String) -> Result<Value, Failure> {
        let room = self.calls.lock().room();
        let decoded = if text.len() > BLOCKING_BYTES {
            let decoded = blocking(move || json::decode_bounded(&text, room)).await;
            decoded.map_err(|message| Failure::new(FailureKind::GuestExit, message))?
        } else {
            json::decode_bounded(&text, room)
        };
        decoded.map(|(value, _)| value).map_err(|error| match error.kind() {
            json::ErrorKind::Cost => Failure::new(FailureKind::GuestExit, self.limits.reached(Limit::HostMemory)),
            _ => Failure::new(
                FailureKind::InvalidOutput,
                format!("the guest's result is not JSON that can cross without loss: {error}"),
            ),
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Calls of a run whose future was dropped stop with it.
        self.over.cancel();
        let running = std::mem::take(self.running.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(running))) {
            discard(payload);
        }
    }
}
