//! A person is asked while a program waits: what stands still, what goes on, and how often (RT-05, CM-07).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::code_mode::{CodeMode, RunEvents};
use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, CallRequest, Caller, Decision, ToolResult,
};
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::runtime::BoxFuture;
use hotcell::tool::Tool;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::plan::{Subject, scripted};
use super::rig::{arguments, calls, returned, shown, with_each};
use crate::execution::log::{Log, observe};
use crate::tools::{echo, failure, value};

/// A desk that is told of each question and answers when the test says so.
#[derive(Default)]
struct Desk {
    asked: Notify,
    answer: Notify,
    answers: Mutex<Vec<ApprovalAnswer>>,
    log: Log,
}

struct Service(Arc<Desk>);

impl ApprovalService for Service {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        let (desk, withdrawn) = (Arc::clone(&self.0), self.0.log.at_drop("the question is over"));
        Box::pin(async move {
            let _withdrawn = withdrawn;
            desk.log.note(format!("asked for {} because {:?}", request.call.id(), request.reason));
            desk.asked.notify_one();
            desk.answer.notified().await;
            desk.answers.lock().expect("whole").pop().unwrap_or(ApprovalAnswer::AllowedOnce)
        })
    }
}

/// A registry whose tool `asks` needs approval each time.
fn asking(subject: &Subject, limits: &[(Limit, u64)]) -> (Registry, Arc<Desk>) {
    let desk = Arc::<Desk>::default();
    let set = |all: Limits, (limit, value): &(Limit, u64)| all.with(*limit, *value).expect("within bounds");
    let programs = CodeMode::new(Arc::clone(&subject.runtime)).with_events(&RunEvents::new());
    let registry = Registry::builder()
        .mode(Mode::Code)
        .limits(limits.iter().fold(Limits::default(), set))
        .approval(Arc::new(Service(Arc::clone(&desk))))
        .programs(programs)
        .expect("a valid tool")
        .build()
        .expect("valid");
    for name in ["asks", "echo"] {
        registry.register(echo(name)).expect("free").keep();
    }
    drop(registry.on_pre_execute(async |call, next| {
        if call.name() == "asks" { Ok(Decision::ask("it writes")) } else { Ok(next.run().await) }
    }));
    (registry, desk)
}

async fn run(subject: &Subject, scope: &Scope, plan: &str, cancel: &CancellationToken) -> Arc<ToolResult> {
    let request = CallRequest::new("run_code", arguments(subject, plan), cancel.clone()).with_id("run");
    scope.call(request.with_caller(Caller::new("somebody", ()))).await
}

#[tokio::test(start_paused = true)]
async fn rt_05_the_wall_clock_stands_while_a_person_is_asked() {
    let subject = scripted();
    let (registry, desk) = asking(&subject, &[(Limit::Wall, 1000), (Limit::Approval, 60_000)]);
    let cancel = CancellationToken::new();
    let plan = r#"[["call", "a", "asks", {}], ["call", "b", "asks", {}], ["return", 1]]"#;
    let answering = async {
        for _ in 0..2 {
            desk.asked.notified().await;
            tokio::time::sleep(Duration::from_secs(29)).await;
            desk.answer.notify_one();
        }
    };
    let (result, ()) = tokio::join!(run(&subject, &registry, plan, &cancel), answering);
    assert_eq!(returned(&result), Value::from(1));
    let timings = result.run_facts().expect("it ran").timings;
    assert_eq!(timings.approval, Duration::from_secs(58));
    assert!(timings.wall < Duration::from_secs(1), "{timings:?}");
}

#[tokio::test(start_paused = true)]
async fn rt_05_all_questions_of_a_run_have_one_budget_and_are_denied_when_it_is_used_up() {
    let subject = scripted();
    let (registry, desk) = asking(&subject, &[(Limit::Wall, 1000), (Limit::Approval, 60_000)]);
    let cancel = CancellationToken::new();
    let plan = r#"[["call", "a", "asks", {}], ["start", "b", "asks", {}], ["try", "b"], ["start", "c", "asks", {}],
        ["try", "c"], ["return", {"of": "NAME"}]]"#;
    let over = "the run's approvals wait for longer than the limit `approval` of 60s allows; do less in one \
                run, or raise the limit `approval`";
    for (name, expected) in [
        ("b", "the call of `asks` was denied: it needs approval, and nobody answered within 60s, the limit `approval`".to_owned()),
        ("c", format!("the call of `asks` was denied: it needs approval, and nobody can be asked: {over}")),
    ] {
        let answering = async {
            desk.asked.notified().await;
            tokio::time::sleep(Duration::from_secs(40)).await;
            desk.answer.notify_one();
        };
        let (begun, plan) = (Instant::now(), plan.replace("NAME", name));
        let (result, ()) = tokio::join!(run(&subject, &registry, &plan, &cancel), answering);
        assert_eq!(returned(&result).get("failed").and_then(Value::as_str), Some(expected.as_str()));
        assert_eq!(begun.elapsed(), Duration::from_secs(60));
        assert_eq!(calls(&result), ["asks done", "asks failed", "asks failed"]);
        // Asked twice only: the third question found no time left.
        desk.asked.notified().await;
    }
    assert_eq!(desk.log.lines().iter().filter(|line| line.starts_with("asked")).count(), 4);
}

#[tokio::test]
async fn a_denial_reaches_the_program_with_what_the_person_said() {
    with_each(async |subject| {
        let (registry, desk) = asking(subject, &[]);
        desk.answers.lock().expect("whole").push(ApprovalAnswer::Rejected(Some("not today".to_owned())));
        desk.answer.notify_one();
        let plan = r#"[["start", "a", "asks", {}], ["try", "a"], ["return", {"of": "a"}]]"#;
        let result = run(subject, &registry, plan, &CancellationToken::new()).await;
        let expected = r#"{"failed": "the call of `asks` was denied: a person said no: not today"}"#;
        assert_eq!(returned(&result), value(expected));
        let lines = [r#"asked for run:code:1 because Some("it writes")"#, "the question is over"];
        assert_eq!(desk.log.lines(), lines);
    })
    .await;
}

#[tokio::test]
async fn cancelling_the_run_withdraws_the_question() {
    with_each(async |subject| {
        let (registry, desk) = asking(subject, &[]);
        observe(&registry, &desk.log);
        let cancel = CancellationToken::new();
        let plan = r#"[["log", "before"], ["call", "a", "asks", {}]]"#;
        let giving_up = async {
            desk.asked.notified().await;
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(run(subject, &registry, plan, &cancel), giving_up);
        let start = "code run failed (abort): the caller cancelled the run\ncaptured output:\nbefore";
        assert!(failure(&result).1.starts_with(start), "{}", shown(&result));
        assert_eq!(calls(&result), ["asks cancelled"]);
        let lines = [
            r#"asked for run:code:1 because Some("it writes")"#,
            "the question is over",
            "observed asks ABORTED_BEFORE_DISPATCH",
            "observed run_code CODE_RUN_FAILED",
        ];
        assert_eq!(desk.log.lines(), lines);
    })
    .await;
}

#[tokio::test]
async fn a_program_cannot_flood_a_person_with_questions() {
    with_each(async |subject| {
        for cap in [0, 1, 2] {
            let (registry, desk) = asking(subject, &[(Limit::Approvals, cap)]);
            let plan = r#"[["start", "a", "asks", {"n": 1}], ["try", "a"], ["start", "b", "asks", {"n": 2}], ["try", "b"],
                ["return", {"of": "b"}]]"#;
            let answering = async {
                for _ in 0..cap {
                    desk.asked.notified().await;
                    desk.answer.notify_one();
                }
            };
            let cancel = CancellationToken::new();
            let (result, ()) = tokio::join!(run(subject, &registry, plan, &cancel), answering);
            let denied = format!(
                r#"{{"failed": "the call of `asks` was denied: it needs approval, and nobody can be asked: {}"}}"#,
                format_args!(
                    "the run asks for more approvals than the limit `approvals` of {cap} allows; do less in one \
                     run, or raise the limit `approvals`"
                )
            );
            let expected = if cap == 2 { r#"{"n": 2}"#.to_owned() } else { denied };
            assert_eq!(returned(&result), value(&expected), "{cap}");
            let asked = desk.log.lines().iter().filter(|line| line.starts_with("asked")).count();
            assert_eq!(asked as u64, cap);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_07_a_question_holds_later_starts_and_not_the_commits_of_calls_that_run() {
    with_each(async |subject| {
        let (registry, desk) = asking(subject, &[]);
        let (release, committed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let released = Arc::clone(&release);
        let runs = Tool::builder("runs").parameters("true").output("true").concurrency_safe(|_| true);
        let runs = runs.body(move |_, _| {
            let released = Arc::clone(&released);
            async move {
                released.notified().await;
                Ok(Value::Null)
            }
        });
        registry.register(runs).expect("free").keep();
        observe(&registry, &desk.log);
        let noted = Arc::clone(&committed);
        drop(registry.on_result(move |call, _| {
            if call.name() == "runs" {
                noted.notify_one();
            }
        }));
        let plan = r#"[["start", "r", "runs", {}], ["start", "a", "asks", {}], ["start", "e", "echo", {}],
            ["order", "o", ["r", "a", "e"]], ["return", {"of": "o"}]]"#;
        let driving = async {
            desk.asked.notified().await;
            release.notify_one();
            committed.notified().await;
            // What may not start has had every chance to.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            desk.log.note("the person answers");
            desk.answer.notify_one();
        };
        let cancel = CancellationToken::new();
        let (result, ()) = tokio::join!(run(subject, &registry, plan, &cancel), driving);
        assert_eq!(returned(&result), value(r#"["r", "a", "e"]"#));
        let lines = [
            r#"asked for run:code:2 because Some("it writes")"#,
            "observed runs OK",
            "the person answers",
            "the question is over",
            "observed asks OK",
            "observed echo OK",
            "observed run_code OK",
        ];
        assert_eq!(desk.log.lines(), lines);
    })
    .await;
}
