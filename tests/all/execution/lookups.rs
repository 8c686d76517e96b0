//! What a name means is asked again at each step, and a doubt is a no.

use std::sync::{Arc, Mutex};

use hotcell::execution::{Attempt, CallRequest, ErrorCode, ExecutionMode, PostDecision, ToolResult, Verdict};
use hotcell::registry::{Mode, Registration, Registry, Scope};
use hotcell::tool::{BodyError, Schema, Tool, ToolBuilder};
use tokio_util::sync::CancellationToken;

use super::log::{Holder, Log, request};
use crate::tools::{echo, failure, registry, value};

async fn mode_of(scope: &Scope, name: &str, arguments: &str) -> ExecutionMode {
    scope.execution_mode(&mut request(name, arguments)).await
}

#[tokio::test]
async fn pl_05_only_a_visible_tool_that_says_so_is_parallel() {
    let registry = registry(Mode::Both);
    registry.register(echo("safe")).expect("valid").keep();
    registry
        .register(echo("odd").concurrency_safe(|arguments| arguments.get("a").is_some()))
        .expect("valid")
        .keep();
    registry.register(echo("unsafe").concurrency_safe(|_| false)).expect("valid").keep();
    registry.register(echo("panics").concurrency_safe(|_| panic!("on purpose"))).expect("valid").keep();
    let undeclared = Tool::builder("undeclared").parameters("true").output("true");
    registry.register(undeclared.body(async |_, _| Ok(value("null")))).expect("valid").keep();
    let child = registry.child("child").expect("shallow");
    child.register(echo("own")).expect("valid").keep();
    let cases = [
        ("safe", "{}", ExecutionMode::Parallel),
        ("odd", r#"{"a": 1}"#, ExecutionMode::Parallel),
        ("odd", "{}", ExecutionMode::Exclusive),
        ("unsafe", "{}", ExecutionMode::Exclusive),
        ("panics", "{}", ExecutionMode::Exclusive),
        ("undeclared", "{}", ExecutionMode::Exclusive),
        ("absent", "{}", ExecutionMode::Exclusive),
        ("run_code", "{}", ExecutionMode::Exclusive),
        // Lossy arguments, and a tool of another scope.
        ("safe", r#"{"a": 1, "a": 2}"#, ExecutionMode::Exclusive),
        ("own", "{}", ExecutionMode::Exclusive),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(mode_of(&registry, name, arguments).await, expected, "{name} {arguments}");
    }
    assert_eq!(mode_of(&child, "own", "{}").await, ExecutionMode::Parallel);
}

#[tokio::test]
async fn pl_05_hidden_and_collapsed_calls_are_exclusive() {
    let registry = registry(Mode::Both);
    registry.register(echo("safe")).expect("valid").keep();
    registry.register(echo("other")).expect("valid").keep();
    let coder = registry.child("coder").expect("shallow");
    coder.present_as(Mode::Code).expect("the first declaration");
    let restricted = coder.child("restricted").expect("shallow");
    restricted.restrict_from(["safe"]).expect("an inherited name");
    let holder = Holder::start(&registry, &registry).await;
    let nested = |name| request(name, "{}").with_parent(&holder.token);
    assert_eq!(mode_of(&coder, "safe", "{}").await, ExecutionMode::Exclusive);
    assert_eq!(coder.execution_mode(&mut nested("safe")).await, ExecutionMode::Parallel);
    assert_eq!(restricted.execution_mode(&mut nested("safe")).await, ExecutionMode::Exclusive);
    assert_eq!(restricted.execution_mode(&mut nested("other")).await, ExecutionMode::Parallel);
    let mut stale = nested("safe");
    holder.end().await;
    assert_eq!(coder.execution_mode(&mut stale).await, ExecutionMode::Exclusive);
}

#[tokio::test]
async fn pl_05_a_request_that_was_classified_is_called_as_it_is() {
    let registry = registry(Mode::Native);
    registry.register(echo("safe")).expect("valid").keep();
    let mut good = request("safe", r#"{"a": 1}"#);
    assert_eq!(registry.execution_mode(&mut good).await, ExecutionMode::Parallel);
    assert_eq!(registry.call(good).await.outcome(), Ok(&value(r#"{"a": 1}"#)));
    let mut lossy = request("safe", "{");
    assert_eq!(registry.execution_mode(&mut lossy).await, ExecutionMode::Exclusive);
    let again = registry.call(lossy.clone()).await;
    let message = "the arguments are not JSON that can be taken without loss: expected a key, found the end of the \
                   text at $ (byte 1)";
    assert_eq!(failure(&again), (ErrorCode::InvalidArgs, message));
}

#[test]
fn classifying_that_is_interrupted_loses_nothing() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(async {
        let registry = registry(Mode::Native);
        registry.register(echo("safe")).expect("valid").keep();
        // Long enough for the blocking pool, whose one thread is taken.
        let (release, released) = std::sync::mpsc::channel::<()>();
        let taken = tokio::task::spawn_blocking(move || released.recv());
        let arguments = format!(r#"{{"a": "{}"}}"#, "x".repeat(300_000));
        let mut long = request("safe", &arguments);
        assert!(futures_util::poll!(Box::pin(registry.execution_mode(&mut long))).is_pending());
        release.send(()).expect("it waits");
        taken.await.expect("no panic").expect("it was released");
        assert_eq!(registry.call(long).await.outcome(), Ok(&value(&arguments)));
    });
}

/// A tool called `tool`, and a slot to take it out of the registry or put another one in its place.
#[derive(Clone)]
struct Slot(Registry, Arc<Mutex<Option<Registration>>>);

impl Slot {
    fn new(registry: &Registry, tool: ToolBuilder) -> Self {
        let slot = Self(registry.clone(), Arc::default());
        slot.replace(tool);
        slot
    }

    fn empty(&self) {
        *self.1.lock().expect("not poisoned") = None;
    }

    fn replace(&self, tool: ToolBuilder) {
        self.empty();
        let registration = self.0.register(tool).expect("valid");
        *self.1.lock().expect("not poisoned") = Some(registration);
    }
}

const STRICT: &str = r#"{"type": "object", "required": ["b"]}"#;

fn strict() -> ToolBuilder {
    echo("tool").parameters(STRICT)
}

/// The message for arguments `{}` that `STRICT` refuses.
fn refused() -> String {
    let violations = Schema::compile(value(STRICT)).expect("valid").validate(&value("{}")).expect_err("no b");
    format!("the arguments of `tool` are not valid:\n{violations}")
}

async fn call(registry: &Registry) -> Arc<ToolResult> {
    registry.call(CallRequest::new("tool", "{}", CancellationToken::new())).await
}

#[tokio::test]
async fn pl_06_a_tool_that_goes_before_dispatch_is_unknown() {
    let registry = registry(Mode::Native);
    let log = Log::default();
    let notes = log.clone();
    let slot = Slot::new(
        &registry,
        echo("tool").finalize_content(move |_| {
            notes.note("the finalizer of the tool that was there");
            None
        }),
    );
    registry.guard(move |_| {
        slot.empty();
        Verdict::Pass
    });
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::UnknownTool, "unknown tool `tool`"));
    assert_eq!(log.lines(), ["the finalizer of the tool that was there"]);
}

#[tokio::test]
async fn pl_06_a_tool_that_is_replaced_before_dispatch_checks_the_arguments_again() {
    let registry = registry(Mode::Native);
    let slot = Slot::new(&registry, echo("tool"));
    let (log, first) = (Log::default(), slot.clone());
    let guard = registry.guard(move |_| {
        first.replace(strict());
        Verdict::Pass
    });
    let refused = refused();
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::InvalidArgs, &*refused));
    guard.remove();
    // A definition that takes them is the one that runs.
    slot.replace(echo("tool"));
    let notes = log.clone();
    registry.guard(move |_| {
        let notes = notes.clone();
        slot.replace(echo("tool").body(move |_, _| {
            notes.note("the new body");
            async { Ok(value("\"new\"")) }
        }));
        Verdict::Pass
    });
    assert_eq!(call(&registry).await.outcome(), Ok(&value("\"new\"")));
    assert_eq!(log.lines(), ["the new body"]);
}

#[tokio::test]
async fn pl_06_a_tool_that_goes_during_its_body_has_its_result() {
    let registry = registry(Mode::Native);
    let slot = Slot::new(&registry, echo("tool"));
    let inner = slot.clone();
    slot.replace(echo("tool").body(move |arguments, _| {
        inner.empty();
        async move { Ok((*arguments).clone()) }
    }));
    assert_eq!(call(&registry).await.outcome(), Ok(&value("{}")));
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::UnknownTool, "unknown tool `tool`"));
}

#[tokio::test]
async fn pl_06_a_replaced_value_belongs_to_the_tool_that_is_there() {
    let registry = registry(Mode::Native);
    let slot = Slot::new(&registry, echo("tool"));
    let change: Arc<Mutex<Option<ToolBuilder>>> = Arc::default();
    let (next, slot) = (Arc::clone(&change), slot);
    let restore = slot.clone();
    registry.on_post_execute(move |_, _, _| {
        match next.lock().expect("not poisoned").take() {
            Some(tool) => slot.replace(tool),
            None => slot.empty(),
        }
        async { Ok(PostDecision::replace_value(value("[1]"))) }
    });
    // Gone.
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::UnknownTool, "unknown tool `tool`"));
    // Replaced by one that does not give such values.
    restore.replace(echo("tool"));
    *change.lock().expect("not poisoned") = Some(echo("tool").output(r#"{"type": "object"}"#));
    let schema = Schema::compile(value(r#"{"type": "object"}"#)).expect("valid");
    let violations = schema.validate(&value("[1]")).expect_err("an array");
    let message = format!("the tool `tool` returned a value that its own schema does not allow:\n{violations}");
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::InvalidToolOutput, &*message));
    // Replaced by one that shows them in another way.
    restore.replace(echo("tool"));
    let shows = echo("tool").render(|_, shown| vec![hotcell::Content::text(format!("anew: {shown:?}"))]);
    *change.lock().expect("not poisoned") = Some(shows);
    let result = call(&registry).await;
    assert_eq!((result.outcome(), result.content()[0].as_text()), (Ok(&value("[1]")), Some("anew: [1]")));
}

/// A wrapper that tries twice, and does something in between.
fn retry(registry: &Registry, between: impl Fn() + Send + Sync + Clone + 'static) {
    registry.around(move |_, mut next| {
        let between = between.clone();
        async move {
            assert_eq!(next.run().await.error().map(hotcell::execution::ToolError::message), Some("once more"));
            between();
            Ok::<Attempt, _>(next.run().await)
        }
    });
}

#[tokio::test]
async fn pl_06_each_attempt_looks_the_tool_up() {
    let fails = || echo("tool").body(async |_, _| Err(BodyError::new("once more")));
    let registry = registry(Mode::Native);
    let slot = Slot::new(&registry, fails());
    let step: Arc<Mutex<Vec<Option<ToolBuilder>>>> =
        Arc::new(Mutex::new(vec![Some(strict()), Some(echo("tool")), None]));
    let (steps, inner) = (Arc::clone(&step), slot.clone());
    retry(&registry, move || match steps.lock().expect("not poisoned").pop().expect("three calls") {
        Some(tool) => inner.replace(tool),
        None => inner.empty(),
    });
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::UnknownTool, "unknown tool `tool`"));
    slot.replace(fails());
    assert_eq!(call(&registry).await.outcome(), Ok(&value("{}")));
    slot.replace(fails());
    let refused = refused();
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::InvalidArgs, &*refused));
}

#[tokio::test]
async fn pl_06_a_wrappers_value_belongs_to_the_tool_that_is_there() {
    let registry = registry(Mode::Native);
    let slot = Slot::new(&registry, echo("tool"));
    registry.around(move |_, _| {
        slot.empty();
        async { Ok(Attempt::success(value("{}"))) }
    });
    assert_eq!(failure(call(&registry).await.as_ref()), (ErrorCode::UnknownTool, "unknown tool `tool`"));
}
