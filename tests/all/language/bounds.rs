//! Anything given as a schema has a text, whatever its size and shape; and the text depends on nothing else (SD-01, SD-02).

use hotcell::json::{self, Array, Object, Value};
use hotcell::language::{Language, PART_WORDS_MAX, TOOL_WORDS_MAX};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Listed, declared};

/// A schema built by a chain of so many steps.
fn chain(length: usize, step: impl Fn(Value) -> Value) -> Value {
    (0..length).fold(Value::Bool(true), |inside, _| step(inside))
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>().into()
}

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    items.into_iter().collect::<Array>().into()
}

/// The texts of a tool with this schema, in all languages, and the reasons of the first.
fn texts(schema: Value) -> (Vec<String>, Vec<String>) {
    let tools = [Listed::new("tool", schema)];
    let texts = Language::ALL.map(|language| declared(language.id(), &tools));
    let wider = texts[0].1.clone();
    (texts.into_iter().map(|(text, _)| text).collect(), wider)
}

#[test]
fn a_schema_of_any_depth_has_a_type_as_deep_as_people_read() {
    type Step = fn(Value) -> Value;
    let steps: [(&str, Step); 4] = [
        ("items", |inside| object([("type", "array".into()), ("items", inside)])),
        ("properties", |inside| object([("properties", object([("a", inside)]))])),
        ("anyOf", |inside| object([("anyOf", array([inside, "x".into()]))])),
        ("additionalProperties", |inside| object([("additionalProperties", inside)])),
    ];
    for (what, step) in steps {
        let (deep, wider) = texts(chain(100_000, step));
        assert!(wider.iter().any(|reason| reason.ends_with(": deeper than 48 levels")), "{what}: {wider:?}");
        assert!(deep.iter().all(|text| text.len() < 20_000), "{what}");
        // One that is as deep as it may be loses nothing.
        let (_, wider) = texts(chain(48, step));
        assert!(!wider.iter().any(|reason| reason.contains("deeper")), "{what}: {wider:?}");
        let (_, wider) = texts(chain(50, step));
        assert!(wider.iter().any(|reason| reason.contains("deeper")), "{what}: {wider:?}");
    }
}

#[test]
fn wide_schemas_are_written_whole_as_long_as_somebody_could_read_them() {
    let properties: Object = (0..5000).map(|n| (format!("p{n}"), object([("type", "string".into())]))).collect();
    let (written, wider) = texts(object([("properties", properties.into())]));
    assert_eq!(wider, <[String; 0]>::default());
    assert!(written.iter().all(|text| text.contains("p4999")));
    // The bound is for parts, of which each property has one, and the object another.
    for (count, fits) in [(19_998, true), (19_999, true), (20_000, false)] {
        let properties: Object =
            (0..count).map(|n| (format!("p{n}"), object([("type", "string".into())]))).collect();
        let (_, wider) = texts(object([("properties", properties.into())]));
        assert_eq!(wider.is_empty(), fits, "{count}: {wider:?}");
    }
}

#[test]
fn a_union_of_more_branches_than_anybody_reads_becomes_what_all_of_them_are() {
    for (count, fits) in [(255, true), (256, true), (257, false), (50_000, false)] {
        let kinds = array((0..count).map(|n| object([("const", Value::from(format!("v{n}")))])));
        let (written, wider) = texts(object([("anyOf", kinds)]));
        assert_eq!(written[0].contains("\"v200\""), fits, "{count}");
        let values = array((0..count).map(|n| Value::from(format!("v{n}"))));
        let (listed, reasons) = texts(object([("enum", values)]));
        assert_eq!(listed[0].contains("\"v200\""), fits, "{count}");
        if fits {
            assert_eq!((wider, reasons), (Vec::new(), Vec::new()));
        } else {
            let least = "at most 256 are written";
            assert_eq!(wider, [format!("tool: $: a union of {count} branches; {least}")]);
            assert_eq!(reasons, [format!("tool: $: an `enum` of {count} values; {least}")]);
            assert!(listed[0].contains("  tool: string;\n"), "all of them are strings");
        }
    }
}

#[test]
fn references_and_combinations_do_not_multiply() {
    // Each part refers twice to the next one: read as a tree it has 2^60 leaves.
    let parts: Object = (0..60)
        .map(|n| {
            let next = || object([("$ref", Value::from(format!("#/$defs/d{}", n + 1)))]);
            (format!("d{n}"), object([("properties", object([("a", next()), ("b", next())]))]))
        })
        .chain([("d60".to_owned(), Value::Bool(true))])
        .collect();
    let schema = object([("$ref", "#/$defs/d0".into()), ("$defs", parts.into())]);
    let (written, _) = texts(schema);
    assert!(written.iter().all(|text| text.len() < 10_000));
    // The same with merged parts, whose copies are counted.
    let parts: Object = (0..60)
        .map(|n| {
            let next = || object([("$ref", Value::from(format!("#/$defs/d{}", n + 1)))]);
            let own = object([("properties", object([(&*format!("p{n}"), Value::Bool(true))]))]);
            (format!("d{n}"), object([("allOf", array([next(), next(), own]))]))
        })
        .collect();
    let (written, _) = texts(object([("$ref", "#/$defs/d0".into()), ("$defs", parts.into())]));
    assert!(written.iter().all(|text| text.len() < 10_000));
    // Unions beside unions.
    let union =
        || array((0..200).map(|n| object([("properties", object([(&*format!("p{n}"), Value::Bool(true))]))])));
    let (written, _) = texts(object([("anyOf", union()), ("oneOf", union())]));
    assert!(written.iter().all(|text| text.len() < 100_000));
}

#[test]
fn words_are_cut_where_they_say_so() {
    for (length, cut) in [(TOOL_WORDS_MAX, false), (TOOL_WORDS_MAX + 1, true), (1_000_000, true)] {
        let mut tool = Listed::new("tool", Value::Bool(true));
        tool.description = "x".repeat(length);
        for language in Language::ALL {
            let (text, _) = declared(language.id(), std::slice::from_ref(&tool));
            let end = format!("{}… (cut here; it has {length} bytes)", "x".repeat(TOOL_WORDS_MAX));
            assert_eq!(text.contains(&end), cut, "{length} in {language}");
        }
    }
    let field = object([("description", Value::from("y".repeat(PART_WORDS_MAX + 1)))]);
    let (written, _) = texts(object([("properties", object([("a", field)]))]));
    assert!(written.iter().all(|text| text.contains("… (cut here; it has 513 bytes)")));
}

/// Any JSON value, of the words that schemas are made of.
fn anything() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("properties"),
        Just("items"),
        Just("anyOf"),
        Just("allOf"),
        Just("oneOf"),
        Just("enum"),
        Just("const"),
        Just("$ref"),
        Just("$defs"),
        Just("required"),
        Just("additionalProperties"),
        Just("not"),
        Just("prefixItems"),
        Just("patternProperties"),
        Just("nullable"),
        Just("description"),
        Just("default"),
        Just("a"),
        Just("__x"),
        Just("class"),
        Just("*/"),
        Just("\"\"\""),
        Just("\\"),
        Just("\u{2028}"),
        Just("路径"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        prop_oneof![
            Just("string"),
            Just("object"),
            Just("array"),
            Just("integer"),
            Just("null"),
            Just("#"),
            Just("#/$defs/a"),
            Just("#/properties/a"),
            Just("*/"),
            Just("\"\"\""),
            Just("\n"),
            Just("`````"),
            Just("\u{0}"),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inside| {
        prop_oneof![
            vec(inside.clone(), 0..6).prop_map(array),
            vec((word.clone(), inside), 0..6).prop_map(|entries| {
                entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>().into()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn sd_01_any_value_as_a_schema_has_a_text(schema in anything(), output in anything()) {
        let mut tool = Listed::new("tool", schema);
        tool.output = output;
        for language in Language::ALL {
            let (text, _) = declared(language.id(), std::slice::from_ref(&tool));
            prop_assert!(text.contains("tool"));
            // Nothing in it ends the code it is shown in.
            let shown = language.sdk([tool.sdk()], usize::MAX);
            let fence = shown.text().rsplit('\n').nth(1).expect("the closing fence").to_owned();
            prop_assert!(fence.len() >= 3 && fence.chars().all(|c| c == '`'));
            prop_assert_eq!(shown.text().matches(&fence).count(), 2);
        }
    }

    #[test]
    fn sd_02_the_text_does_not_depend_on_the_order_of_the_tools(schemas in vec(anything(), 1..5), turn in 0..5_usize) {
        let tools: Vec<Listed> =
            schemas.into_iter().enumerate().map(|(n, schema)| Listed::new(&format!("t{n}"), schema)).collect();
        for language in Language::ALL {
            let ordered = language.sdk(tools.iter().map(Listed::sdk), usize::MAX);
            let mut turned: Vec<_> = tools.iter().map(Listed::sdk).collect();
            let middle = turn % turned.len();
            turned.rotate_left(middle);
            let turned = language.sdk(turned, usize::MAX);
            prop_assert_eq!(ordered.text(), turned.text());
        }
    }
}

#[test]
fn a_text_can_be_read_back_out_of_json() {
    // What a model is sent is JSON: nothing in the text is lost on the way.
    let tools = super::listed("language/names.json");
    for language in Language::ALL {
        let text = language.sdk(tools.iter().map(Listed::sdk), usize::MAX).text().to_string();
        assert_eq!(json::decode(&json::encode(&Value::from(text.as_str()))), Ok(Value::from(text)));
    }
}
