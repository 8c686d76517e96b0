//! Restrictions, languages and modes down a chain of scopes: what is inherited, what is masked, and every refusal.

use hotcell::execution::ErrorCode;
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry, RegistryBuilder, SCOPE_DEPTH_MAX, Scope};
use hotcell::tool::Tool;
use hotcell::{Error, ErrorKind};

use crate::tools::{call, call_in_program, echo, failure, registry, run_code, value};

fn seen(scope: &Scope) -> Vec<String> {
    scope.schemas().iter().map(|tool| tool.name.to_string()).collect()
}

fn child(scope: &Scope, name: &str) -> Scope {
    scope.child(name).expect("shallow")
}

fn keep(scope: &Scope, names: &[&str]) {
    for name in names {
        scope.register(echo(name)).expect("free").keep();
    }
}

fn misuse<T>(result: Result<T, Error>) -> String {
    let error = result.err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    error.to_string()
}

/// A transport that says which language it is for.
fn transport(language: &'static str) -> Tool {
    let tool = Tool::builder("run_code").description(language).parameters("{}").output("{}");
    tool.body(move |_, _| async move { Ok(Value::from(language)) }).build().expect("valid")
}

fn polyglot() -> RegistryBuilder {
    Registry::builder().transport("python", transport("python")).transport("javascript", transport("javascript"))
}

#[test]
fn sc_02_every_restriction_above_counts_and_own_tools_stay_where_they_are() {
    let registry = Registry::new();
    keep(&registry, &["a", "b", "c", "d"]);
    let top = child(&registry, "top");
    top.restrict_to(["a", "b", "c"]).expect("inherited");
    let middle = child(&top, "middle");
    middle.restrict_from(["a"]).expect("inherited");
    let bottom = child(&middle, "bottom");
    bottom.restrict_to(["c"]).expect("inherited");
    assert_eq!(
        (seen(&top), seen(&middle), seen(&bottom)),
        (vec!["a".to_owned(), "b".into(), "c".into()], vec!["b".to_owned(), "c".into()], vec!["c".to_owned()],)
    );
    // A scope's own tool passes its own mask and those above, and the masks below it apply.
    keep(&middle, &["a", "d"]);
    assert_eq!(
        (seen(&middle), seen(&bottom)),
        (vec!["a".to_owned(), "b".into(), "c".into(), "d".into()], vec!["c".to_owned()],)
    );
    keep(&bottom, &["a"]);
    assert_eq!(seen(&bottom), ["a", "c"]);
    assert_eq!(
        (seen(&registry), seen(&top)),
        (vec!["a".to_owned(), "b".into(), "c".into(), "d".into()], vec!["a".to_owned(), "b".into(), "c".into()],)
    );
}

#[test]
fn sc_02_restrictions_of_one_scope_intersect_down_to_nothing() {
    let registry = Registry::new();
    keep(&registry, &["a", "b", "c"]);
    let agent = child(&registry, "agent");
    agent.restrict_to(["a", "b"]).expect("inherited");
    // What is inherited is what the parent sees: the mask this scope has already does not count.
    agent.restrict_to(["b", "c"]).expect("inherited");
    assert_eq!(seen(&agent), ["b"]);
    agent.restrict_to(["c"]).expect("inherited");
    assert_eq!(seen(&agent), [""; 0]);
    agent.restrict_from(["a", "a", "c"]).expect("a name twice is once");
    assert_eq!(seen(&agent), [""; 0]);
    let below = child(&agent, "below");
    assert_eq!(misuse(below.restrict_from(["a"])), "the scope `below` inherits no tool `a`; it inherits none");
}

#[test]
fn sc_02_a_restriction_is_about_names_and_outlasts_the_tools_it_named() {
    let registry = Registry::new();
    let first = registry.register(echo("a")).expect("free");
    keep(&registry, &["b"]);
    let (denied, allowed) = (child(&registry, "denied"), child(&registry, "allowed"));
    denied.restrict_from(["a"]).expect("inherited");
    allowed.restrict_to(["a"]).expect("inherited");
    drop(first);
    assert_eq!((seen(&denied), seen(&allowed)), (vec!["b".to_owned()], vec![]));
    keep(&registry, &["a", "c"]);
    assert_eq!((seen(&denied), seen(&allowed)), (vec!["b".to_owned(), "c".into()], vec!["a".to_owned()]));
}

#[tokio::test]
async fn sc_02_a_mask_takes_the_nearer_tool_too_and_reveals_no_farther_one() {
    let registry = Registry::new();
    keep(&registry, &["a"]);
    let preset = child(&registry, "preset");
    let shadow = Tool::builder("a").parameters("{}").output("{}").body(async |_, _| Ok(value("1")));
    let shadow = preset.register(shadow).expect("free here");
    let agent = child(&preset, "agent");
    agent.restrict_from(["a"]).expect("inherited");
    assert_eq!(seen(&agent), [""; 0]);
    let result = call(&agent, "a", "{}").await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `a`"));
    drop(shadow);
    assert_eq!(call(&agent, "a", "{}").await.code(), Some(ErrorCode::UnknownTool));
    assert_eq!(call(&preset, "a", "{}").await.outcome(), Ok(&value("{}")));
}

#[tokio::test]
async fn sc_02_a_program_reaches_no_more_than_its_scope() {
    let registry = registry(Mode::Code);
    keep(&registry, &["a", "b"]);
    let agent = child(&registry, "agent");
    agent.restrict_to(["a"]).expect("inherited");
    assert_eq!(seen(&agent), ["a", "run_code"]);
    assert_eq!(call_in_program(&agent, "a", "{}").await, value("{}"));
    assert_eq!(call_in_program(&agent, "b", "{}").await, value(r#"{"error": "UNKNOWN_TOOL"}"#));
    assert_eq!(call_in_program(&registry, "b", "{}").await, value("{}"));
}

#[test]
fn sc_03_a_refused_restriction_restricts_nothing() {
    let registry = registry(Mode::Both);
    keep(&registry, &["a", "b"]);
    let preset = child(&registry, "preset");
    preset.restrict_from(["b"]).expect("inherited");
    let agent = child(&preset, "agent");
    keep(&agent, &["own"]);
    let none: [&str; 0] = [];
    let reserved = |name| format!("`{name}` is reserved and cannot be restricted");
    let unknown = |name| format!("the scope `agent` inherits no tool `{name}`; it inherits `a`");
    for restrict in [Scope::restrict_to::<Vec<&str>>, Scope::restrict_from::<Vec<&str>>] {
        for (names, expected) in [
            (none.to_vec(), "a restriction of scope `agent` names no tool; name at least one".to_owned()),
            (vec!["a", "run_code"], reserved("run_code")),
            (vec!["search_tools"], reserved("search_tools")),
            (vec!["describe_tools", "absent"], reserved("describe_tools")),
            (vec!["a", "absent"], unknown("absent")),
            (vec!["a", "own"], unknown("own")),
            // Masked above, and so not inherited.
            (vec!["b"], unknown("b")),
            (vec![""], unknown("")),
            (vec!["A"], unknown("A")),
        ] {
            assert_eq!(misuse(restrict(&agent, names)), expected);
        }
        let global = "the global scope inherits nothing and cannot be restricted; restrict a child";
        for names in [none.to_vec(), vec!["a"], vec!["run_code"]] {
            assert_eq!(misuse(restrict(&registry, names)), global);
        }
    }
    assert_eq!(seen(&agent), ["a", "own", "run_code"]);
}

#[test]
fn sc_03_forty_known_names_are_listed_and_more_are_counted() {
    let registry = Registry::new();
    let agent = child(&registry, "agent");
    let names: Vec<String> = (0..42).map(|number| format!("t{number:02}")).collect();
    for (count, name) in names.iter().enumerate() {
        keep(&registry, &[name]);
        let known = count + 1;
        let listed =
            names.iter().take(known.min(40)).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if known > 40 { format!(" and {} more", known - 40) } else { String::new() };
        let expected = format!("the scope `agent` inherits no tool `x`; it inherits {listed}{more}");
        assert_eq!(misuse(agent.restrict_from(["x"])), expected);
    }
}

#[tokio::test]
async fn sc_04_lookups_see_the_same_in_every_mode() {
    let registry = registry(Mode::Native);
    keep(&registry, &["a", "b"]);
    for mode in [Mode::Native, Mode::Code, Mode::Both] {
        let scope = child(&registry, mode.as_str());
        scope.present_as(mode).expect("the first");
        scope.restrict_from(["b"]).expect("inherited");
        keep(&scope, &["own"]);
        let expected = if mode == Mode::Native { vec!["a", "own"] } else { vec!["a", "own", "run_code"] };
        assert_eq!(seen(&scope), expected);
        let found = ["a", "b", "own", "run_code", "absent"].map(|name| scope.get(name).is_some());
        assert_eq!(found, [true, false, true, mode != Mode::Native, false], "{mode:?}");
        let documents: Vec<Value> =
            scope.schemas().iter().map(|tool| tool.parameters.document().clone()).collect();
        assert_eq!(documents.first(), Some(&value(r#"{"type": "object"}"#)));
    }
}

#[tokio::test]
async fn sc_05_the_transport_comes_and_goes_with_the_mode_of_the_scope() {
    let registry = registry(Mode::Native);
    keep(&registry, &["a"]);
    let coder = child(&registry, "coder");
    let below = child(&coder, "below");
    let back = child(&below, "back");
    // Declared above after the scopes below were made and looked at.
    assert!([&coder, &below, &back].iter().all(|scope| scope.get("run_code").is_none()));
    back.present_as(Mode::Native).expect("the first");
    coder.present_as(Mode::Both).expect("the first");
    assert_eq!([&coder, &below, &back].map(|scope| scope.mode()), [Mode::Both, Mode::Both, Mode::Native]);
    assert_eq!([&coder, &below, &back].map(|scope| scope.get("run_code").is_some()), [true, true, false]);
    assert_eq!(call_in_program(&below, "a", "{}").await, value("{}"));
    let result = call(&back, "run_code", r#"{"calls": []}"#).await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `run_code`"));
    // The same mode once more is a second declaration all the same.
    assert_eq!(misuse(coder.present_as(Mode::Both)), "the scope `coder` has declared a mode already");
    assert_eq!(misuse(coder.clone().present_as(Mode::Code)), "the scope `coder` has declared a mode already");
    let global = "the global scope cannot declare a mode: the deployment decides it, with `RegistryBuilder::mode`";
    assert_eq!(misuse(registry.present_as(Mode::Native)), global);
}

#[tokio::test]
async fn sc_06_a_call_runs_in_the_language_of_its_scope() {
    let registry = polyglot().mode(Mode::Code).language("javascript").build().expect("valid");
    let preset = child(&registry, "preset");
    let agent = child(&preset, "agent");
    let other = child(&registry, "other");
    preset.use_language("python").expect("the first");
    for (scope, language) in
        [(registry.global(), "javascript"), (&preset, "python"), (&agent, "python"), (&other, "javascript")]
    {
        assert_eq!(scope.language().as_deref(), Some(language));
        let wire = scope.wire().expect("known");
        assert_eq!(
            wire.iter().map(|tool| (&*tool.name, &*tool.description)).collect::<Vec<_>>(),
            [("run_code", language)]
        );
        assert_eq!(call(scope, "run_code", "{}").await.outcome(), Ok(&Value::from(language)));
    }
    agent.use_language("javascript").expect("the first here");
    assert_eq!(call(&agent, "run_code", "{}").await.outcome(), Ok(&Value::from("javascript")));
    let same = agent.use_language("javascript");
    assert_eq!(misuse(same), "the scope `agent` has declared a language already");
}

#[tokio::test]
async fn sc_06_a_language_without_a_runtime_fails_where_programs_are_presented() {
    let registry = polyglot().build().expect("valid");
    keep(&registry, &["a"]);
    let lost = child(&registry, "lost");
    lost.use_language("cobol").expect("the first");
    // Nobody presents programs here.
    assert_eq!(lost.wire().expect("native").len(), 1);
    let expected = "there is no runtime for the language `cobol`; there is one for `javascript`, `python`";
    for mode in [Mode::Code, Mode::Both] {
        let scope = child(&lost, mode.as_str());
        scope.present_as(mode).expect("the first");
        assert_eq!(misuse(scope.wire()), expected);
        assert_eq!((seen(&scope), scope.get("run_code").is_some()), (vec!["a".to_owned()], false));
        let result = call(&scope, "run_code", "{}").await;
        assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `run_code`"));
        // A nearer language mends it.
        let found = child(&scope, "found");
        found.use_language("python").expect("the first");
        assert_eq!(call(&found, "run_code", "{}").await.outcome(), Ok(&value(r#""python""#)));
    }
}

#[test]
fn sc_06_a_registry_without_a_runtime_says_so_when_it_is_built_or_asked() {
    for mode in [Mode::Code, Mode::Both] {
        let bare = Registry::builder().mode(mode).build().expect("valid until somebody asks");
        assert_eq!(bare.language(), None);
        let none = format!("mode `{}` needs a runtime for programs, and this registry has none", mode.as_str());
        assert_eq!(misuse(bare.wire()), none);
        let scope = child(&bare, "agent");
        scope.use_language("python").expect("the first");
        let unknown = "there is no runtime for the language `python`, nor for any other";
        assert_eq!(misuse(scope.wire()), unknown);
        assert_eq!(misuse(Registry::builder().mode(mode).language("python").build()), unknown);
    }
    // Languages are names like any other: compared by their bytes.
    let unknown = "there is no runtime for the language `Python`; there is one for `javascript`, `python`";
    assert_eq!(misuse(polyglot().language("Python").build()), unknown);
    let twice = polyglot().transport("javascript", run_code()).build();
    assert_eq!(misuse(twice), "there are two transports for `javascript`");
    let tool = echo("Run_Code").build().expect("valid");
    let misnamed = Registry::builder().transport("python", tool).build();
    assert_eq!(misuse(misnamed), "the transport for `python` is named `Run_Code`; it must be `run_code`");
}

#[tokio::test]
async fn sc_01_the_deepest_scope_sees_every_layer() {
    let registry = Registry::new();
    keep(&registry, &["level 01"]);
    let mut scope = registry.global().clone();
    for level in 2..=SCOPE_DEPTH_MAX {
        scope = child(&scope, "deeper");
        keep(&scope, &[&format!("level {level:02}")]);
    }
    let expected: Vec<String> = (1..=SCOPE_DEPTH_MAX).map(|level| format!("level {level:02}")).collect();
    assert_eq!(seen(&scope), expected);
    assert_eq!(call(&scope, "level 01", "{}").await.outcome(), Ok(&value("{}")));
    let over = scope.child("x".repeat(100));
    let shown = format!("{}…{}", "x".repeat(52), "x".repeat(25));
    assert_eq!(misuse(over), format!("the scope `{shown}` would be 33 deep; at most 32 are allowed"));
    assert_eq!(seen(&scope), expected);
}

#[tokio::test]
async fn sc_01_siblings_and_registries_see_nothing_of_one_another() {
    let (one, other) = (registry(Mode::Both), registry(Mode::Native));
    keep(&one, &["a"]);
    let (left, right) = (child(&one, "same name"), child(&one, "same name"));
    keep(&left, &["b"]);
    left.restrict_from(["a"]).expect("inherited");
    assert_eq!(
        (seen(&left), seen(&right)),
        (vec!["b".to_owned(), "run_code".into()], vec!["a".to_owned(), "run_code".into()],)
    );
    assert_eq!(seen(&other), [""; 0]);
    assert_eq!(call(&right, "b", "{}").await.code(), Some(ErrorCode::UnknownTool));
    assert_eq!(call(&other, "a", "{}").await.code(), Some(ErrorCode::UnknownTool));
    // Names of scopes identify nothing: the same one again is another, empty scope.
    drop(left);
    assert_eq!(seen(&child(&one, "same name")), ["a", "run_code"]);
}
