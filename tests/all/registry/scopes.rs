//! Who sees what: layers, shadowing, restrictions, modes and languages.

use hotcell::json::Value;
use hotcell::registry::{Mode, Registry, SCOPE_DEPTH_MAX, Scope};
use hotcell::tool::Tool;
use hotcell::{Error, ErrorKind};

use crate::tools::{call, echo, registry, run_code, value};

/// A tool whose value says where it was registered.
fn labelled(name: &str, label: &'static str) -> Tool {
    let tool =
        Tool::builder(name).parameters("{}").output("{}").body(move |_, _| async move { Ok(Value::from(label)) });
    tool.build().expect("valid")
}

fn names(scope: &Scope) -> Vec<String> {
    scope.schemas().iter().map(|tool| tool.name.to_string()).collect()
}

fn misuse<T>(result: Result<T, Error>) -> String {
    let error = result.err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    error.to_string()
}

#[tokio::test]
async fn sc_01_nearer_shadows_farther() {
    let registry = Registry::new();
    let preset = registry.child("preset").expect("shallow");
    let agent = preset.child("agent").expect("shallow");
    registry.register(labelled("a", "global")).expect("valid").keep();
    registry.register(labelled("b", "global")).expect("valid").keep();
    preset.register(labelled("a", "preset")).expect("valid").keep();
    let own = agent.register(labelled("a", "agent")).expect("valid");
    agent.register(labelled("c", "agent")).expect("valid").keep();
    let mut seen = Vec::new();
    for scope in [registry.global(), &preset, &agent] {
        for name in ["a", "b", "c"] {
            seen.push(
                call(scope, name, "{}").await.value().map(|value| value.as_str().unwrap_or_default().to_owned()),
            );
        }
    }
    let (global, preset_own, agent_own) =
        (Some("global".to_owned()), Some("preset".to_owned()), Some("agent".to_owned()));
    let expected = [
        [global.clone(), global.clone(), None],
        [preset_own.clone(), global.clone(), None],
        [agent_own.clone(), global, agent_own],
    ];
    assert_eq!(seen, expected.concat());
    drop(own);
    assert_eq!(call(&agent, "a", "{}").await.value(), Some(&value(r#""preset""#)));
    assert_eq!((registry.name(), agent.name()), ("global", "agent"));
}

#[test]
fn sc_02_a_restriction_masks_what_is_inherited_and_only_that() {
    let registry = Registry::new();
    for name in ["a", "b", "c"] {
        registry.register(echo(name)).expect("valid").keep();
    }
    let preset = registry.child("preset").expect("shallow");
    let agent = preset.child("agent").expect("shallow");
    preset.restrict_from(["a"]).expect("inherited");
    assert_eq!((names(&preset), names(&agent)), (vec!["b".into(), "c".into()], vec!["b".to_owned(), "c".into()]));
    // What a scope registers itself stays, there and below.
    preset.register(labelled("a", "preset")).expect("valid").keep();
    assert_eq!(names(&agent), ["a", "b", "c"]);
    // Several intersect.
    agent.restrict_to(["a", "b"]).expect("inherited");
    agent.restrict_from(["b"]).expect("inherited");
    assert_eq!(names(&agent), ["a"]);
    // Deny admits tools that come later, allow does not.
    registry.register(echo("later")).expect("valid").keep();
    assert_eq!(names(&preset), ["a", "b", "c", "later"]);
    assert_eq!(names(&agent), ["a"]);
    agent.register(echo("own")).expect("valid").keep();
    assert_eq!(names(&agent), ["a", "own"]);
    assert_eq!(names(&registry), ["a", "b", "c", "later"]);
}

#[test]
fn sc_03_a_restriction_that_means_nothing_fails() {
    let registry = Registry::new();
    registry.register(echo("a")).expect("valid").keep();
    let scope = registry.child("agent").expect("shallow");
    scope.register(echo("own")).expect("valid").keep();
    let none: [&str; 0] = [];
    for (error, expected) in [
        (
            registry.restrict_to(["a"]),
            "the global scope inherits nothing and cannot be restricted; restrict a child",
        ),
        (scope.restrict_from(none), "a restriction of scope `agent` names no tool; name at least one"),
        (scope.restrict_to(["a", "b"]), "the scope `agent` inherits no tool `b`; it inherits `a`"),
        (scope.restrict_from(["own"]), "the scope `agent` inherits no tool `own`; it inherits `a`"),
    ] {
        assert_eq!(misuse(error), expected);
    }
    assert_eq!(names(&scope), ["a", "own"]);
    let empty = Registry::new().child("agent").expect("shallow");
    assert_eq!(misuse(empty.restrict_to(["a"])), "the scope `agent` inherits no tool `a`; it inherits none");
    for number in 0..41 {
        registry.register(echo(&format!("t{number:02}"))).expect("valid").keep();
    }
    let listed: Vec<String> = (0..39).map(|number| format!("`t{number:02}`")).collect();
    let expected =
        format!("the scope `agent` inherits no tool `x`; it inherits `a`, {} and 2 more", listed.join(", "));
    assert_eq!(misuse(scope.restrict_to(["x"])), expected);
}

#[test]
fn sc_04_looking_tools_up_does_not_depend_on_the_mode() {
    let seen = |mode| {
        let registry = registry(mode);
        registry.register(echo("read")).expect("valid").keep();
        let mut names = names(&registry);
        names.retain(|name| name != "run_code");
        let presents = registry.get("run_code").is_some();
        (names, registry.get("read").map(|tool| tool.description().to_owned()), presents)
    };
    let read = (vec!["read".to_owned()], Some("Gives its arguments back.".to_owned()));
    assert_eq!(seen(Mode::Native), (read.0.clone(), read.1.clone(), false));
    assert_eq!(seen(Mode::Code), (read.0.clone(), read.1.clone(), true));
    assert_eq!(seen(Mode::Both), (read.0, read.1, true));
}

#[test]
fn sc_05_the_nearest_mode_counts_and_is_declared_once() {
    let registry = registry(Mode::Both);
    let preset = registry.child("preset").expect("shallow");
    let agent = preset.child("agent").expect("shallow");
    assert_eq!(agent.mode(), Mode::Both);
    preset.present_as(Mode::Code).expect("the first");
    assert_eq!((preset.mode(), agent.mode(), registry.mode()), (Mode::Code, Mode::Code, Mode::Both));
    agent.present_as(Mode::Native).expect("the first here");
    assert_eq!((preset.mode(), agent.mode()), (Mode::Code, Mode::Native));
    assert_eq!(misuse(agent.present_as(Mode::Both)), "the scope `agent` has declared a mode already");
    assert_eq!(
        misuse(registry.present_as(Mode::Code)),
        "the global scope cannot declare a mode: the deployment decides it, with `RegistryBuilder::mode`"
    );
    assert_eq!(agent.mode(), Mode::Native);
}

#[test]
fn sc_06_a_scope_has_one_language_and_it_must_have_a_runtime() {
    let builder = || {
        Registry::builder().mode(Mode::Code).transport("python", run_code()).transport("javascript", run_code())
    };
    let registry = builder().build().expect("valid");
    let agent = registry.child("agent").expect("shallow");
    assert_eq!(agent.language().as_deref(), Some("python"));
    agent.use_language("javascript").expect("the first");
    assert_eq!(
        (agent.language().as_deref(), registry.language().as_deref()),
        (Some("javascript"), Some("python"))
    );
    assert_eq!(misuse(agent.use_language("python")), "the scope `agent` has declared a language already");
    assert_eq!(
        misuse(registry.use_language("python")),
        "the global scope cannot declare a language: the deployment decides it, with `RegistryBuilder::language`"
    );
    let lost = registry.child("lost").expect("shallow");
    lost.use_language("cobol").expect("the first");
    let expected = "there is no runtime for the language `cobol`; there is one for `javascript`, `python`";
    assert_eq!(misuse(lost.wire()), expected);
    assert_eq!(misuse(builder().language("cobol").build()), expected);
    let chosen = builder().language("javascript").build().expect("known");
    assert_eq!(chosen.language().as_deref(), Some("javascript"));
    let bare = Registry::builder().mode(Mode::Both).build().expect("valid until somebody asks");
    assert_eq!(misuse(bare.wire()), "mode `both` needs a runtime for programs, and this registry has none");
    let twice = builder().transport("python", run_code()).build();
    assert_eq!(misuse(twice), "there are two transports for `python`");
    let misnamed = Registry::builder().transport("python", labelled("run", "x")).build();
    assert_eq!(misuse(misnamed), "the transport for `python` is named `run`; it must be `run_code`");
}

#[test]
fn a_chain_of_scopes_has_an_end() {
    let registry = Registry::new();
    let mut scope = registry.global().clone();
    for _ in 1..SCOPE_DEPTH_MAX {
        scope = scope.child("deeper").expect("within the bound");
    }
    assert_eq!(misuse(scope.child("over")), "the scope `over` would be 33 deep; at most 32 are allowed");
}

#[test]
fn registries_know_nothing_of_one_another_and_scopes_end_with_their_handles() {
    let (one, other) = (Registry::new(), Registry::new());
    one.register(echo("a")).expect("valid").keep();
    assert_eq!((names(&one), names(&other)), (vec!["a".to_owned()], vec![]));
    let parent = one.child("parent").expect("shallow");
    parent.register(echo("b")).expect("valid").keep();
    let child = parent.child("child").expect("shallow");
    drop(parent);
    drop(one);
    // What a child inherits lives as long as the child does.
    assert_eq!(names(&child), ["a", "b"]);
}
