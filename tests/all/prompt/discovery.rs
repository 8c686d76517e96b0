//! Tools that programs find for themselves, where there are too many to declare (SD-07).

use std::sync::Arc;

use hotcell::code_mode::CodeMode;
use hotcell::execution::{ErrorCode, Verdict};
use hotcell::json::{self, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry};

use super::assembled;
use crate::code_mode::plan::{Subject, scripted, subjects};
use crate::code_mode::rig::{calls, returned, run};
use crate::tools::{call, echo, failure, value};

/// A registry whose declarations may have 4 KiB.
fn registry(subject: &Subject, mode: Mode) -> Registry {
    let limits = Limits::default().with(Limit::Sdk, 4096).expect("within bounds");
    let programs = CodeMode::new(Arc::clone(&subject.runtime));
    let builder = Registry::builder().mode(mode).limits(limits).programs(programs).expect("valid");
    builder.build().expect("valid")
}

/// Registers many tools, which together have longer declarations than that.
fn fill(registry: &Registry) {
    for n in 0..100 {
        let tool = echo(&format!("filler_{n:02}")).description(format!("Fills place {n} of many."));
        registry.register(tool).expect("free").keep();
    }
    let mail = echo("send_mail").description("Sends a message to a person.");
    registry.register(mail).expect("free").keep();
}

/// The value of one call inside a program.
async fn inside(subject: &Subject, registry: &Registry, name: &str, arguments: &str) -> Value {
    let plan = format!(r#"[["start", "a", "{name}", {arguments}], ["try", "a"], ["return", {{"of": "a"}}]]"#);
    let result = run(subject, registry, &plan).await;
    assert_eq!(calls(&result).len(), 1);
    returned(&result)
}

#[tokio::test]
async fn sd_07_programs_find_and_read_tools_where_these_are_too_many_to_declare() {
    for subject in subjects().await {
        let registry = registry(&subject, Mode::Code);
        fill(&registry);
        let text = assembled(&registry).await.text();
        assert!(text.contains("\nPARTIAL: there are 101 tools, too many to declare here."));
        let found = inside(&subject, &registry, "search_tools", r#"{"query": "message persons"}"#).await;
        let expected = r#"{"matches": [{"name": "send_mail", "description": "Sends a message to a person."}],
            "matched": 1, "tools": 101}"#;
        assert_eq!(found, value(expected));
        let found = inside(&subject, &registry, "search_tools", r#"{"query": "filler", "limit": 2}"#).await;
        assert_eq!(found.get("matched"), Some(&Value::from(100)));
        assert_eq!(found.get("matches").and_then(Value::as_array).map(|matches| matches.iter().len()), Some(2));
        let names = r#"{"names": ["send_mail", "none", "send_mail"]}"#;
        let described = inside(&subject, &registry, "describe_tools", names).await;
        assert_eq!(described.get("unknown"), Some(&value(r#"["none"]"#)));
        let declarations = described.get("declarations").and_then(Value::as_str).expect("a text");
        assert!(declarations.contains("  /** Sends a message to a person. */\n  send_mail: "), "{declarations}");
        assert!(!declarations.contains("filler"));
    }
}

#[tokio::test]
async fn sd_07_both_names_are_members_of_tools_exactly_where_they_can_be_called() {
    for subject in subjects().await {
        let registry = registry(&subject, Mode::Code);
        let members = async |registry: &Registry| {
            let result = run(&subject, registry, r#"[["members", "all"], ["return", {"of": "all"}]]"#).await;
            returned(&result)
        };
        registry.register(echo("a")).expect("free").keep();
        registry.register(echo("z")).expect("free").keep();
        assert_eq!(members(&registry).await, value(r#"["a", "z"]"#));
        let refused = inside(&subject, &registry, "search_tools", r#"{"query": "a"}"#).await;
        let expected =
            "`search_tools` exists only inside programs, and only where the tools are too many to declare";
        assert_eq!(refused.get("failed").and_then(Value::as_str), Some(expected));
        fill(&registry);
        let all = members(&registry).await;
        let all: Vec<&str> = all.as_array().expect("names").iter().filter_map(Value::as_str).collect();
        assert_eq!(all.len(), 105);
        assert!(all.is_sorted() && all.contains(&"search_tools") && all.contains(&"describe_tools"));
    }
}

#[tokio::test]
async fn sd_07_nothing_outside_of_programs_knows_them() {
    let subject = scripted();
    for mode in [Mode::Code, Mode::Both] {
        let registry = registry(&subject, mode);
        fill(&registry);
        for name in ["search_tools", "describe_tools"] {
            assert!(registry.get(name).is_none());
            assert!(registry.schemas().iter().all(|tool| &*tool.name != name));
            assert!(registry.wire().expect("presentable").iter().all(|tool| &*tool.name != name));
            let result = call(&registry, name, r#"{"query": "a", "names": ["a"]}"#).await;
            let expected =
                format!("`{name}` exists only inside programs, and only where the tools are too many to declare");
            assert_eq!(failure(&result), (ErrorCode::UnknownTool, expected.as_str()));
        }
    }
}

#[tokio::test]
async fn searches_pass_policy_and_show_what_the_scope_sees() {
    let subject = scripted();
    let registry = registry(&subject, Mode::Code);
    fill(&registry);
    let agent = registry.child("agent").expect("shallow");
    agent.restrict_from(["send_mail"]).expect("it is there");
    let plan = r#"[["call", "a", "search_tools", {"query": "message"}], ["return", {"of": "a"}]]"#;
    let found = returned(run(&subject, &agent, plan).await.as_ref());
    assert_eq!(found, value(r#"{"matches": [], "matched": 0, "tools": 100}"#));
    drop(agent.guard(
        |call| {
            if call.name() == "search_tools" { Verdict::deny("no looking") } else { Verdict::Pass }
        },
    ));
    let result = run(&subject, &agent, plan).await;
    assert_eq!(calls(&result), ["search_tools failed"]);
    assert!(failure(&result).1.contains("the call of `search_tools` was denied: no looking"));
}

#[tokio::test]
async fn declarations_that_are_too_long_are_refused_with_the_way_out() {
    let subject = scripted();
    let registry = registry(&subject, Mode::Code);
    fill(&registry);
    let long = echo("long").description("x".repeat(2000)).parameters(format!(
        r#"{{"type": "object", "properties": {{{}}}}}"#,
        (0..200).map(|n| format!(r#""property_{n}": {{"type": "string"}}"#)).collect::<Vec<_>>().join(", ")
    ));
    registry.register(long).expect("free").keep();
    let refused = inside(&subject, &registry, "describe_tools", r#"{"names": ["long"]}"#).await;
    let message = refused.get("failed").and_then(Value::as_str).expect("a failure");
    let end = " bytes, which is more than the limit `sdk` of 4KiB allows; ask for fewer tools";
    assert!(message.starts_with("the declarations have ") && message.ends_with(end), "{message}");
    // Arguments that the two do not take are refused as any others are.
    let refused = inside(&subject, &registry, "describe_tools", r#"{"names": []}"#).await;
    assert!(json::encode(&refused).contains("the arguments of `describe_tools` are not valid"));
}
