//! One run as its calls see it: what they share, and what they leave behind.
//!
//! Invariant: whatever a program makes its calls leave is bounded: their records by the account of the run, contexts and
//! images by the limit `output`, questions by the limits `approvals` and `approval`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedMutexGuard;

use super::events::{RunEventKind, RunEvents, SettledCall, StartedCall};
use crate::clock;
use crate::content::Content;
use crate::execution::{ApprovalAnswer, CallInfo, Context, Program, ToolResult};
use crate::limits::{Limit, Limits};
use crate::runtime::{
    BoxFuture, CallRecord, CallState, Failure, FailureKind, GuestIdentity, Pause, Pauses, RunFacts,
};

/// One run.
pub(super) struct Run {
    id: Arc<str>,
    guest: Arc<GuestIdentity>,
    events: RunEvents,
    limits: Limits,
    pub(super) pauses: Pauses,
    /// How many questions were asked, or refused for being too many.
    questions: AtomicU64,
    /// Held by the one call that is in an ordered stage.
    stages: Arc<tokio::sync::Mutex<()>>,
    /// The call that is before policy, and its hold on `stages`.
    preparing: Mutex<Option<(Arc<str>, OwnedMutexGuard<()>)>>,
    left: Mutex<Left>,
    facts: OnceLock<Arc<RunFacts>>,
}

/// What the calls have left so far.
#[derive(Default)]
struct Left {
    /// By number.
    started: BTreeMap<u64, Begun>,
    contexts: BTreeMap<u64, Vec<Context>>,
    contexts_bytes: usize,
    /// How many calls left contexts for which there was no room.
    left_out: usize,
    concludes: bool,
}

/// A call that has started.
struct Begun {
    name: Arc<str>,
    at: Instant,
    /// How it ended, and how long it took.
    ended: Option<(CallState, Duration)>,
}

/// What a run leaves for the result of `run_code`.
pub(super) struct Harvest {
    pub(super) contexts: Vec<Context>,
    pub(super) concludes: bool,
    /// The sentence about what does not reach the model.
    pub(super) left_out: Option<String>,
}

impl Run {
    pub(super) fn new(id: Arc<str>, guest: Arc<GuestIdentity>, events: RunEvents, limits: Limits) -> Self {
        Self {
            id,
            guest,
            events,
            pauses: Pauses::new(&limits),
            limits,
            questions: AtomicU64::new(0),
            stages: Arc::default(),
            preparing: Mutex::default(),
            left: Mutex::default(),
            facts: OnceLock::new(),
        }
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(super) fn emit(&self, what: impl FnOnce() -> RunEventKind) {
        self.events.emit(&self.id, what);
    }

    /// Waits for the turn to be in an ordered stage.
    pub(super) async fn stage(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.stages).lock_owned().await
    }

    /// Waits for the turn to bring the call with this id before policy. The turn ends with [`Run::prepared`], and rests while
    /// a person is asked.
    pub(super) async fn prepare(&self, call: &Arc<str>) {
        let stage = self.stage().await;
        *lock(&self.preparing) = Some((Arc::clone(call), stage));
    }

    pub(super) fn prepared(&self) {
        drop(lock(&self.preparing).take());
    }

    /// Lets others into the ordered stages, where it is this call that is in one. Whether it was.
    fn rest(&self, call: &Arc<str>) -> bool {
        let mut preparing = lock(&self.preparing);
        preparing.take_if(|(id, _)| Arc::ptr_eq(id, call)).is_some()
    }

    /// Notes that a call starts.
    pub(super) fn start(self: &Arc<Self>, ordinal: u64, call: StartedCall) -> Live {
        let begun = Begun { name: Arc::clone(&call.name), at: clock::now(), ended: None };
        lock(&self.left).started.insert(ordinal, begun);
        self.emit(|| RunEventKind::CallStarted(call.clone()));
        Live { run: Arc::clone(self), ordinal, call, settled: false }
    }

    /// Takes what the calls have left, and corrects the records by it: the runtime counts a call as started when it is handed
    /// over, which may be long before its turn.
    pub(super) fn harvest(&self, calls: &mut [CallRecord]) -> Harvest {
        let left = std::mem::take(&mut *lock(&self.left));
        for call in calls.iter_mut() {
            match left.started.get(&call.ordinal) {
                None if call.state == CallState::Cancelled => {
                    (call.state, call.elapsed) = (CallState::NotStarted, Duration::ZERO);
                }
                Some(Begun { ended: Some((_, elapsed)), .. }) => call.elapsed = *elapsed,
                None | Some(_) => {}
            }
        }
        let left_out = (left.left_out > 0).then(|| {
            let most = Limit::Output.display(self.limits.get(Limit::Output));
            format!(
                "images and contexts of {} of its calls are left out: together they are larger than the {most} of the limit \
                 `output`",
                left.left_out
            )
        });
        Harvest { contexts: left.contexts.into_values().flatten().collect(), concludes: left.concludes, left_out }
    }

    /// Says that the run begins. It has ended when what is returned is dropped, with or without facts.
    pub(super) fn begin(self: &Arc<Self>, description: &str) -> Underway {
        self.emit(|| RunEventKind::Started { description: description.into(), guest: Arc::clone(&self.guest) });
        Underway(Arc::clone(self))
    }

    /// Sets what there is to tell of the run. The first facts stay.
    pub(super) fn set_facts(&self, facts: RunFacts) {
        let failure = facts.failure.as_ref().map(|one| one.kind);
        let ended = RunEventKind::Ended { failure, timings: facts.timings };
        if self.facts.set(Arc::new(facts)).is_ok() {
            self.emit(|| ended);
        }
    }

    /// Keeps what a call's result has beside its value.
    fn keep(&self, ordinal: u64, result: &ToolResult) {
        let mut contexts = result.contexts().to_vec();
        let seen = result.outcome().is_ok() && result.content().iter().any(|block| block.as_text().is_none());
        if seen {
            contexts.push(Context::new(result.content().to_vec()));
        }
        let mut left = lock(&self.left);
        left.concludes |= result.concludes_turn();
        if contexts.is_empty() {
            return;
        }
        let blocks = contexts.iter().flat_map(Context::content);
        let bytes = left.contexts_bytes.saturating_add(blocks.map(Content::bytes).sum());
        if bytes > self.limits.size(Limit::Output) {
            left.left_out += 1;
            return;
        }
        left.contexts_bytes = bytes;
        left.contexts.insert(ordinal, contexts);
    }

    fn settle(&self, ordinal: u64, state: CallState, settled: impl FnOnce(Duration) -> SettledCall) {
        let elapsed = {
            let mut left = lock(&self.left);
            let Some(begun) = left.started.get_mut(&ordinal) else { return };
            let elapsed = clock::now().duration_since(begun.at);
            begun.ended = Some((state, elapsed));
            elapsed
        };
        self.emit(|| RunEventKind::CallSettled(Arc::new(settled(elapsed))));
    }
}

/// A run that goes on. Dropped before there are facts, somebody has given up the call of `run_code` itself.
pub(super) struct Underway(Arc<Run>);

impl Drop for Underway {
    fn drop(&mut self) {
        let Self(run) = self;
        if run.facts.get().is_some() {
            return;
        }
        let record = |(ordinal, begun): (u64, Begun)| {
            let (state, elapsed) = begun.ended.unwrap_or((CallState::Cancelled, Duration::ZERO));
            CallRecord { ordinal, name: begun.name, state, elapsed, abandoned: begun.ended.is_none() }
        };
        let calls = std::mem::take(&mut lock(&run.left).started).into_iter().map(record).collect();
        let failure =
            Failure::new(FailureKind::Abort, "the call of `run_code` was given up while its program ran");
        let none = RunFacts::none(Arc::clone(&run.guest));
        run.set_facts(RunFacts { failure: Some(failure), calls, ..none });
    }
}

impl Program for Run {
    fn question<'a>(
        &'a self,
        call: &'a Arc<CallInfo>,
        reason: Option<String>,
        ask: BoxFuture<'a, ApprovalAnswer>,
    ) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(async move {
            if self.questions.fetch_add(1, Ordering::Relaxed) >= self.limits.get(Limit::Approvals) {
                return ApprovalAnswer::Unavailable(self.limits.reached(Limit::Approvals));
            }
            let left = self.pauses.left();
            if left.is_zero() {
                return ApprovalAnswer::Unavailable(self.limits.reached(Limit::Approval));
            }
            let question = Question::ask(self, call, reason);
            let rests = self.rest(call.shared_id());
            let answer = tokio::time::timeout(left, ask).await.unwrap_or(ApprovalAnswer::TimedOut);
            question.answered(answer.clone());
            if rests {
                self.prepare(call.shared_id()).await;
            }
            answer
        })
    }

    fn facts(&self) -> Option<Arc<RunFacts>> {
        self.facts.get().cloned()
    }
}

/// A question that is open. While it is, the wall clock stands.
struct Question<'a> {
    run: &'a Run,
    call: &'a CallInfo,
    answer: Option<ApprovalAnswer>,
    _pause: Pause,
}

impl<'a> Question<'a> {
    fn ask(run: &'a Run, call: &'a Arc<CallInfo>, reason: Option<String>) -> Self {
        run.emit(|| RunEventKind::ApprovalAsked {
            call: Arc::clone(call.shared_id()),
            name: call.name().into(),
            reason: reason.map(Into::into),
        });
        Self { run, call, answer: None, _pause: run.pauses.begin() }
    }

    fn answered(mut self, answer: ApprovalAnswer) {
        self.answer = Some(answer);
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        // Without an answer the call was cancelled, and the question with it.
        let answer = self.answer.take().unwrap_or(ApprovalAnswer::Cancelled);
        self.run.emit(|| RunEventKind::ApprovalAnswered {
            call: Arc::clone(self.call.shared_id()),
            name: self.call.name().into(),
            answer,
        });
    }
}

/// A call that has started. It settles exactly once, at the latest when it is dropped.
pub(super) struct Live {
    run: Arc<Run>,
    ordinal: u64,
    call: StartedCall,
    settled: bool,
}

impl Live {
    /// The call has its final result.
    pub(super) fn settle(mut self, result: &ToolResult) {
        self.settled = true;
        self.run.keep(self.ordinal, result);
        let state = if result.outcome().is_ok() { CallState::Done } else { CallState::Failed };
        self.run.settle(self.ordinal, state, |elapsed| SettledCall {
            call: self.call.clone(),
            is_error: result.outcome().is_err(),
            content: result.content().to_vec(),
            elapsed,
        });
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if !self.settled {
            self.run.settle(self.ordinal, CallState::Cancelled, |elapsed| SettledCall {
                call: self.call.clone(),
                is_error: true,
                content: vec![Content::text("Error: the call was cancelled")],
                elapsed,
            });
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
