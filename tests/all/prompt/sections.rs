//! Sections per layer: order, shadowing, what the mode adds and leaves out, variables.

use hotcell::prompt::{CODE_ONLY, SDK, SECTION_NAME_BYTES_MAX, Section, Variables};
use hotcell::registry::{Mode, Registry};

use super::{add, assembled, names, section};
use crate::tools::{echo, registry};

#[tokio::test]
async fn pr_03_sections_come_from_the_layers_of_the_chain_and_a_nearer_one_replaces_a_farther_one() {
    let registry = registry(Mode::Native);
    add(&registry, "b", 10, "global b");
    add(&registry, "a", 10, "global a");
    add(&registry, "first", -5, "first");
    let agent = registry.child("agent").expect("shallow");
    add(&agent, "b", 20, "own b");
    add(&agent, "empty", 0, "");
    assert_eq!(names(&registry).await, ["first", "a", "b"]);
    assert_eq!(names(&agent).await, ["first", "empty", "a", "b"]);
    assert_eq!(assembled(&agent).await.text(), "first\n\nglobal a\n\nown b");
    assert_eq!(
        assembled(&registry.child("other").expect("shallow")).await.text(),
        "first\n\nglobal a\n\nglobal b"
    );
}

#[tokio::test]
async fn pr_03_a_section_can_be_removed_and_uncovers_what_it_replaced() {
    let registry = registry(Mode::Native);
    add(&registry, "a", 0, "far");
    let agent = registry.child("agent").expect("shallow");
    let mut changes = agent.changes();
    let near = agent.section(section("a", 0, "near")).expect("new");
    changes.changed().await;
    assert_eq!(assembled(&agent).await.text(), "near");
    near.remove();
    changes.changed().await;
    assert_eq!(assembled(&agent).await.text(), "far");
}

#[test]
fn a_section_that_cannot_be_meant_is_refused_by_name() {
    let registry = registry(Mode::Native);
    add(&registry, "a", 0, "");
    let refused = |name: &str| registry.section(section(name, 0, "")).expect_err("refused").to_string();
    assert_eq!(refused("a"), "the scope `global` has a section `a` already");
    for name in [SDK, CODE_ONLY] {
        let expected = format!(
            "the section `{name}` is made by the registry; a listener (`on_assemble`) can replace or drop it"
        );
        assert_eq!(refused(name), expected);
    }
    let named = |name: &str| Section::new(name, 0, "").map_err(|error| error.to_string());
    assert_eq!(named(" \n"), Err("a section needs a name that is not blank".to_owned()));
    assert!(named(&"n".repeat(SECTION_NAME_BYTES_MAX)).is_ok());
    let long = "n".repeat(SECTION_NAME_BYTES_MAX + 1);
    let error = named(&long).expect_err("too long");
    assert!(error.ends_with("of a section has 257 bytes; at most 256 are allowed"), "{error}");
}

#[tokio::test]
async fn pr_05_pr_06_where_only_run_code_can_be_called_the_prompt_says_so_and_tells_no_other_call() {
    for (mode, expected) in [
        (Mode::Native, vec!["intro", "tool:a", "tool:run_code", "tools", "end"]),
        (Mode::Both, vec!["intro", "tool:a", "tool:run_code", "tools", "end"]),
        (Mode::Code, vec!["intro", CODE_ONLY, "tool:run_code", "tools", "end"]),
    ] {
        let registry = registry(mode);
        registry.register(echo("a")).expect("free").keep();
        for (name, order) in [("end", 200), ("tool:a", 100), ("tool:run_code", 100), ("tools", 100), ("intro", 0)]
        {
            add(&registry, name, order, name);
        }
        assert_eq!(names(&registry).await, expected, "{}", mode.as_str());
        // A scope below decides for itself.
        let native = registry.child("native").expect("shallow");
        native.present_as(Mode::Native).expect("the first");
        assert_eq!(names(&native).await, ["intro", "tool:a", "tool:run_code", "tools", "end"]);
    }
}

#[tokio::test]
async fn pr_09_text_tools_and_stamp_are_of_one_moment() {
    let registry = registry(Mode::Both);
    registry.register(echo("a")).expect("free").keep();
    let prompt = assembled(&registry).await;
    let tools: Vec<&str> = prompt.tools().iter().map(|tool| &*tool.name).collect();
    assert_eq!(tools, ["a", "run_code"]);
    assert_eq!(*prompt.stamp(), registry.stamp().expect("presentable"));
    assert_eq!(prompt.stamp().mode(), Mode::Both);
}

#[tokio::test]
async fn what_cannot_be_presented_has_no_prompt() {
    let registry = Registry::builder().mode(Mode::Code).build().expect("valid");
    let error = registry.assemble(&Variables::new()).await.expect_err("no runtime").to_string();
    assert_eq!(error, "mode `code` needs a runtime for programs, and this registry has none");
}

#[tokio::test]
async fn variables_are_strict_and_only_templates_have_them() {
    let registry = registry(Mode::Native);
    add(&registry, "data", 0, "{{user}}");
    let template = Section::template("rules", 1, "Hello {{ user }}, {{date}}").expect("well formed");
    drop(registry.section(template).expect("new"));
    let variables = Variables::new().with("user", "{{date}}");
    let error = registry.assemble(&variables).await.expect_err("no date").to_string();
    let expected =
        "the section `rules` needs the variable `date`, which has no value; there are values for `user`";
    assert_eq!(error, expected);
    let prompt = registry.assemble(&variables.with("date", "today")).await.expect("all there");
    assert_eq!(prompt.text(), "{{user}}\n\nHello {{date}}, today");
    let error = Section::template("rules", 1, "a\n{{user").expect_err("open").to_string();
    assert_eq!(error, "the section `rules` is no template: the `{{` in line 2 has no name and `}}` after it");
}

#[tokio::test]
async fn pr_08_an_unchanged_set_gives_the_same_bytes_in_whatever_order_it_was_registered() {
    let names = ["tool:b", "tool:a", "z", "a", "m"];
    let mut texts = Vec::new();
    for rotation in 0..names.len() {
        let registry = registry(Mode::Both);
        let mut names = names.map(str::to_owned);
        names.rotate_left(rotation);
        for name in &names {
            registry.register(echo(name)).expect("free").keep();
            add(&registry, name, 7, name);
        }
        texts.push(assembled(&registry).await.text());
        assert_eq!(texts[0], assembled(&registry).await.text());
    }
    texts.dedup();
    assert_eq!(texts.len(), 1);
}
