//! A guest that is wholly taken over: it can name tools of its own scope, through policy, and nothing else (WB-02, PL-03).

use std::sync::Arc;

use hotcell::code_mode::CodeMode;
use hotcell::execution::{CallRequest, ErrorCode, ToolResult, Verdict};
use hotcell::json::{Object, Value};
use hotcell::language::Language;
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::runtime::FailureKind;
use hotcell::tool::Tool;
use hotcell::wasm::{Guest, WasmRuntime};
use tokio_util::sync::CancellationToken;

use super::rig::{calls, shown};
use crate::execution::log::{Log, observe};
use crate::support::component;
use crate::support::engine::ENGINE;
use crate::tools::value;

/// A registry whose programs a file of `guest/hostile` runs.
async fn registry(guest: &str) -> Registry {
    let guest = Guest::load(&ENGINE, Arc::from(component::hostile(guest))).await.expect("it loads");
    let programs = CodeMode::new(Arc::new(WasmRuntime::new(guest)));
    // What these guests run is no language that anybody is told of.
    let language = Language::find("javascript").expect("known");
    let programs = programs.in_language(language);
    let registry = Registry::builder().mode(Mode::Code).programs(programs).expect("valid").build().expect("valid");
    for name in ["seen", "hidden", "guarded"] {
        registry.register(tool(name)).expect("free").keep();
    }
    registry
}

/// Takes anything, and gives its name.
fn tool(name: &str) -> Tool {
    let tool = Tool::builder(name).parameters("true").output("true");
    tool.body(async |_, context| Ok(Value::from(context.call().name()))).build().expect("a valid tool")
}

async fn run(scope: &Scope, program: &str) -> Arc<ToolResult> {
    let mut arguments = Object::new();
    arguments.insert("code", program);
    arguments.insert("description", "an attack");
    scope.call(CallRequest::new("run_code", Value::from(arguments), CancellationToken::new()).with_id("run")).await
}

#[tokio::test]
async fn wb_02_a_guest_that_is_taken_over_calls_what_its_scope_sees_under_policy_and_nothing_else() {
    // This guest calls whatever its program names, in whatever way the boundary allows.
    let registry = registry("call").await;
    let agent = registry.child("agent").expect("shallow");
    agent.restrict_from(["hidden"]).expect("it is there");
    let other = registry.child("other").expect("shallow");
    other.register(tool("others")).expect("free").keep();
    let log = Log::default();
    drop(agent.guard(|call| if call.name() == "guarded" { Verdict::deny("not this one") } else { Verdict::Pass }));
    observe(&agent, &log);
    let within = "`run_code` cannot be called from inside a program; call the tools themselves";
    for (name, expected, ending, state) in [
        ("seen", "seen", "OK", "done"),
        ("guarded", "the call of `guarded` was denied: not this one\n1", "DENIED", "failed"),
        ("hidden", "unknown tool `hidden`\n1", "UNKNOWN_TOOL", "failed"),
        ("others", "unknown tool `others`\n1", "UNKNOWN_TOOL", "failed"),
        ("absent", "unknown tool `absent`\n1", "UNKNOWN_TOOL", "failed"),
        ("run_code", &format!("{within}\n1"), "UNKNOWN_TOOL", "failed"),
        ("run:code:1", "unknown tool `run:code:1`\n1", "UNKNOWN_TOOL", "failed"),
    ] {
        let before = log.lines().len();
        let result = run(&agent, name).await;
        assert_eq!(shown(&result), expected, "{name}");
        assert_eq!(calls(&result), [format!("{name} {state}")]);
        let lines = [format!("observed {name} {ending}"), "observed run_code OK".to_owned()];
        assert_eq!(log.lines()[before..], lines);
    }
    // The same guest in the other scope: what is seen depends on the scope of the run, not on the guest.
    assert_eq!(shown(run(&other, "others").await.as_ref()), "others");
    assert_eq!(shown(run(&other, "hidden").await.as_ref()), "hidden");
}

#[tokio::test]
async fn wb_02_an_execution_cannot_be_made_up_and_the_run_that_tries_still_reports() {
    let registry = registry("handle-made-up").await;
    for letter in ["a", "b", "c", "d", "j", "k", "m"] {
        let result = run(&registry, letter).await;
        assert_eq!(result.code(), Some(ErrorCode::CodeRunFailed), "{letter}");
        let facts = result.run_facts().expect("it began");
        assert_eq!(facts.failure.as_ref().map(|failure| failure.kind), Some(FailureKind::GuestExit), "{letter}");
        assert_eq!(calls(&result), <[String; 0]>::default());
    }
}

#[tokio::test]
async fn wb_02_no_handle_leads_to_another_run_that_is_going_on() {
    // While one run waits inside of its tool, others try handles: the first run goes on as if alone.
    let registry = registry("handle-made-up").await;
    let waiting = self::registry("call").await;
    let (entered, release) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let (noted, released) = (Arc::clone(&entered), Arc::clone(&release));
    let waits = Tool::builder("waits").parameters("true").output("true").body(move |_, _| {
        let (noted, released) = (Arc::clone(&noted), Arc::clone(&released));
        async move {
            noted.notify_one();
            released.notified().await;
            Ok(value("[1]"))
        }
    });
    waiting.register(waits).expect("free").keep();
    let scope = waiting.clone();
    let first = tokio::spawn(async move { run(&scope, "waits").await });
    entered.notified().await;
    for letter in ["a", "c", "j", "k"] {
        assert_eq!(run(&registry, letter).await.code(), Some(ErrorCode::CodeRunFailed));
    }
    release.notify_one();
    let result = first.await.expect("no panic");
    assert_eq!(shown(&result), "[\n  1\n]");
    assert_eq!(calls(&result), ["waits done"]);
}
