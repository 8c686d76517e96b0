//! The calls of one model turn, in as little time as their order allows.
//!
//! Invariant: ordered stages (everything but dispatch) never overlap one another, and run in the model's order. Consecutive
//! parallel calls overlap up to a cap; an exclusive call waits for all before it and holds all after it until it is finished.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::pipeline::Dispatched;
use super::{CallRequest, ExecutionMode, ToolResult};
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

    /// Makes the calls, and gives their results in the same order.
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
            let place = turn.begun;
            turn.begun += 1;
            turn.running.spawn(async move { (place, prepared.dispatch().await) });
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
    begun: usize,
    running: JoinSet<(usize, Dispatched)>,
    /// Dispatched before an earlier call was.
    early: BTreeMap<usize, Dispatched>,
    results: Vec<Arc<ToolResult>>,
}

impl Turn {
    /// Waits until at most `room` calls run, and finishes those whose turn it is.
    async fn settle_to(&mut self, room: usize) {
        while self.running.len() > room {
            match self.running.join_next().await {
                Some(Ok((place, dispatched))) => self.early.insert(place, dispatched),
                // A task of ours neither panics nor is aborted; the process is going down.
                Some(Err(_)) => std::future::pending().await,
                None => return,
            };
        }
        while let Some(dispatched) = self.early.remove(&self.results.len()) {
            self.results.push(dispatched.finalize().await.finish());
        }
    }
}
