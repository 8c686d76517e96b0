//! From the calls of a program to executions below its own.
//!
//! Invariant: calls start in the order of their submission. Consecutive calls that may overlap do, up to a cap; any other one
//! waits for those before it and holds those after it until it is settled. Ordered stages (everything but dispatch) never
//! overlap one another; results are committed in the order in which dispatches end, and reach the program then. A question to
//! a person holds later starts only.

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::events::StartedCall;
use super::run::{Live, Run};
use crate::execution::{CallRequest, ExecutionMode, Prepared, ToolContext, ToolResult};
use crate::json::Value;
use crate::runtime::{BoxFuture, Call, CallError, CallHandler};

type Answer = Result<Arc<Value>, CallError>;

/// The guest's side: takes calls and hands them to the [`Bridge`].
pub(super) struct Entrance {
    calls: mpsc::UnboundedSender<Submitted>,
    ended: CancellationToken,
    context: ToolContext,
}

/// A call and who waits for its answer.
struct Submitted {
    call: Call,
    answer: oneshot::Sender<Answer>,
}

/// The registry's side: makes the calls.
pub(super) struct Bridge {
    calls: mpsc::UnboundedReceiver<Submitted>,
    /// Cancelled when no call comes any more.
    ended: CancellationToken,
    maker: Maker,
}

/// How each call is made.
struct Maker {
    context: ToolContext,
    run: Arc<Run>,
    key: Arc<str>,
    overlap_max: NonZeroUsize,
}

impl CallHandler for Entrance {
    fn call(&self, call: Call) -> BoxFuture<'static, Answer> {
        let (answer, answered) = oneshot::channel();
        // Where nobody takes it, its answer is dropped, which is an answer too.
        drop(self.calls.send(Submitted { call, answer }));
        Box::pin(async { answered.await.unwrap_or_else(|_| Err(CallError::new("the call was cancelled"))) })
    }

    fn ended(&self) {
        self.context.end_program();
        self.ended.cancel();
    }
}

type Running<'a> = FuturesUnordered<BoxFuture<'a, ()>>;

impl Bridge {
    /// Both sides of a run. `key` is what the idempotency keys of its calls begin with.
    pub(super) fn new(
        context: &ToolContext,
        run: &Arc<Run>,
        key: Arc<str>,
        overlap_max: NonZeroUsize,
    ) -> (Arc<Entrance>, Self) {
        // What waits here is bounded by the run's limit `outstanding-calls`.
        let (submit, calls) = mpsc::unbounded_channel();
        let ended = CancellationToken::new();
        let entrance = Entrance { calls: submit, ended: ended.clone(), context: context.clone() };
        let maker = Maker { context: context.clone(), run: Arc::clone(run), key, overlap_max };
        (Arc::new(entrance), Self { calls, ended, maker })
    }

    /// Makes the calls until no more can come and all have settled.
    pub(super) async fn drive(self) {
        let Self { mut calls, ended, maker } = self;
        let mut running = Running::new();
        loop {
            let next = alongside(&mut running, async {
                tokio::select! {
                    biased;
                    () = ended.cancelled() => None,
                    call = calls.recv() => call,
                }
            });
            let Some(Submitted { call, answer }) = next.await else { break };
            maker.start(call, answer, &mut running).await;
        }
        // Those that wait are abandoned, those that run have been told to stop.
        drop(calls);
        while running.next().await.is_some() {}
    }
}

impl Maker {
    /// Starts one call when its turn has come, and waits for its end where it runs alone.
    async fn start<'a>(&'a self, call: Call, answer: oneshot::Sender<Answer>, running: &mut Running<'a>) {
        let id: Arc<str> = format!("{}:code:{}", self.run.id(), call.ordinal).into();
        let arguments = Arc::new(call.arguments);
        let mut request = CallRequest::new(Arc::clone(&call.member), Arc::clone(&arguments), call.cancel.clone())
            .with_id(Arc::clone(&id))
            .with_idempotency_key(format!("{}:code:{}", self.key, call.ordinal))
            .with_parent(self.context.token());
        let alone = loop {
            // Asked again whenever something has ended: what the name means may be different then.
            let scope = self.context.call().scope();
            let alone = alongside(running, scope.execution_mode(&mut request)).await == ExecutionMode::Exclusive;
            let room = if alone { 0 } else { self.overlap_max.get() - 1 };
            if running.len() <= room {
                break alone;
            }
            tokio::select! {
                biased;
                // Given up while it waited: it holds nobody any more.
                () = call.cancel.cancelled() => return,
                _ = running.next() => {}
            }
        };
        if call.cancel.is_cancelled() {
            return;
        }
        let started = StartedCall { id: Arc::clone(&id), name: call.member, arguments };
        let live = self.run.start(call.ordinal, started);
        let prepared = alongside(running, self.prepare(&id, request)).await;
        running.push(Box::pin(self.finish(prepared, live, answer)));
        if alone {
            while running.next().await.is_some() {}
        }
    }

    async fn prepare(&self, id: &Arc<str>, request: CallRequest) -> Prepared {
        self.run.prepare(id).await;
        let prepared = self.context.call().scope().prepare(request).await;
        self.run.prepared();
        prepared
    }

    async fn finish(&self, prepared: Prepared, live: Live, answer: oneshot::Sender<Answer>) {
        let dispatched = prepared.dispatch().await;
        let stage = self.run.stage().await;
        let result = dispatched.finalize().await.finish();
        live.settle(&result);
        drop(stage);
        // The program may have given the call up.
        drop(answer.send(told(&result)));
    }
}

/// What a program is told of a result: the value, or one message.
fn told(result: &ToolResult) -> Answer {
    match result.error() {
        Some(error) => Err(CallError::new(error.message())),
        None => Ok(result.shared_value().cloned().unwrap_or_else(|| Arc::new(Value::Null))),
    }
}

/// Awaits `future` while the running calls progress.
async fn alongside<T>(running: &mut Running<'_>, future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    loop {
        tokio::select! {
            biased;
            output = &mut future => return output,
            Some(()) = running.next() => {}
        }
    }
}
