//! What these tests stand on: a registry whose programs any runtime runs, and its calls.

use std::sync::Arc;

use hotcell::Content;
use hotcell::code_mode::{CodeMode, RunEvents};
use hotcell::execution::{CallRequest, ToolResult};
use hotcell::json::{self, Value};
use hotcell::registry::{Mode, Registry, RegistryBuilder, Scope};
use tokio_util::sync::CancellationToken;

use super::plan::{Subject, subjects};

/// A registry in mode `code` whose programs `subject` runs.
pub fn builder(subject: &Subject, events: &RunEvents) -> RegistryBuilder {
    let programs = CodeMode::new(Arc::clone(&subject.runtime)).with_events(events);
    Registry::builder().mode(Mode::Code).programs(programs).expect("a valid tool")
}

pub fn registry(subject: &Subject) -> Registry {
    builder(subject, &RunEvents::new()).build().expect("a valid registry")
}

/// The arguments of `run_code` for a program that follows a plan.
pub fn arguments(subject: &Subject, plan: &str) -> Value {
    let code = Value::from(subject.program(plan));
    let arguments = [("code".to_owned(), code), ("description".to_owned(), Value::from("a test"))];
    arguments.into_iter().collect::<json::Object>().into()
}

/// The request for a program that follows a plan. Its id is `run`.
pub fn request(subject: &Subject, plan: &str) -> CallRequest {
    cancellable(subject, plan, &CancellationToken::new())
}

/// The same, cancelled with this token.
pub fn cancellable(subject: &Subject, plan: &str, cancel: &CancellationToken) -> CallRequest {
    CallRequest::new("run_code", arguments(subject, plan), cancel.clone()).with_id("run")
}

pub async fn run(subject: &Subject, scope: &Scope, plan: &str) -> Arc<ToolResult> {
    scope.call(request(subject, plan)).await
}

/// What the program returned.
pub fn returned(result: &ToolResult) -> Value {
    let value = result.outcome().unwrap_or_else(|error| panic!("the program fails: {error}"));
    value.get("result").cloned().expect("the program returns something")
}

/// The calls of the run, as `name state`.
pub fn calls(result: &ToolResult) -> Vec<String> {
    let facts = result.run_facts().expect("a program ran");
    facts.calls.iter().map(|call| format!("{} {}", call.name, call.state.as_str())).collect()
}

/// The text that a model sees.
pub fn shown(result: &ToolResult) -> String {
    result.content().iter().filter_map(|block| block.as_text()).collect::<Vec<_>>().join("\n---\n")
}

/// The kind of failure of the program, where it failed.
pub fn failure_kind(result: &ToolResult) -> Option<&'static str> {
    let facts = result.run_facts().expect("the call was to run a program");
    facts.failure.as_ref().map(|failure| failure.kind.as_str())
}

/// What the model shall see beside the result: each block of text, and the kind of every other block.
pub fn contexts(result: &ToolResult) -> Vec<String> {
    let blocks = result.contexts().iter().flat_map(|context| context.content());
    let shown = |block: &Content| match block {
        Content::Text(text) => text.clone(),
        Content::Image(image) => format!("image {} {}", image.mime(), image.base64()),
        Content::ResourceLink(link) => format!("link {}", link.uri),
        _ => "unknown".to_owned(),
    };
    blocks.map(shown).collect()
}

/// Runs a test once per runtime, naming it where it fails.
#[expect(clippy::print_stdout, reason = "shown where the test fails")]
pub async fn with_each<F: AsyncFn(&Subject)>(test: F) {
    for subject in subjects().await {
        println!("with {}", subject.name);
        test(&subject).await;
    }
}
