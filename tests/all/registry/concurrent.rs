//! Tools that come and go on several threads while calls run: no call is lost, and none ends otherwise than the rules say.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hotcell::execution::{CallRequest, ErrorCode, ToolResult};
use hotcell::json::Value;
use hotcell::registry::{Registry, Scope};
use hotcell::tool::Tool;
use tokio::sync::Barrier;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::tools::echo;

const CALLS: usize = 200;

async fn call(scope: &Scope, name: &str) -> Arc<ToolResult> {
    scope.call(CallRequest::new(name, "{}", CancellationToken::new())).await
}

/// A tool whose value says who registered it.
fn labelled(name: &str, label: &str) -> Tool {
    let label = Value::from(label);
    let body = move |_, _| {
        let label = label.clone();
        async move { Ok(label) }
    };
    Tool::builder(name).parameters("{}").output("{}").body(body).build().expect("valid")
}

/// Registers a tool in a scope, again and again, until `done`. Gives how often.
fn churn(scope: &Scope, tool: &Tool, done: &Arc<AtomicBool>) -> JoinHandle<usize> {
    let (scope, tool, done) = (scope.clone(), tool.clone(), Arc::clone(done));
    tokio::task::spawn_blocking(move || {
        let mut times = 0;
        while !done.load(Ordering::Relaxed) {
            drop(scope.register(tool.clone()).expect("nobody else registers it here"));
            times += 1;
        }
        times
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_shadow_that_comes_and_goes_never_hides_what_it_shadows() {
    let registry = Registry::new();
    registry.register(labelled("a", "global")).expect("free").keep();
    let agent = registry.child("agent").expect("shallow");
    let sibling = registry.child("sibling").expect("shallow");
    let done = Arc::new(AtomicBool::new(false));
    let churning = churn(&agent, &labelled("a", "agent"), &done);
    for _ in 0..CALLS {
        let result = call(&agent, "a").await;
        let label = result.outcome().expect("one of the two is always there").as_str().map(str::to_owned);
        assert!(matches!(label.as_deref(), Some("global" | "agent")), "{label:?}");
        assert_eq!(call(&sibling, "a").await.outcome(), Ok(&Value::from("global")));
    }
    done.store(true, Ordering::Relaxed);
    assert!(churning.await.expect("no panic") > 0);
    assert_eq!(call(&agent, "a").await.outcome(), Ok(&Value::from("global")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn every_call_ends_once_while_several_threads_change_every_layer() {
    const CALLERS: usize = 3;
    let registry = Registry::new();
    let results = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&results);
    registry.on_result(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    registry.register(echo("stays")).expect("free").keep();
    let preset = registry.child("preset").expect("shallow");
    let agent = preset.child("agent").expect("shallow");
    let done = Arc::new(AtomicBool::new(false));
    let churning: Vec<_> = [registry.global(), &preset, &agent]
        .into_iter()
        .flat_map(|scope| {
            [churn(scope, &labelled("x", scope.name()), &done), churn(scope, &labelled(scope.name(), "y"), &done)]
        })
        .collect();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let agent = agent.clone();
            tokio::spawn(async move {
                for _ in 0..CALLS {
                    assert_eq!(call(&agent, "stays").await.code(), None);
                    for name in ["x", "global", "preset", "agent"] {
                        let result = call(&agent, name).await;
                        let label = result.value().and_then(Value::as_str);
                        match (name, label, result.code()) {
                            ("x", Some("global" | "preset" | "agent"), None) | (_, Some("y"), None) => {}
                            (_, None, Some(ErrorCode::UnknownTool)) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("no panic");
    }
    done.store(true, Ordering::Relaxed);
    for changing in churning {
        assert!(changing.await.expect("no panic") > 0);
    }
    assert_eq!(results.load(Ordering::Relaxed), CALLERS * CALLS * 5);
    let left: Vec<_> = agent.schemas().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(left, ["stays"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn of_threads_that_register_one_name_exactly_one_wins() {
    const THREADS: usize = 4;
    let registry = Registry::new();
    for round in 0..20 {
        let name = format!("tool {round}");
        let barrier = Arc::new(Barrier::new(THREADS));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (registry, name, barrier) = (registry.clone(), name.clone(), Arc::clone(&barrier));
                tokio::spawn(async move {
                    let tool = echo(&name).build().expect("valid");
                    barrier.wait().await;
                    registry
                        .register(tool)
                        .map(hotcell::registry::Registration::keep)
                        .map_err(|error| error.to_string())
                })
            })
            .collect();
        let mut lost = Vec::new();
        for thread in threads {
            lost.extend(thread.await.expect("no panic").err());
        }
        let expected = format!("the tool `{name}` is registered in scope `global` already");
        assert_eq!(lost, vec![expected; THREADS - 1]);
    }
    assert_eq!(registry.schemas().len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_change_is_seen_by_the_thread_that_was_told_of_it() {
    let registry = Registry::new();
    let agent = registry.child("agent").expect("shallow");
    let mut changes = agent.changes();
    let changing = registry.clone();
    let writer = tokio::task::spawn_blocking(move || {
        for number in 0..CALLS {
            changing.register(labelled(&format!("tool {number}"), "x")).expect("free").keep();
        }
    });
    // Whoever waits for the last one sees it, however many were told as one.
    let mut most = 0;
    while most < CALLS {
        changes.changed().await;
        let seen = agent.schemas().len();
        assert!(seen >= most, "{seen} after {most}");
        most = seen;
    }
    writer.await.expect("no panic");
    assert_eq!(agent.schemas().len(), CALLS);
}

#[test]
fn ten_thousand_tools_under_five_scopes_keep_their_owners() {
    let registry = Registry::new();
    let schema = labelled("x", "x").parameters().clone();
    // Every tool says its layer in its description; each layer replaces every seventh, beginning at its own depth.
    let tool = |name: &str, depth: usize| {
        let tool = Tool::builder(name).description(format!("{depth}"));
        let tool = tool.parameters(schema.clone()).output(schema.clone());
        tool.body(async |_, _| Ok(Value::Null)).build().expect("valid")
    };
    let names: Vec<String> = (0..10_000).map(|number| format!("tool {number}")).collect();
    for name in &names {
        registry.register(tool(name, 0)).expect("free").keep();
    }
    let mut scopes = vec![registry.global().clone()];
    for depth in 1..=5 {
        let scope = scopes[depth - 1].child(format!("depth {depth}")).expect("shallow");
        for name in names.iter().skip(depth).step_by(7) {
            scope.register(tool(name, depth)).expect("free here").keep();
        }
        scopes.push(scope);
    }
    for (depth, scope) in scopes.iter().enumerate() {
        assert_eq!(scope.schemas().len(), 10_000);
        for (number, name) in names.iter().enumerate() {
            let owner = number % 7;
            let expected = if (1..=depth).contains(&owner) { owner } else { 0 };
            let found = scope.get(name).expect("every scope sees all");
            assert_eq!(
                (found.name(), found.description()),
                (name.as_str(), format!("{expected}").as_str()),
                "{depth}"
            );
        }
        assert!(scope.get("tool 10000").is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_tool_that_is_registered_while_somebody_looks_is_found_afterwards() {
    let registry = Registry::new();
    let agent = registry.child("agent").expect("shallow");
    // Many tools, so that looking anew takes long enough to be overtaken by the next registration.
    let schema = labelled("x", "x").parameters().clone();
    let tool = |name: &str| {
        let tool = Tool::builder(name).parameters(schema.clone()).output(schema.clone());
        tool.body(async |_, _| Ok(Value::Null)).build().expect("valid")
    };
    for number in 0..1_000 {
        agent.register(tool(&format!("own {number}"))).expect("free").keep();
    }
    let (done, looks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let looking = tokio::task::spawn_blocking({
        let (agent, done, looks) = (agent.clone(), Arc::clone(&done), Arc::clone(&looks));
        move || {
            while !done.load(Ordering::Relaxed) {
                assert!(agent.get("own 0").is_some());
                looks.fetch_add(1, Ordering::Release);
            }
        }
    });
    // Whoever looks has seen the end of the look that was under way.
    let looked = |more: usize| {
        let enough = looks.load(Ordering::Acquire) + more;
        while looks.load(Ordering::Acquire) < enough {
            std::thread::yield_now();
        }
    };
    let mut missed = Vec::new();
    for number in 0..CALLS {
        let (first, second) = (format!("first {number}"), format!("second {number}"));
        let (one, other) = (tool(&first), tool(&second));
        registry.register(one).expect("free").keep();
        // The second comes at another moment of the look that the first one causes, each time.
        for _ in 0..number * 50 {
            std::hint::spin_loop();
        }
        registry.register(other).expect("free").keep();
        looked(2);
        missed.extend([first, second].into_iter().filter(|name| agent.get(name).is_none()));
    }
    done.store(true, Ordering::Relaxed);
    looking.await.expect("no panic");
    assert_eq!(missed, [""; 0]);
}
