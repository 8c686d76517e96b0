//! What a person is asked about: a tool that is there, and that is the one which then runs.

use std::sync::{Arc, Mutex};

use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, CallRequest, Caller, Decision, ErrorCode, ToolResult,
    Verdict,
};
use hotcell::registry::{Registration, Registry, Scope};
use hotcell::runtime::BoxFuture;
use hotcell::tool::{BodyError, ToolBuilder};

use super::log::{Log, request};
use crate::tools::{echo, failure, value};

/// A person who always says yes, and does something before that.
struct Yes {
    log: Log,
    thinking: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl ApprovalService for Yes {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        self.log.note(format!("asked about {}", request.call.name()));
        let thinking = self.thinking.lock().expect("not poisoned").take();
        Box::pin(async move {
            // The answer comes later than the question.
            tokio::task::yield_now().await;
            thinking.into_iter().for_each(|think| think());
            ApprovalAnswer::AllowedOnce
        })
    }
}

/// A registry in which every call needs approval, and the registration of its tool `tool`.
struct Desk {
    registry: Registry,
    person: Arc<Yes>,
    registration: Arc<Mutex<Option<Registration>>>,
    log: Log,
}

impl Desk {
    fn new() -> Self {
        let log = Log::default();
        let person = Arc::new(Yes { log: log.clone(), thinking: Mutex::default() });
        let registry = Registry::builder().approval(Arc::<Yes>::clone(&person)).build().expect("valid");
        Self { registry, person, registration: Arc::default(), log }
    }

    /// Adds the listener that asks. Listeners that were added before are asked first.
    fn ask(&self) {
        self.registry.on_pre_execute(async |_, _| Ok(Decision::Ask(None)));
    }

    /// Unregisters the tool, and registers the one of this version, if any.
    fn change(&self, version: Option<&'static str>) -> impl Fn() + Send + Sync + Clone + 'static {
        let (registry, slot, log) = (self.registry.clone(), Arc::clone(&self.registration), self.log.clone());
        move || {
            let mut slot = slot.lock().expect("not poisoned");
            *slot = None;
            *slot = version.map(|version| registry.register(tool(&log, version)).expect("valid"));
        }
    }

    fn think(&self, thought: impl FnOnce() + Send + 'static) {
        *self.person.thinking.lock().expect("not poisoned") = Some(Box::new(thought));
    }

    async fn call(&self, scope: &Scope) -> Arc<ToolResult> {
        scope.call(asked("tool")).await
    }
}

fn asked(name: &str) -> CallRequest {
    request(name, "{}").with_caller(Caller::new("me", ()))
}

fn tool(log: &Log, version: &'static str) -> ToolBuilder {
    let log = log.clone();
    echo("tool").body(move |arguments, _| {
        log.note(format!("{version} runs"));
        async move { if version == "broken" { Err(BodyError::new("once more")) } else { Ok((*arguments).clone()) } }
    })
}

const REPLACED: &str = "the call of `tool` was denied: the tool was replaced while approval was asked; ask again";

#[tokio::test]
async fn pl_09_nobody_is_asked_about_a_tool_that_does_not_exist() {
    let desk = Desk::new();
    desk.ask();
    let posts = desk.log.clone();
    desk.registry.on_post_execute(move |call, _, next| {
        posts.note(format!("post {}", call.name()));
        async { Ok(next.run().await) }
    });
    let result = desk.registry.call(asked("absent")).await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `absent`"));
    // Post-execute listeners see it, as they see a tool that is missing at dispatch.
    assert_eq!(desk.log.lines(), ["post absent"]);
    // One that went before the question does not exist either; one that was hidden from the scope never did.
    desk.change(Some("first"))();
    let restricted = desk.registry.child("restricted").expect("shallow");
    restricted.restrict_from(["tool"]).expect("inherited");
    assert_eq!(failure(&*desk.call(&restricted).await), (ErrorCode::UnknownTool, "unknown tool `tool`"));
    assert_eq!(desk.log.lines(), ["post absent", "post tool"]);
    assert_eq!(desk.call(&desk.registry).await.outcome(), Ok(&value("{}")));
    assert_eq!(desk.log.lines()[2..], ["asked about tool", "first runs", "post tool"]);
}

#[tokio::test]
async fn pl_09_an_approval_is_for_the_tool_that_was_asked_about() {
    let desk = Desk::new();
    desk.change(Some("first"))();
    desk.ask();
    desk.think(desk.change(Some("second")));
    assert_eq!(failure(&*desk.call(&desk.registry).await), (ErrorCode::Denied, REPLACED));
    // Asked again, the person is asked about the second one.
    assert_eq!(desk.call(&desk.registry).await.outcome(), Ok(&value("{}")));
    assert_eq!(desk.log.lines(), ["asked about tool", "asked about tool", "second runs"]);
    desk.think(desk.change(None));
    assert_eq!(failure(&*desk.call(&desk.registry).await), (ErrorCode::UnknownTool, "unknown tool `tool`"));
}

#[tokio::test]
async fn pl_09_nobody_is_asked_about_a_tool_that_was_replaced_by_then() {
    let desk = Desk::new();
    desk.change(Some("first"))();
    let change = desk.change(Some("second"));
    let once = Mutex::new(Some(change));
    desk.registry.on_pre_execute(move |_, next| {
        once.lock().expect("not poisoned").take().into_iter().for_each(|change| change());
        async { Ok(next.run().await) }
    });
    desk.ask();
    let message = "the call of `tool` was denied: the tool was replaced before approval was asked; ask again";
    assert_eq!(failure(&*desk.call(&desk.registry).await), (ErrorCode::Denied, message));
    assert!(desk.log.lines().is_empty());
    assert_eq!(desk.call(&desk.registry).await.outcome(), Ok(&value("{}")));
}

#[tokio::test]
async fn pl_09_an_approval_does_not_pass_to_a_tool_that_comes_later() {
    let message = "the call of `tool` was denied: the tool was replaced after approval was given; ask again";
    // Replaced by a guard.
    let desk = Desk::new();
    desk.change(Some("first"))();
    desk.ask();
    let change = desk.change(Some("second"));
    let guard = desk.registry.guard(move |_| {
        change();
        Verdict::Pass
    });
    assert_eq!(failure(&*desk.call(&desk.registry).await), (ErrorCode::Denied, message));
    guard.remove();
    // Between the steps of a scheduler.
    let prepared = desk.registry.prepare(asked("tool")).await;
    desk.change(Some("third"))();
    let result = prepared.dispatch().await.finalize().await.finish();
    assert_eq!(failure(&result), (ErrorCode::Denied, message));
    // Between two attempts.
    desk.change(Some("broken"))();
    let change = desk.change(Some("fourth"));
    desk.registry.around(move |_, mut next| {
        let change = change.clone();
        async move {
            next.run().await;
            change();
            Ok(next.run().await)
        }
    });
    assert_eq!(failure(&*desk.call(&desk.registry).await), (ErrorCode::Denied, message));
    let ran: Vec<_> = desk.log.lines().into_iter().filter(|line| line.ends_with("runs")).collect();
    assert_eq!(ran, ["broken runs"]);
}
