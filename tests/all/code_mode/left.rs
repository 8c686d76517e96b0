//! What a program leaves behind, and who is told of it (CM-16, CM-17).

use hotcell::execution::ToolResult;
use hotcell::json::Value;
use hotcell::tool::{BodyError, Tool};

use super::rig::{calls, registry, run, shown, with_each};
use crate::tools::{echo, failure};

fn fails(name: &str) -> Tool {
    let fails = Tool::builder(name).parameters("{}").output("{}").concurrency_safe(|_| true);
    fails.body(async |_, _| Err(BodyError::new("no such\nuser"))).build().expect("a valid tool")
}

fn hangs(name: &str) -> Tool {
    let hangs = Tool::builder(name).parameters("{}").output("{}").concurrency_safe(|_| true);
    let body = async |_, context: hotcell::execution::ToolContext| {
        context.cancel().cancelled().await;
        Ok(Value::Null)
    };
    hangs.body(body).build().expect("a valid tool")
}

fn contexts(result: &ToolResult) -> Vec<&str> {
    let blocks = result.contexts().iter().flat_map(|context| context.content());
    blocks.filter_map(|block| block.as_text()).collect()
}

fn notes(result: &ToolResult) -> &[String] {
    &result.run_facts().expect("a program ran").notes
}

#[tokio::test]
async fn cm_17_calls_that_run_when_the_program_returns_are_cancelled_and_named() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(echo("echo")).expect("registers").keep();
        registry.register(hangs("hangs")).expect("registers").keep();
        let plan = r#"[["start", "a", "hangs", {}], ["start", "b", "hangs", {}], ["call", "c", "echo", {}],
            ["return", 7]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(shown(&result), "7");
        assert_eq!(calls(&result), ["hangs cancelled", "hangs cancelled", "echo done"]);
        assert_eq!(notes(&result), ["still running when the program ended: hangs (2)"]);
        assert_eq!(contexts(&result), notes(&result));
    })
    .await;
}

#[tokio::test]
async fn cm_16_a_failure_names_what_was_running_once() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(echo("echo")).expect("registers").keep();
        registry.register(hangs("hangs")).expect("registers").keep();
        let plan = r#"[["start", "a", "hangs", {}], ["call", "c", "echo", {}], ["throw", "broken"]]"#;
        let result = run(subject, &registry, plan).await;
        let (_, message) = failure(&result);
        let end = "\ncalls made:\n  completed: echo\n  cancelled while running: hangs";
        assert!(message.ends_with(end), "{message}");
        assert_eq!(notes(&result), ["still running when the program ended: hangs"]);
        assert_eq!(contexts(&result), <[&str; 0]>::default());
    })
    .await;
}

#[cfg(feature = "wasm")]
#[tokio::test]
async fn cm_17_failures_that_nothing_looked_at_are_named_in_a_result_and_in_a_failure() {
    let subject = super::plan::javascript().await;
    let registry = registry(&subject);
    registry.register(fails("fails")).expect("registers").keep();
    registry.register(echo("echo")).expect("registers").keep();
    let named = "failed, not handled: fails (no such)";
    let plan = r#"[["start", "a", "fails", {}], ["call", "b", "echo", {}], ["return", 7]]"#;
    let result = run(&subject, &registry, plan).await;
    assert_eq!((shown(&result).as_str(), contexts(&result)), ("7", vec![named]));
    let plan = r#"[["start", "a", "fails", {}], ["call", "b", "echo", {}], ["throw", "broken"]]"#;
    let result = run(&subject, &registry, plan).await;
    let (_, message) = failure(&result);
    let end = format!("\ncalls made:\n  completed: echo\n  failed: fails\n{named}");
    assert!(message.ends_with(&end), "{message}");
    let handled = r#"[["start", "a", "fails", {}], ["call", "b", "echo", {}], ["try", "a"], ["return", 7]]"#;
    let result = run(&subject, &registry, handled).await;
    assert_eq!(notes(&result), <[&str; 0]>::default());
}

#[tokio::test]
async fn a_program_that_says_nothing_has_its_own_sentence() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(fails("fails")).expect("registers").keep();
        let result = run(subject, &registry, r#"[["members", "all"]]"#).await;
        assert_eq!(shown(&result), "(the program printed nothing and returned nothing)");
    })
    .await;
}
