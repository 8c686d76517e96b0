//! Dropping a call, or a step of one, equals cancelling it: it still reaches its one result.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, CallRequest, Caller, Decision, Driven, PostDecision,
    Prepared,
};
use hotcell::registry::Registry;
use hotcell::runtime::BoxFuture;
use hotcell::tool::ToolBuilder;
use tokio_util::sync::CancellationToken;

use super::log::{Log, observe};
use super::platform::{Act, GOOD, Platform, Script};
use crate::tools::echo;

/// Where a call stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    InListener,
    InApproval,
    InWrapper,
    InBody,
    InPostExecute,
    Nowhere,
}

struct NoAnswer(Log, Stands);

impl ApprovalService for NoAnswer {
    fn request(&self, _: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        let (gone, stands) = (self.0.at_drop("approval gone"), self.1 == Stands::InApproval);
        Box::pin(async move {
            let _gone = gone;
            if stands { pending().await } else { ApprovalAnswer::AllowedOnce }
        })
    }
}

fn tool(log: &Log, stands: Stands) -> ToolBuilder {
    let (body, finalizer) = (log.clone(), log.clone());
    echo("tool")
        .body(move |arguments, _| {
            let gone = body.at_drop("body gone");
            async move {
                let _gone = gone;
                if stands == Stands::InBody { pending().await } else { Ok((*arguments).clone()) }
            }
        })
        .finalize_content(move |_| {
            finalizer.note("finalizer");
            None
        })
}

fn standing(log: &Log, stands: Stands) -> Registry {
    let registry = Registry::builder().approval(Arc::new(NoAnswer(log.clone(), stands))).build().expect("valid");
    registry.register(tool(log, stands)).expect("valid").keep();
    observe(&registry, log);
    registry.on_pre_execute(move |_, _| async move {
        if stands == Stands::InListener { pending().await } else { Ok(Decision::Ask(None)) }
    });
    registry.around(move |_, mut next| async move {
        if stands == Stands::InWrapper { pending().await } else { Ok(next.run().await) }
    });
    registry.on_post_execute(move |_, _, _| async move {
        if stands == Stands::InPostExecute { pending().await } else { Ok(PostDecision::accept()) }
    });
    registry
}

fn request(cancel: &CancellationToken) -> CallRequest {
    CallRequest::new("tool", "{}", cancel.clone()).with_caller(Caller::new("me", ()))
}

/// Lets everything run that can. Time is paused, and stands still until then.
async fn settle() {
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

#[tokio::test(start_paused = true)]
async fn cx_05_a_call_dropped_at_any_stage_reaches_its_one_result() {
    let before = "observed tool ABORTED_BEFORE_DISPATCH";
    let cases: [(Stands, &[&str]); 5] = [
        (Stands::InListener, &["finalizer", before]),
        (Stands::InApproval, &["approval gone", "finalizer", before]),
        (Stands::InWrapper, &["approval gone", "finalizer", before]),
        (Stands::InBody, &["approval gone", "body gone", "finalizer", "observed tool ABORTED"]),
        (Stands::InPostExecute, &["approval gone", "body gone", "finalizer", "observed tool ABORTED"]),
    ];
    for (stands, expected) in cases {
        let log = Log::default();
        let registry = standing(&log, stands);
        let cancel = CancellationToken::new();
        let mut call = registry.call(request(&cancel));
        assert!(futures_util::poll!(&mut call).is_pending(), "{stands:?}");
        drop(call);
        settle().await;
        assert_eq!(log.lines(), expected, "{stands:?}");
        assert!(!cancel.is_cancelled());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_polled_was_never_made() {
    let log = Log::default();
    let registry = standing(&log, Stands::Nowhere);
    drop(registry.call(request(&CancellationToken::new())));
    drop(registry.prepare(request(&CancellationToken::new())));
    settle().await;
    assert!(log.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_over_is_not_finished_again() {
    let log = Log::default();
    let registry = standing(&log, Stands::Nowhere);
    let mut call = registry.call(request(&CancellationToken::new()));
    (&mut call).await;
    drop(call);
    settle().await;
    assert_eq!(log.lines(), ["approval gone", "body gone", "finalizer", "observed tool OK"]);
}

#[tokio::test(start_paused = true)]
async fn the_four_steps_are_the_call() {
    let acts = [Act::Go, Act::No, Act::Ask, Act::Fail, Act::Panic, Act::Cancel, Act::Hang];
    let mut scripts = vec![Script { name: "absent", ..GOOD }, Script { arguments: "[", ..GOOD }];
    for act in acts {
        scripts.extend([
            Script { listener: act, ..GOOD },
            Script { listener: Act::Ask, approval: act, ..GOOD },
            Script { guard: act, ..GOOD },
            Script { around: act, ..GOOD },
            Script { body: act, ..GOOD },
            Script { post: act, ..GOOD },
            Script { finalizer: act, ..GOOD },
            Script { observer: act, ..GOOD },
        ]);
    }
    for script in scripts {
        let whole = Platform::new(hotcell::registry::Mode::Native, script);
        let expected = whole.call().await;
        let steps = Platform::new(hotcell::registry::Mode::Native, script);
        let prepared = steps.registry.prepare(steps.request(script.name)).await;
        let result = prepared.dispatch().await.finalize().await.finish();
        // Both are the first call of their registry, so even the ids are equal.
        assert_eq!(result, expected, "{script:?}");
        assert_eq!(steps.seen(script.name), whole.seen(script.name), "{script:?}");
    }
}

/// How far a staged call gets before it is dropped.
async fn drop_at(registry: &Registry, step: usize, polled: bool) {
    /// Drops a step, perhaps after polling it.
    async fn let_go<T: Send + 'static>(mut step: Driven<T>, polled: bool) {
        if polled {
            assert!(futures_util::poll!(&mut step).is_pending());
        }
        drop(step);
    }
    let prepare: Driven<Prepared> = registry.prepare(request(&CancellationToken::new()));
    if step == 0 {
        return let_go(prepare, polled).await;
    }
    let prepared = prepare.await;
    if step == 1 {
        return drop(prepared);
    }
    let dispatch = prepared.dispatch();
    if step == 2 {
        return let_go(dispatch, polled).await;
    }
    let dispatched = dispatch.await;
    if step == 3 {
        return drop(dispatched);
    }
    let finalize = dispatched.finalize();
    if step == 4 {
        return let_go(finalize, polled).await;
    }
    drop(finalize.await);
}

#[tokio::test(start_paused = true)]
async fn cx_05_a_step_that_is_dropped_is_taken_by_somebody_else() {
    let before: &[&str] = &["approval gone", "finalizer", "observed tool ABORTED_BEFORE_DISPATCH"];
    let aborted: &[&str] = &["approval gone", "body gone", "finalizer", "observed tool ABORTED"];
    let done: &[&str] = &["approval gone", "body gone", "finalizer", "observed tool OK"];
    let cases: [(usize, bool, Stands, &[&str]); 9] = [
        (0, true, Stands::InApproval, before),
        (0, true, Stands::InListener, &["finalizer", "observed tool ABORTED_BEFORE_DISPATCH"]),
        (1, false, Stands::Nowhere, before),
        (2, false, Stands::Nowhere, before),
        (2, true, Stands::InBody, aborted),
        // The body has succeeded, and nothing changes that.
        (3, false, Stands::Nowhere, done),
        (4, false, Stands::Nowhere, done),
        (4, true, Stands::InPostExecute, aborted),
        (5, false, Stands::Nowhere, done),
    ];
    for (step, polled, stands, expected) in cases {
        let log = Log::default();
        drop_at(&standing(&log, stands), step, polled).await;
        settle().await;
        assert_eq!(log.lines(), expected, "{step} {polled} {stands:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn cx_05_a_step_that_is_dropped_outside_of_the_runtime_is_taken_too() {
    let log = Log::default();
    let registry = standing(&log, Stands::Nowhere);
    let prepared = registry.prepare(request(&CancellationToken::new())).await;
    let dispatched = registry.prepare(request(&CancellationToken::new())).await.dispatch().await;
    let finalize = registry.prepare(request(&CancellationToken::new())).await.dispatch().await.finalize();
    let mut before = log.lines();
    std::thread::spawn(move || drop(prepared)).join().expect("no panic");
    settle().await;
    before.extend(["finalizer".to_owned(), "observed tool ABORTED_BEFORE_DISPATCH".to_owned()]);
    assert_eq!(log.lines(), before);
    for step in [Box::new(dispatched) as Box<dyn Send>, Box::new(finalize)] {
        std::thread::spawn(move || drop(step)).join().expect("no panic");
        settle().await;
        before.extend(["finalizer".to_owned(), "observed tool OK".to_owned()]);
        assert_eq!(log.lines(), before);
    }
}

#[tokio::test]
async fn a_prepared_call_that_policy_refused_stays_refused_when_it_is_dropped() {
    let log = Log::default();
    let registry = standing(&log, Stands::Nowhere);
    registry.guard(|_| hotcell::execution::Verdict::deny("no"));
    drop(registry.prepare(request(&CancellationToken::new())).await);
    tokio::task::yield_now().await;
    assert_eq!(log.lines(), ["approval gone", "finalizer", "observed tool DENIED"]);
}
