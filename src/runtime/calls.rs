//! The calls of one run: who is outstanding, how each ended, what they hold in host memory.
//!
//! Invariant: every call that was submitted has exactly one [`CallRecord`], and what it holds in the host-memory account
//! is given back when the program has received its end or the run is over.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use super::{Call, CallError, CallHandler};
use crate::clock;
use crate::contain::discard;
use crate::json::{self, Value};
use crate::limits::{Limit, Limits};

/// What an outstanding call costs beside its name and arguments: its future, its token, its place in the tables.
const CALL_BYTES: usize = 1024;

/// What a call leaves behind for the rest of the run.
const RECORD_BYTES: usize = 192;

/// From this size on, JSON is decoded and encoded on the blocking pool: about a millisecond's work.
pub(super) const BLOCKING_BYTES: usize = 256 * 1024;

/// One call of a run and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallRecord {
    /// Its place in the run, from 1, in order of submission.
    pub ordinal: u64,
    /// The name the program called.
    pub name: Arc<str>,
    /// How it ended.
    pub state: CallState,
    /// From its start to its end; zero if it never started.
    pub elapsed: Duration,
    /// Whether the run ended while it was outstanding: neither settled nor given up by the program.
    pub abandoned: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "published as a closed list in the run report")]
pub enum CallState {
    /// It succeeded.
    Done,
    /// It failed.
    Failed,
    /// It had started and was cancelled: by the program, or because the run ended.
    Cancelled,
    /// It was submitted and never started.
    NotStarted,
}

impl CallState {
    /// The state's published name, for example `not-started`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not-started",
        }
    }
}

/// The end of a call, as the guest receives it: text, ready to be copied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Settlement {
    Success(String),
    Failure(String),
    Cancelled,
}

impl Settlement {
    fn text_len(&self) -> usize {
        match self {
            Self::Success(text) | Self::Failure(text) => text.len(),
            Self::Cancelled => 0,
        }
    }
}

/// A call whose future has not ended.
struct Pending {
    cancel: CancellationToken,
    charge: usize,
    started: Option<Instant>,
    /// The program gave it up; only its future is awaited.
    given_up: bool,
    /// The program has not received yet that it gave it up.
    unreceived: bool,
}

/// The tables. Shared between the guest's side, which submits and receives, and the calls themselves.
#[derive(Default)]
pub(super) struct Table {
    pending: HashMap<u64, Pending>,
    /// How many of `pending` are given up.
    given_up: usize,
    /// How many of `pending` are in `settled` too.
    unreceived: usize,
    settled: VecDeque<(u64, Settlement)>,
    records: Vec<CallRecord>,
    account: Account,
}

/// Host memory that a run holds, in bytes.
#[derive(Debug, Default)]
pub(super) struct Account {
    used: usize,
    max: usize,
}

impl Account {
    fn room(&self) -> usize {
        self.max - self.used
    }

    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Limit> {
        if bytes > self.room() {
            return Err(Limit::HostMemory);
        }
        self.used += bytes;
        Ok(())
    }

    fn release(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// A shared table.
#[derive(Clone, Default)]
pub(super) struct Calls {
    table: Arc<Mutex<Table>>,
    /// Held while large arguments are decoded. What they become is charged only then, so no two may take the same room.
    decoding: Arc<tokio::sync::Mutex<()>>,
}

impl Calls {
    pub(super) fn new(limits: &Limits) -> Self {
        let account = Account { used: 0, max: limits.size(Limit::HostMemory) };
        Self { table: Arc::new(Mutex::new(Table { account, ..Table::default() })), decoding: Arc::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a call as started. `false` where it was given up before that.
    fn start(&self, ordinal: u64) -> bool {
        let mut table = self.lock();
        match table.pending.get_mut(&ordinal) {
            Some(pending) if !pending.given_up => {
                pending.started = Some(clock::now());
                true
            }
            _ => {
                table.forget(ordinal);
                false
            }
        }
    }

    /// Everything that happens to one submitted call, from its start to its settlement.
    pub(super) async fn execute(
        self,
        call: Call,
        text: Option<String>,
        handler: Arc<dyn CallHandler>,
        limits: Arc<Limits>,
    ) {
        let ordinal = call.ordinal;
        let member = Arc::clone(&call.member);
        // The second line of defence against panics: a handler's future may also panic when it is dropped.
        let attempt = AssertUnwindSafe(self.attempt(call, text, handler, &limits)).catch_unwind();
        match attempt.await {
            Ok(Some(answer)) => self.lock().settle(ordinal, answer, &limits),
            Ok(None) => {}
            Err(payload) => {
                discard(payload);
                self.lock().settle(ordinal, Err(panicked(&member)), &limits);
            }
        }
    }

    /// One call's answer. `None` where it was given up before it started.
    async fn attempt(
        &self,
        call: Call,
        text: Option<String>,
        handler: Arc<dyn CallHandler>,
        limits: &Limits,
    ) -> Option<Result<String, String>> {
        if !self.start(call.ordinal) {
            return None;
        }
        let cancel = call.cancel.clone();
        let answer = self.answer(call, text, handler, limits);
        Some(tokio::select! {
            biased;
            answer = answer => answer,
            () = grace(&cancel, limits.duration(Limit::Grace)) => Err(limits.reached(Limit::Grace)),
        })
    }

    /// The handler's answer as JSON text, or the message of its failure.
    async fn answer(
        &self,
        mut call: Call,
        text: Option<String>,
        handler: Arc<dyn CallHandler>,
        limits: &Limits,
    ) -> Result<String, String> {
        if let Some(text) = text {
            let _turn = self.decoding.lock().await;
            let room = self.lock().account.room();
            let (arguments, cost) = blocking(move || json::decode_bounded(&text, room))
                .await?
                .map_err(|error| lossy(&error, limits))?;
            self.lock().charge_pending(call.ordinal, cost).map_err(|limit| limits.reached(limit))?;
            call.arguments = arguments;
        }
        let member = Arc::clone(&call.member);
        let value: Arc<Value> = contained(&member, || handler.call(call))
            .await?
            .map_err(|error: CallError| error.message().to_owned())?;
        let result = if json::cost(&value) > BLOCKING_BYTES {
            blocking(move || encode(&value)).await?
        } else {
            encode(&value)
        };
        result.map_err(|error| format!("the tool `{member}` returned a value that cannot cross: {error}"))
    }
}

/// Resolves once `cancel` has been cancelled for as long as `grace`.
async fn grace(cancel: &CancellationToken, grace: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(grace).await;
}

fn encode(value: &Value) -> Result<String, json::Error> {
    json::check(value)?;
    Ok(json::encode(value))
}

/// The message for arguments that did not decode.
pub(super) fn lossy(error: &json::Error, limits: &Limits) -> String {
    match error.kind() {
        json::ErrorKind::Cost => limits.reached(Limit::HostMemory),
        _ => format!("the arguments are not JSON that can cross without loss: {error}"),
    }
}

/// Runs long work on the blocking pool.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| format!("internal error: {error}"))
}

/// Makes and awaits a handler's future; a panic in either becomes a failure.
async fn contained<F: Future>(member: &str, make: impl FnOnce() -> F) -> Result<F::Output, String> {
    let failed = |payload| {
        discard(payload);
        panicked(member)
    };
    let future = catch_unwind(AssertUnwindSafe(make)).map_err(failed)?;
    let mut future = std::pin::pin!(AssertUnwindSafe(future).catch_unwind());
    future.as_mut().await.map_err(failed)
}

fn panicked(member: &str) -> String {
    format!("internal error: the tool `{member}` panicked")
}

impl Table {
    /// Notes a new call. The caller has checked its name and arguments.
    ///
    /// `name_cost` is what the name holds for the rest of the run, `cost` what the arguments hold until the call is over.
    pub(super) fn submit(
        &mut self,
        name: Arc<str>,
        name_cost: usize,
        cost: usize,
        cancel: CancellationToken,
        limits: &Limits,
    ) -> Result<u64, Limit> {
        if self.outstanding() >= limits.size(Limit::OutstandingCalls) {
            return Err(Limit::OutstandingCalls);
        }
        let charge = CALL_BYTES + cost;
        self.account.charge(charge + RECORD_BYTES + name_cost)?;
        let ordinal = self.records.len() as u64 + 1;
        let (state, elapsed) = (CallState::NotStarted, Duration::ZERO);
        self.records.push(CallRecord { ordinal, name, state, elapsed, abandoned: false });
        self.pending
            .insert(ordinal, Pending { cancel, charge, started: None, given_up: false, unreceived: false });
        Ok(ordinal)
    }

    pub(super) fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    /// How many bytes the host-memory account still takes.
    pub(super) fn room(&self) -> usize {
        self.account.room()
    }

    fn outstanding(&self) -> usize {
        self.pending.len() + self.settled.len() - self.unreceived
    }

    /// Whether any call has not settled.
    pub(super) fn any_pending(&self) -> bool {
        self.pending.len() > self.given_up
    }

    pub(super) fn any_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    fn charge_pending(&mut self, ordinal: u64, bytes: usize) -> Result<(), Limit> {
        let Some(pending) = self.pending.get_mut(&ordinal) else { return Ok(()) };
        self.account.charge(bytes)?;
        pending.charge += bytes;
        Ok(())
    }

    /// Notes how a call ended. The first end counts: a call that was given up stays so.
    fn settle(&mut self, ordinal: u64, answer: Result<String, String>, limits: &Limits) {
        let Some(pending) = self.forget(ordinal) else { return };
        if pending.given_up {
            return;
        }
        let mut settlement = match answer {
            Ok(text) => Settlement::Success(text),
            Err(text) => Settlement::Failure(text),
        };
        if self.account.charge(settlement.text_len()).is_err() {
            settlement = Settlement::Failure(limits.reached(Limit::HostMemory));
            // This sentence is short, and the call's own charge has just been given back.
            self.account.used += settlement.text_len();
        }
        let state = match (&settlement, pending.cancel.is_cancelled()) {
            (Settlement::Success(_), _) => CallState::Done,
            (Settlement::Failure(_), false) => CallState::Failed,
            (Settlement::Failure(_) | Settlement::Cancelled, _) => CallState::Cancelled,
        };
        self.record(ordinal, state, pending.started);
        self.settled.push_back((ordinal, settlement));
    }

    /// Takes a call whose future has ended out of the table, and gives back what it held.
    fn forget(&mut self, ordinal: u64) -> Option<Pending> {
        let pending = self.pending.remove(&ordinal)?;
        self.account.release(pending.charge);
        self.given_up -= usize::from(pending.given_up);
        self.unreceived -= usize::from(pending.unreceived);
        Some(pending)
    }

    fn record(&mut self, ordinal: u64, state: CallState, started: Option<Instant>) {
        let index = usize::try_from(ordinal - 1).unwrap_or(usize::MAX);
        if let Some(record) = self.records.get_mut(index) {
            record.state = state;
            record.elapsed = started.map_or(Duration::ZERO, |started| clock::now().duration_since(started));
        }
    }

    /// The program gives up one call and sees that at once.
    pub(super) fn cancel(&mut self, ordinal: u64) {
        let Some(pending) = self.pending.get_mut(&ordinal) else { return };
        if std::mem::replace(&mut pending.given_up, true) {
            return;
        }
        pending.unreceived = true;
        pending.cancel.cancel();
        let started = pending.started;
        self.given_up += 1;
        self.unreceived += 1;
        let state = if started.is_some() { CallState::Cancelled } else { CallState::NotStarted };
        self.record(ordinal, state, started);
        self.settled.push_back((ordinal, Settlement::Cancelled));
    }

    /// Hands the oldest settlement over.
    pub(super) fn receive(&mut self) -> Option<(u64, Settlement)> {
        let (ordinal, settlement) = self.settled.pop_front()?;
        self.account.release(settlement.text_len());
        if let Some(pending) = self.pending.get_mut(&ordinal) {
            self.unreceived -= usize::from(std::mem::replace(&mut pending.unreceived, false));
        }
        Some((ordinal, settlement))
    }

    /// The run is over: tells all calls to stop. Those that never started will not.
    pub(super) fn cancel_all(&mut self) {
        for (ordinal, pending) in &mut self.pending {
            pending.cancel.cancel();
            let index = usize::try_from(*ordinal - 1).unwrap_or(usize::MAX);
            if let Some(record) = self.records.get_mut(index) {
                record.abandoned = !pending.given_up;
            }
            if pending.started.is_none() && !std::mem::replace(&mut pending.given_up, true) {
                self.given_up += 1;
            }
        }
    }

    /// Whether there is a call of this number.
    pub(super) fn is_known(&self, ordinal: u64) -> bool {
        (1..=self.records.len() as u64).contains(&ordinal)
    }

    pub(super) fn take_records(&mut self) -> Vec<CallRecord> {
        std::mem::take(&mut self.records)
    }
}
