//! Every ending of a run, at every point: one result, one event for each begin, and nothing left behind (CM-10, CX-05).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::poll;
use hotcell::code_mode::{RunEventKind, RunEvents};
use hotcell::execution::{CallRequest, ErrorCode, ExecutionToken, ToolContext, ToolResult};
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::Registry;
use hotcell::runtime::FailureKind;
use hotcell::tool::{Tool, ToolBuilder};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::plan::Subject;
use super::rig::{arguments, builder, calls, with_each};
use crate::tools::{echo, value};

/// What is alive, and what was told.
#[derive(Default)]
struct Tally {
    bodies: AtomicUsize,
    runs: AtomicUsize,
    ended_runs: AtomicUsize,
    calls: AtomicUsize,
    settled_calls: AtomicUsize,
    results: AtomicUsize,
}

impl Tally {
    fn add(counter: &AtomicUsize) {
        counter.fetch_add(1, Ordering::SeqCst);
    }

    fn of(counter: &AtomicUsize) -> usize {
        counter.load(Ordering::SeqCst)
    }

    /// That what has begun has ended.
    fn check(&self, at: &str) {
        assert_eq!(Self::of(&self.bodies), 0, "{at}: a body lives");
        assert_eq!(Self::of(&self.runs), Self::of(&self.ended_runs), "{at}: runs");
        assert_eq!(Self::of(&self.calls), Self::of(&self.settled_calls), "{at}: calls");
    }
}

/// Counts as alive until it is dropped.
struct Alive(Arc<Tally>);

impl Alive {
    fn new(tally: &Arc<Tally>) -> Self {
        Tally::add(&tally.bodies);
        Self(Arc::clone(tally))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.bodies.fetch_sub(1, Ordering::SeqCst);
    }
}

fn anything(name: &str) -> ToolBuilder {
    Tool::builder(name).parameters("true").output("true").concurrency_safe(|_| true)
}

/// A registry with a slow tool and a slow policy, everything counted.
fn counted(subject: &Subject, limits: Limits) -> (Registry, Arc<Tally>) {
    let (tally, events) = (Arc::<Tally>::default(), RunEvents::new());
    let registry = builder(subject, &events).limits(limits).build().expect("valid");
    let told = Arc::clone(&tally);
    events.observe(move |event| match &event.what {
        RunEventKind::Started { .. } => Tally::add(&told.runs),
        RunEventKind::Ended { .. } => Tally::add(&told.ended_runs),
        RunEventKind::CallStarted(_) => Tally::add(&told.calls),
        RunEventKind::CallSettled(_) => Tally::add(&told.settled_calls),
        _ => {}
    });
    let living = Arc::clone(&tally);
    let slow = anything("slow").body(move |arguments, _| {
        let alive = Alive::new(&living);
        async move {
            let _alive = alive;
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            Ok(Value::clone(&arguments))
        }
    });
    registry.register(slow).expect("free").keep();
    drop(registry.on_pre_execute(async |_, next| {
        tokio::task::yield_now().await;
        Ok(next.run().await)
    }));
    drop(registry.on_post_execute(async |_, _, next| {
        tokio::task::yield_now().await;
        Ok(next.run().await)
    }));
    let seen = Arc::clone(&tally);
    drop(registry.on_result(move |call, _| {
        if call.name() == "run_code" {
            Tally::add(&seen.results);
        }
    }));
    (registry, tally)
}

const PLAN: &str = r#"[["start", "a", "slow", 1], ["start", "b", "slow", 2], ["await", "a"], ["await", "b"],
    ["call", "c", "slow", 3], ["return", {"of": "c"}]]"#;

fn request(subject: &Subject, plan: &str, cancel: &CancellationToken) -> CallRequest {
    CallRequest::new("run_code", arguments(subject, plan), cancel.clone()).with_id("run")
}

/// How a call of [`PLAN`] may end that was cancelled, and nothing else.
fn check_result(result: &ToolResult, at: &str) {
    let facts = result.run_facts().unwrap_or_else(|| panic!("{at}: no report"));
    match result.code() {
        None => assert_eq!(result.value(), Some(&value(r#"{"logs": [], "result": 3}"#)), "{at}"),
        Some(ErrorCode::CodeRunFailed) => {
            assert_eq!(facts.failure.as_ref().map(|failure| failure.kind), Some(FailureKind::Abort), "{at}");
        }
        Some(ErrorCode::Aborted) => {}
        Some(ErrorCode::AbortedBeforeDispatch) => assert_eq!(calls(result), <[String; 0]>::default(), "{at}"),
        Some(other) => panic!("{at}: {other}"),
    }
}

#[tokio::test]
async fn cm_10_a_run_that_is_cancelled_anywhere_has_one_result_and_leaves_nothing() {
    with_each(async |subject| {
        let (registry, tally) = counted(subject, Limits::default());
        for n in 0.. {
            let (at, cancel) = (format!("cancelled after {n} polls"), CancellationToken::new());
            let mut call = Box::pin(registry.call(request(subject, PLAN, &cancel)));
            let mut result = None;
            for _ in 0..n {
                if let std::task::Poll::Ready(ready) = poll!(&mut call) {
                    result = Some(ready);
                    break;
                }
                tokio::task::yield_now().await;
            }
            let complete = result.is_some();
            let result = match result {
                Some(result) => result,
                None => {
                    cancel.cancel();
                    call.await
                }
            };
            check_result(&result, &at);
            tally.check(&at);
            assert_eq!(Tally::of(&tally.results), n + 1, "{at}");
            if complete {
                assert_eq!(result.code(), None, "{at}");
                assert!(n > 5, "{n} polls are too few to have tried anything");
                return;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn cx_05_a_run_whose_future_is_dropped_anywhere_is_taken_to_its_one_result() {
    with_each(async |subject| {
        for n in 1.. {
            let at = format!("dropped after {n} polls");
            let (registry, tally) = counted(subject, Limits::default());
            let (told, mut results) = mpsc::unbounded_channel();
            drop(registry.on_result(move |call, result| {
                if call.name() == "run_code" {
                    drop(told.send(Arc::clone(result)));
                }
            }));
            let mut call = Box::pin(registry.call(request(subject, PLAN, &CancellationToken::new())));
            let mut complete = false;
            for _ in 0..n {
                complete = poll!(&mut call).is_ready();
                if complete {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(call);
            let result = results.recv().await.expect("a result");
            check_result(&result, &at);
            tally.check(&at);
            assert!(results.try_recv().is_err(), "{at}: a second result");
            if complete {
                return;
            }
        }
    })
    .await;
}

/// A program, the kind of its failure, and the limits it runs under.
type Ending = (&'static str, Option<FailureKind>, &'static [(Limit, u64)]);

/// Programs for every kind of ending.
fn endings() -> Vec<Ending> {
    vec![
        (r#"[["call", "k", "keep", {}], ["start", "s", "slow", 1], ["return", 1]]"#, None, &[]),
        (
            r#"[["call", "k", "keep", {}], ["start", "s", "slow", 1], ["throw", "x"]]"#,
            Some(FailureKind::Exception),
            &[],
        ),
        (r#"[["call", "k", "keep", {}], ["hang"]]"#, Some(FailureKind::Exception), &[]),
        (
            r#"[["call", "k", "keep", {}], ["call", "d", "deaf", {}]]"#,
            Some(FailureKind::Timeout),
            &[(Limit::Wall, 50)],
        ),
        (
            r#"[["call", "k", "keep", {}], ["start", "d", "deaf", {}], ["log", "a"], ["log", "b"]]"#,
            Some(FailureKind::OutputLimit),
            &[(Limit::LogLines, 1)],
        ),
        (r#"[["call", "k", "keep", {}], ["call", "p", "panics", {}]]"#, Some(FailureKind::Exception), &[]),
    ]
}

#[tokio::test]
async fn cm_10_every_kind_of_ending_releases_everything() {
    with_each(async |subject| {
        for (plan, kind, limits) in endings() {
            // A script passes limits on as its own failures, and hangs for itself.
            if (plan.contains("hang") || kind == Some(FailureKind::OutputLimit)) && subject.name == "scripted" {
                continue;
            }
            let set =
                |all: Limits, (limit, value): &(Limit, u64)| all.with(*limit, *value).expect("within bounds");
            let limits = limits.iter().fold(Limits::default().with(Limit::Grace, 10).expect("within bounds"), set);
            let (registry, tally) = counted(subject, limits);
            let (given, mut kept) = mpsc::unbounded_channel::<ExecutionToken>();
            let keep = anything("keep").body(move |_, context: ToolContext| {
                let parent = context.call().parent().cloned().expect("a program called");
                given.send(parent).expect("somebody listens");
                async { Ok(Value::Null) }
            });
            registry.register(keep).expect("free").keep();
            registry.register(anything("panics").body(async |_, _| panic!("on purpose"))).expect("free").keep();
            let living = Arc::clone(&tally);
            let deaf = anything("deaf").body(move |_, _| {
                let alive = Alive::new(&living);
                async move {
                    let _alive = alive;
                    std::future::pending().await
                }
            });
            registry.register(deaf).expect("free").keep();
            registry.register(echo("echo")).expect("free").keep();
            let held = Arc::strong_count(&tally);
            let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
            let result = registry.call(request(subject, plan, &CancellationToken::new())).await;
            let facts = result.run_facts().expect("it ran");
            assert_eq!(facts.failure.as_ref().map(|failure| failure.kind), kind, "{plan}");
            tally.check(plan);
            assert_eq!(Arc::strong_count(&tally), held, "{plan}");
            // The token of the run is dead: whoever kept it has nothing.
            let parent = kept.recv().await.expect("the tool was called");
            let late = CallRequest::new("echo", "{}", CancellationToken::new()).with_parent(&parent);
            assert_eq!(registry.call(late).await.code(), Some(ErrorCode::UnknownTool), "{plan}");
            // A store is dropped by a task of its own.
            let soon = async {
                while tokio::runtime::Handle::current().metrics().num_alive_tasks() > tasks {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(60), soon).await.expect("no task is left");
        }
    })
    .await;
}

#[tokio::test]
async fn a_wrapper_cannot_run_a_program_twice_and_may_keep_what_came_of_it() {
    with_each(async |subject| {
        let (registry, tally) = counted(subject, Limits::default());
        let keep = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let keeps = Arc::clone(&keep);
        drop(registry.around(move |call, mut next| {
            let keeps = keeps.load(Ordering::SeqCst);
            async move {
                let first = next.run().await;
                if call.name() != "run_code" || first.error().is_none() {
                    return Ok(first);
                }
                let second = next.run().await;
                Ok(if keeps { first } else { second })
            }
        }));
        let plan = r#"[["call", "a", "slow", 1], ["throw", "broken"]]"#;
        for (keeps, code, start) in [
            (false, ErrorCode::Aborted, "the program has ended, and a call runs its program once"),
            (true, ErrorCode::CodeRunFailed, "code run failed (exception): Error: broken"),
        ] {
            keep.store(keeps, Ordering::SeqCst);
            let result = registry.call(request(subject, plan, &CancellationToken::new())).await;
            let error = result.error().expect("it fails");
            assert_eq!(error.code(), code);
            assert!(error.message().starts_with(start), "{}", error.message());
            // What the program did is told either way.
            assert_eq!(calls(&result), ["slow done"]);
            tally.check(start);
        }
    })
    .await;
}

#[cfg(feature = "wasm")]
#[tokio::test]
async fn a_program_that_loops_between_calls_is_stopped_and_its_calls_are_listed() {
    let subject = super::plan::javascript().await;
    let limits = Limits::default().with(Limit::Compute, 50).expect("within bounds");
    let (registry, tally) = counted(&subject, limits);
    let mut arguments = hotcell::json::Object::new();
    arguments.insert("description", "loops");
    arguments
        .insert("code", "console.log('a'); await tools.slow(1); try { await tools.none(); } catch {} for (;;) {}");
    let request = CallRequest::new("run_code", Value::from(arguments), CancellationToken::new()).with_id("run");
    let result = registry.call(request).await;
    let facts = result.run_facts().expect("it ran");
    assert_eq!(facts.failure.as_ref().map(|failure| failure.kind), Some(FailureKind::Timeout));
    assert_eq!(calls(&result), ["slow done", "none failed"]);
    assert_eq!(facts.logs, ["a"]);
    tally.check("looping");
}

#[cfg(feature = "wasm")]
#[tokio::test]
async fn nothing_of_one_program_is_there_for_the_next_and_the_tools_cannot_be_replaced() {
    let subject = super::plan::javascript().await;
    let (registry, _) = counted(&subject, Limits::default());
    registry.register(echo("echo")).expect("free").keep();
    for (code, expected) in [
        ("globalThis.kept = tools; globalThis.n = 1; return typeof kept.echo", r#""function""#),
        ("return [typeof kept, typeof n]", r#"["undefined", "undefined"]"#),
        ("const tools = { echo: () => 'mine' }; return tools.echo({})", r#""mine""#),
        ("try { tools.echo = 1 } catch (error) { return error.name }", r#""TypeError""#),
        ("try { delete tools.echo } catch (error) { return error.name }", r#""TypeError""#),
        ("tools.echo; const { echo } = tools; return await echo({ x: 1 })", r#"{"x": 1}"#),
        (
            "try { await tools.echo({ x: 2n ** 64n, y: [NaN] }) } catch (error) { return error.name }",
            r#""TypeError""#,
        ),
        ("return await tools.echo({ x: 2n ** 64n })", r#"{"x": 18446744073709551616}"#),
    ] {
        let mut arguments = hotcell::json::Object::new();
        arguments.insert("description", "tries");
        arguments.insert("code", code);
        let request = CallRequest::new("run_code", Value::from(arguments), CancellationToken::new());
        let result = registry.call(request).await;
        assert_eq!(super::rig::returned(&result), value(expected), "{code}");
    }
}
