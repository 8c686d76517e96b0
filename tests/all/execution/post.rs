//! What listeners, the finalizer and observers make of a result, and what a body leaves beside it.

use std::sync::{Arc, Mutex};

use hotcell::Content;
use hotcell::execution::{Context, ErrorCode, PostDecision, ToolContext, ToolError, ToolResult};
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::tool::{BodyError, Schema, Tool, ToolBuilder};

use super::log::{Log, request};
use crate::tools::{echo, failure, registry, value};

const OBJECT: &str = r#"{"type": "object"}"#;

/// A tool that defers a context, concludes the turn, shows its value in its own way, and has metadata.
fn rich() -> ToolBuilder {
    echo("tool")
        .output(OBJECT)
        .render(|arguments, shown| vec![Content::text(format!("{arguments:?} gives {shown:?}"))])
        .presentation_meta(|arguments, shown| Value::from(vec![arguments.clone(), shown.clone()]))
        .body(async |arguments: Arc<Value>, context: ToolContext| {
            context.defer(Context::text("deferred"));
            context.conclude_turn();
            Ok(Value::clone(&arguments))
        })
}

fn broken() -> ToolBuilder {
    echo("tool").body(async |_, context: ToolContext| {
        context.defer(Context::text("deferred"));
        context.conclude_turn();
        Err(BodyError::new("broken"))
    })
}

/// A registry with one tool and one listener, which always decides this.
fn with(tool: ToolBuilder, decision: PostDecision) -> Registry {
    let registry = registry(Mode::Both);
    registry.register(tool).expect("valid").keep();
    registry.on_post_execute(move |_, _, _| {
        let decision = decision.clone();
        async { Ok(decision) }
    });
    registry
}

async fn call(scope: &Scope) -> Arc<ToolResult> {
    scope.call(request("tool", r#"{"a": 1}"#)).await
}

fn texts(result: &ToolResult) -> Vec<&str> {
    result.contexts().iter().filter_map(|context| context.content()[0].as_text()).collect()
}

fn content(result: &ToolResult) -> Vec<&str> {
    result.content().iter().filter_map(Content::as_text).collect()
}

#[tokio::test]
async fn pl_12_accept_leaves_everything_and_adds_contexts_after_the_deferred() {
    let decision = PostDecision::accept().with_context(Context::text("one")).with_context(Context::text("two"));
    let result = call(&with(rich(), decision)).await;
    assert_eq!(result.outcome(), Ok(&value(r#"{"a": 1}"#)));
    assert_eq!(content(&result), [r#"{"a":1} gives {"a":1}"#]);
    assert_eq!(result.presentation_meta(), Some(&value(r#"[{"a": 1}, {"a": 1}]"#)));
    assert_eq!(texts(&result), ["deferred", "one", "two"]);
    assert!(result.concludes_turn());
}

#[tokio::test]
async fn pl_12_replaced_content_leaves_the_value() {
    let decision = PostDecision::replace_content(vec![Content::text("a"), Content::text("b")]);
    let decision = decision.with_context(Context::text("why"));
    let result = call(&with(rich(), decision)).await;
    assert_eq!(result.outcome(), Ok(&value(r#"{"a": 1}"#)));
    assert_eq!((content(&result), texts(&result)), (vec!["a", "b"], vec!["deferred", "why"]));
    assert_eq!(result.presentation_meta(), Some(&value(r#"[{"a": 1}, {"a": 1}]"#)));
    assert!(result.concludes_turn());
}

#[tokio::test]
async fn pl_12_a_replaced_value_is_checked_and_shown_as_the_tools_own() {
    let decision = PostDecision::replace_value(value(r#"{"b": 2}"#)).with_context(Context::text("why"));
    let result = call(&with(rich(), decision)).await;
    assert_eq!(result.outcome(), Ok(&value(r#"{"b": 2}"#)));
    assert_eq!((content(&result), texts(&result)), (vec![r#"{"a":1} gives {"b":2}"#], vec!["deferred", "why"]));
    assert_eq!(result.presentation_meta(), Some(&value(r#"[{"a": 1}, {"b": 2}]"#)));
    assert!(result.concludes_turn());
}

#[tokio::test]
async fn pl_12_a_replaced_value_that_is_not_valid_is_a_failure() {
    let decision = PostDecision::replace_value(value("[]")).with_context(Context::text("why"));
    let result = call(&with(rich(), decision)).await;
    let violations = Schema::compile(value(OBJECT)).expect("valid").validate(&value("[]")).expect_err("an array");
    let message = format!("the tool `tool` returned a value that its own schema does not allow:\n{violations}");
    assert_eq!(failure(&result), (ErrorCode::InvalidToolOutput, &*message));
    assert_eq!((content(&result), texts(&result)), (vec![&*format!("Error: {message}")], vec!["deferred", "why"]));
    assert_eq!((result.presentation_meta(), result.concludes_turn()), (None, false));
}

#[tokio::test]
async fn pl_12_a_failure_never_gains_a_value_and_may_be_worded_anew() {
    let result = call(&with(broken(), PostDecision::replace_value(value("{}")))).await;
    let message = "a post-execute listener tried to give a failed call a value";
    assert_eq!(failure(&result), (ErrorCode::PolicyFailed, message));
    let result = call(&with(broken(), PostDecision::replace_content(vec![Content::text("sorry")]))).await;
    assert_eq!((failure(&result), content(&result)), ((ErrorCode::ToolFailed, "broken"), vec!["sorry"]));
}

#[tokio::test]
async fn pl_12_a_blocked_result_has_no_value_and_nothing_deferred() {
    for tool in [rich(), broken()] {
        let decision = PostDecision::block("too secret").with_context(Context::text("ask an operator"));
        let result = call(&with(tool, decision)).await;
        assert_eq!(failure(&result), (ErrorCode::Blocked, "too secret"));
        assert_eq!((content(&result), texts(&result)), (vec!["Error: too secret"], vec!["ask an operator"]));
        assert_eq!((result.presentation_meta(), result.concludes_turn()), (None, false));
    }
}

#[tokio::test]
async fn pl_12_the_chain_begins_at_the_global_layer_and_its_first_has_the_last_word() {
    let registry = registry(Mode::Native);
    registry.register(rich()).expect("valid").keep();
    let child = registry.child("child").expect("shallow");
    let log = Log::default();
    let listen = |scope: &Scope, name: &'static str| {
        let log = log.clone();
        scope.on_post_execute(move |_, result, next| {
            let log = log.clone();
            async move {
                log.note(format!("{name} sees {:?}", result.value()));
                let decision = next.run().await;
                log.note(format!("{name} is back"));
                Ok(decision.with_context(Context::text(name)))
            }
        });
    };
    listen(&child, "child");
    listen(&registry, "global");
    let result = call(&child).await;
    let expected =
        ["global sees Some({\"a\":1})", "child sees Some({\"a\":1})", "child is back", "global is back"];
    assert_eq!(log.lines(), expected);
    assert_eq!(texts(&result), ["deferred", "child", "global"]);
    // What an inner listener decides, an outer one may overrule.
    let blocks = with(rich(), PostDecision::accept());
    blocks.on_post_execute(async |_, _, _| Ok(PostDecision::block("nobody asks it")));
    assert_eq!(call(&blocks).await.outcome(), Ok(&value(r#"{"a": 1}"#)));
}

#[tokio::test]
async fn pl_12_an_outer_listener_cannot_hide_an_inner_ones_fault() {
    for (panics, code, message) in [
        (false, ErrorCode::PolicyFailed, "a post-execute listener failed: broken"),
        (true, ErrorCode::Internal, "internal error: a post-execute listener panicked"),
    ] {
        let registry = registry(Mode::Native);
        registry.register(rich()).expect("valid").keep();
        registry.on_post_execute(async |_, _, next| {
            next.run().await;
            Ok(PostDecision::accept())
        });
        registry.on_post_execute(move |_, _, _| async move {
            assert!(!panics, "on purpose");
            Err("broken".into())
        });
        let result = call(&registry).await;
        assert_eq!((failure(&result), texts(&result)), ((code, message), vec!["deferred"]));
    }
}

#[tokio::test]
async fn pl_13_the_finalizer_sees_the_result_once_and_changes_content_alone() {
    for tool in [rich(), broken()] {
        let log = Log::default();
        let notes = log.clone();
        let registry = with(
            tool.finalize_content(move |result| {
                notes.note(format!("{:?} {:?}", content(result), texts(result)));
                Some(vec![Content::text("finalized")])
            }),
            PostDecision::replace_content(vec![Content::text("rewritten")]),
        );
        let result = call(&registry).await;
        assert_eq!((content(&result), texts(&result)), (vec!["finalized"], vec!["deferred"]));
        assert_eq!(log.lines(), ["[\"rewritten\"] [\"deferred\"]"]);
        let expected = result.error().is_none();
        assert_eq!((result.value().is_some(), result.concludes_turn()), (expected, expected));
    }
}

#[tokio::test]
async fn pl_13_a_panicking_finalizer_leaves_the_contexts() {
    let registry = with(rich().finalize_content(|_| panic!("on purpose")), PostDecision::accept());
    let result = call(&registry).await;
    assert_eq!(failure(&result), (ErrorCode::Internal, "internal error: the finalizer panicked"));
    assert_eq!(content(&result), ["Error: internal error: the finalizer panicked"]);
    assert_eq!((texts(&result), result.presentation_meta()), (vec!["deferred"], None));
}

#[tokio::test]
async fn pl_14_each_observer_gets_the_one_result_once_whatever_the_others_do() {
    let registry = registry(Mode::Native);
    registry.register(rich()).expect("valid").keep();
    let child = registry.child("child").expect("shallow");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observe = |scope: &Scope, number: u8| {
        let seen = Arc::clone(&seen);
        scope.on_result(move |_, result| {
            seen.lock().expect("not poisoned").push((number, Arc::clone(result)));
            assert!(number != 1, "on purpose");
        });
    };
    observe(&child, 2);
    observe(&registry, 1);
    let result = call(&child).await;
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(seen.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
    assert!(seen.iter().all(|(_, seen)| Arc::ptr_eq(seen, &result)));
}

#[tokio::test]
async fn pl_17_deferred_contexts_outlive_a_failure_and_a_conclusion_does_not() {
    let registry = registry(Mode::Native);
    registry.register(broken()).expect("valid").keep();
    let result = call(&registry).await;
    assert_eq!((failure(&result), texts(&result)), ((ErrorCode::ToolFailed, "broken"), vec!["deferred"]));
    assert!(!result.concludes_turn());
    let panics = echo("panics").body(async |_, context: ToolContext| {
        context.defer(Context::new(vec![Content::text("a"), Content::text("b")]));
        panic!("on purpose")
    });
    registry.register(panics).expect("valid").keep();
    let result = registry.call(request("panics", "{}")).await;
    assert_eq!(result.contexts(), [Context::new(vec![Content::text("a"), Content::text("b")])]);
    // An invalid value is the body's own failure, so what it left stays.
    let wrong = rich().output(r#"{"type": "array"}"#);
    let registry = with(wrong, PostDecision::accept());
    let result = call(&registry).await;
    assert_eq!((result.code(), texts(&result)), (Some(ErrorCode::InvalidToolOutput), vec!["deferred"]));
}

#[tokio::test]
async fn cm_15_a_nested_call_has_no_metadata_and_keeps_its_contexts_to_itself() {
    let registry = registry(Mode::Both);
    registry.register(rich().presentation_meta(|_, _| panic!("not for nested calls"))).expect("valid").keep();
    let outer = Tool::builder("outer").parameters("true").output("true").body(async |_, context| {
        let inner = context.invoke("tool", "{}").await;
        Ok(Value::from(vec![
            inner.presentation_meta().is_none().into(),
            inner.contexts().len().to_string().into(),
        ]))
    });
    registry.register(outer).expect("valid").keep();
    let result = registry.call(request("outer", "{}")).await;
    assert_eq!(result.outcome(), Ok(&value(r#"[true, "1"]"#)));
    assert!(result.contexts().is_empty());
    let direct = call(&registry).await;
    let panicked = ToolError::new(ErrorCode::Internal, "internal error: the metadata's projection panicked");
    assert_eq!(direct.error(), Some(&panicked));
}
