//! Tools from Rust types, and what a value looks like to a model: conversions, default and custom rendering, cards.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hotcell::execution::ErrorCode;
use hotcell::registry::{Mode, Registry};
use hotcell::tool::Tool;
use hotcell::{Content, ErrorKind, ResourceLink};
use serde::{Deserialize, Serialize};

use crate::tools::{call, call_in_program, echo, failure, registry, value};

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wide {
    whole: i64,
    #[serde(default)]
    note: Option<String>,
    #[serde(rename = "class")]
    kind: Kind,
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    First,
    SecondOne,
}

/// A tool that gives its one typed argument back.
fn wide() -> hotcell::tool::ToolBuilder {
    Tool::typed("wide", "Gives it back.", async |wide: Wide| Ok(wide))
}

#[tokio::test]
async fn a_typed_tool_refuses_what_its_types_do_not_say() {
    let registry = Registry::new();
    registry.register(wide()).expect("valid").keep();
    let good = call(&registry, "wide", r#"{"whole": -9223372036854775808, "class": "second_one"}"#).await;
    assert_eq!(
        good.outcome(),
        Ok(&value(r#"{"whole": -9223372036854775808, "note": null, "class": "second_one"}"#))
    );
    for (arguments, expected) in [
        ("[]", "$: expected object, found array []"),
        ("null", "$: expected object, found null"),
        (r#"{"whole": 1.5, "class": "first"}"#, "$.whole: expected integer, found float 1.5"),
        (r#"{"whole": null, "class": "first"}"#, "$.whole: expected integer, found null"),
        (r#"{"whole": 1, "class": "first", "note": 1}"#, "$.note: expected null or string, found integer 1"),
    ] {
        let result = call(&registry, "wide", arguments).await;
        let message = format!("the arguments of `wide` are not valid:\n{expected}");
        assert_eq!(failure(&result), (ErrorCode::InvalidArgs, message.as_str()), "{arguments}");
    }
}

#[tokio::test]
async fn an_integer_beyond_its_type_fails_the_call_and_is_not_rounded() {
    let registry = Registry::new();
    registry.register(wide()).expect("valid").keep();
    let most = r#"{"whole": 9223372036854775807, "class": "first", "note": null}"#;
    let result = call(&registry, "wide", most).await;
    assert_eq!(result.value().and_then(|value| value.get("whole")), Some(&value("9223372036854775807")));
    let over = call(&registry, "wide", r#"{"whole": 9223372036854775808, "class": "first"}"#).await;
    let message = "the arguments of `wide` are not valid:\n$.whole: invalid value: integer 9223372036854775808, expected i64";
    assert_eq!(failure(&over), (ErrorCode::InvalidArgs, message));
    // The body's own failure keeps its own code, whatever it says.
    let failing =
        Tool::typed("failing", "", async |_: Wide| Err::<u8, _>("x".parse::<i64>().expect_err("no").into()));
    registry.register(failing).expect("valid").keep();
    let failed = call(&registry, "failing", most).await;
    assert_eq!(failure(&failed), (ErrorCode::ToolFailed, "invalid digit found in string"));
}

#[test]
fn rg_01_derived_schemas_follow_the_attributes_of_serde() {
    let tool = wide().build().expect("valid");
    assert_eq!((tool.name(), tool.description(), tool.timeout()), ("wide", "Gives it back.", None));
    let schema = |required: &str| {
        value(&format!(
            r##"{{"type": "object", "additionalProperties": false, "properties": {{
                "whole": {{"type": "integer", "format": "int64"}},
                "note": {{"type": ["string", "null"], "default": null}},
                "class": {{"$ref": "#/$defs/Kind"}}}},
            "required": {required}, "title": "Wide",
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {{"Kind": {{"type": "string", "enum": ["first", "second_one"]}}}}}}"##
        ))
    };
    // What has a default may be left out of arguments; a value always says it.
    assert_eq!(*tool.parameters().document(), schema(r#"["whole", "class"]"#));
    assert_eq!(*tool.output().document(), schema(r#"["whole", "note", "class"]"#));
}

#[tokio::test]
async fn rg_08_floats_that_json_lacks_fail_with_their_path() {
    #[derive(Serialize, schemars::JsonSchema)]
    struct Row {
        cells: Vec<f64>,
    }
    let registry = Registry::new();
    let tool = Tool::typed("rows", "", async |last: f64| {
        let last = if last == 0.0 {
            f64::INFINITY
        } else if last < 0.0 {
            f64::NAN
        } else {
            last
        };
        Ok(vec![Row { cells: vec![] }, Row { cells: vec![-0.0, last] }])
    });
    registry.register(tool).expect("valid").keep();
    let good = call(&registry, "rows", "2").await;
    assert_eq!(good.outcome(), Ok(&value(r#"[{"cells": []}, {"cells": [-0.0, 2.0]}]"#)));
    for (arguments, found) in [("0", "inf"), ("-1", "NaN")] {
        let result = call(&registry, "rows", arguments).await;
        let message = format!(
            "the tool `rows` returned a value that cannot be taken without loss: $[1].cells[1]: float {found} is not finite"
        );
        assert_eq!(failure(&result), (ErrorCode::InvalidToolOutput, message.as_str()));
    }
}

#[tokio::test]
async fn a_typed_body_may_call_other_tools() {
    let registry = Registry::new();
    registry.register(echo("echo")).expect("valid").keep();
    let outer = Tool::typed_with_context("outer", "", async |name: String, context| {
        let result = context.invoke(&*name, value(r#"{"n": 1}"#)).await;
        Ok(result.outcome().map_or_else(|error| error.code().to_string(), hotcell::json::encode))
    });
    registry.register(outer).expect("valid").keep();
    assert_eq!(call(&registry, "outer", r#""echo""#).await.outcome(), Ok(&value(r#""{\"n\":1}""#)));
    assert_eq!(call(&registry, "outer", r#""absent""#).await.outcome(), Ok(&value(r#""UNKNOWN_TOOL""#)));
}

#[tokio::test]
async fn rg_01_without_a_renderer_a_string_is_shown_raw_and_all_else_as_indented_json() {
    let registry = Registry::new();
    let tool = Tool::builder("show").parameters("{}").output("true");
    let tool = tool.body(async |arguments, _| Ok(arguments.get("value").cloned().expect("the test gives it")));
    registry.register(tool).expect("valid").keep();
    for (given, shown) in [
        (r#""""#, ""),
        (r#""a \"b\"\nc""#, "a \"b\"\nc"),
        ("null", "null"),
        ("true", "true"),
        ("1.0", "1.0"),
        ("-0.0", "-0.0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("[]", "[]"),
        ("{}", "{}"),
        (r#"["a", {"b": []}]"#, "[\n  \"a\",\n  {\n    \"b\": []\n  }\n]"),
    ] {
        let result = call(&registry, "show", &format!(r#"{{"value": {given}}}"#)).await;
        assert_eq!(result.content(), [Content::text(shown)], "{given}");
        assert_eq!(result.value(), Some(&value(given)));
    }
}

#[tokio::test]
async fn rg_01_a_renderer_sees_arguments_and_value_and_may_give_any_blocks() {
    let registry = registry(Mode::Both);
    let image = || Content::image_from_base64("image/png", "cG5n").expect("valid");
    let tool = echo("draw").render(move |arguments, given| {
        let mut link = ResourceLink::new("file:///a", "a");
        link.mime = Some("text/plain".to_owned());
        let mut blocks =
            vec![Content::text(hotcell::json::encode(arguments)), image(), Content::ResourceLink(link)];
        if given.get("empty").is_some() {
            blocks.clear();
        }
        blocks
    });
    registry.register(tool).expect("valid").keep();
    let result = call(&registry, "draw", r#"{"a": 1}"#).await;
    let [text, picture, link] = result.content() else { panic!("three blocks: {:?}", result.content()) };
    assert_eq!(text.as_text(), Some(r#"{"a":1}"#));
    assert_eq!((picture, picture.as_text()), (&Content::image("image/png", b"png"), None));
    let Content::ResourceLink(link) = link else { panic!("a link: {link:?}") };
    let parts = (link.uri.as_str(), link.name.as_str(), link.description.as_deref(), link.mime.as_deref());
    assert_eq!(parts, ("file:///a", "a", None, Some("text/plain")));
    // No block at all is a renderer's choice, and changes nothing about the value.
    let silent = call(&registry, "draw", r#"{"empty": 1}"#).await;
    assert_eq!((silent.content(), silent.value()), (&[][..], Some(&value(r#"{"empty": 1}"#))));
    assert_eq!(call_in_program(&registry, "draw", r#"{"empty": 1}"#).await, value(r#"{"empty": 1}"#));
}

#[tokio::test]
async fn cm_15_metadata_is_made_for_direct_calls_that_succeed_and_for_no_other() {
    let registry = registry(Mode::Both);
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let tool = echo("read").parameters(r#"{"type": "object", "maxProperties": 1}"#);
    let tool = tool.presentation_meta(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        value(r#"{"title": "Read"}"#)
    });
    registry.register(tool).expect("valid").keep();
    assert_eq!(call_in_program(&registry, "read", "{}").await, value("{}"));
    let invalid = call(&registry, "read", r#"{"a": 1, "b": 2}"#).await;
    assert_eq!((invalid.code(), invalid.presentation_meta()), (Some(ErrorCode::InvalidArgs), None));
    assert_eq!(made.load(Ordering::Relaxed), 0);
    let direct = call(&registry, "read", "{}").await;
    assert_eq!(direct.presentation_meta(), Some(&value(r#"{"title": "Read"}"#)));
    assert_eq!(made.load(Ordering::Relaxed), 1);
    registry.register(echo("plain")).expect("valid").keep();
    assert_eq!(call(&registry, "plain", "{}").await.presentation_meta(), None);
}

#[test]
fn rg_07_an_image_is_refused_where_its_bytes_are_not_base64() {
    for (base64, reason) in [("cG5", "invalid length at 0"), ("c-5n", "invalid symbol at 1")] {
        let error = Content::image_from_base64("image/png", base64).expect_err("refused");
        let message = format!("the bytes of an image are not base64: {reason}");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Misuse, message));
    }
}
