//! The spans of calls: their name, their fields, and what is never in them.

use std::fmt;
use std::sync::{Arc, Mutex};

use hotcell::execution::{Verdict, spans};
use hotcell::registry::Mode;
use hotcell::tool::{BodyError, Tool};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::log::{Log, request};
use crate::tools::{call_in_program, echo, registry};

/// Notes what happens to each span, in the order of it.
#[derive(Default)]
struct Notes {
    log: Log,
    spans: Mutex<u64>,
}

/// Fields as text.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hotcell")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.spans.lock().expect("not poisoned");
        *spans += 1;
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        let metadata = span.metadata();
        self.log.note(format!("{spans} is {} {}{}", metadata.level(), metadata.name(), fields.0));
        Id::from_u64(*spans)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        self.log.note(format!("{} has{}", span.into_u64(), fields.0));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.log.note(format!("event{}", fields.0));
    }

    fn enter(&self, span: &Id) {
        self.log.note(format!("{} is entered", span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        self.log.note(format!("{} is left", span.into_u64()));
    }
}

#[tokio::test]
async fn a_span_has_names_and_outcomes_and_nothing_else() {
    let notes = Arc::new(Notes::default());
    let _guard = tracing::subscriber::set_default(Arc::clone(&notes));
    let registry = registry(Mode::Both);
    registry.around(spans);
    registry.register(echo("read")).expect("valid").keep();
    let fails = Tool::builder("x".repeat(200)).parameters("true").output("true");
    registry.register(fails.body(async |_, _| Err(BodyError::new("a secret")))).expect("valid").keep();
    let child = registry.child("agent").expect("shallow");
    call_in_program(&child, "read", r#"{"secret": "value"}"#).await;
    let expected = [
        "1 is INFO tool_call id=call-1 name=run_code scope=agent nested=false",
        "1 is entered",
        "2 is INFO tool_call id=call-2 name=read scope=agent nested=true",
        "2 is entered",
        "2 is left",
        "2 has code=\"OK\"",
        "1 is left",
        "1 has code=\"OK\"",
    ];
    assert_eq!(notes.log.lines(), expected);
    registry.call(request(&"x".repeat(200), "{}").with_id("mine")).await;
    let name = format!("{}…{}", "x".repeat(52), "x".repeat(25));
    let expected = [
        format!("3 is INFO tool_call id=mine name={name} scope=global nested=false"),
        "3 is entered".to_owned(),
        "3 is left".to_owned(),
        "3 has code=\"TOOL_FAILED\"".to_owned(),
    ];
    assert_eq!(notes.log.lines()[8..], expected);
    // No attempt, no span.
    registry.guard(|_| Verdict::deny("no"));
    registry.call(request("read", "{}")).await;
    assert_eq!(notes.log.lines().len(), 12);
}

#[tokio::test]
async fn ids_and_names_are_clipped_beyond_80_bytes() {
    let notes = Arc::new(Notes::default());
    let _guard = tracing::subscriber::set_default(Arc::clone(&notes));
    let registry = registry(Mode::Native);
    registry.around(spans);
    for length in [79, 80, 81, 100_000] {
        let (id, name, scope) = ("i".repeat(length), "n".repeat(length.min(60_000)), "s".repeat(length));
        registry.register(echo(&name)).expect("valid").keep();
        let child = registry.child(scope.as_str()).expect("shallow");
        child.call(request(&name, "{}").with_id(id.as_str())).await;
        let shown = |text: &str| match text.len() {
            ..=80 => text.to_owned(),
            _ => format!("{}…{}", &text[..52], &text[..25]),
        };
        let fields = format!("id={} name={} scope={} nested=false", shown(&id), shown(&name), shown(&scope));
        let lines = notes.log.lines();
        assert!(lines[lines.len() - 4].ends_with(&format!(" is INFO tool_call {fields}")), "{length}");
    }
}
