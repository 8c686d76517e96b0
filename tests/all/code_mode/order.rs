//! Which calls of a program run at each moment, and in which order they start and commit (CM-06, CM-07).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hotcell::code_mode::{CodeMode, RunEventKind, RunEvents};
use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, CallInfo, Caller, Decision, PostDecision, ToolResult,
};
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry};
use hotcell::runtime::BoxFuture;
use hotcell::tool::{Tool, ToolBuilder};
use tokio::task::JoinHandle;

use super::doors::{Doors, Log, settle};
use super::plan::Subject;
use super::rig::{calls, request, returned, with_each};

/// A registry whose calls note what happens to them, and wait where their arguments say so: in the body with `wait`, in
/// post-execute with `hold`.
pub struct Floor {
    pub registry: Registry,
    pub log: Log,
    pub doors: Doors,
    /// Whether the tool `moody` may overlap others now.
    moody: Arc<AtomicBool>,
    /// Whether a call is in an ordered stage.
    busy: Arc<AtomicBool>,
}

/// What a call is called in the log.
fn label(call: &CallInfo) -> String {
    let arguments = call.arguments().expect("lossless");
    arguments.get("as").and_then(Value::as_str).expect("the call has a name").to_owned()
}

fn says(arguments: &Value, what: &str) -> bool {
    arguments.get(what).and_then(Value::as_bool) == Some(true)
}

/// A person who answers yes once a door is opened.
struct Person(Log, Doors);

impl ApprovalService for Person {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        let (label, doors) = (label(&request.call), self.1.clone());
        self.0.note(format!("{label} asked"));
        Box::pin(async move {
            doors.pass(&format!("yes {label}")).await;
            ApprovalAnswer::AllowedOnce
        })
    }
}

impl Floor {
    pub fn new(subject: &Subject, overlap_max: Option<usize>) -> Self {
        let (log, doors) = (Log::default(), Doors::default());
        let events = RunEvents::new();
        let noted = log.clone();
        events.observe(move |event| {
            if let RunEventKind::Log(entry) = &event.what {
                noted.note(format!("log {entry}"));
            }
        });
        let mut programs = CodeMode::new(Arc::clone(&subject.runtime)).with_events(&events);
        if let Some(most) = overlap_max {
            programs = programs.with_overlap_max(NonZeroUsize::new(most).expect("positive"));
        }
        let registry = Registry::builder().mode(Mode::Code).programs(programs).expect("a valid tool");
        let registry = registry.approval(Arc::new(Person(log.clone(), doors.clone()))).build().expect("valid");
        let floor = Self { registry, log, doors, moody: Arc::default(), busy: Arc::default() };
        let is_moody = Arc::clone(&floor.moody);
        floor.register(floor.tool("safe").concurrency_safe(|_| true));
        floor.register(floor.tool("asked").concurrency_safe(|_| true));
        floor.register(floor.tool("moody").concurrency_safe(move |_| is_moody.load(Ordering::SeqCst)));
        floor.register(floor.tool("lone"));
        floor.watch();
        floor
    }

    fn register(&self, tool: ToolBuilder) {
        self.registry.register(tool).expect("valid").keep();
    }

    fn tool(&self, name: &str) -> ToolBuilder {
        let (log, doors) = (self.log.clone(), self.doors.clone());
        let body = move |arguments: Arc<Value>, context: hotcell::execution::ToolContext| {
            let (log, doors, label) = (log.clone(), doors.clone(), label(context.call()));
            async move {
                log.note(format!("{label} begins"));
                if says(&arguments, "wait") {
                    doors.pass(&label).await;
                }
                log.note(format!("{label} ends"));
                Ok(Value::Null)
            }
        };
        Tool::builder(name).parameters("true").output("true").body(body)
    }

    /// Enters an ordered stage, notes it, lets others run for a while, and leaves it.
    async fn ordered(log: &Log, busy: &AtomicBool, line: String) {
        if busy.swap(true, Ordering::SeqCst) {
            log.note(format!("overlap: {line}"));
        }
        log.note(line);
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        busy.store(false, Ordering::SeqCst);
    }

    fn watch(&self) {
        let (log, busy) = (self.log.clone(), Arc::clone(&self.busy));
        self.registry.on_pre_execute(move |call, next| {
            let (log, busy) = (log.clone(), Arc::clone(&busy));
            async move {
                if call.is_nested() {
                    Self::ordered(&log, &busy, format!("{} before", label(&call))).await;
                }
                if call.name() == "asked" { Ok(Decision::Ask(None)) } else { Ok(next.run().await) }
            }
        });
        let (log, busy, doors) = (self.log.clone(), Arc::clone(&self.busy), self.doors.clone());
        self.registry.on_post_execute(move |call, _, _| {
            let (log, busy, doors) = (log.clone(), Arc::clone(&busy), doors.clone());
            async move {
                if call.is_nested() {
                    Self::ordered(&log, &busy, format!("{} after", label(&call))).await;
                    if says(call.arguments().expect("lossless"), "hold") {
                        doors.pass(&format!("after {}", label(&call))).await;
                    }
                }
                Ok(PostDecision::accept())
            }
        });
        let (log, busy) = (self.log.clone(), Arc::clone(&self.busy));
        self.registry.on_result(move |call, _| {
            if call.is_nested() {
                let overlap = if busy.load(Ordering::SeqCst) { "overlap: " } else { "" };
                log.note(format!("{overlap}{} done", label(call)));
            }
        });
    }

    /// Runs a plan in a task of its own.
    pub fn run(&self, subject: &Subject, plan: &str) -> JoinHandle<Arc<ToolResult>> {
        tokio::spawn(self.registry.call(request(subject, plan).with_caller(Caller::new("me", ()))))
    }

    /// The calls whose bodies run, in the order in which they began.
    fn running(&self) -> Vec<String> {
        let mut running = Vec::new();
        for line in self.log.lines() {
            if let Some(label) = line.strip_suffix(" begins") {
                running.push(label.to_owned());
            }
            if let Some(label) = line.strip_suffix(" ends") {
                running.retain(|one| one != label);
            }
        }
        running
    }
}

/// A step that starts a call.
fn start(tool: &str, label: &str, how: &[&str]) -> String {
    let how: String = how.iter().map(|what| format!(r#", "{what}": true"#)).collect();
    format!(r#"["start", "{label}", "{tool}", {{"as": "{label}"{how}}}]"#)
}

/// A plan of these steps, which then returns the order in which calls settled.
fn plan(steps: &[String], order: &[&str]) -> String {
    let order = Value::from(order.iter().map(|label| Value::from(*label)).collect::<Vec<_>>());
    let order = hotcell::json::encode(&order);
    format!(r#"[{}, ["order", "o", {order}], ["return", {{"of": "o"}}]]"#, steps.join(", "))
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[tokio::test]
async fn cm_06_calls_that_may_overlap_do_so_up_to_the_cap() {
    with_each(async |subject| {
        for (cap, count, most) in
            [(Some(1), 3, 1), (Some(3), 2, 2), (Some(3), 3, 3), (Some(3), 5, 3), (None, 10, 10), (None, 11, 10)]
        {
            let floor = Floor::new(subject, cap);
            let labels: Vec<String> = (0..count).map(|n| format!("c{n:02}")).collect();
            let steps: Vec<String> = labels.iter().map(|label| start("safe", label, &["wait"])).collect();
            let names: Vec<&str> = labels.iter().map(String::as_str).collect();
            let run = floor.run(subject, &plan(&steps, &names));
            floor.log.until(&format!("{} begins", labels[most - 1])).await;
            settle().await;
            assert_eq!(floor.running(), labels[..most], "{cap:?} {count}");
            for (ended, label) in labels.iter().enumerate() {
                floor.doors.open(label);
                floor.log.until(&format!("{label} done")).await;
                settle().await;
                let last = count.min(ended + 1 + most);
                assert_eq!(floor.running(), labels[ended + 1..last], "{cap:?} {count} {label}");
            }
            let result = run.await.expect("no panic");
            assert_eq!(strings(&returned(&result)), names);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_06_an_exclusive_call_drains_runs_alone_and_holds_its_barrier_through_post_execute() {
    with_each(async |subject| {
        let floor = Floor::new(subject, None);
        let steps = [
            start("safe", "a", &["wait"]),
            start("safe", "b", &["wait"]),
            start("lone", "x", &["wait", "hold"]),
            start("safe", "c", &[]),
        ];
        let run = floor.run(subject, &plan(&steps, &["a", "b", "x", "c"]));
        let step = floor.log.step("b begins").await;
        assert_eq!(sorted(step), ["a before", "a begins", "b before", "b begins"]);
        floor.doors.open("a");
        assert_eq!(floor.log.step("a done").await, ["a ends", "a after", "a done"]);
        floor.doors.open("b");
        let alone = ["b ends", "b after", "b done", "x before", "x begins"];
        assert_eq!(floor.log.step("x begins").await, alone);
        floor.doors.open("x");
        assert_eq!(floor.log.step("x after").await, ["x ends", "x after"]);
        floor.doors.open("after x");
        let rest = ["x done", "c before", "c begins", "c ends", "c after", "c done"];
        assert_eq!(floor.log.step("c done").await, rest);
        assert_eq!(strings(&returned(&run.await.expect("no panic"))), ["a", "b", "x", "c"]);
    })
    .await;
}

#[tokio::test]
async fn cm_06_a_call_is_classified_when_it_starts_and_not_when_it_is_submitted() {
    with_each(async |subject| {
        for overlaps in [false, true] {
            let floor = Floor::new(subject, None);
            floor.moody.store(!overlaps, Ordering::SeqCst);
            let waits: &[&str] = &["wait"];
            let steps = [start("lone", "x", waits), start("moody", "m", waits), start("moody", "n", waits)];
            let run = floor.run(subject, &plan(&steps, &["x", "m", "n"]));
            floor.log.step("x begins").await;
            floor.moody.store(overlaps, Ordering::SeqCst);
            floor.doors.open("x");
            floor.log.until("m begins").await;
            settle().await;
            let running: &[&str] = if overlaps { &["m", "n"] } else { &["m"] };
            assert_eq!(floor.running(), running);
            floor.doors.open("m");
            floor.doors.open("n");
            assert_eq!(strings(&returned(&run.await.expect("no panic"))), ["x", "m", "n"]);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_07_ordered_stages_never_overlap_and_start_in_the_order_of_submission() {
    with_each(async |subject| {
        let floor = Floor::new(subject, Some(3));
        let labels = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let tool = |label: &str| if ["d", "h"].contains(&label) { "lone" } else { "safe" };
        let steps: Vec<String> = labels.iter().map(|label| start(tool(label), label, &[])).collect();
        floor.run(subject, &plan(&steps, &labels)).await.expect("no panic");
        let lines = floor.log.lines();
        let overlaps: Vec<&String> = lines.iter().filter(|line| line.starts_with("overlap")).collect();
        assert!(overlaps.is_empty(), "{lines:?}");
        let stage = |stage: &str| -> Vec<&str> {
            lines.iter().filter_map(|line| line.strip_suffix(stage)).collect::<Vec<_>>()
        };
        assert_eq!(stage(" before"), labels);
        assert_eq!(stage(" after"), stage(" ends"));
        assert_eq!(stage(" done"), stage(" ends"));
    })
    .await;
}

#[tokio::test]
async fn cm_07_commits_follow_the_order_of_completion_and_the_list_that_of_submission() {
    with_each(async |subject| {
        let floor = Floor::new(subject, None);
        let steps =
            [start("safe", "a", &["wait"]), start("moody", "b", &["wait"]), start("asked", "c", &["wait"])];
        floor.moody.store(true, Ordering::SeqCst);
        floor.doors.open("yes c");
        let run = floor.run(subject, &plan(&steps, &["a", "b", "c"]));
        floor.log.step("c begins").await;
        for label in ["c", "a", "b"] {
            floor.doors.open(label);
            let commit = ["ends", "after", "done"].map(|stage| format!("{label} {stage}"));
            assert_eq!(floor.log.step(&commit[2]).await, commit);
        }
        let result = run.await.expect("no panic");
        assert_eq!(strings(&returned(&result)), ["c", "a", "b"]);
        assert_eq!(calls(&result), ["safe done", "moody done", "asked done"]);
    })
    .await;
}

#[tokio::test]
async fn cm_07_a_result_reaches_the_program_at_its_commit() {
    with_each(async |subject| {
        let floor = Floor::new(subject, None);
        let steps = [
            start("safe", "a", &["hold"]),
            start("safe", "b", &["wait"]),
            r#"["await", "a"], ["log", "a is here"]"#.to_owned(),
        ];
        let run = floor.run(subject, &plan(&steps, &["b"]));
        floor.log.step("b begins").await;
        // While one result is before its listeners, another waits for its turn.
        floor.doors.open("b");
        assert_eq!(floor.log.step("b ends").await, ["b ends"]);
        floor.doors.open("after a");
        let step = floor.log.step("b done").await;
        assert_eq!(sorted(step), ["a done", "b after", "b done", "log a is here"]);
        assert_eq!(strings(&returned(&run.await.expect("no panic"))), ["b"]);
    })
    .await;
}

#[tokio::test]
async fn cm_07_an_approval_that_waits_holds_later_starts_and_no_commits() {
    with_each(async |subject| {
        let floor = Floor::new(subject, None);
        let steps = [
            start("safe", "a", &["wait"]),
            start("asked", "q", &[]),
            start("safe", "b", &[]),
            r#"["await", "a"], ["log", "a is here"]"#.to_owned(),
        ];
        let run = floor.run(subject, &plan(&steps, &["q", "b"]));
        assert_eq!(sorted(floor.log.step("q asked").await), ["a before", "a begins", "q asked", "q before"]);
        floor.doors.open("a");
        assert_eq!(floor.log.step("log a is here").await, ["a ends", "a after", "a done", "log a is here"]);
        floor.doors.open("yes q");
        let result = run.await.expect("no panic");
        assert_eq!(strings(&returned(&result)), ["q", "b"]);
        let lines = floor.log.lines();
        let place = |line: &str| lines.iter().position(|one| one == line).expect("it is noted");
        assert!(place("q begins") < place("b begins"), "{lines:?}");
        assert!(!lines.iter().any(|line| line.starts_with("overlap")), "{lines:?}");
    })
    .await;
}

#[tokio::test]
async fn cm_06_the_calls_of_one_run_hold_nobody_in_another() {
    with_each(async |subject| {
        let floor = Floor::new(subject, Some(1));
        let run = |label: &str| floor.run(subject, &plan(&[start("lone", label, &["wait"])], &[label]));
        let (first, second) = (run("a"), run("b"));
        floor.log.until("a begins").await;
        floor.log.until("b begins").await;
        for (label, run) in [("b", second), ("a", first)] {
            floor.doors.open(label);
            assert_eq!(strings(&returned(&run.await.expect("no panic"))), [label]);
        }
    })
    .await;
}
