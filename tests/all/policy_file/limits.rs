//! How many calls a policy lets through.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use hotcell::execution::{ApprovalAnswer, ErrorCode, ToolContext, Verdict};
use hotcell::json::Value;
use hotcell::registry::{Mode, Registry};

use super::{Person, asking, assert_denied, call_for_somebody, denied, policy, question, register};
use crate::tools::{call, echo, registry, value};

/// A policy that allows everything, with one limit.
fn limited(limit: &str) -> String {
    format!("default = 'allow'\n[[limit]]\n{limit}")
}

/// What so many calls of a program come to: how many succeed, and how many are denied after them.
async fn program(registry: &Registry, name: &str, calls: usize) -> (usize, usize) {
    let calls = vec![format!(r#"{{"name": "{name}"}}"#); calls].join(", ");
    let result = call(registry, "run_code", &format!(r#"{{"calls": [{calls}]}}"#)).await;
    let results = result.value().and_then(Value::as_array).expect("the program ends well");
    let passed = results.iter().take_while(|result| **result == value("{}")).count();
    let denied = results.iter().skip(passed).filter(|result| **result == value(r#"{"error": "DENIED"}"#)).count();
    assert_eq!(passed + denied, results.len());
    (passed, denied)
}

#[tokio::test]
async fn a_run_may_make_as_many_calls_as_its_limit_says() {
    let registry = registry(Mode::Both);
    register(&registry, &["a", "b"]);
    policy(&limited("tools = ['a', 'c']\nmax-calls = 10\nper = 'run'")).install(&registry);
    let last: Arc<Mutex<Option<String>>> = Arc::default();
    let noted = Arc::clone(&last);
    registry.on_result(move |_, result| {
        if let Some(error) = result.error() {
            *noted.lock().expect("not poisoned") = Some(error.message().to_owned());
        }
    });
    for (calls, expected) in [(9, (9, 0)), (10, (10, 0)), (11, (10, 1)), (13, (10, 3))] {
        assert_eq!(program(&registry, "a", calls).await, expected);
    }
    let reason = denied("a", "the limit in line 2 of the policy allows 10 calls in one run");
    assert_eq!(last.lock().expect("not poisoned").as_deref(), Some(reason.as_str()));
    assert_eq!(program(&registry, "b", 11).await, (11, 0));
    // A direct call is a run of its own, and makes no calls.
    for _ in 0..11 {
        assert_eq!(call(&registry, "a", "{}").await.code(), None);
    }
}

#[tokio::test]
async fn the_calls_of_a_scope_are_counted_in_that_scope() {
    let registry = registry(Mode::Both);
    register(&registry, &["a"]);
    let installed = policy(&limited("tools = 'a'\nmax-calls = 2\nper = 'scope'")).install(&registry);
    let child = registry.child("child").expect("shallow");
    assert_eq!(program(&registry, "a", 1).await, (1, 0));
    assert_eq!(call(&registry, "a", "{}").await.code(), None);
    let reason = "the limit in line 2 of the policy allows 2 calls in one scope";
    assert_denied(&*call(&registry, "a", "{}").await, reason);
    for _ in 0..2 {
        assert_eq!(call(&child, "a", "{}").await.code(), None);
    }
    assert_denied(&*call(&child, "a", "{}").await, reason);
    installed.remove();
    assert_eq!(call(&registry, "a", "{}").await.code(), None);
}

#[tokio::test]
async fn a_limit_can_mean_direct_or_nested_calls_alone() {
    let registry = registry(Mode::Both);
    register(&registry, &["a"]);
    policy(&limited("tools = 'a'\ncalls = 'direct'\nmax-calls = 1\nper = 'scope'")).install(&registry);
    assert_eq!(program(&registry, "a", 3).await, (3, 0));
    assert_eq!(call(&registry, "a", "{}").await.code(), None);
    assert_denied(
        &*call(&registry, "a", "{}").await,
        "the limit in line 2 of the policy allows 1 call in one scope",
    );
}

#[tokio::test]
async fn what_is_denied_does_not_count() {
    let registry = registry(Mode::Both);
    register(&registry, &["a", "b"]);
    let guard = registry.guard(|call| if call.name() == "a" { Verdict::deny("not now") } else { Verdict::Pass });
    let text = "default = 'allow'
        rule = [{ action = 'deny', tools = '*', when = { pointer = '/bad', present = true }, reason = 'bad' }]
        limit = [
            { tools = '*', max-calls = 2, per = 'scope', reason = 'both' },
            { tools = 'b', max-calls = 1, per = 'scope', reason = 'b alone' },
        ]";
    policy(text).install(&registry);
    for _ in 0..3 {
        assert_denied(&*call(&registry, "a", "{}").await, "not now");
        assert_denied(&*call(&registry, "b", r#"{"bad": 1}"#).await, "bad");
    }
    guard.remove();
    assert_eq!(call(&registry, "b", "{}").await.code(), None);
    for _ in 0..3 {
        assert_denied(&*call(&registry, "b", "{}").await, "b alone");
    }
    assert_eq!(call(&registry, "a", "{}").await.code(), None);
    assert_denied(&*call(&registry, "a", "{}").await, "both");
}

#[tokio::test]
async fn nobody_is_asked_once_a_limit_is_used_up() {
    let person = Person::saying(ApprovalAnswer::AllowedOnce);
    let registry = asking(&person, &["a"]);
    policy(
        "default = 'allow'\nrule = [{ action = 'ask', tools = 'a', reason = 'why' }]
        limit = [{ tools = 'a', max-calls = 1, per = 'scope', reason = 'used up' }]",
    )
    .install(&registry);
    assert_eq!(call_for_somebody(&registry, "a", "{}").await.code(), None);
    assert_denied(&*call_for_somebody(&registry, "a", "{}").await, "used up");
    assert_eq!(person.asked(), [question("a", "why")]);
}

#[tokio::test]
async fn rejected_calls_do_not_count() {
    let person = Person::saying(ApprovalAnswer::Rejected(None));
    let registry = asking(&person, &["a"]);
    policy("default = 'ask'\nlimit = [{ tools = 'a', max-calls = 1, per = 'scope', reason = 'used up' }]")
        .install(&registry);
    for _ in 0..3 {
        assert_denied(&*call_for_somebody(&registry, "a", "{}").await, "a person said no");
    }
    assert_eq!(person.asked().len(), 3);
}

/// Four runs at once, each with 200 calls at once: how many calls each of them had denied.
async fn stampede(limits: &str) -> Vec<u64> {
    let registry = Registry::new();
    register(&registry, &["leaf"]);
    let fan = echo("fan").body(async |_, context: ToolContext| {
        let calls = (0..200).map(|_| {
            let context = context.clone();
            tokio::spawn(async move { context.invoke("leaf", "{}").await.code() })
        });
        let codes = join_all(calls).await.into_iter().map(|code| code.expect("no panic"));
        Ok(Value::from(codes.filter(|code| *code == Some(ErrorCode::Denied)).count()))
    });
    registry.register(fan).expect("valid").keep();
    policy(&format!("default = 'allow'\n{limits}")).install(&registry);
    let runs = (0..4).map(|_| {
        let registry = registry.clone();
        tokio::spawn(async move { call(&registry, "fan", "{}").await })
    });
    let results = join_all(runs).await.into_iter().map(|result| result.expect("no panic"));
    results.map(|result| result.value().and_then(Value::as_u64).expect("a number")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn counts_are_exact_however_many_calls_are_made_at_once() {
    let run = "[[limit]]\ntools = 'leaf'\nmax-calls = 50\nper = 'run'\n";
    let scope = "[[limit]]\ntools = 'leaf'\nmax-calls = 120\nper = 'scope'\n";
    assert_eq!(stampede(run).await, [150; 4]);
    assert_eq!(stampede(scope).await.iter().sum::<u64>(), 800 - 120);
    let both = stampede(&format!("{run}{scope}")).await;
    assert!(both.iter().all(|denied| *denied >= 150), "{both:?}");
    assert_eq!(both.iter().sum::<u64>(), 800 - 120);
}
