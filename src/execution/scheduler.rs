//! The calls of one model turn, in as little time as their order allows.
//!
//! Invariant: ordered stages (everything but dispatch) never overlap one another, and run in the model's order. Consecutive
//! parallel calls overlap up to a cap; an exclusive call waits for all before it and holds all after it until it is finished.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::task::{self, JoinError, JoinSet};

use super::pipeline::{Dispatched, Prepared};
use super::{CallInfo, CallRequest, ExecutionMode, ToolError, ToolResult};
use crate::registry::Scope;

/// How many parallel calls overlap where nobody says otherwise.
const OVERLAP_DEFAULT: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

/// Schedules calls of one scope.
#[derive(Clone, Debug)]
pub struct Scheduler {
    scope: Scope,
    overlap_max: NonZeroUsize,
}

impl Scheduler {
    /// A scheduler that lets ten parallel calls overlap.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self { scope: scope.clone(), overlap_max: OVERLAP_DEFAULT }
    }

    /// The same, with another number of calls that may overlap; 1 is serial.
    #[must_use]
    pub fn with_overlap_max(mut self, calls: NonZeroUsize) -> Self {
        self.overlap_max = calls;
        self
    }

    /// Makes the calls, and gives their results in the same order. A call whose task is lost, for example because its runtime
    /// shut down, has failed with [`Internal`](super::ErrorCode::Internal); observers are not told of it.
    ///
    /// # Cancellation
    /// Dropping the future cancels the calls that were begun, each of which reaches its one result; the others are never
    /// made.
    pub async fn run(&self, requests: Vec<CallRequest>) -> Vec<Arc<ToolResult>> {
        let mut turn = Turn::default();
        for mut request in requests {
            // A call is what it is when it starts: those it waits for may change what its name means.
            let alone = loop {
                let alone = self.scope.execution_mode(&mut request).await == ExecutionMode::Exclusive;
                let room = if alone { 0 } else { self.overlap_max.get() - 1 };
                if turn.running.len() <= room {
                    break alone;
                }
                turn.settle_to(room).await;
            };
            let prepared = self.scope.prepare(request).await;
            turn.dispatch(prepared);
            if alone {
                turn.settle_to(0).await;
            }
        }
        turn.settle_to(0).await;
        turn.results
    }
}

/// What is under way.
#[derive(Default)]
struct Turn {
    running: JoinSet<Dispatched>,
    /// Which calls the tasks run, and the calls' places.
    begun: HashMap<task::Id, (usize, Arc<CallInfo>)>,
    /// Over before an earlier call was.
    early: BTreeMap<usize, Ended>,
    results: Vec<Arc<ToolResult>>,
    places: usize,
}

/// How the task of a call ended.
enum Ended {
    Dispatched(Dispatched),
    /// Its runtime went away under it, or it panicked. Nobody can take it to its end any more.
    Lost(Arc<CallInfo>),
}

impl Turn {
    fn dispatch(&mut self, prepared: Prepared) {
        let call = Arc::clone(prepared.call());
        let task = self.running.spawn(prepared.dispatch());
        self.begun.insert(task.id(), (self.places, call));
        self.places += 1;
    }

    /// Waits until at most `room` calls run, and finishes those whose turn it is.
    async fn settle_to(&mut self, room: usize) {
        while self.running.len() > room {
            let Some(joined) = self.running.join_next_with_id().await else {
                return;
            };
            let task = joined.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
            if let Some((place, call)) = self.begun.remove(&task) {
                let ended = joined.map_or(Ended::Lost(call), |(_, dispatched)| Ended::Dispatched(dispatched));
                self.early.insert(place, ended);
            }
        }
        while let Some(ended) = self.early.remove(&self.results.len()) {
            self.results.push(match ended {
                Ended::Dispatched(dispatched) => dispatched.finalize().await.finish(),
                Ended::Lost(call) => Arc::new(call.failure(ToolError::lost())),
            });
        }
    }
}
