//! What cannot be seen through the public interface: that counts go when what they belong to is over.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::PolicyFile;
use crate::execution::{CallRequest, ErrorCode, ToolContext};
use crate::json::Value;
use crate::registry::{Registry, Scope};
use crate::tool::{BodyError, Tool};

const LIMITED: &str = "default = 'allow'\n[[limit]]\ntools = '*'\nmax-calls = 3\nper = ";

fn policy(per: &str) -> PolicyFile {
    PolicyFile::parse(&format!("{LIMITED}'{per}'")).expect("a valid policy")
}

fn request(name: &str) -> CallRequest {
    CallRequest::new(name, "{}", CancellationToken::new())
}

/// A registry with a tool `leaf`, and a tool `outer` that calls `leaf` as often, each time in the scope that is given.
fn registry(times: usize, inner: &Arc<Mutex<Option<Scope>>>, hook: impl Fn() + Send + Sync + 'static) -> Registry {
    let registry = Registry::new();
    let leaf = Tool::builder("leaf").parameters("true").output("true").body(async |_, _| Ok(Value::Null));
    registry.register(leaf).expect("valid").keep();
    let inner = Arc::clone(inner);
    let hook = Arc::new(hook);
    let outer = Tool::builder("outer").parameters("true").output("true").body(move |_, context: ToolContext| {
        let scope = inner.lock().expect("not poisoned").clone();
        let hook = Arc::clone(&hook);
        async move {
            let scope = scope.ok_or(BodyError::new("no scope"))?;
            let mut denied = 0;
            for _ in 0..times {
                let nested = request("leaf").with_parent(context.call().token());
                denied += i64::from(scope.call(nested).await.code() == Some(ErrorCode::Denied));
            }
            hook();
            Ok(Value::from(denied))
        }
    });
    registry.register(outer).expect("valid").keep();
    registry
}

#[tokio::test]
async fn a_runs_count_goes_with_its_result() {
    let inner = Arc::default();
    let seen: Arc<Mutex<Vec<(usize, usize)>>> = Arc::default();
    let slot: Arc<Mutex<Option<Arc<super::Enforced>>>> = Arc::default();
    let hook = {
        let (seen, slot) = (Arc::clone(&seen), Arc::clone(&slot));
        move || {
            let enforced = slot.lock().expect("not poisoned").clone().expect("installed");
            seen.lock().expect("not poisoned").push(enforced.counts.len());
        }
    };
    let registry = registry(4, &inner, hook);
    *inner.lock().expect("not poisoned") = Some(registry.global().clone());
    let (_, enforced) = policy("run").enforce(&registry, None);
    *slot.lock().expect("not poisoned") = Some(Arc::clone(&enforced));
    for _ in 0..2 {
        let result = registry.call(request("outer")).await;
        assert_eq!(result.value(), Some(&Value::from(1)));
        assert_eq!(enforced.counts.len(), (0, 0));
    }
    assert_eq!(*seen.lock().expect("not poisoned"), [(1, 0), (1, 0)]);
}

#[tokio::test]
async fn counts_of_runs_that_end_elsewhere_are_swept() {
    let inner = Arc::default();
    let registry = registry(1, &inner, || ());
    let child = registry.child("child").expect("shallow");
    *inner.lock().expect("not poisoned") = Some(child.clone());
    // The outermost call is above the policy, whose observer does not see its end.
    let (_, enforced) = policy("run").enforce(&child, None);
    for run in 1..=500 {
        assert_eq!(registry.call(request("outer")).await.value(), Some(&Value::from(0)));
        assert_eq!(enforced.counts.len(), (if run < 64 { run } else { (run - 64) % 63 + 1 }, 0), "{run}");
    }
}

#[tokio::test]
async fn counts_of_scopes_that_are_gone_are_swept() {
    let registry = registry(0, &Arc::default(), || ());
    let (_, enforced) = policy("scope").enforce(&registry, None);
    for number in 1..=200 {
        let scope = registry.child("short-lived").expect("shallow");
        assert_eq!(scope.call(request("leaf")).await.code(), None);
        assert_eq!(
            enforced.counts.len(),
            (0, if number < 64 { number } else { (number - 64) % 63 + 1 }),
            "{number}"
        );
    }
}

#[tokio::test]
async fn a_policy_keeps_no_registry_alive() {
    let inner = Arc::default();
    let registry = registry(2, &inner, || ());
    let child = registry.child("child").expect("shallow");
    *inner.lock().expect("not poisoned") = Some(child.clone());
    let enforced = ["run", "scope"].map(|per| Arc::downgrade(&policy(per).enforce(&child, None).1));
    assert_eq!(registry.call(request("outer")).await.value(), Some(&Value::from(0)));
    assert!(enforced.iter().all(|enforced| enforced.strong_count() > 0));
    *inner.lock().expect("not poisoned") = None;
    drop((child, registry));
    assert!(enforced.iter().all(|enforced| enforced.strong_count() == 0));
}
