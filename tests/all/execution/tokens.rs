//! What a token confers: the right to make nested calls, while it lives, where it belongs.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use hotcell::execution::{ErrorCode, ExecutionToken, PostDecision};
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::tool::Tool;

use super::log::{Holder, Log, request};
use crate::tools::{echo, failure, registry, value};

/// A tool that says whether its call is nested.
fn probe(scope: &Scope) {
    let tool = Tool::builder("probe")
        .parameters("true")
        .output("true")
        .body(async |_, context| Ok(context.call().is_nested().into()));
    scope.register(tool).expect("valid").keep();
}

/// Whether a call in `scope` under `parent` is a nested one.
async fn is_nested(scope: &Scope, parent: &ExecutionToken) -> bool {
    let result = scope.call(request("probe", "{}").with_parent(parent)).await;
    result.value().and_then(|value| value.as_bool()).expect("the probe answers")
}

#[tokio::test]
async fn pl_01_a_token_is_equal_to_its_copies_only_and_tells_nothing() {
    let registry = Registry::new();
    let first = Holder::start(&registry, &registry).await;
    let other = Registry::new();
    let second = Holder::start(&other, &other).await;
    assert_eq!(first.token, first.token.clone());
    assert_ne!(first.token, second.token);
    assert_eq!(format!("{:?} {:#?}", first.token, second.token), "ExecutionToken ExecutionToken");
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn pl_03_a_live_parent_nests_and_a_leaked_one_does_not() {
    let registry = registry(Mode::Both);
    probe(&registry);
    let holder = Holder::start(&registry, &registry).await;
    assert!(is_nested(&registry, &holder.token).await);
    let leaked = holder.end().await;
    assert!(!is_nested(&registry, &leaked).await);
}

#[tokio::test]
async fn pl_03_a_direct_call_with_a_dead_parent_has_no_parent() {
    let registry = registry(Mode::Both);
    registry.register(echo("read")).expect("valid").keep();
    let holder = Holder::start(&registry, &registry).await;
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    registry.on_result(move |call, _| {
        let line = (call.parent().cloned(), call.root().clone(), call.token().clone());
        seen.lock().expect("not poisoned").push(line);
    });
    registry.call(request("read", "{}").with_parent(&holder.token)).await;
    let token = holder.end().await;
    registry.call(request("read", "{}").with_parent(&token)).await;
    let calls = calls.lock().expect("not poisoned");
    let [nested, direct] = calls.as_slice() else { panic!("two calls: {calls:?}") };
    assert_eq!((nested.0.as_ref(), &nested.1), (Some(&token), &token));
    assert_eq!((direct.0.as_ref(), &direct.1), (None, &direct.2));
}

#[tokio::test]
async fn pl_03_a_token_is_dead_in_its_own_post_execute_finalizer_and_observers() {
    let registry = registry(Mode::Both);
    probe(&registry);
    let log = Log::default();
    let own: Arc<Mutex<Option<ExecutionToken>>> = Arc::default();
    // None of the stages of `probe` waits, so one poll is all of a call.
    let asks = {
        let (registry, log) = (registry.clone(), log.clone());
        move |stage: &str, token: &ExecutionToken| {
            let nested = is_nested(&registry, token).now_or_never().expect("nothing waits");
            log.note(format!("{stage} {nested}"));
        }
    };
    let (in_listener, in_guard, in_wrapper) = (asks.clone(), asks.clone(), asks.clone());
    let (in_body, in_finalizer, in_post, in_observer) = (asks.clone(), asks.clone(), asks.clone(), asks);
    let (kept, used) = (Arc::clone(&own), own);
    let tool = Tool::builder("own")
        .parameters("true")
        .output("true")
        .body(move |_, context| {
            in_body("body", context.token());
            *kept.lock().expect("not poisoned") = Some(context.token().clone());
            async { Ok(value("null")) }
        })
        .finalize_content(move |_| {
            in_finalizer("finalizer", used.lock().expect("not poisoned").as_ref().expect("the body ran"));
            None
        });
    registry.register(tool).expect("valid").keep();
    registry.on_pre_execute(move |call, next| {
        (call.name() == "own").then(|| in_listener("listener", call.token()));
        async { Ok(next.run().await) }
    });
    registry.guard(move |call| {
        (call.name() == "own").then(|| in_guard("guard", call.token()));
        hotcell::execution::Verdict::Pass
    });
    registry.around(move |call, mut next| {
        (call.name() == "own").then(|| in_wrapper("wrapper", call.token()));
        async move { Ok(next.run().await) }
    });
    registry.on_post_execute(move |call, _, _| {
        (call.name() == "own").then(|| in_post("post", call.token()));
        async { Ok(PostDecision::accept()) }
    });
    registry.on_result(move |call, _| {
        (call.name() == "own").then(|| in_observer("observer", call.token()));
    });
    registry.call(request("own", "{}")).await;
    let expected = [
        "listener true", "guard true", "wrapper true", "body true", "post false", "finalizer false",
        "observer false",
    ];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn pl_03_a_token_counts_in_its_own_scope_and_below_only() {
    let registry = registry(Mode::Both);
    probe(&registry);
    let preset = registry.child("preset").expect("shallow");
    let agent = preset.child("agent").expect("shallow");
    let below = agent.child("below").expect("shallow");
    let sibling = preset.child("sibling").expect("shallow");
    let holder = Holder::start(&registry, &agent).await;
    let mut counts = Vec::new();
    for scope in [&registry, &preset, &sibling, &agent, &below] {
        counts.push((scope.name(), is_nested(scope, &holder.token).await));
    }
    let expected = [("global", false), ("preset", false), ("sibling", false), ("agent", true), ("below", true)];
    assert_eq!(counts, expected);
    holder.end().await;
}

#[tokio::test]
async fn pl_03_a_foreign_registrys_token_confers_nothing() {
    let (home, abroad) = (registry(Mode::Code), registry(Mode::Code));
    probe(&abroad);
    home.present_as(Mode::Both).expect_err("the deployment decides");
    let mut scope = home.child("scope").expect("shallow");
    scope.present_as(Mode::Both).expect("the first declaration");
    scope = scope.child("below").expect("shallow");
    let holder = Holder::start(&home, &scope).await;
    let result = abroad.call(request("probe", "{}").with_parent(&holder.token)).await;
    let collapsed = "`probe` cannot be called directly; only `run_code` can. Call it from inside a program that you \
                     pass to `run_code`, for example: return await tools[\"probe\"]({ … })";
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, collapsed));
    holder.end().await;
}

#[tokio::test]
async fn pl_03_run_code_inside_of_run_code_is_unknown() {
    let registry = registry(Mode::Code);
    let relay = Tool::builder("relay").parameters("true").output("true").body(async |_, context| {
        let result = context.invoke("run_code", r#"{"calls": []}"#).await;
        Ok(result.error().map_or_else(|| value("\"it ran\""), |error| error.to_string().into()))
    });
    registry.register(relay).expect("valid").keep();
    let refused = "UNKNOWN_TOOL: `run_code` cannot be called from inside a program; call the tools themselves";
    // By the program itself, and by a tool the program calls.
    let log = Log::default();
    let notes = log.clone();
    registry.on_result(move |call, result| {
        notes.note(format!("{} {:?}", call.name(), result.error().map(ToString::to_string)));
    });
    let calls = r#"{"calls": [{"name": "run_code", "arguments": {"calls": []}}, {"name": "relay"}]}"#;
    let result = registry.call(request("run_code", calls)).await;
    assert_eq!(result.value(), Some(&value(&format!(r#"[{{"error": "UNKNOWN_TOOL"}}, "{refused}"]"#))));
    let refused = format!("run_code Some({refused:?})");
    assert_eq!(log.lines(), [&*refused, &*refused, "relay None", "run_code None"]);
}

#[tokio::test]
async fn pl_03_run_code_from_a_plain_tool_works_where_it_exists() {
    for (mode, expected) in [(Mode::Both, "[]"), (Mode::Native, "\"UNKNOWN_TOOL: unknown tool `run_code`\"")] {
        let registry = registry(mode);
        let relay = Tool::builder("relay").parameters("true").output("true").body(async |_, context| {
            let result = context.invoke("run_code", r#"{"calls": []}"#).await;
            Ok(result.outcome().map_or_else(|error| error.to_string().into(), Clone::clone))
        });
        registry.register(relay).expect("valid").keep();
        let result = registry.call(request("relay", "{}")).await;
        assert_eq!(result.outcome(), Ok(&value(expected)), "{mode:?}");
    }
}
