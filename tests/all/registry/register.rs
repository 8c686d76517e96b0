//! Registering tools: what is refused and why, which names there may be, how long a registration lasts.

use std::time::Duration;

use hotcell::execution::{CallRequest, ErrorCode};
use hotcell::json::{self, Value};
use hotcell::registry::{Mode, Registry};
use hotcell::tool::{NAME_BYTES_MAX, TIMEOUT_MAX, Tool, ToolBuilder};
use hotcell::{Content, ErrorKind};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::tools::{call, call_in_program, echo, failure, registry, value};

#[derive(Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Sum {
    sum: f64,
}

fn refusal(registry: &Registry, tool: ToolBuilder) -> String {
    let error = registry.register(tool).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    error.to_string()
}

#[tokio::test]
async fn a_typed_tool_takes_and_gives_its_types() {
    let registry = Registry::new();
    let add = Tool::typed("add", "Adds two integers.", async |add: Add| {
        if add.a == 0 {
            return Err("x".parse::<u8>().expect_err("no number").into());
        }
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        Ok(Sum { sum: if add.b == 0 { f64::NAN } else { (add.a + add.b) as f64 } })
    });
    let _add = registry.register(add).expect("a valid tool");
    let result = call(&registry, "add", r#"{"a": 2, "b": 40}"#).await;
    assert_eq!(result.outcome(), Ok(&value(r#"{"sum": 42.0}"#)));
    assert_eq!(result.content(), [Content::text("{\n  \"sum\": 42.0\n}")]);
    let result = call(&registry, "add", r#"{"a": "2"}"#).await;
    let message = "the arguments of `add` are not valid:\n$: missing property \"b\"\n$.a: expected integer, found string \"2\"";
    assert_eq!(failure(&result), (ErrorCode::InvalidArgs, message));
    let result = call(&registry, "add", r#"{"a": 0, "b": 1}"#).await;
    assert_eq!(failure(&result), (ErrorCode::ToolFailed, "invalid digit found in string"));
    let result = call(&registry, "add", r#"{"a": 1, "b": 0}"#).await;
    let message =
        "the tool `add` returned a value that cannot be taken without loss: $.sum: float NaN is not finite";
    assert_eq!(failure(&result), (ErrorCode::InvalidToolOutput, message));
}

#[test]
fn rg_01_the_schemas_of_a_typed_tool_are_those_of_its_types() {
    let add = Tool::typed("add", "", async |_: Add| Ok(Sum { sum: 1.0 })).build().expect("valid");
    assert_eq!(add.parameters().document().get("required"), Some(&value(r#"["a", "b"]"#)));
    assert_eq!(
        add.output().document().get("properties"),
        Some(&value(r#"{"sum": {"type": "number", "format": "double"}}"#))
    );
}

#[test]
fn rg_04_registration_names_the_tool_and_the_reason() {
    let registry = Registry::new();
    let _first = registry.register(echo("read")).expect("valid");
    let raw = |name: &str| Tool::builder(name).body(async |_, _| Ok(Value::Null));
    let bad_schema = || raw("bad").parameters("{}").output(r#"{"type": 1}"#);
    for (tool, expected) in [
        (echo(""), "a tool needs a name; this one is empty"),
        (echo("read"), "the tool `read` is registered in scope `global` already"),
        (raw("bare").output("true"), "the tool `bare` has no parameters; give it a JSON Schema"),
        (raw("bare").parameters("{}"), "the tool `bare` has no output declaration; give it a JSON Schema"),
        (Tool::builder("bare").parameters("{}").output("{}"), "the tool `bare` has no body"),
        (
            raw("bad").parameters("{").output("{}"),
            "the tool `bad` has parameters that do not compile: expected a key, found the end of the text at $ (byte 1)",
        ),
        (
            raw("bad").parameters("1").output("{}"),
            "the tool `bad` has parameters that do not compile: a schema is an object or a boolean, not integer",
        ),
        (
            echo("slow").timeout(Duration::ZERO),
            "the tool `slow` has a timeout of 0ns; it must be above zero and at most 604800s",
        ),
        (
            echo("slow").timeout(TIMEOUT_MAX + Duration::from_nanos(1)),
            "the tool `slow` has a timeout of 604800.000000001s; it must be above zero and at most 604800s",
        ),
    ] {
        assert_eq!(refusal(&registry, tool), expected);
    }
    let text = refusal(&registry, bad_schema());
    assert_eq!(text.split(": ").next(), Some("the tool `bad` has an output declaration that does not compile"));
    for timeout in [Duration::from_nanos(1), TIMEOUT_MAX] {
        assert_eq!(echo("slow").timeout(timeout).build().expect("within bounds").timeout(), Some(timeout));
    }
    // The same name is free in another layer.
    let child = registry.child("child").expect("shallow");
    child.register(echo("read")).expect("free here").keep();
}

#[test]
fn rg_03_reserved_names_are_reserved_in_every_mode_and_scope() {
    for mode in [Mode::Native, Mode::Code, Mode::Both] {
        let registry = registry(mode);
        let child = registry.child("child").expect("shallow");
        for name in ["run_code", "search_tools", "describe_tools"] {
            let expected = format!("the tool `{name}` cannot be registered: its name is reserved");
            assert_eq!(refusal(&registry, echo(name)), expected);
            assert_eq!(child.register(echo(name)).expect_err("reserved").to_string(), expected);
            let reserved = format!("`{name}` is reserved and cannot be restricted");
            for error in [child.restrict_to([name]), child.restrict_from([name])] {
                assert_eq!(error.expect_err("reserved").to_string(), reserved);
            }
        }
    }
}

#[tokio::test]
async fn rg_02_names_are_arbitrary_and_arrive_unchanged() {
    let registry = registry(Mode::Both);
    let longest = "n".repeat(NAME_BYTES_MAX);
    let names = [
        "my-tool", "__proto__", "constructor", "toString", "class", "路径", "a b", " ", "🔥", "שלום", "e\u{301}",
        "é", "\u{7f}", "a\nb", "*", "tools", "`", "\"", &longest,
    ];
    for name in names {
        registry.register(echo(name)).expect("a fine name").keep();
    }
    for name in names {
        let arguments = json::encode(&Value::Array([Value::from(name)].into_iter().collect()));
        let arguments = format!(r#"{{"name": {arguments}}}"#);
        let result = call(&registry, name, &arguments).await;
        assert_eq!((result.name(), result.value()), (name, Some(&value(&arguments))));
        assert_eq!(call_in_program(&registry, name, &arguments).await, value(&arguments));
        assert_eq!(registry.get(name).expect("registered").name(), name);
    }
    let told: Vec<String> = registry.wire().expect("valid").iter().map(|tool| tool.name.to_string()).collect();
    let mut expected: Vec<&str> = names.into_iter().chain(["run_code"]).collect();
    expected.sort_unstable();
    assert_eq!(told, expected);
    let over = echo(&"n".repeat(NAME_BYTES_MAX + 1)).build().expect_err("too long").to_string();
    assert_eq!(over.rsplit("` ").next(), Some("has a name of 65537 bytes; at most 65536 are taken"));
}

#[tokio::test]
async fn rg_05_a_registration_lasts_until_it_is_dropped() {
    let registry = Registry::new();
    let mut first = registry.register(echo("read")).expect("valid");
    assert!(registry.get("read").is_some());
    first.unregister();
    assert!(registry.get("read").is_none());
    assert_eq!(call(&registry, "read", "{}").await.code(), Some(ErrorCode::UnknownTool));
    // Its successor is not touched by a second teardown, explicit or dropped.
    let second = registry.register(echo("read")).expect("free again");
    first.unregister();
    drop(first);
    assert!(registry.get("read").is_some());
    drop(second);
    assert!(registry.get("read").is_none());
    registry.register(echo("read")).expect("free again").keep();
    assert!(registry.get("read").is_some());
    // A registration that outlives its registry is harmless.
    let late = registry.register(echo("late")).expect("valid");
    drop(registry);
    drop(late);
}

#[tokio::test]
async fn rg_07_images_and_links_stay_what_they_are() {
    let registry = Registry::new();
    let content = || {
        vec![
            Content::image("image/png", b"png"),
            Content::ResourceLink(hotcell::ResourceLink::new("file:///a", "a")),
        ]
    };
    registry.register(echo("draw").render(move |_, _| content())).expect("valid").keep();
    let result = call(&registry, "draw", "{}").await;
    assert_eq!(result.content(), content());
}

#[tokio::test]
async fn rg_01_cards_are_made_for_direct_calls_and_survive_panics() {
    let registry = registry(Mode::Both);
    let tool = echo("read")
        .presentation_meta(|arguments, value| Value::from(vec![arguments.clone(), value.clone()]))
        .present_call(|arguments| arguments.clone())
        .present_result(|_, result| Value::from(result.name()));
    registry.register(tool).expect("valid").keep();
    let result = call(&registry, "read", r#"{"a": 1}"#).await;
    assert_eq!(result.presentation_meta(), Some(&value(r#"[{"a": 1}, {"a": 1}]"#)));
    let tool = registry.get("read").expect("registered");
    assert_eq!(tool.present_call(&value("[2]")), Some(value("[2]")));
    assert_eq!(tool.present_result(&value("{}"), &result), Some(value(r#""read""#)));
    let panicking = echo("boom").present_call(|_| panic!("boom")).present_result(|_, _| panic!("boom"));
    let panicking = panicking.build().expect("valid");
    assert_eq!(panicking.present_call(&value("{}")), None);
    assert_eq!(panicking.present_result(&value("{}"), &result), None);
    assert_eq!(echo("plain").build().expect("valid").present_call(&value("{}")), None);
}

#[tokio::test]
async fn rg_06_defaults_are_not_applied_and_values_are_checked_both_ways() {
    let registry = Registry::new();
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer", "default": 5, "maximum": 9}}}"#;
    let tool = Tool::builder("n").parameters(schema).output(schema).body(async |arguments, _| {
        let given = arguments.get("n").and_then(Value::as_i64);
        Ok(value(&format!(r#"{{"n": {}}}"#, given.map_or(10, |n| n))))
    });
    registry.register(tool).expect("valid").keep();
    assert_eq!(call(&registry, "n", r#"{"n": 9.0}"#).await.code(), Some(ErrorCode::InvalidToolOutput));
    assert_eq!(call(&registry, "n", r#"{"n": 9}"#).await.value(), Some(&value(r#"{"n": 9}"#)));
    let result = call(&registry, "n", "{}").await;
    let message = "the tool `n` returned a value that its own schema does not allow:\n$.n: expected at most 9, found integer 10";
    assert_eq!(failure(&result), (ErrorCode::InvalidToolOutput, message));
    let result = registry.call(CallRequest::new("n", r#"{"n": 10}"#, CancellationToken::new())).await;
    assert_eq!(
        failure(&result),
        (ErrorCode::InvalidArgs, "the arguments of `n` are not valid:\n$.n: expected at most 9, found integer 10")
    );
}
