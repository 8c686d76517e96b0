//! Schemas and values that were written to hang the host or to end its stack.

use super::{nest, refusal, schema, wrong};

/// Definitions that lead from each to the next, `@` standing for the reference.
fn chain(links: usize, link: &str) -> String {
    let mut text = String::from("{\"$defs\":{");
    for number in 0..links {
        let reference = format!(r##"{{"$ref":"#/$defs/{}"}}"##, number + 1);
        text.push_str(&format!("\"{number}\":{},", link.replace('@', &reference)));
    }
    text + &format!(r##""{links}":{{"type":"string"}}}},"$ref":"#/$defs/0"}}"##)
}

#[test]
fn loops_of_references_end() {
    let cases = [
        r##"{"$ref":"#"}"##,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
        r##"{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}},
            "$ref":"#/$defs/a"}"##,
        r##"{"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"},{"$dynamicRef":"#a"}]}"##,
    ];
    for text in cases {
        assert_eq!(wrong(&schema(text), "1"), "", "{text}");
    }
}

#[test]
fn doubling_takes_no_more_than_its_steps() {
    let all = schema(&chain(100, r#"{"allOf":[@,@]}"#));
    // For an empty value: 32 more for the value, and one for the byte of its text.
    assert_eq!(wrong(&all, "\"a\""), "$: checking takes more than 4000033 steps");
    assert_eq!(wrong(&all, "1"), "$: expected string, found integer 1\nand more");
    let any = schema(&chain(100, r#"{"anyOf":[@,@]}"#));
    assert_eq!(wrong(&any, "\"a\""), "");
    assert_eq!(wrong(&any, "1"), "$: checking takes more than 4000032 steps");
    // The meter is as it was.
    assert_eq!(wrong(&schema(r#"{"type":"null"}"#), "null"), "");
}

#[test]
fn chains_are_refused_beyond_their_bound() {
    for link in ["@", r#"{"not":@}"#, r#"{"allOf":[@],"unevaluatedProperties":false}"#] {
        let size = if link == "@" { 1 } else { 2 };
        let links = if link.contains("unevaluated") { 60 } else { 512 / size - 3 };
        let found = wrong(&schema(&chain(links, link)), "1");
        assert!(found.starts_with("$: expected") || found.is_empty(), "{found}");
        assert!(refusal(&chain(513, link)).ends_with("more than 512"));
    }
    let doubled = chain(40, r#"{"anyOf":[@,@],"unevaluatedItems":false}"#);
    assert_eq!(refusal(&doubled), "unevaluated keywords lead to too much work: more than 100000 parts");
}

#[test]
fn names_that_the_compiler_would_copy_for_each_part_are_bounded() {
    let message = "its names are too long for how many parts it has: shorten keys with many parts below them, or identifiers";
    let properties = |count: usize| {
        let list: Vec<String> = (0..count).map(|number| format!("\"{number}\":{{}}")).collect();
        list.join(",")
    };
    // A key of 100,000 bytes, escaped by twice as many at most, stands in the place of everything below it.
    let below = |count: usize| {
        format!(r#"{{"properties":{{"{}":{{"properties":{{{}}}}}}}}}"#, "k".repeat(100_000), properties(count))
    };
    assert_eq!(wrong(&schema(&below(150)), "1"), "");
    assert_eq!(refusal(&below(200)), message);
    // An identifier of 100,000 bytes is the base of all below it.
    let based = |count: usize| {
        let list: Vec<String> = (0..count).map(|number| format!(r#""{number}":{{"$id":"{number}"}}"#)).collect();
        format!(r#"{{"$id":"http://h/{}/","$defs":{{{}}}}}"#, "p".repeat(100_000), list.join(","))
    };
    assert_eq!(wrong(&schema(&based(160)), "1"), "");
    assert_eq!(refusal(&based(180)), message);
}

#[test]
fn names_below_unevaluated_keywords_count_each_time() {
    let copied = |copies: usize, names: usize| {
        let list: Vec<String> = (0..names).map(|number| format!("\"{number}\":true")).collect();
        let copy = r##"{"$ref":"#/$defs/p","unevaluatedProperties":false},"##.repeat(copies);
        format!(r#"{{"$defs":{{"p":{{"properties":{{{}}}}}}},"allOf":[{copy}true]}}"#, list.join(","))
    };
    // Each copy is two subschemas and as many names.
    assert_eq!(wrong(&schema(&copied(49, 2_000)), "1"), "");
    let message = "unevaluated keywords lead to too much work: more than 100000 parts";
    assert_eq!(refusal(&copied(50, 2_000)), message);
    let booleans = r#"{"allOf":[true,true,true],"unevaluatedProperties":false},"#.repeat(3_000);
    assert_eq!(refusal(&format!(r#"{{"anyOf":[{booleans}true]}}"#)), message);
}

#[test]
fn branches_that_lead_everywhere_are_not_followed_when_they_are_compiled() {
    // Each of twenty ways leads to twenty again; sixteen levels of that are as good as endless.
    let ways = vec![r##"{"$ref":"#/$defs/a"}"##; 20].join(",");
    for keyword in ["anyOf", "oneOf"] {
        let text = format!(
            r##"{{"$defs":{{"a":{{"allOf":[{ways}]}}}},"{keyword}":[{{"$ref":"#/$defs/a"}},{{}},{{}}]}}"##
        );
        let expected =
            if keyword == "anyOf" { "" } else { "$: expected a match of exactly one of oneOf, found 3" };
        let found = wrong(&schema(&text), "1");
        assert_eq!(found.is_empty(), expected.is_empty(), "{found}");
    }
    let names = |branches: usize| {
        let list: Vec<String> =
            (0..branches).map(|branch| format!(r#"{{"properties":{{"{branch}":true}}}}"#)).collect();
        format!(r#"{{"allOf":[{}]}}"#, list.join(","))
    };
    assert_eq!(wrong(&schema(&names(500)), "{}"), "");
    assert_eq!(refusal(&names(501)), "an `allOf` of 501 items has more than 500 items");
}

#[test]
fn depth_fits_the_stack_of_a_thread() {
    let list = schema(r##"{"type":"array","items":{"$ref":"#"}}"##);
    assert_eq!(wrong(&list, &nest("[", 512, "", "]")), "");
    let tree = r##"{"properties":{"c":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"type":"object"}"##;
    assert_eq!(wrong(&schema(tree), &nest("{\"c\":", 511, "{}", "}")), "");
    for keyword in ["additionalProperties", "unevaluatedItems", "unevaluatedProperties", "not", "contains"] {
        let text = nest(&format!("{{\"{keyword}\":"), 126, r##"{"$ref":"#"}"##, "}");
        assert_eq!(wrong(&schema(&text), "1"), "", "{keyword}");
        assert_eq!(wrong(&schema(&text), &nest("{\"a\":", 400, "1", "}")), "", "{keyword}");
    }
}

#[test]
fn patterns_are_bounded() {
    let too_large = "the pattern is no regular expression, or too large when compiled";
    for pattern in ["(a{1000}){1000}", "((a{100}){100}){100}"] {
        let text = format!(r#"{{"pattern":"{pattern}"}}"#);
        assert_eq!(refusal(&text), format!("invalid schema at $.pattern: {too_large}"));
    }
    let many = format!("\"{}b\"", "a".repeat(1_000_000));
    assert!(wrong(&schema(r#"{"pattern":"(a+)+$"}"#), &many).starts_with("$: expected a match"));
    let backtracking = schema(r#"{"properties":{"a":{"pattern":"^(a+)+\\1$"}}}"#);
    let found = wrong(&backtracking, &format!("{{\"a\":{many}}}"));
    assert_eq!(found, "$.a: matching a pattern took too many steps");

    // Each text takes its share of the steps, so that many do not add up.
    let list = |count: usize| format!("[{}\"a\"]", "\"aa\",".repeat(count - 1));
    let looking_ahead = schema(r#"{"items":{"pattern":"^(?=a)"}}"#);
    assert_eq!(wrong(&looking_ahead, &list(3_000)), "");
    assert_eq!(wrong(&looking_ahead, &list(10_000)), "$: checking takes more than 4340031 steps");

    let patterns = |count: usize| {
        let list: Vec<String> = (0..count).map(|number| format!("\"^{number}\":true")).collect();
        format!(r#"{{"patternProperties":{{{}}}}}"#, list.join(","))
    };
    assert_eq!(wrong(&schema(&patterns(256)), r#"{"1":1}"#), "");
    assert_eq!(refusal(&patterns(257)), "schema of 257 patterns has more than 256 patterns");
}

#[test]
fn errors_take_bounded_memory() {
    let text = r#"{"additionalProperties":{"items":{"type":"string"}}}"#;
    let instance = format!(r#"{{"{}":[{}1]}}"#, "k".repeat(1_000_000), "1,".repeat(200_000));
    let found = wrong(&schema(text), &instance);
    assert!(found.ends_with("\nand more"), "{found}");
    assert!(found.len() < 64 * 600);
}
