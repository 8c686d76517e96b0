//! How long a registration lasts, and what it may take away: its own tool, in its own layer, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hotcell::execution::ErrorCode;
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::tool::{Schema, SchemaSource, Tool, ToolBuilder};

use crate::tools::{call, call_in_program, echo, registry, value};

fn seen(scope: &Scope) -> Vec<String> {
    scope.schemas().iter().map(|tool| tool.name.to_string()).collect()
}

/// Counts how many are alive.
#[derive(Debug)]
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A tool that is counted for as long as its definition exists.
fn counted(name: &str, count: &Arc<AtomicUsize>) -> ToolBuilder {
    let alive = Alive::new(count);
    echo(name).present_call(move |_| value(&format!("{}", alive.0.load(Ordering::Relaxed))))
}

#[test]
fn rg_05_a_registration_takes_its_own_tool_from_its_own_layer() {
    let registry = Registry::new();
    let (one, two) = (registry.child("one").expect("shallow"), registry.child("two").expect("shallow"));
    // One definition, three layers: each registration is about its own.
    let tool = echo("read").build().expect("valid");
    let global = registry.register(tool.clone()).expect("free");
    let in_one = one.register(tool.clone()).expect("free in this layer");
    let mut in_two = two.register(tool.clone()).expect("free in this layer");
    drop(global);
    assert_eq!(
        (seen(&registry), seen(&one), seen(&two)),
        (vec![], vec!["read".to_owned()], vec!["read".to_owned()])
    );
    in_two.unregister();
    in_two.unregister();
    assert_eq!((seen(&one), seen(&two)), (vec!["read".to_owned()], vec![]));
    // The very same definition may come back, and an old handle does not know it.
    two.register(tool).expect("free again").keep();
    drop(in_two);
    assert_eq!(seen(&two), ["read"]);
    drop(in_one);
    assert_eq!((seen(&one), seen(&two)), (vec![], vec!["read".to_owned()]));
}

#[test]
fn rg_05_registrations_end_in_any_order() {
    let registry = Registry::new();
    let mut kept = Vec::new();
    for name in ["a", "b", "c"] {
        kept.push(registry.register(echo(name)).expect("valid"));
    }
    drop(kept.remove(1));
    assert_eq!(seen(&registry), ["a", "c"]);
    kept.push(registry.register(echo("b")).expect("free again"));
    drop(kept.remove(0));
    assert_eq!(seen(&registry), ["b", "c"]);
    drop(kept);
    assert_eq!(seen(&registry), [""; 0]);
}

#[test]
fn rg_05_a_definition_lives_as_long_as_somebody_can_reach_it() {
    let count = Arc::new(AtomicUsize::new(0));
    let alive = || count.load(Ordering::Relaxed);
    let registry = Registry::new();
    let registration = registry.register(counted("a", &count)).expect("valid");
    assert!(registry.get("a").is_some());
    drop(registration);
    // The view of before holds it until somebody looks again.
    assert_eq!((seen(&registry), alive()), (vec![], 0));
    let scope = registry.child("agent").expect("shallow");
    scope.register(counted("kept", &count)).expect("valid").keep();
    let held = scope.register(counted("held", &count)).expect("valid");
    let below = scope.child("below").expect("shallow");
    assert_eq!((seen(&below), alive()), (vec!["held".to_owned(), "kept".to_owned()], 2));
    drop(scope);
    assert_eq!((seen(&below), alive()), (vec!["held".to_owned(), "kept".to_owned()], 2));
    drop(below);
    assert_eq!(alive(), 1);
    drop(held);
    assert_eq!(alive(), 0);
    // What was refused is gone at once.
    registry.register(echo("a")).expect("valid").keep();
    assert!(registry.register(counted("a", &count)).is_err());
    assert!(registry.register(counted("run_code", &count)).is_err());
    assert_eq!(alive(), 0);
}

#[tokio::test]
async fn rg_05_a_call_that_has_begun_outlives_its_registration() {
    let registry = registry(Mode::Both);
    let slot: Arc<std::sync::Mutex<Option<hotcell::registry::Registration>>> = Arc::default();
    let own = Arc::clone(&slot);
    let leaving = Tool::builder("leaving").parameters("{}").output("true").body(move |arguments, _| {
        drop(own.lock().expect("not poisoned").take());
        async move { Ok(hotcell::json::Value::clone(&arguments)) }
    });
    let registration = registry.register(leaving).expect("valid");
    *slot.lock().expect("not poisoned") = Some(registration);
    assert_eq!(call_in_program(&registry, "leaving", r#"{"a": 1}"#).await, value(r#"{"a": 1}"#));
    assert_eq!(call_in_program(&registry, "leaving", "{}").await, value(r#"{"error": "UNKNOWN_TOOL"}"#));
    assert_eq!(call(&registry, "leaving", "{}").await.code(), Some(ErrorCode::UnknownTool));
}

#[test]
fn rg_01_a_schema_may_come_as_text_as_a_value_or_compiled() {
    let text = r#"{"type": "object", "maxProperties": 1}"#;
    let compiled = Schema::compile(value(text)).expect("valid");
    let sources: [SchemaSource; 4] = [text.into(), text.to_owned().into(), value(text).into(), compiled.into()];
    for source in sources {
        let shown = format!("{source:?}");
        let tool = echo("t").parameters(source.clone()).output(source).build().expect("valid");
        assert_eq!(
            (tool.parameters().document(), tool.output().document()),
            (&value(text), &value(text)),
            "{shown}"
        );
    }
    for (source, reason) in [
        (SchemaSource::from(value("[]")), "a schema is an object or a boolean, not array"),
        (SchemaSource::from(""), "expected a value, found the end of the text at $ (byte 0)"),
        (SchemaSource::from(r#"{"a": 1, "a": 2}"#), "duplicate key at $.a (byte 9)"),
    ] {
        let error = echo("t").parameters(source).build().expect_err("refused").to_string();
        assert_eq!(error, format!("the tool `t` has parameters that do not compile: {reason}"));
    }
}

#[test]
fn rg_04_of_several_faults_the_first_is_told() {
    let wrong = || Tool::builder("t").timeout(std::time::Duration::ZERO);
    let told = |tool: ToolBuilder| tool.build().expect_err("refused").to_string();
    assert_eq!(told(wrong()), "the tool `t` has no parameters; give it a JSON Schema");
    assert_eq!(told(wrong().parameters("{}")), "the tool `t` has no output declaration; give it a JSON Schema");
    assert_eq!(told(wrong().parameters("{}").output("{}")), "the tool `t` has no body");
    let complete = wrong().parameters("{}").output("{}").body(async |_, _| Ok(value("null")));
    assert_eq!(told(complete), "the tool `t` has a timeout of 0ns; it must be above zero and at most 604800s");
    // A refusal changes nothing: the name is free.
    let registry = Registry::new();
    assert!(registry.register(echo("t").output("{")).is_err());
    assert_eq!(seen(&registry), [""; 0]);
    registry.register(echo("t")).expect("still free").keep();
}
