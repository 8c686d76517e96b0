//! What a scope's listeners are told: every kind of change in the chain, and nothing that changed nothing.

use futures_util::FutureExt as _;
use hotcell::execution::{Decision, Verdict};
use hotcell::registry::{Changes, HookHandle, Mode, Registry, Scope, ToolOrder};

use crate::tools::{echo, registry};

fn told(changes: &mut Changes) -> bool {
    changes.changed().now_or_never().is_some()
}

/// Told once, and then not again.
#[track_caller]
fn once(changes: &mut Changes) {
    assert!(told(changes), "a change is told");
    assert!(!told(changes), "it is told once");
}

fn child(scope: &Scope, name: &str) -> Scope {
    scope.child(name).expect("shallow")
}

fn order(name: &str) -> ToolOrder {
    ToolOrder::new([name, "*"]).expect("valid")
}

#[test]
fn every_kind_of_change_is_told_in_its_scope_and_below_and_nowhere_else() {
    let registry = registry(Mode::Both);
    registry.register(echo("a")).expect("free").keep();
    let preset = child(&registry, "preset");
    let (agent, sibling) = (child(&preset, "agent"), child(&registry, "sibling"));
    let mut inside = [preset.changes(), agent.changes(), child(&agent, "below").changes()];
    let mut outside = [registry.changes(), sibling.changes()];
    let mut told_inside = |what: &str| {
        for changes in &mut inside {
            assert!(told(changes), "{what}");
            assert!(!told(changes), "{what} again");
        }
        for changes in &mut outside {
            assert!(!told(changes), "{what} elsewhere");
        }
    };
    let registration = preset.register(echo("own")).expect("free");
    told_inside("a registration");
    drop(registration);
    told_inside("its end");
    preset.restrict_to(["a"]).expect("inherited");
    told_inside("an allow list");
    preset.restrict_from(["a"]).expect("inherited");
    told_inside("a deny list");
    preset.present_as(Mode::Both).expect("the first");
    told_inside("a mode, be it the same");
    preset.use_language("javascript").expect("the first");
    told_inside("a language");
    preset.order_tools(order("a")).expect("the first");
    told_inside("an order");
    let hooks: [(&str, HookHandle); 5] = [
        ("a listener before", preset.on_pre_execute(async |_, _| Ok(Decision::Allow))),
        ("a guard", preset.guard(|_| Verdict::Pass)),
        ("a wrapper", preset.around(async |_, mut next| Ok(next.run().await))),
        ("a listener after", preset.on_post_execute(async |_, _, next| Ok(next.run().await))),
        ("an observer", preset.on_result(|_, _| ())),
    ];
    told_inside("five hooks as one");
    for (what, hook) in hooks {
        hook.remove();
        told_inside(what);
    }
}

#[test]
fn a_change_above_is_told_below_even_where_it_is_shadowed() {
    let registry = Registry::new();
    let agent = child(&registry, "agent");
    agent.register(echo("a")).expect("free").keep();
    let (mut above, mut below) = (registry.changes(), agent.changes());
    let shadowed = registry.register(echo("a")).expect("free here");
    once(&mut above);
    once(&mut below);
    drop(shadowed);
    once(&mut above);
    once(&mut below);
}

#[test]
fn what_fails_and_what_was_done_already_is_not_told() {
    let registry = registry(Mode::Both);
    let kept = registry.register(echo("a")).expect("free");
    let agent = child(&registry, "agent");
    agent.present_as(Mode::Code).expect("the first");
    agent.use_language("javascript").expect("the first");
    agent.order_tools(order("run_code")).expect("the first");
    let mut gone = agent.register(echo("gone")).expect("free");
    gone.unregister();
    let mut changes = [registry.changes(), agent.changes()];
    let none: [&str; 0] = [];
    let failures = [
        registry.register(echo("a")).err(),
        registry.register(echo("run_code")).err(),
        agent.register(echo("")).err(),
        agent.register(echo("b").output("{")).err(),
        agent.restrict_to(none).err(),
        agent.restrict_to(["a", "absent"]).err(),
        agent.restrict_from(["run_code"]).err(),
        registry.restrict_from(["a"]).err(),
        agent.present_as(Mode::Native).err(),
        registry.present_as(Mode::Native).err(),
        agent.use_language("python").err(),
        registry.use_language("python").err(),
        agent.order_tools(order("a")).err(),
    ];
    assert_eq!(failures.iter().position(Option::is_none), None);
    // Nothing is there any more to take away, and keeping or reading takes nothing away.
    gone.unregister();
    drop(gone);
    kept.keep();
    assert_eq!((agent.schemas().len(), agent.wire().expect("valid").len()), (2, 1));
    let _new = child(&agent, "new");
    assert_eq!(changes.each_mut().map(told), [false, false]);
}

#[test]
fn each_listener_is_told_for_itself_and_only_of_what_came_after_it() {
    let registry = Registry::new();
    registry.register(echo("a")).expect("free").keep();
    let (mut first, mut late) = (registry.changes(), None);
    for name in ["b", "c", "d"] {
        registry.register(echo(name)).expect("free").keep();
        late = Some(registry.changes());
    }
    let mut late = late.expect("made thrice");
    once(&mut first);
    assert!(!told(&mut late));
    let registration = registry.register(echo("e")).expect("free");
    once(&mut late);
    drop(registration);
    // Two changes and two listeners: each is told once, whatever the other has heard.
    once(&mut first);
    once(&mut late);
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_nothing() {
    let registry = Registry::new();
    let agent = child(&registry, "agent");
    let mut changes = agent.changes();
    {
        let mut waiting = Box::pin(changes.changed());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        registry.register(echo("a")).expect("free").keep();
    }
    assert!(told(&mut changes));
    // Beside the chain it is woken, finds nothing, and waits on.
    let mut waiting = Box::pin(changes.changed());
    assert!(futures_util::poll!(&mut waiting).is_pending());
    child(&registry, "sibling").register(echo("b")).expect("free").keep();
    assert!(futures_util::poll!(&mut waiting).is_pending());
    registry.register(echo("b")).expect("free").keep();
    assert!(futures_util::poll!(&mut waiting).is_ready());
}

#[test]
fn a_scope_that_only_its_listener_holds_is_told_on() {
    let registry = Registry::new();
    let agent = child(&registry, "agent");
    let mut changes = agent.changes();
    drop(agent);
    registry.register(echo("a")).expect("free").keep();
    once(&mut changes);
    drop(registry);
    assert!(!told(&mut changes));
}
