//! Being told that a scope sees something else, and seeing it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use hotcell::execution::{CallRequest, ErrorCode};
use hotcell::registry::{Changes, Mode, Registry, Scope};
use tokio_util::sync::CancellationToken;

use crate::tools::{echo, registry};

fn told(changes: &mut Changes) -> bool {
    changes.changed().now_or_never().is_some()
}

#[test]
fn a_change_in_the_chain_is_told_and_one_beside_it_is_not() {
    let registry = registry(Mode::Native);
    let (agent, sibling) =
        (registry.child("agent").expect("shallow"), registry.child("sibling").expect("shallow"));
    let mut changes = agent.changes();
    assert!(!told(&mut changes));
    let registration = registry.register(echo("a")).expect("valid");
    assert!(told(&mut changes));
    assert!(!told(&mut changes));
    sibling.register(echo("b")).expect("valid").keep();
    sibling.guard(|_| hotcell::execution::Verdict::Pass);
    assert!(!told(&mut changes));
    drop(registration);
    assert!(told(&mut changes));
    // Several may be told as one.
    registry.register(echo("a")).expect("valid").keep();
    agent.register(echo("c")).expect("valid").keep();
    assert!(told(&mut changes));
    assert!(!told(&mut changes));
    // What fails changes nothing.
    assert!(agent.register(echo("c")).is_err());
    assert!(agent.restrict_to(["absent"]).is_err());
    assert!(!told(&mut changes));
    agent.restrict_from(["a"]).expect("inherited");
    assert!(told(&mut changes));
    agent.present_as(Mode::Both).expect("the first");
    assert!(told(&mut changes));
    let guard = agent.guard(|_| hotcell::execution::Verdict::Pass);
    assert!(told(&mut changes));
    guard.remove();
    assert!(told(&mut changes));
    assert!(!told(&mut changes));
}

#[tokio::test]
async fn who_waits_is_woken() {
    let registry = Registry::new();
    let mut changes = registry.changes();
    let waiting = tokio::spawn(async move { changes.changed().await });
    tokio::task::yield_now().await;
    registry.register(echo("a")).expect("valid").keep();
    waiting.await.expect("it is woken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn tools_may_come_and_go_while_calls_run() {
    const CALLS: usize = 300;
    let registry = Registry::new();
    let results = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&results);
    registry.on_result(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let coming = registry.clone();
    let changing = tokio::task::spawn_blocking(move || {
        for _ in 0..CALLS {
            drop(coming.register(echo("a")).expect("nobody else registers it"));
        }
    });
    let callers: Vec<_> = (0..2)
        .map(|_| {
            let registry = registry.clone();
            tokio::spawn(async move {
                for _ in 0..CALLS {
                    let result = registry.call(CallRequest::new("a", "{}", CancellationToken::new())).await;
                    assert!(matches!(result.code(), None | Some(ErrorCode::UnknownTool)), "{:?}", result.error());
                }
            })
        })
        .collect();
    changing.await.expect("no panic");
    for caller in callers {
        caller.await.expect("no panic");
    }
    assert_eq!(results.load(Ordering::Relaxed), 2 * CALLS);
    assert!(registry.get("a").is_none());
}

#[test]
fn ten_thousand_tools_are_found_under_five_scopes() {
    let registry = Registry::new();
    let shared = echo("x").build().expect("valid").parameters().clone();
    let tool = |name: &str| echo(name).parameters(shared.clone()).output(shared.clone());
    for number in 0..10_000 {
        registry.register(tool(&format!("tool {number}"))).expect("valid").keep();
    }
    let mut scope = registry.global().clone();
    for level in 0..5 {
        scope = scope.child(format!("level {level}")).expect("shallow");
        scope.restrict_from([format!("tool {level}")]).expect("inherited");
        scope.register(tool(&format!("own {level}"))).expect("valid").keep();
    }
    assert_eq!(scope.schemas().len(), 10_000);
    for number in 0..10_000 {
        assert_eq!(scope.get(&format!("tool {number}")).is_some(), number >= 5, "{number}");
    }
    assert!((0..5).all(|level| scope.get(&format!("own {level}")).is_some()));
}

/// Looks into its scope, and changes it, when it is dropped.
struct Meddler(Scope);

impl Drop for Meddler {
    fn drop(&mut self) {
        assert!(self.0.get("absent").is_none());
        drop(self.0.register(echo("passing")));
    }
}

#[test]
fn what_is_removed_may_come_back_to_the_registry_when_it_is_dropped() {
    let registry = Registry::new();
    let meddle = || Meddler(registry.global().clone());
    let (in_guard, in_observer, in_tool) = (meddle(), meddle(), meddle());
    let guard = registry.guard(move |_| {
        let _kept = &in_guard;
        hotcell::execution::Verdict::Pass
    });
    let observer = registry.on_result(move |_, _| {
        let _kept = &in_observer;
    });
    let tool = echo("tool").present_call(move |arguments| {
        let _kept = &in_tool;
        arguments.clone()
    });
    let registration = registry.register(tool).expect("valid");
    // The view holds all three; what is dropped last is dropped when it is made anew.
    assert!(registry.get("tool").is_some());
    guard.remove();
    assert!(registry.get("tool").is_some());
    observer.remove();
    drop(registration);
    assert!(registry.get("tool").is_none());
    let mut changes = registry.changes();
    assert!(!told(&mut changes));
    assert!(registry.schemas().is_empty());
}
