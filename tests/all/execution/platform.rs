//! A platform that records every stage of every call, and does at each what a script says.

use std::future::pending;
use std::sync::{Arc, Mutex};

use hotcell::Content;
use hotcell::code_mode::CodeMode;
use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, Attempt, CallInfo, CallRequest, Caller, Decision,
    PostDecision, ToolResult, Verdict,
};
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry, RegistryBuilder};
use hotcell::runtime::BoxFuture;
use hotcell::tool::{BodyError, Tool};
use tokio_util::sync::CancellationToken;

use crate::tools::value;

/// What a stage does with the scripted call. Not every stage knows every act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It goes on.
    Go,
    /// It says no: denies, rejects, blocks.
    No,
    /// It asks for approval.
    Ask,
    /// It fails with an error of its own.
    Fail,
    Panic,
    /// It cancels the call, and goes on.
    Cancel,
    /// It cancels the call, and never settles.
    Hang,
    /// It cancels the call, and says no or fails.
    CancelAndFail,
    /// It makes up a value that the output's schema allows.
    Author,
    /// It makes up a value that the output's schema does not allow.
    AuthorWrongly,
    /// It replaces the content.
    Rewrite,
}

/// What happens to one call.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    pub name: &'static str,
    pub arguments: &'static str,
    pub cancelled: bool,
    pub listener: Act,
    pub approval: Act,
    pub guard: Act,
    pub around: Act,
    pub body: Act,
    pub render: Act,
    pub post: Act,
    pub finalizer: Act,
    pub observer: Act,
}

/// A call that passes every stage and succeeds.
pub const GOOD: Script = Script {
    name: "tool",
    arguments: r#"{"a": 1}"#,
    cancelled: false,
    listener: Act::Go,
    approval: Act::Go,
    guard: Act::Go,
    around: Act::Go,
    body: Act::Go,
    render: Act::Go,
    post: Act::Go,
    finalizer: Act::Go,
    observer: Act::Go,
};

/// Every act of every stage, and the ways a call can be wrong from the start.
pub fn scripts() -> Vec<Script> {
    let acts = [
        Act::Go,
        Act::No,
        Act::Ask,
        Act::Fail,
        Act::Panic,
        Act::Cancel,
        Act::Hang,
        Act::CancelAndFail,
        Act::Author,
        Act::AuthorWrongly,
        Act::Rewrite,
    ];
    let mut scripts = vec![
        Script { name: "absent", ..GOOD },
        Script { arguments: r#"{"a": 1, "a": 2}"#, ..GOOD },
        Script { arguments: r#"{"a": "x"}"#, ..GOOD },
        Script { cancelled: true, ..GOOD },
        Script { cancelled: true, arguments: "[", ..GOOD },
    ];
    for act in acts {
        scripts.extend([
            Script { listener: act, ..GOOD },
            Script { listener: Act::Ask, approval: act, ..GOOD },
            Script { guard: act, ..GOOD },
            Script { around: act, ..GOOD },
            Script { body: act, ..GOOD },
            Script { render: act, ..GOOD },
            Script { post: act, ..GOOD },
            Script { post: act, body: Act::Fail, ..GOOD },
            Script { finalizer: act, ..GOOD },
            Script { observer: act, ..GOOD },
        ]);
    }
    scripts
}

/// A registry with one hook of each kind, and one tool called `tool`.
pub struct Platform {
    pub registry: Registry,
    stage: Arc<Stage>,
}

/// What all hooks share.
struct Stage {
    script: Script,
    /// Cancels the call of the test, or the program it is made from.
    cancel: CancellationToken,
    seen: Mutex<Vec<Seen>>,
}

/// One hook that was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub stage: &'static str,
    pub name: String,
    pub arguments: Option<Value>,
    pub detail: String,
    pub result: Option<Arc<ToolResult>>,
}

impl Stage {
    /// Notes a stage, and says what it does.
    fn note(&self, stage: &'static str, call: &CallInfo, act: Act, result: Option<&ToolResult>) -> Act {
        let seen = Seen {
            stage,
            name: call.name().to_owned(),
            arguments: call.arguments().map(|arguments| Value::clone(arguments)),
            detail: result.map_or(String::new(), outcome),
            result: None,
        };
        self.push(seen);
        self.act(call.name(), act)
    }

    fn push(&self, seen: Seen) {
        self.seen.lock().expect("not poisoned").push(seen);
    }

    /// The script is for one name; all others go through.
    fn act(&self, name: &str, act: Act) -> Act {
        if name != self.script.name {
            return Act::Go;
        }
        match act {
            Act::Panic => panic!("as the script says"),
            Act::Cancel | Act::Hang | Act::CancelAndFail => self.cancel.cancel(),
            _ => {}
        }
        act
    }
}

/// A result in one line.
pub fn outcome(result: &ToolResult) -> String {
    let content: Vec<_> = result.content().iter().filter_map(Content::as_text).collect();
    match result.outcome() {
        Ok(value) => format!("OK {value:?} {content:?} {:?}", result.contexts()),
        Err(error) => format!("{error} {content:?} {:?}", result.contexts()),
    }
}

struct Approvals(Arc<Stage>);

impl ApprovalService for Approvals {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        let stage = Arc::clone(&self.0);
        Box::pin(async move {
            let seen = Seen {
                stage: "approval",
                name: request.call.name().to_owned(),
                arguments: request.call.arguments().map(|arguments| Value::clone(arguments)),
                detail: format!("{:?} {}", request.reason, request.caller.label()),
                result: None,
            };
            stage.push(seen);
            match stage.act(request.call.name(), stage.script.approval) {
                Act::No => ApprovalAnswer::Rejected(Some("never".to_owned())),
                Act::Fail => ApprovalAnswer::Unavailable("offline".to_owned()),
                Act::Hang => pending().await,
                Act::CancelAndFail => ApprovalAnswer::Cancelled,
                _ => ApprovalAnswer::AllowedOnce,
            }
        })
    }
}

/// The schema of the arguments of `tool`.
pub const PARAMETERS: &str = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
/// The schema of its value.
pub const OUTPUT: &str = r#"{"type": "object"}"#;

fn tool(stage: &Arc<Stage>) -> Tool {
    let (body, render, finalizer) = (Arc::clone(stage), Arc::clone(stage), Arc::clone(stage));
    Tool::builder("tool")
        .parameters(PARAMETERS)
        .output(OUTPUT)
        .body(move |arguments, context| {
            let stage = Arc::clone(&body);
            async move {
                match stage.note("body", context.call(), stage.script.body, None) {
                    Act::Fail | Act::CancelAndFail => Err(BodyError::new("the body says no")),
                    Act::Hang => pending().await,
                    Act::AuthorWrongly => Ok(value("[]")),
                    _ => Ok(Value::clone(&arguments)),
                }
            }
        })
        .render(move |_, shown| {
            render.act("tool", render.script.render);
            vec![Content::text(format!("rendered {shown:?}"))]
        })
        .finalize_content(move |result| {
            let seen = Seen {
                stage: "finalizer",
                name: result.name().to_owned(),
                arguments: None,
                detail: outcome(result),
                result: None,
            };
            finalizer.push(seen);
            match finalizer.act(result.name(), finalizer.script.finalizer) {
                Act::Rewrite => Some(vec![Content::text("finalized")]),
                _ => None,
            }
        })
        .build()
        .expect("a valid tool")
}

/// A program that makes the scripted call and nothing else.
fn program(stage: &Arc<Stage>) -> Tool {
    let stage = Arc::clone(stage);
    Tool::builder("run_code")
        .parameters("true")
        .output("true")
        .body(move |_, context| {
            let stage = Arc::clone(&stage);
            async move {
                if stage.script.cancelled {
                    stage.cancel.cancel();
                }
                context.invoke(stage.script.name, stage.script.arguments).await;
                Ok(Value::Null)
            }
        })
        .build()
        .expect("a valid tool")
}

impl Platform {
    /// A platform whose programs make the scripted call and nothing else.
    pub fn new(mode: Mode, script: Script) -> Self {
        Self::build(mode, script, |builder, stage| builder.transport("javascript", program(stage)))
    }

    /// A platform whose programs are run in this way.
    pub fn with_programs(mode: Mode, script: Script, programs: CodeMode) -> Self {
        Self::build(mode, script, |builder, _| builder.programs(programs).expect("a valid tool"))
    }

    fn build(
        mode: Mode,
        script: Script,
        programs: impl FnOnce(RegistryBuilder, &Arc<Stage>) -> RegistryBuilder,
    ) -> Self {
        let stage = Arc::new(Stage { script, cancel: CancellationToken::new(), seen: Mutex::default() });
        // What hangs is cancelled, and need not be waited for.
        let limits = Limits::default().with(Limit::Grace, 0).expect("within bounds");
        let registry = programs(Registry::builder().mode(mode).limits(limits), &stage)
            .approval(Arc::new(Approvals(Arc::clone(&stage))))
            .build()
            .expect("a valid registry");
        registry.register(tool(&stage)).expect("valid").keep();
        let platform = Self { registry, stage };
        platform.judge();
        platform.wrap();
        platform.observe();
        platform
    }

    fn judge(&self) {
        let stage = Arc::clone(&self.stage);
        self.registry.on_pre_execute(move |call, next| {
            let stage = Arc::clone(&stage);
            async move {
                match stage.note("listener", &call, stage.script.listener, None) {
                    Act::No | Act::CancelAndFail => Ok(Decision::deny("by a listener")),
                    Act::Ask => Ok(Decision::ask("it writes")),
                    Act::Fail => Err("the listener broke".into()),
                    Act::Hang => pending().await,
                    _ => Ok(next.run().await),
                }
            }
        });
        let stage = Arc::clone(&self.stage);
        self.registry.guard(move |call| match stage.note("guard", call, stage.script.guard, None) {
            Act::No | Act::CancelAndFail => Verdict::deny("by a guard"),
            _ => Verdict::Pass,
        });
    }

    fn wrap(&self) {
        let stage = Arc::clone(&self.stage);
        self.registry.around(move |call, mut next| {
            let stage = Arc::clone(&stage);
            async move {
                match stage.note("around", &call, stage.script.around, None) {
                    Act::Fail | Act::CancelAndFail => Err("the wrapper broke".into()),
                    Act::Author => Ok(Attempt::success(value(r#"{"made": "up"}"#))),
                    Act::AuthorWrongly => Ok(Attempt::success(value("[]"))),
                    Act::Hang => pending().await,
                    _ => Ok(next.run().await),
                }
            }
        });
        let stage = Arc::clone(&self.stage);
        self.registry.on_post_execute(move |call, result, next| {
            let stage = Arc::clone(&stage);
            async move {
                match stage.note("post", &call, stage.script.post, Some(&result)) {
                    Act::No => Ok(PostDecision::block("withheld")),
                    Act::Fail | Act::CancelAndFail => Err("the listener broke".into()),
                    Act::Author => Ok(PostDecision::replace_value(value(r#"{"made": "up"}"#))),
                    Act::AuthorWrongly => Ok(PostDecision::replace_value(value("[]"))),
                    Act::Rewrite => Ok(PostDecision::replace_content(vec![Content::text("rewritten")])),
                    Act::Hang => pending().await,
                    _ => Ok(next.run().await),
                }
            }
        });
    }

    fn observe(&self) {
        let stage = Arc::clone(&self.stage);
        self.registry.on_result(move |call, result| {
            let seen = Seen {
                stage: "observer",
                name: call.name().to_owned(),
                arguments: call.arguments().map(|arguments| Value::clone(arguments)),
                detail: outcome(result),
                result: Some(Arc::clone(result)),
            };
            stage.push(seen);
            stage.act(call.name(), stage.script.observer);
        });
    }

    pub fn request(&self, name: &str) -> CallRequest {
        let arguments = if name == "run_code" { "{}" } else { self.stage.script.arguments };
        CallRequest::new(name, arguments, self.stage.cancel.clone()).with_caller(Caller::new("somebody", ()))
    }

    /// Makes the scripted call directly.
    pub async fn call(&self) -> Arc<ToolResult> {
        if self.stage.script.cancelled {
            self.stage.cancel.cancel();
        }
        self.registry.call(self.request(self.stage.script.name)).await
    }

    /// Makes the scripted call from a program.
    pub async fn call_in_program(&self) {
        self.registry.call(self.request("run_code")).await;
    }

    /// Runs a program.
    pub async fn run(&self, arguments: Value) {
        let request = CallRequest::new("run_code", arguments, self.stage.cancel.clone());
        self.registry.call(request.with_caller(Caller::new("somebody", ()))).await;
    }

    /// What was seen of calls of this name, in order.
    pub fn seen(&self, name: &str) -> Vec<Seen> {
        let seen = self.stage.seen.lock().expect("not poisoned");
        seen.iter().filter(|seen| seen.name == name).cloned().collect()
    }

    /// The stages that saw the scripted call, in order.
    pub fn trace(&self) -> String {
        self.seen(self.stage.script.name).iter().map(|seen| seen.stage).collect::<Vec<_>>().join(" ")
    }
}
