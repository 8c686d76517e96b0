//! The bridge: names, arguments, results, failures, order.

use hotcell::execution::ErrorCode;
use hotcell::json::Value;
use hotcell::tool::{BodyError, Tool};

use super::rig::{calls, registry, returned, run, shown, with_each};
use crate::tools::{echo, failure, value};

#[tokio::test]
async fn cm_05_a_success_is_the_value_and_a_failure_one_message() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(echo("echo")).expect("registers").keep();
        let fails =
            Tool::builder("fails").parameters("{}").output("{}").body(async |_, _| Err(BodyError::new("no")));
        registry.register(fails).expect("registers").keep();
        let plan = r#"[["call", "a", "echo", {"x": [1, 2.5, 9007199254740991]}], ["return", {"of": "a"}]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(returned(&result), value(r#"{"x": [1, 2.5, 9007199254740991]}"#));
        assert_eq!(calls(&result), ["echo done"]);
        let plan = r#"[["start", "a", "fails", {}], ["try", "a"], ["return", {"of": "a"}]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(returned(&result), value(r#"{"failed": "no"}"#));
        assert_eq!(calls(&result), ["fails failed"]);
    })
    .await;
}

#[tokio::test]
async fn cm_04_a_program_gets_the_visible_tools_and_nothing_else() {
    with_each(async |subject| {
        let registry = registry(subject);
        for name in ["b", "a", "__proto__", "class", "路径", "hidden"] {
            registry.register(echo(name)).expect("registers").keep();
        }
        let agent = registry.child("agent").expect("a scope");
        agent.restrict_from(["hidden"]).expect("it is there");
        let plan = r#"[["members", "all"], ["return", {"of": "all"}]]"#;
        let result = run(subject, &agent, plan).await;
        assert_eq!(returned(&result), value(r#"["__proto__", "a", "b", "class", "路径"]"#));
    })
    .await;
}

#[tokio::test]
async fn pl_03_names_beyond_the_scope_and_the_transport_itself_are_unknown() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(echo("hidden")).expect("registers").keep();
        let agent = registry.child("agent").expect("a scope");
        agent.restrict_from(["hidden"]).expect("it is there");
        for (name, message) in [
            ("hidden", "unknown tool `hidden`"),
            ("absent", "unknown tool `absent`"),
            ("run_code", "`run_code` cannot be called from inside a program; call the tools themselves"),
        ] {
            let plan = format!(r#"[["start", "a", "{name}", {{}}], ["try", "a"], ["return", {{"of": "a"}}]]"#);
            let result = run(subject, &agent, &plan).await;
            assert_eq!(returned(&result).get("failed").and_then(Value::as_str), Some(message));
            assert_eq!(calls(&result), [format!("{name} failed")]);
        }
    })
    .await;
}

#[tokio::test]
async fn cm_11_a_failed_run_says_why_and_what_it_printed_and_called() {
    with_each(async |subject| {
        let registry = registry(subject);
        registry.register(echo("echo")).expect("registers").keep();
        let plan = r#"[["log", "one"], ["call", "a", "echo", {}], ["throw", "broken"]]"#;
        let result = run(subject, &registry, plan).await;
        let (code, message) = failure(&result);
        assert_eq!(code, ErrorCode::CodeRunFailed);
        let start = "code run failed (exception): Error: broken";
        let end = "\ncaptured output:\none\ncalls made:\n  completed: echo";
        assert!(message.starts_with(start) && message.ends_with(end), "{message}");
        assert_eq!(shown(&result), format!("Error: {message}"));
    })
    .await;
}
