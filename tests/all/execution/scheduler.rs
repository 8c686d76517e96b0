//! The scheduler against a model: which calls run at each moment, whatever order they end in.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hotcell::execution::{CallRequest, ErrorCode, Scheduler, ToolResult};
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry};
use hotcell::tool::Tool;
use proptest::prelude::*;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use crate::tools::{call, echo, registry, value};

/// What happened, and the doors behind which bodies wait.
#[derive(Default)]
struct Log {
    /// Ordered stages in order: `prepare 0`, `finish 0`.
    ordered: Vec<String>,
    running: BTreeSet<usize>,
    doors: Vec<Option<oneshot::Sender<()>>>,
}

/// A registry whose tool `work` takes `{"call": n, "parallel": bool}`, notes what happens, and ends when told to.
struct Platform {
    registry: Registry,
    log: Arc<Mutex<Log>>,
}

impl Platform {
    fn new(calls: usize) -> Self {
        let log = Arc::new(Mutex::new(Log::default()));
        let (mut doors, mut waits) = (Vec::new(), Vec::new());
        for _ in 0..calls {
            let (door, wait) = oneshot::channel();
            doors.push(Some(door));
            waits.push(Some(wait));
        }
        log.lock().expect("not poisoned").doors = doors;
        let waits = Arc::new(Mutex::new(waits));
        let noted = Arc::clone(&log);
        let work = Tool::builder("work")
            .parameters("true")
            .output("true")
            .concurrency_safe(|arguments| arguments.get("parallel").and_then(Value::as_bool) == Some(true))
            .body(move |arguments, _| {
                let (noted, call) = (Arc::clone(&noted), number(&arguments));
                let wait = waits.lock().expect("not poisoned")[call].take().expect("each call runs once");
                async move {
                    noted.lock().expect("not poisoned").running.insert(call);
                    wait.await.expect("the door is opened, not lost");
                    noted.lock().expect("not poisoned").running.remove(&call);
                    Ok(Value::clone(&arguments))
                }
            });
        let registry = Registry::new();
        registry.register(work).expect("valid").keep();
        let busy = Arc::new(AtomicBool::new(false));
        let (noted, alone) = (Arc::clone(&log), Arc::clone(&busy));
        registry.on_pre_execute(move |call, next| {
            let (noted, alone) = (Arc::clone(&noted), Arc::clone(&alone));
            async move {
                ordered(&noted, &alone, "prepare", number(call.arguments().expect("lossless"))).await;
                Ok(next.run().await)
            }
        });
        let noted = Arc::clone(&log);
        registry.on_post_execute(move |call, _, next| {
            let (noted, alone) = (Arc::clone(&noted), Arc::clone(&busy));
            async move {
                ordered(&noted, &alone, "finish", number(call.arguments().expect("lossless"))).await;
                Ok(next.run().await)
            }
        });
        Self { registry, log }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("not poisoned")
    }

    /// Lets one body end, and everything follow that follows from it.
    async fn open(&self, call: usize) {
        let door = self.log().doors[call].take().expect("opened once");
        door.send(()).expect("somebody waits");
        settle().await;
    }
}

/// An ordered stage: fails the test where it overlaps another.
async fn ordered(log: &Mutex<Log>, busy: &AtomicBool, stage: &str, call: usize) {
    assert!(!busy.swap(true, Ordering::SeqCst), "{stage} {call} overlaps another ordered stage");
    log.lock().expect("not poisoned").ordered.push(format!("{stage} {call}"));
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    busy.store(false, Ordering::SeqCst);
}

/// Lets everything happen that can happen without a door being opened. There is one thread, so this is exact.
async fn settle() {
    for _ in 0..400 {
        tokio::task::yield_now().await;
    }
}

fn number(arguments: &Value) -> usize {
    usize::try_from(arguments.get("call").and_then(Value::as_u64).expect("a number")).expect("small")
}

fn requests(parallel: &[bool]) -> Vec<CallRequest> {
    let one = |(call, parallel)| {
        let arguments = value(&format!(r#"{{"call": {call}, "parallel": {parallel}}}"#));
        CallRequest::new("work", arguments, CancellationToken::new()).with_id(format!("id {call}"))
    };
    parallel.iter().enumerate().map(one).collect()
}

/// The rules, without any of the machinery.
struct Model<'a> {
    parallel: &'a [bool],
    overlap_max: usize,
    begun: usize,
    running: BTreeSet<usize>,
}

impl Model<'_> {
    /// Begins every call that may begin.
    fn advance(&mut self) {
        while let Some(parallel) = self.parallel.get(self.begun) {
            let alone = self.running.iter().any(|call| !self.parallel[*call]);
            let may_begin =
                if *parallel { !alone && self.running.len() < self.overlap_max } else { self.running.is_empty() };
            if !may_begin {
                return;
            }
            self.running.insert(self.begun);
            self.begun += 1;
        }
    }
}

async fn follows_the_model(parallel: Vec<bool>, overlap_max: usize, choices: Vec<usize>) {
    let platform = Platform::new(parallel.len());
    let mut model = Model { parallel: &parallel, overlap_max, begun: 0, running: BTreeSet::new() };
    let scheduler =
        Scheduler::new(&platform.registry).with_overlap_max(NonZeroUsize::new(overlap_max).expect("positive"));
    let requests = requests(&parallel);
    let turn = tokio::spawn(async move { scheduler.run(requests).await });
    settle().await;
    for choice in choices {
        model.advance();
        assert_eq!(platform.log().running, model.running);
        let Some(ends) = model.running.iter().nth(choice % model.running.len().max(1)).copied() else {
            break;
        };
        model.running.remove(&ends);
        platform.open(ends).await;
    }
    let results: Vec<Arc<ToolResult>> = turn.await.expect("it does not panic");
    let ids: Vec<&str> = results.iter().map(|result| result.id()).collect();
    let expected: Vec<String> = (0..parallel.len()).map(|call| format!("id {call}")).collect();
    assert_eq!(ids, expected);
    let log = platform.log();
    for stage in ["prepare", "finish"] {
        let order: Vec<&String> = log.ordered.iter().filter(|event| event.starts_with(stage)).collect();
        let expected: Vec<String> = (0..parallel.len()).map(|call| format!("{stage} {call}")).collect();
        assert_eq!(order, expected.iter().collect::<Vec<_>>());
    }
    for (call, parallel) in parallel.iter().enumerate().filter(|(_, parallel)| !**parallel) {
        let place = |event: String| log.ordered.iter().position(|other| *other == event);
        let begun = place(format!("prepare {call}")).expect("it was prepared");
        assert_eq!(place(format!("finish {call}")), Some(begun + 1), "call {call} is not alone: {parallel}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mix_of_calls_follows_the_model(
        parallel in prop::collection::vec(prop::bool::weighted(0.75), 0..12),
        overlap_max in 1_usize..5,
        choices in prop::collection::vec(0_usize..100, 12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(follows_the_model(parallel, overlap_max, choices));
    }
}

#[tokio::test]
async fn results_come_in_the_models_order_whatever_they_are() {
    let registry = registry(Mode::Code);
    registry.register(echo("read")).expect("valid").keep();
    let request = |name: &str, arguments: &str| CallRequest::new(name, arguments, CancellationToken::new());
    let results = Scheduler::new(&registry)
        .run(vec![
            request("read", "{}"),
            request("run_code", r#"{"calls": [{"name": "read"}]}"#),
            request("absent", "{}"),
            request("run_code", "{"),
        ])
        .await;
    let codes: Vec<Option<ErrorCode>> = results.iter().map(|result| result.code()).collect();
    use ErrorCode::{InvalidArgs, UnknownTool};
    assert_eq!(codes, [Some(UnknownTool), None, Some(UnknownTool), Some(InvalidArgs)]);
}

#[tokio::test]
async fn a_dropped_turn_cancels_what_was_begun_and_begins_nothing_more() {
    let platform = Platform::new(4);
    let (sender, mut published) = tokio::sync::mpsc::unbounded_channel();
    platform.registry.on_result(move |call, result| {
        sender.send((call.id().to_owned(), result.code())).expect("somebody listens");
    });
    let scheduler = Scheduler::new(&platform.registry);
    let requests = requests(&[true, true, false, true]);
    let turn = tokio::spawn(async move { scheduler.run(requests).await });
    settle().await;
    assert_eq!(platform.log().running, BTreeSet::from([0, 1]));
    turn.abort();
    assert!(turn.await.expect_err("it was aborted").is_cancelled());
    // The bodies do not look at their token; what is left of them ends behind their doors.
    settle().await;
    for call in [0, 1] {
        platform.open(call).await;
        assert_eq!(published.recv().await, Some((format!("id {call}"), Some(ErrorCode::Aborted))));
    }
    settle().await;
    assert!(published.try_recv().is_err());
    assert_eq!(platform.log().ordered, ["prepare 0", "prepare 1", "finish 0", "finish 1"]);
}

#[tokio::test]
async fn pl_05_a_call_that_a_program_makes_is_classified_as_it_is_made() {
    let registry = registry(Mode::Code);
    registry.register(echo("read")).expect("valid").keep();
    // Direct: collapsed, and so exclusive. In a program it would be parallel; there it succeeds.
    let mut request = CallRequest::new("read", "{}", CancellationToken::new());
    let mode = registry.execution_mode(&mut request).await;
    assert_eq!(mode, hotcell::execution::ExecutionMode::Exclusive);
    assert_eq!(
        call(&registry, "run_code", r#"{"calls": [{"name": "read"}]}"#).await.value(),
        Some(&value("[{}]"))
    );
}

/// The calls whose bodies run.
type Running = Arc<Mutex<BTreeSet<usize>>>;

/// A registry of one tool, `work`, whose calls take `{"call": n}` and run until their doors are opened. Every call may overlap
/// others at first; when call 0 ends, it makes the tool one whose calls may, or may not.
fn changing(before: bool, after: bool) -> (Registry, Running, Vec<Arc<Notify>>) {
    let registry = Registry::new();
    let running: Running = Arc::default();
    let doors: Vec<Arc<Notify>> = (0..4).map(|_| Arc::default()).collect();
    let parallel = Arc::new(AtomicBool::new(before));
    let (noted, waits, changes) = (Arc::clone(&running), doors.clone(), Arc::clone(&parallel));
    let work = Tool::builder("work")
        .parameters("true")
        .output("true")
        .concurrency_safe(move |arguments| number(arguments) == 0 || parallel.load(Ordering::SeqCst))
        .body(move |arguments, _| {
            let (noted, changes, call) = (Arc::clone(&noted), Arc::clone(&changes), number(&arguments));
            let door = Arc::clone(&waits[call]);
            async move {
                noted.lock().expect("not poisoned").insert(call);
                door.notified().await;
                noted.lock().expect("not poisoned").remove(&call);
                if call == 0 {
                    changes.store(after, Ordering::SeqCst);
                }
                Ok(value("null"))
            }
        });
    registry.register(work).expect("valid").keep();
    (registry, running, doors)
}

#[tokio::test]
async fn cm_06_a_call_is_classified_when_it_starts() {
    // Before call 0 ends, call 2 waits for room, as a call that may overlap; it then has to run alone. Or the other way round:
    // call 1 waits to run alone, and then need not.
    let cases: [(bool, bool, [&[usize]; 3]); 2] =
        [(true, false, [&[0, 1], &[1], &[2]]), (false, true, [&[0], &[1, 2], &[2, 3]])];
    for (before, after, expected) in cases {
        let (registry, running, doors) = changing(before, after);
        let scheduler = Scheduler::new(&registry).with_overlap_max(NonZeroUsize::new(2).expect("positive"));
        let turn = tokio::spawn(async move { scheduler.run(requests(&[true; 4])).await });
        for (ends, expected) in expected.into_iter().enumerate() {
            settle().await;
            assert_eq!(
                *running.lock().expect("not poisoned"),
                expected.iter().copied().collect(),
                "{before} {ends}"
            );
            doors[ends].notify_one();
        }
        doors.iter().for_each(|door| door.notify_one());
        assert_eq!(turn.await.expect("it does not panic").len(), 4);
    }
}

#[test]
fn a_turn_whose_runtime_goes_away_comes_to_an_end() {
    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
    }
    let platform = Platform::new(3);
    let scheduler = Scheduler::new(&platform.registry);
    let requests = requests(&[true, true, false]);
    let mut turn = Box::pin(async move { scheduler.run(requests).await });
    // The first two calls get tasks in a runtime that then ends, in the middle of their bodies.
    let first = runtime();
    first.block_on(async {
        for _ in 0..400 {
            assert!(futures_util::poll!(&mut turn).is_pending());
            tokio::task::yield_now().await;
        }
        assert_eq!(platform.log().running, BTreeSet::from([0, 1]));
    });
    drop(first);
    platform.log().doors[2].take().expect("opened once").send(()).expect("somebody will wait");
    let turn = async { tokio::time::timeout(std::time::Duration::from_secs(60), turn).await.expect("it ends") };
    let results = runtime().block_on(turn);
    let seen: Vec<_> = results.iter().map(|result| (result.id(), result.code())).collect();
    let lost = Some(ErrorCode::Internal);
    assert_eq!(seen, [("id 0", lost), ("id 1", lost), ("id 2", None)]);
    let message = "internal error: the call was lost with its task";
    assert_eq!(results[0].error().expect("lost").message(), message);
}
