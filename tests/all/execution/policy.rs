//! Listeners, approval and guards: who is asked, in which order, and what each answer says.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, Caller, Decision, ErrorCode, ToolResult, Verdict,
};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::runtime::BoxFuture;
use hotcell::tool::Tool;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::log::{Log, request};
use crate::tools::{echo, failure, registry, value};

/// Answers with whatever the test says, and keeps what it was asked. `None` never answers.
#[derive(Default)]
struct Desk {
    answer: Mutex<Option<ApprovalAnswer>>,
    asked: Mutex<Vec<ApprovalRequest>>,
    log: Log,
}

impl ApprovalService for Desk {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        self.asked.lock().expect("not poisoned").push(request);
        let (answer, gone) =
            (self.answer.lock().expect("not poisoned").clone(), self.log.at_drop("the question is withdrawn"));
        Box::pin(async move {
            let _gone = gone;
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

/// A registry with a desk, whose tool `tool` always needs approval.
fn asking(mode: Mode, answer: Option<ApprovalAnswer>, limits: Limits) -> (Registry, Arc<Desk>) {
    let desk = Arc::new(Desk { answer: Mutex::new(answer), ..Desk::default() });
    let registry = Registry::builder()
        .mode(mode)
        .transport("javascript", crate::tools::run_code())
        .approval(Arc::<Desk>::clone(&desk))
        .limits(limits)
        .build()
        .expect("valid");
    registry.register(echo("tool")).expect("valid").keep();
    registry.on_pre_execute(async |call, next| {
        if call.name() == "tool" { Ok(Decision::ask("it writes")) } else { Ok(next.run().await) }
    });
    (registry, desk)
}

async fn call_as(scope: &Scope, caller: &str) -> Arc<ToolResult> {
    scope.call(request("tool", "{}").with_caller(Caller::new(caller, ()))).await
}

#[tokio::test]
async fn pl_08_listeners_are_asked_from_the_global_layer_inwards() {
    let registry = registry(Mode::Native);
    registry.register(echo("tool")).expect("valid").keep();
    let child = registry.child("child").expect("shallow");
    let log = Log::default();
    let listen = |scope: &Scope, name: &'static str| {
        let log = log.clone();
        scope.on_pre_execute(move |_, next| {
            let log = log.clone();
            async move {
                log.note(format!("{name} asks"));
                let decision = next.run().await;
                log.note(format!("{name} hears {decision:?}"));
                Ok(decision)
            }
        });
    };
    listen(&child, "child");
    listen(&registry, "first");
    listen(&registry, "second");
    child.call(request("tool", "{}")).await;
    let expected = [
        "first asks", "second asks", "child asks", "child hears Allow", "second hears Allow", "first hears Allow",
    ];
    assert_eq!(log.lines(), expected);
    // What a listener decides by itself, those after it never see.
    let registry = Registry::new();
    registry.register(echo("tool")).expect("valid").keep();
    registry.on_pre_execute(async |_, next| match next.run().await {
        Decision::Deny(reason) => Ok(Decision::deny(format!("{reason}, says the inner one"))),
        other => Ok(other),
    });
    registry.on_pre_execute(async |_, _| Ok(Decision::deny("no")));
    registry.on_pre_execute(async |_, _| panic!("nobody asks the third"));
    let result = registry.call(request("tool", "{}")).await;
    let message = "the call of `tool` was denied: no, says the inner one";
    assert_eq!(failure(&result), (ErrorCode::Denied, message));
}

#[tokio::test]
async fn pl_08_an_outer_listener_cannot_hide_an_inner_ones_fault() {
    for (panics, code, message) in [
        (false, ErrorCode::PolicyFailed, "a pre-execute listener failed: broken"),
        (true, ErrorCode::Internal, "internal error: a pre-execute listener panicked"),
    ] {
        let registry = Registry::new();
        registry.register(echo("tool")).expect("valid").keep();
        let (log, notes) = (Log::default(), Log::default());
        let heard = log.clone();
        registry.on_pre_execute(move |_, next| {
            let heard = heard.clone();
            async move {
                heard.note(format!("{:?}", next.run().await));
                Ok(Decision::Allow)
            }
        });
        registry.on_pre_execute(move |_, _| async move {
            assert!(!panics, "on purpose");
            Err("broken".into())
        });
        let guarded = notes.clone();
        registry.guard(move |_| {
            guarded.note("guard");
            Verdict::Pass
        });
        let result = registry.call(request("tool", "{}")).await;
        assert_eq!(failure(&result), (code, message));
        assert_eq!(log.lines(), ["Deny(\"a pre-execute listener failed\")"]);
        assert!(notes.lines().is_empty());
    }
}

#[tokio::test]
async fn pl_09_every_answer_has_its_own_sentence() {
    let answers = [
        (ApprovalAnswer::Rejected(None), "a person said no"),
        (ApprovalAnswer::Rejected(Some("ask me tomorrow".to_owned())), "a person said no: ask me tomorrow"),
        (ApprovalAnswer::Cancelled, "the question for approval was dismissed without an answer"),
        (ApprovalAnswer::TimedOut, "it needs approval, and nobody answered within 300s, the limit `approval`"),
        (
            ApprovalAnswer::Unavailable("the terminal is gone".to_owned()),
            "it needs approval, and nobody can be asked: the terminal is gone",
        ),
    ];
    for (answer, reason) in answers {
        let (registry, _desk) = asking(Mode::Native, Some(answer), Limits::default());
        let message = format!("the call of `tool` was denied: {reason}");
        assert_eq!(failure(call_as(&registry, "me").await.as_ref()), (ErrorCode::Denied, &*message));
    }
    let (registry, desk) = asking(Mode::Native, Some(ApprovalAnswer::AllowedOnce), Limits::default());
    // Once is once.
    for asked in 1..=2 {
        assert_eq!(call_as(&registry, "me").await.outcome(), Ok(&value("{}")));
        assert_eq!(desk.asked.lock().expect("not poisoned").len(), asked);
    }
    let asked = desk.asked.lock().expect("not poisoned");
    let first = asked.first().expect("two questions");
    assert_eq!((first.reason.as_deref(), first.caller.label()), (Some("it writes"), "me"));
    assert_eq!(first.call.name(), "tool");
}

#[tokio::test]
async fn pl_09_without_a_service_or_a_caller_the_answer_is_no() {
    let nobody = registry(Mode::Native);
    nobody.register(echo("tool")).expect("valid").keep();
    nobody.on_pre_execute(async |_, _| Ok(Decision::Ask(None)));
    let message = "the call of `tool` was denied: it needs approval, and nobody can be asked: there is no approval \
                   service";
    assert_eq!(failure(call_as(&nobody, "me").await.as_ref()), (ErrorCode::Denied, message));
    let (registry, desk) = asking(Mode::Native, Some(ApprovalAnswer::AllowedOnce), Limits::default());
    let result = registry.call(request("tool", "{}")).await;
    let message =
        "the call of `tool` was denied: it needs approval, and nobody can be asked: the call has no caller";
    assert_eq!(failure(&result), (ErrorCode::Denied, message));
    assert!(desk.asked.lock().expect("not poisoned").is_empty());
}

#[tokio::test(start_paused = true)]
async fn pl_09_a_question_expires() {
    let limits = Limits::default().with(Limit::Approval, 1500).expect("allowed");
    let (registry, desk) = asking(Mode::Native, None, limits);
    let begun = Instant::now();
    let result = call_as(&registry, "me").await;
    let message = "the call of `tool` was denied: it needs approval, and nobody answered within 1500ms, the limit \
                   `approval`";
    assert_eq!(failure(&result), (ErrorCode::Denied, message));
    assert_eq!(begun.elapsed(), Duration::from_millis(1500));
    assert_eq!(desk.log.lines(), ["the question is withdrawn"]);
}

#[tokio::test]
async fn pl_09_a_cancelled_call_withdraws_its_question() {
    let (registry, desk) = asking(Mode::Native, None, Limits::default());
    let cancel = CancellationToken::new();
    let request = hotcell::execution::CallRequest::new("tool", "{}", cancel.clone());
    let mut call = registry.call(request.with_caller(Caller::new("me", ())));
    assert!(futures_util::poll!(&mut call).is_pending());
    assert_eq!(desk.asked.lock().expect("not poisoned").len(), 1);
    cancel.cancel();
    let result = call.await;
    let message = "the call was cancelled before it was dispatched";
    assert_eq!(failure(&result), (ErrorCode::AbortedBeforeDispatch, message));
    assert_eq!(desk.log.lines(), ["the question is withdrawn"]);
}

#[tokio::test]
async fn pl_09_nested_calls_inherit_the_caller_unless_they_bring_their_own() {
    let (registry, desk) = asking(Mode::Both, Some(ApprovalAnswer::AllowedOnce), Limits::default());
    let outer = Tool::builder("outer").parameters("true").output("true").body(async |_, context| {
        context.invoke("tool", "{}").await;
        let own = request("tool", "{}").with_parent(context.token()).with_caller(Caller::new("own", 7_u8));
        context.call().scope().call(own).await;
        // Without a parent there is nobody to inherit from.
        let result = context.call().scope().call(request("tool", "{}")).await;
        Ok(result.code().map_or("OK", ErrorCode::as_str).into())
    });
    registry.register(outer).expect("valid").keep();
    let caller = Caller::new("me", "the route");
    let result = registry.call(request("outer", "{}").with_caller(caller)).await;
    assert_eq!(result.outcome(), Ok(&value("\"DENIED\"")));
    let asked = desk.asked.lock().expect("not poisoned");
    let callers: Vec<_> = asked
        .iter()
        .map(|asked| (asked.caller.label(), asked.caller.route::<&str>(), asked.caller.route::<u8>()))
        .collect();
    assert_eq!(callers, [("me", Some(&"the route"), None), ("own", None, Some(&7))]);
}

#[tokio::test]
async fn pl_10_guards_follow_all_listeners_the_global_ones_first() {
    let registry = registry(Mode::Native);
    registry.register(echo("tool")).expect("valid").keep();
    let child = registry.child("child").expect("shallow");
    let log = Log::default();
    let guard = |scope: &Scope, name: &'static str, verdict: Verdict| {
        let log = log.clone();
        scope.guard(move |_| {
            log.note(name);
            verdict.clone()
        })
    };
    guard(&child, "child", Verdict::deny("by the child"));
    guard(&child, "never asked", Verdict::Pass);
    let global = guard(&registry, "global", Verdict::Pass);
    let notes = log.clone();
    child.on_pre_execute(move |_, next| {
        notes.note("listener");
        async { Ok(next.run().await) }
    });
    let denied = "the call of `tool` was denied: by the child";
    assert_eq!(failure(child.call(request("tool", "{}")).await.as_ref()), (ErrorCode::Denied, denied));
    assert_eq!(log.lines(), ["listener", "global", "child"]);
    // Nobody allows again what a guard denied: neither a guard after it nor the order of registration.
    global.remove();
    guard(&registry, "global", Verdict::deny("globally"));
    let denied = "the call of `tool` was denied: globally";
    assert_eq!(failure(child.call(request("tool", "{}")).await.as_ref()), (ErrorCode::Denied, denied));
    assert_eq!(log.lines().last().map(String::as_str), Some("global"));
    // The parent's calls are not the child's business.
    let parent = Registry::new();
    parent.register(echo("tool")).expect("valid").keep();
    let child = parent.child("child").expect("shallow");
    child.guard(|_| Verdict::deny("by the child"));
    assert_eq!(parent.call(request("tool", "{}")).await.outcome(), Ok(&value("{}")));
}

#[tokio::test]
async fn a_call_is_judged_by_the_policy_of_its_creation() {
    let registry = registry(Mode::Native);
    registry.register(echo("tool")).expect("valid").keep();
    let guard = registry.guard(|_| Verdict::deny("not today"));
    let removed = Mutex::new(Some(guard));
    let added = registry.clone();
    registry.on_pre_execute(move |_, next| {
        if let Some(guard) = removed.lock().expect("not poisoned").take() {
            guard.remove();
            added.guard(|_| Verdict::deny("from now on"));
        }
        async { Ok(next.run().await) }
    });
    for reason in ["not today", "from now on"] {
        let message = format!("the call of `tool` was denied: {reason}");
        assert_eq!(failure(registry.call(request("tool", "{}")).await.as_ref()), (ErrorCode::Denied, &*message));
    }
}
