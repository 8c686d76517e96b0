//! The wire list: what each mode tells, in which order, and every order that cannot be told.

use hotcell::ErrorKind;
use hotcell::registry::{Mode, Registry, Scope, ToolOrder};
use hotcell::tool::Tool;

use crate::tools::{echo, registry, value};

fn told(scope: &Scope) -> Vec<String> {
    scope.wire().expect("valid").iter().map(|tool| tool.name.to_string()).collect()
}

fn refusal(scope: &Scope) -> String {
    let error = scope.wire().expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    error.to_string()
}

fn order(names: &[&str]) -> ToolOrder {
    ToolOrder::new(names.iter().copied()).expect("valid")
}

fn keep(scope: &Scope, names: &[&str]) {
    for name in names {
        scope.register(echo(name)).expect("free").keep();
    }
}

fn child(scope: &Scope, name: &str) -> Scope {
    scope.child(name).expect("shallow")
}

#[test]
fn pr_01_the_wire_list_carries_what_a_model_needs_and_nothing_else() {
    let registry = registry(Mode::Both);
    let tool = Tool::builder("a")
        .description("Does a.")
        .parameters(r#"{"type": "object", "title": "A"}"#)
        .output(r#"{"type": "null"}"#)
        .timeout(std::time::Duration::from_secs(1))
        .concurrency_safe(|_| true)
        .body(async |_, _| Ok(value("null")));
    registry.register(tool).expect("valid").keep();
    let wire = registry.wire().expect("valid").remove(0);
    let expected = format!(
        "WireTool {{ name: \"a\", description: \"Does a.\", parameters: {:?} }}",
        registry.get("a").expect("registered").parameters()
    );
    assert_eq!(format!("{wire:?}"), expected);
    assert_eq!(*wire.parameters.document(), value(r#"{"type": "object", "title": "A"}"#));
}

#[test]
fn pr_01_each_mode_tells_a_scope_what_it_sees() {
    for (mode, expected) in
        [(Mode::Native, &["a", "own"][..]), (Mode::Code, &["run_code"]), (Mode::Both, &["a", "own", "run_code"])]
    {
        // The order in which things are declared does not matter.
        let late = registry(Mode::Native);
        let scope = child(&late, "agent");
        keep(&scope, &["own"]);
        scope.present_as(mode).expect("the first");
        keep(&late, &["b", "a"]);
        scope.restrict_from(["b"]).expect("inherited");
        let early = registry(mode);
        keep(&early, &["a", "b"]);
        let other = child(&early, "agent");
        other.restrict_from(["b"]).expect("inherited");
        keep(&other, &["own"]);
        assert_eq!(
            (told(&scope), told(&other)),
            (told(&other), expected.iter().map(|name| (*name).to_owned()).collect()),
            "{mode:?}"
        );
    }
    assert_eq!(told(&Registry::new()), [""; 0]);
    assert_eq!(told(&registry(Mode::Code)), ["run_code"]);
    assert_eq!(told(&registry(Mode::Both)), ["run_code"]);
}

#[test]
fn pr_01_a_shadowed_tool_is_told_once_as_the_nearest() {
    let registry = registry(Mode::Native);
    keep(&registry, &["a", "b"]);
    let agent = child(&registry, "agent");
    agent.register(echo("a").description("nearer")).expect("free here").keep();
    agent.order_tools(order(&["b", "*"])).expect("the first");
    let wire = agent.wire().expect("valid");
    let told: Vec<_> = wire.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
    assert_eq!(told, [("b", "Gives its arguments back."), ("a", "nearer")]);
}

#[test]
fn pr_07_an_order_holds_however_and_whenever_tools_are_registered() {
    let orders = [
        (&["*", "c", "a"][..], &["b", "d", "c", "a"][..]),
        (&["c", "*", "a"], &["c", "b", "d", "a"]),
        (&["c", "a", "*"], &["c", "a", "b", "d"]),
        (&["d", "c", "b", "a", "*"], &["d", "c", "b", "a"]),
        (&["*", "d", "c", "b", "a"], &["d", "c", "b", "a"]),
    ];
    let sequences = [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["c", "a", "d", "b"]];
    for (names, expected) in orders {
        for sequence in sequences {
            let (before, after) = (Registry::new(), Registry::new());
            before.order_tools(order(names)).expect("the first");
            keep(&before, &sequence);
            keep(&after, &sequence);
            after.order_tools(order(names)).expect("the first");
            assert_eq!(
                (told(&before), told(&after)),
                (told(&after), expected.iter().map(|name| (*name).to_owned()).collect())
            );
            // Looking tools up is sorted by name all the same.
            let seen: Vec<String> = before.schemas().iter().map(|tool| tool.name.to_string()).collect();
            assert_eq!(seen, ["a", "b", "c", "d"]);
        }
    }
}

#[test]
fn pr_07_an_order_needs_one_marker_and_no_name_twice() {
    let refused = |names: &[&str]| {
        let error = ToolOrder::new(names.iter().copied()).expect_err("wrong");
        assert_eq!(error.kind(), ErrorKind::Misuse);
        error.to_string()
    };
    let markers = |count| {
        format!("a tool order has {count} rest markers `*`; it needs exactly one, for the tools it does not name")
    };
    assert_eq!((refused(&[]), refused(&["* "])), (markers(0), markers(0)));
    let more = |count| format!("{}, one called `*` included", markers(count));
    assert_eq!((refused(&["*", "*"]), refused(&["*", "a", "*", "*"])), (more(2), more(3)));
    assert_eq!(refused(&["a", "b", "b", "*"]), "a tool order names `b` twice");
    let long = "x".repeat(100);
    let shown = format!("{}…{}", "x".repeat(52), "x".repeat(25));
    assert_eq!(refused(&[&long, "*", &long]), format!("a tool order names `{shown}` twice"));
    let lost = registry(Mode::Native);
    lost.order_tools(order(&[&long, "*"])).expect("the first");
    assert_eq!(refusal(&lost), format!("the tool order names `{shown}`, and there is no such tool"));
}

#[test]
fn pr_07_masked_is_skipped_absent_fails_and_a_tool_of_a_sibling_is_absent() {
    let registry = registry(Mode::Native);
    keep(&registry, &["a", "b", "c"]);
    registry.order_tools(order(&["c", "*", "b"])).expect("the first");
    let (agent, sibling) = (child(&registry, "agent"), child(&registry, "sibling"));
    agent.restrict_to(["a", "b"]).expect("inherited");
    assert_eq!(told(&agent), ["a", "b"]);
    agent.restrict_to(["c"]).expect("inherited");
    assert_eq!(told(&agent), [""; 0]);
    let below = child(&agent, "below");
    keep(&below, &["c", "own"]);
    // Its own tool of a masked name is there again, in its place.
    assert_eq!(told(&below), ["c", "own"]);
    keep(&sibling, &["theirs"]);
    let other = child(&registry, "other");
    other.order_tools(order(&["theirs", "*"])).expect("the first here");
    assert_eq!(refusal(&other), "the tool order names `theirs`, and there is no such tool");
    // Restrictions are about what a model is told, not about whether a name is known: one that is known nowhere fails.
    let unknown = child(&agent, "unknown");
    unknown.order_tools(order(&["*", "cc"])).expect("the first here");
    assert_eq!(refusal(&unknown), "the tool order names `cc`, and there is no such tool");
}

#[test]
fn pr_07_an_order_is_judged_anew_when_tools_come_and_go() {
    let registry = registry(Mode::Native);
    let a = registry.register(echo("a")).expect("free");
    keep(&registry, &["b"]);
    registry.order_tools(order(&["b", "a", "*"])).expect("the first");
    assert_eq!(told(&registry), ["b", "a"]);
    drop(a);
    assert_eq!(refusal(&registry), "the tool order names `a`, and there is no such tool");
    // A scope below that has one is not concerned.
    let agent = child(&registry, "agent");
    keep(&agent, &["a"]);
    assert_eq!(
        (told(&agent), refusal(&registry)),
        (vec!["b".to_owned(), "a".into()], "the tool order names `a`, and there is no such tool".to_owned(),)
    );
    keep(&registry, &["a"]);
    assert_eq!(told(&registry), ["b", "a"]);
}

#[test]
fn pr_07_what_the_mode_removes_fails_and_the_reserved_discovery_tools_are_absent() {
    for (mode, name, expected) in [
        (Mode::Native, "run_code", "the tool order names `run_code`, which mode `native` removes"),
        (Mode::Code, "a", "the tool order names `a`, which mode `code` removes"),
        (Mode::Code, "absent", "the tool order names `absent`, and there is no such tool"),
        (Mode::Both, "search_tools", "the tool order names `search_tools`, and there is no such tool"),
        (Mode::Both, "describe_tools", "the tool order names `describe_tools`, and there is no such tool"),
    ] {
        for names in [[name, "*"], ["*", name]] {
            let registry = registry(mode);
            keep(&registry, &["a"]);
            registry.order_tools(order(&names)).expect("judged when it is applied");
            assert_eq!(refusal(&registry), expected);
        }
    }
}

#[test]
fn pr_07_a_tool_that_the_mode_removes_and_a_restriction_masks_is_refused_where_it_is_not_masked() {
    let registry = registry(Mode::Code);
    keep(&registry, &["a"]);
    registry.order_tools(order(&["a", "*"])).expect("the first");
    assert_eq!(refusal(&registry), "the tool order names `a`, which mode `code` removes");
    let agent = child(&registry, "agent");
    agent.restrict_from(["a"]).expect("inherited");
    assert_eq!(told(&agent), ["run_code"]);
}

#[test]
fn pr_07_the_nearest_order_counts_alone() {
    let registry = registry(Mode::Both);
    keep(&registry, &["a", "b", "c"]);
    registry.order_tools(order(&["c", "*"])).expect("the first");
    let preset = child(&registry, "preset");
    let agent = child(&preset, "agent");
    assert_eq!(told(&agent), ["c", "a", "b", "run_code"]);
    preset.order_tools(order(&["*", "a"])).expect("the first here");
    assert_eq!(
        (told(&registry), told(&preset), told(&agent)),
        (
            vec!["c".to_owned(), "a".into(), "b".into(), "run_code".into()],
            vec!["b".to_owned(), "c".into(), "run_code".into(), "a".into()],
            vec!["b".to_owned(), "c".into(), "run_code".into(), "a".into()],
        )
    );
    agent.order_tools(order(&["run_code", "b", "*"])).expect("the first here");
    assert_eq!(told(&agent), ["run_code", "b", "a", "c"]);
    let again = registry.order_tools(order(&["*"])).expect_err("the second").to_string();
    assert_eq!(again, "the scope `global` has declared a tool order already");
    assert_eq!(told(&registry), ["c", "a", "b", "run_code"]);
}

#[test]
fn pr_07_a_tool_named_like_the_marker_is_one_of_the_rest() {
    let registry = registry(Mode::Native);
    keep(&registry, &["*", "a", "b"]);
    registry.order_tools(order(&["b", "*", "a"])).expect("the first");
    assert_eq!(told(&registry), ["b", "*", "a"]);
}
