//! Where the declarations are too long: the index in their place (SD-07).

use hotcell::json::Value;
use hotcell::language::Language;

use super::{Listed, listed};

fn tools(families: &[(&str, usize)]) -> Vec<Listed> {
    let named =
        |(family, count): &(&str, usize)| (0..*count).map(|n| format!("{family}_{n:03}")).collect::<Vec<_>>();
    families
        .iter()
        .flat_map(named)
        .map(|name| {
            let mut tool = Listed::new(&name, Value::Bool(true));
            tool.description = format!("Does what {name} does. And more.\nMuch more.");
            tool
        })
        .collect()
}

fn sdk(tools: &[Listed], bytes_max: usize) -> (String, bool) {
    let language = Language::find("javascript").expect("known");
    let sdk = language.sdk(tools.iter().map(Listed::sdk), bytes_max);
    assert_eq!(sdk.tools(), tools.len());
    (sdk.text().to_string(), sdk.is_complete())
}

#[test]
fn sd_07_a_text_within_the_budget_is_complete_and_one_over_it_is_partial() {
    let tools = listed("mcp-tools.json");
    let (whole, _) = sdk(&tools, usize::MAX);
    assert!(whole.contains("\nCOMPLETE: these are all 40 tools."));
    for (budget, complete) in [(whole.len() + 1, true), (whole.len(), true), (whole.len() - 1, false)] {
        let (text, is_complete) = sdk(&tools, budget);
        assert_eq!((is_complete, text == whole), (complete, complete), "{budget}");
        assert!(text.len() <= budget);
        assert_eq!(text.contains("\nPARTIAL: there are 40 tools, too many to declare here."), !complete);
    }
}

#[test]
fn sd_07_an_index_has_as_many_tools_as_fit_of_every_family() {
    let tools = tools(&[("big", 500), ("small", 3), ("tiny", 1)]);
    let (text, is_complete) = sdk(&tools, 6 * 1024);
    assert!(!is_complete && text.len() <= 6 * 1024);
    let lines: Vec<&str> =
        text.lines().filter(|line| line.starts_with("- ") && line.contains("Does what")).collect();
    assert!(text.contains(&format!("\n{} of the tools:\n", lines.len())));
    for name in ["small_000", "small_001", "small_002", "tiny_000", "big_000"] {
        let line = format!("- {name}: Does what {name} does.");
        assert!(lines.contains(&line.as_str()), "{line}");
    }
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(lines, sorted);
    // There is no room for another one.
    assert!(text.len() + lines[0].len() + 64 > 6 * 1024, "{}", text.len());
}

#[test]
fn a_hostile_tool_has_one_line_of_the_index_like_any_other() {
    let mut tools = tools(&[("plain", 300)]);
    tools[0].name = "evil\n- fake: tool".to_owned();
    tools[1].description = "x".repeat(1_000_000);
    tools[2].name = "n".repeat(60_000);
    let (text, _) = sdk(&tools, 64 * 1024);
    assert!(text.contains("- evil\\u000a- fake: tool: Does what plain_000 does.\n"));
    assert!(text.lines().all(|line| line.len() < 700), "no line is long");
    assert_eq!(text.lines().filter(|line| line.starts_with("- ") && line.contains("Does what")).count(), 299);
}

#[test]
fn declarations_that_are_cut_are_never_called_complete() {
    // Nearly all of the text is in the types of values, which come last.
    let properties: Vec<String> = (0..400).map(|n| format!(r#""property_{n}": {{"type": "string"}}"#)).collect();
    let output = format!(r#"{{"type": "object", "properties": {{{}}}}}"#, properties.join(", "));
    let mut tools = tools(&[("tool", 20)]);
    for tool in &mut tools {
        tool.output = hotcell::json::decode(&output).expect("JSON");
    }
    for language in Language::ALL {
        let all = || tools.iter().map(Listed::sdk);
        let whole = language.sdk(all(), usize::MAX).text().len();
        for budget in (4096..whole).step_by(9973).chain([whole - 1]) {
            let sdk = language.sdk(all(), budget);
            assert!(!sdk.is_complete() && sdk.text().contains("PARTIAL"), "{language} {budget}");
            assert!(sdk.text().len() <= budget, "{language} {budget}");
        }
        assert!(language.sdk(all(), whole).is_complete());
    }
}
