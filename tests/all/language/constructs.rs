//! Every construct of schemas, and every odd name, in every language (SD-01 to SD-05). The expected texts are type-checked by the
//! gate.

use hotcell::language::Language;

use super::{Listed, declared, listed};
use crate::support::golden;

/// The files of `tests/data/language`.
const CONSTRUCTS: [&str; 13] = [
    "arrays", "closing", "enums", "intersections", "names", "none", "objects", "odd", "outputs", "references",
    "types", "unions", "words",
];

#[test]
fn sd_03_every_construct_reads_as_it_should() {
    for construct in CONSTRUCTS {
        let tools = listed(&format!("language/{construct}.json"));
        for (id, ending) in [("typescript", "ts"), ("python", "py")] {
            let (text, wider) = declared(id, &tools);
            golden::check(&format!("tests/data/language/{construct}.{ending}"), &text);
            // Both languages are written from the same types.
            let wider: String = wider.into_iter().map(|line| line + "\n").collect();
            golden::check(&format!("tests/data/language/{construct}.wider.txt"), &wider);
        }
    }
}

#[test]
fn every_construct_is_listed() {
    let directory = format!("{}/tests/data/language", env!("CARGO_MANIFEST_DIR"));
    let names =
        std::fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("names are UTF-8"))
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(names, CONSTRUCTS);
}

#[test]
fn javascript_and_typescript_programs_see_the_same_declarations() {
    let tools = listed("mcp-tools.json");
    assert_eq!(declared("javascript", &tools), declared("typescript", &tools));
}

#[test]
fn an_unknown_language_is_refused_with_the_known_ones() {
    for id in ["", "cobol", "toString", "constructor", "Python"] {
        let expected = format!("there is no language `{id}`; there are `typescript`, `javascript`, `python`");
        assert_eq!(Language::find(id).expect_err("unknown").to_string(), expected);
    }
    for language in Language::ALL {
        assert_eq!(Language::find(language.id()).expect("known").title(), language.title());
    }
}

/// The middle one of some numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

#[test]
fn definitions_of_public_servers_lose_nothing_and_become_shorter() {
    let tools = listed("mcp-tools.json");
    assert_eq!(tools.len(), 40);
    for (id, at_most) in [("typescript", 0.8), ("python", 1.0)] {
        let (_, wider) = declared(id, &tools);
        assert_eq!(wider, <[String; 0]>::default());
        let frame = declared(id, &[]).0.len();
        let ratio = |tool: &Listed| {
            let written = declared(id, std::slice::from_ref(tool)).0.len() - frame;
            let raw = tool.name.len() + tool.description.len() + hotcell::json::encode(&tool.parameters).len();
            written as f64 / raw as f64
        };
        let median = median(tools.iter().map(ratio).collect());
        assert!(median < at_most, "the median tool in {id} has {median:.2} of the bytes of its schema");
    }
}
