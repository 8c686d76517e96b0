//! Schemas through the public interface: what is refused, with which words, and that nothing hangs.

use std::fmt::Write as _;

use hotcell::json::{DEPTH_MAX, Value, decode, encode};
use hotcell::tool::{SCHEMA_BYTES_MAX, Schema, VALIDATION_STEPS_MAX, VIOLATIONS_MAX};

mod hostile;

fn schema(text: &str) -> Schema {
    Schema::compile(decode(text).expect("JSON")).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    Schema::compile(decode(text).expect("JSON")).expect_err(text).to_string()
}

/// What is wrong with an instance: nothing, or the text of the violations.
fn wrong(schema: &Schema, instance: &str) -> String {
    let instance = decode(instance).expect("JSON");
    schema.validate(&instance).map_or_else(|violations| violations.to_string(), |()| String::new())
}

fn nest(open: &str, levels: usize, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn each_keyword_says_what_was_expected_and_what_was_found() {
    let cases = [
        (r#"{"type":"string"}"#, "5", "$: expected string, found integer 5"),
        (r#"{"type":["string","null"]}"#, "1.5", "$: expected null or string, found float 1.5"),
        (r#"{"type":"integer"}"#, "null", "$: expected integer, found null"),
        (r#"{"required":["a b"]}"#, "{}", "$: missing property \"a b\""),
        (r#"{"additionalProperties":false}"#, r#"{"a":1}"#, "$: unexpected property \"a\""),
        (r#"{"additionalProperties":false}"#, r#"{"a":1,"b":2}"#, "$: unexpected properties \"a\", \"b\""),
        (r#"{"const":[1]}"#, "[2]", "$: expected [1], found array [2]"),
        (r#"{"enum":["a",1]}"#, "\"b\"", "$: expected one of [\"a\",1], found string \"b\""),
        (r#"{"minimum":3}"#, "2", "$: expected at least 3, found integer 2"),
        (r#"{"maximum":3}"#, "4", "$: expected at most 3, found integer 4"),
        (r#"{"exclusiveMinimum":3}"#, "3", "$: expected more than 3, found integer 3"),
        (r#"{"exclusiveMaximum":3}"#, "3.0", "$: expected less than 3, found float 3.0"),
        (r#"{"multipleOf":2}"#, "3", "$: expected a multiple of 2, found integer 3"),
        (r#"{"minLength":2}"#, "\"é\"", "$: expected at least 2 characters, found 1"),
        (r#"{"maxLength":1}"#, "\"ab\"", "$: expected at most 1 character, found 2"),
        (r#"{"pattern":"^a"}"#, "\"b\"", "$: expected a match of the pattern ^a, found string \"b\""),
        (r#"{"minItems":1}"#, "[]", "$: expected at least 1 item, found 0"),
        (r#"{"maxItems":1}"#, "[1,2]", "$: expected at most 1 item, found 2"),
        (r#"{"uniqueItems":true}"#, "[1,1.0]", "$: expected items that differ"),
        (r#"{"contains":{"const":1}}"#, "[2]", "$: too few or too many items match the schema in contains"),
        (r#"{"minProperties":1}"#, "{}", "$: expected at least 1 property, found 0"),
        (r#"{"maxProperties":0}"#, r#"{"a":1}"#, "$: expected at most 0 properties, found 1"),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "$: property name \"ab\": expected at most 1 character",
        ),
        (
            r#"{"anyOf":[{"type":"null"},{"const":1}]}"#,
            "2",
            "$: expected a match of a schema in anyOf, found integer 2",
        ),
        (r#"{"oneOf":[true,true]}"#, "2", "$: expected a match of only one schema in oneOf, found integer 2"),
        (r#"{"oneOf":[false]}"#, "2", "$: expected a match of a schema in oneOf, found integer 2"),
        (r#"{"not":{}}"#, "2", "$: expected no match of the schema in not, found integer 2"),
        ("false", "2", "$: no value is allowed here"),
        (
            r#"{"items":{"properties":{"a":{"type":"null"}}}}"#,
            r#"[{},{"a":1}]"#,
            "$[1].a: expected null, found integer 1",
        ),
        (r#"{"properties":{"0":{"type":"null"}}}"#, r#"{"0":1}"#, "$[\"0\"]: expected null, found integer 1"),
        (
            r#"{"properties":{"a/b~c":{"type":"null"}}}"#,
            r#"{"a/b~c":1}"#,
            "$[\"a/b~c\"]: expected null, found integer 1",
        ),
    ];
    for (text, instance, expected) in cases {
        assert_eq!(wrong(&schema(text), instance), expected, "{text}");
    }
}

#[test]
fn what_is_no_schema_is_refused_with_the_reason() {
    let cases = [
        ("[]", "a schema is an object or a boolean, not array"),
        (r#"{"type":5}"#, "invalid schema at $.type: expected a match of a schema in anyOf, found integer 5"),
        (r#"{"minLength":-1}"#, "invalid schema at $.minLength: expected at least 0, found integer -1"),
        (r##"{"$ref":"#/$defs/a"}"##, "invalid schema at $: Pointer '/$defs/a' does not exist"),
        (
            r#"{"pattern":"("}"#,
            "invalid schema at $.pattern: the pattern is no regular expression, or too large when compiled",
        ),
        (r#"{"const":18446744073709551616}"#, "integer 18446744073709551616 does not fit 64 bits"),
    ];
    for (text, expected) in cases {
        assert_eq!(refusal(text), expected);
    }
    assert!(
        refusal(r#"{"$ref":"https://example.com/a.json"}"#)
            .contains("'https://example.com/a.json' is not present")
    );
    assert!(refusal(r#"{"$ref":"file:///etc/passwd"}"#).contains("'file:///etc/passwd' is not present"));
    assert!(refusal(r#"{"$schema":"https://example.com/own"}"#).contains("https://example.com/own"));
}

#[test]
fn the_draft_is_the_one_that_is_named() {
    // Draft 7 ignores what stands beside a reference; later ones do not.
    let text = r##"{"definitions":{"a":true},"$ref":"#/definitions/a","type":"null"}"##;
    assert_eq!(wrong(&schema(text), "1"), "$: expected null, found integer 1");
    let draft_7 = text.replacen('{', r#"{"$schema":"http://json-schema.org/draft-07/schema#","#, 1);
    assert_eq!(wrong(&schema(&draft_7), "1"), "");
}

#[test]
fn numbers_are_what_they_are_worth_at_any_length() {
    let long = "9".repeat(4096);
    let integer = schema(r#"{"type":"integer"}"#);
    for instance in ["1", "1.0", "-0.0", "1e300", "18446744073709551616", &long] {
        assert_eq!(wrong(&integer, instance), "", "{instance}");
    }
    assert_eq!(wrong(&integer, "1.5"), "$: expected integer, found float 1.5");
    assert_eq!(wrong(&schema(r#"{"const":18446744073709551615}"#), "18446744073709551615"), "");
    assert_ne!(wrong(&schema(r#"{"const":18446744073709551615}"#), "18446744073709551616"), "");
    assert_ne!(wrong(&schema(r#"{"enum":[9007199254740993]}"#), "9007199254740992"), "");
    assert_eq!(wrong(&schema(r#"{"minimum":18446744073709551615}"#), "18446744073709551616"), "");
    assert_eq!(wrong(&schema(r#"{"minimum":1e300}"#), &long), "");
    assert!(
        wrong(&schema(r#"{"maximum":1e300}"#), &long).starts_with("$: expected at most 1e+300, found integer 999")
    );
    assert_eq!(wrong(&schema(r#"{"maximum":0}"#), &format!("-{long}")), "");
    assert_eq!(wrong(&schema(r#"{"multipleOf":9}"#), &long), "");
    assert_ne!(wrong(&schema(r#"{"multipleOf":7}"#), &format!("1{}", "0".repeat(4095))), "");
}

#[test]
fn sizes_are_taken_up_to_their_bounds() {
    let padded = |bytes: usize| format!(r#"{{"title":"{}"}}"#, "x".repeat(bytes - 12));
    assert_eq!(padded(100).len(), 100);
    assert_eq!(wrong(&schema(&padded(SCHEMA_BYTES_MAX)), "1"), "");
    assert_eq!(refusal(&padded(SCHEMA_BYTES_MAX + 1)), "schema of 1048577 bytes is longer than 1048576 bytes");

    let deep = |levels: usize| nest(r#"{"items":"#, levels, "{}", "}");
    assert_eq!(wrong(&schema(&deep(127)), "1"), "");
    assert_eq!(refusal(&deep(128)), "schema of 129 levels is deeper than 128 levels");
    let too_deep = (0..=DEPTH_MAX).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    let found = schema("true").validate(&too_deep).unwrap_err().to_string();
    assert!(found.starts_with("$: nesting deeper than 512 levels at $[0][0]"), "{found}");
}

#[test]
fn violations_are_listed_up_to_their_bound() {
    let strings = schema(r#"{"items":{"type":"string"}}"#);
    for (count, listed, more) in [(63, 63, false), (64, 64, false), (65, 64, true)] {
        let instance = Value::from((0..count).map(Value::from).collect::<Vec<_>>());
        let found = strings.validate(&instance).unwrap_err();
        assert_eq!((found.iter().len(), found.more()), (listed, more));
        let last = found.iter().last().expect("one");
        assert_eq!(last.path(), format!("$[{}]", listed - 1));
        assert_eq!(last.message(), format!("expected string, found integer {}", listed - 1));
        assert_eq!(found.to_string().ends_with("\nand more"), more);
        assert_eq!(found.to_string().lines().count(), listed + usize::from(more));
    }
    assert_eq!(VIOLATIONS_MAX, 64);
}

#[test]
fn messages_are_bounded_and_keep_characters_whole() {
    let mut names = String::new();
    (0..100).for_each(|index| write!(names, r#""é{index}":1,"#).expect("a string"));
    let found = wrong(&schema(r#"{"additionalProperties":false}"#), &format!("{{{names}\"z\":1}}"));
    assert!(found.starts_with("$: unexpected properties \"é0\", \"é1\"") && found.ends_with('…'), "{found}");
    assert!((297..=300).contains(&(found.len() - "$: ".len())), "{}", found.len());
    let long = format!("\"{}\"", "x".repeat(10_000_000));
    let expected = format!("$: expected integer, found string \"{}…", "x".repeat(76));
    assert_eq!(wrong(&schema(r#"{"type":"integer"}"#), &long), expected);
}

#[test]
fn a_value_of_ten_megabytes_passes() {
    let mut text = String::from("[");
    (0..420_000).for_each(|id| write!(text, r#"{{"id":{id},"s":"abcd"}},"#).expect("a string"));
    text.push_str("{\"id\":1}]");
    assert!(text.len() > 10_000_000, "{}", text.len());
    let items = r##"{"items":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/e"}]},"$defs":{"e":{"required":["id"],
        "additionalProperties":false,"properties":{"id":{"minimum":0},"s":{"pattern":"^[a-z]+$"}}}}}"##;
    assert_eq!(wrong(&schema(items), &text), "");
}

#[test]
fn defaults_and_formats_are_notes() {
    let document = r#"{"properties":{"a":{"default":1,"format":"email"}}}"#;
    let schema = schema(document);
    let instance = decode(r#"{"a":"no address"}"#).unwrap();
    assert_eq!(schema.validate(&instance), Ok(()));
    assert_eq!(encode(&instance), r#"{"a":"no address"}"#);
    assert_eq!(wrong(&schema, "{}"), "");
    assert_eq!(encode(schema.document()), document);
    assert_eq!(format!("{schema:?}"), format!("Schema({document})"));
    assert_eq!(VALIDATION_STEPS_MAX, 4_000_000);
}
