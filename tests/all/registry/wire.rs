//! What a model is told, and in which order.

use hotcell::registry::{Mode, Scope, ToolOrder};

use crate::tools::{echo, registry};

fn told(scope: &Scope) -> Vec<String> {
    scope.wire().expect("valid").iter().map(|tool| tool.name.to_string()).collect()
}

fn order(names: &[&str]) -> ToolOrder {
    ToolOrder::new(names.iter().copied()).expect("valid")
}

#[test]
fn pr_01_each_mode_tells_what_it_presents() {
    for (mode, expected) in
        [(Mode::Native, &["a", "b"][..]), (Mode::Code, &["run_code"]), (Mode::Both, &["a", "b", "run_code"])]
    {
        let registry = registry(mode);
        // In whichever order they come.
        registry.register(echo("b")).expect("valid").keep();
        registry.register(echo("a")).expect("valid").keep();
        assert_eq!(told(&registry), expected, "{mode:?}");
    }
    let registry = registry(Mode::Native);
    registry.register(echo("a")).expect("valid").keep();
    let wire = registry.wire().expect("valid").remove(0);
    assert_eq!((&*wire.name, &*wire.description), ("a", "Gives its arguments back."));
    assert_eq!(wire.parameters.document(), echo("a").build().expect("valid").parameters().document());
}

#[test]
fn pr_07_an_order_puts_the_rest_where_its_marker_is() {
    for (names, expected) in [
        (&["*", "b", "a"][..], ["c", "d", "run_code", "b", "a"]),
        (&["d", "*", "a"], ["d", "b", "c", "run_code", "a"]),
        (&["run_code", "c", "*"], ["run_code", "c", "a", "b", "d"]),
        (&["*"], ["a", "b", "c", "d", "run_code"]),
    ] {
        let registry = registry(Mode::Both);
        registry.order_tools(order(names)).expect("the first");
        for name in ["d", "c", "b", "a"] {
            registry.register(echo(name)).expect("valid").keep();
        }
        assert_eq!(told(&registry), expected, "{names:?}");
    }
}

#[test]
fn pr_07_a_restricted_name_is_skipped_and_an_unknown_one_fails() {
    let registry = registry(Mode::Native);
    for name in ["a", "b"] {
        registry.register(echo(name)).expect("valid").keep();
    }
    registry.order_tools(order(&["b", "*"])).expect("the first");
    let agent = registry.child("agent").expect("shallow");
    agent.restrict_from(["b"]).expect("inherited");
    assert_eq!((told(&registry), told(&agent)), (vec!["b".to_owned(), "a".to_owned()], vec!["a".to_owned()]));
    let error = |scope: &Scope| scope.wire().expect_err("refused").to_string();
    let coder = registry.child("coder").expect("shallow");
    coder.present_as(Mode::Code).expect("the first");
    assert_eq!(error(&coder), "the tool order names `b`, which mode `code` removes");
    // The nearest order counts.
    coder.order_tools(order(&["run_code", "*"])).expect("the first here");
    assert_eq!(told(&coder), ["run_code"]);
    let plain = registry.child("plain").expect("shallow");
    plain.order_tools(order(&["run_code", "*"])).expect("the first here");
    assert_eq!(error(&plain), "the tool order names `run_code`, which mode `native` removes");
    let lost = registry.child("lost").expect("shallow");
    lost.order_tools(order(&["*", "absent"])).expect("the first here");
    assert_eq!(error(&lost), "the tool order names `absent`, and there is no such tool");
    assert_eq!(
        lost.order_tools(order(&["*"])).expect_err("the second").to_string(),
        "the scope `lost` has declared a tool order already"
    );
}
