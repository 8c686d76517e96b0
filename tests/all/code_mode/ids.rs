//! What identifies the calls of a program: ids, idempotency keys, tokens, and the list in the result (CM-08, CM-16, CM-18).

use std::sync::{Arc, Mutex};

use hotcell::execution::{CallInfo, CallRequest, ExecutionToken, ToolContext};
use hotcell::json::{self, Value};
use hotcell::registry::{Nesting, Registry};
use hotcell::tool::{BodyError, Tool};
use tokio_util::sync::CancellationToken;

use super::doors::Log;
use super::plan::Subject;
use super::rig::{calls, registry, request, with_each};
use crate::tools::{echo, failure};

fn known_by(call: &CallInfo) -> String {
    format!("{} {} {}", call.name(), call.id(), call.idempotency_key().unwrap_or("none"))
}

/// A registry whose bodies, listeners, guards and observers note how calls are known.
fn watched(subject: &Subject) -> (Registry, Log) {
    let (registry, log) = (registry(subject), Log::default());
    let noted = log.clone();
    registry.on_pre_execute(move |call, next| {
        noted.note(format!("listener {}", known_by(&call)));
        async { Ok(next.run().await) }
    });
    let noted = log.clone();
    registry.on_result(move |call, result| {
        assert_eq!(result.id(), call.id());
        noted.note(format!("observer {}", known_by(call)));
    });
    let noted = log.clone();
    let tool = echo("tool").body(move |arguments, context| {
        noted.note(format!("body {}", known_by(context.call())));
        async move { Ok(Value::clone(&arguments)) }
    });
    registry.register(tool).expect("valid").keep();
    (registry, log)
}

const TWO: &str =
    r#"[["call", "a", "tool", {}], ["start", "b", "absent", {}], ["try", "b"], ["call", "c", "tool", {}]]"#;

/// The notes of [`TWO`], for a run of this id and key.
fn notes(id: &str, of: &str, key: &str) -> Vec<String> {
    let line = |what: &str, n: u32| format!("{what} {id}:code:{n} {key}:code:{n}");
    let tool = |n| ["listener tool", "body tool", "observer tool"].map(|what| line(what, n));
    let mut notes = vec![format!("listener run_code {id} {of}")];
    notes.extend(tool(1));
    notes.extend([line("listener absent", 2), line("observer absent", 2)]);
    notes.extend(tool(3));
    notes.push(format!("observer run_code {id} {of}"));
    notes
}

#[tokio::test]
async fn cm_08_calls_are_numbered_below_their_run_and_cm_18_so_are_their_keys() {
    with_each(async |subject| {
        let (registry, log) = watched(subject);
        // Tried again, the same call has the same keys.
        for _ in 0..2 {
            let result = registry.call(request(subject, TWO)).await;
            assert_eq!(calls(&result), ["tool done", "absent failed", "tool done"]);
        }
        let mut expected = notes("run", "run", "run");
        expected.extend(notes("run", "run", "run"));
        assert_eq!(log.lines(), expected);
    })
    .await;
}

#[tokio::test]
async fn cm_18_a_key_of_the_platform_goes_before_its_id() {
    with_each(async |subject| {
        let (registry, log) = watched(subject);
        registry.call(request(subject, TWO).with_idempotency_key("chat 7, call 3")).await;
        assert_eq!(log.lines(), notes("run", "chat 7, call 3", "chat 7, call 3"));
    })
    .await;
}

#[tokio::test]
async fn cm_18_without_an_id_of_the_platform_keys_are_good_for_one_run() {
    with_each(async |subject| {
        let (registry, log) = watched(subject);
        let code = json::encode(&Value::from(subject.program(TWO)));
        let arguments = format!(r#"{{"code": {code}, "description": "a test"}}"#);
        let mut prefixes = Vec::new();
        for run in ["call-1", "call-2"] {
            registry.call(CallRequest::new("run_code", arguments.as_str(), CancellationToken::new())).await;
            let lines = log.lines();
            let first = lines.iter().rev().find(|line| line.starts_with("body tool")).expect("it ran");
            let key = first.rsplit(' ').next().and_then(|key| key.strip_suffix(":code:3")).expect("a key");
            assert!(key.len() == "run-".len() + 32 && key.starts_with("run-"), "{key}");
            let expected = notes(run, "none", key);
            assert_eq!(lines[lines.len() - expected.len()..], expected);
            prefixes.push(key.to_owned());
        }
        assert_ne!(prefixes[0], prefixes[1]);
    })
    .await;
}

#[tokio::test]
async fn cm_18_calls_below_a_call_of_a_program_have_the_key_that_they_are_given() {
    with_each(async |subject| {
        let (registry, log) = watched(subject);
        let outer = echo("outer").body(async |_, context: ToolContext| {
            let key = format!("{}/1", context.call().idempotency_key().expect("a program's call has one"));
            let inner = CallRequest::new("tool", "{}", context.cancel().clone()).with_parent(context.token());
            context.call().scope().call(inner.with_id("inner").with_idempotency_key(key)).await;
            context.invoke("tool", "{}").await;
            Ok(Value::Null)
        });
        registry.register(outer).expect("valid").keep();
        registry.call(request(subject, r#"[["call", "a", "outer", {}]]"#)).await;
        let bodies: Vec<String> = log.lines().into_iter().filter(|line| line.starts_with("body")).collect();
        // Without an id of the platform there is nothing that would be the same when it is tried again.
        assert_eq!(bodies, ["body tool inner run:code:1/1", "body tool call-1 none"]);
    })
    .await;
}

#[tokio::test]
async fn pl_03_all_calls_below_a_program_know_their_parent_and_their_run() {
    with_each(async |subject| {
        let registry = registry(subject);
        let seen: Arc<Mutex<Vec<Arc<CallInfo>>>> = Arc::default();
        let noted = Arc::clone(&seen);
        registry.on_pre_execute(move |call, next| {
            noted.lock().expect("not poisoned").push(call);
            async { Ok(next.run().await) }
        });
        registry.register(echo("tool")).expect("valid").keep();
        let outer = echo("outer").body(async |_, context: ToolContext| {
            context.invoke("tool", "{}").await;
            Ok(Value::Null)
        });
        registry.register(outer).expect("valid").keep();
        registry.call(request(subject, r#"[["call", "a", "outer", {}]]"#)).await;
        let seen = seen.lock().expect("not poisoned");
        let [run, outer, inner] = &seen[..] else { panic!("three calls: {seen:?}") };
        assert_eq!((run.name(), run.nesting(), run.parent()), ("run_code", Nesting::Direct, None));
        assert_eq!(run.root(), run.token());
        for (call, name, parent) in [(outer, "outer", run), (inner, "tool", outer)] {
            assert_eq!((call.name(), call.parent()), (name, Some(parent.token())));
            assert_eq!(call.nesting(), Nesting::Nested { in_program: true });
            assert_eq!(call.root(), run.token());
        }
    })
    .await;
}

#[tokio::test]
async fn pl_03_the_token_of_a_program_that_has_ended_confers_nothing() {
    with_each(async |subject| {
        let registry = registry(subject);
        let kept: Arc<Mutex<Option<ExecutionToken>>> = Arc::default();
        let keeps = Arc::clone(&kept);
        let tool = echo("tool").body(move |_, context: ToolContext| {
            *keeps.lock().expect("not poisoned") = context.call().parent().cloned();
            async { Ok(Value::Null) }
        });
        registry.register(tool).expect("valid").keep();
        // Dead in the run's own post-execute already.
        let (tried, late) = (Log::default(), Arc::clone(&kept));
        let noted = tried.clone();
        registry.on_post_execute(move |call, _, next| {
            let (noted, late) = (noted.clone(), late.lock().expect("not poisoned").clone());
            async move {
                if call.name() == "run_code" {
                    let request = CallRequest::new("tool", "{}", CancellationToken::new());
                    let request = request.with_parent(&late.expect("the program called"));
                    noted.note(call.scope().call(request).await.code().map_or("OK", |code| code.as_str()));
                }
                Ok(next.run().await)
            }
        });
        registry.call(request(subject, r#"[["call", "a", "tool", {}]]"#)).await;
        assert_eq!(tried.lines(), ["UNKNOWN_TOOL"]);
        let token = kept.lock().expect("not poisoned").clone().expect("the program called");
        let request = CallRequest::new("tool", "{}", CancellationToken::new()).with_parent(&token);
        let result = registry.call(request).await;
        let (_, message) = failure(&result);
        assert!(message.starts_with("`tool` cannot be called directly; only `run_code` can."), "{message}");
    })
    .await;
}

#[tokio::test]
async fn cm_16_the_list_of_calls_is_in_the_order_of_submission_with_how_each_ended() {
    with_each(async |subject| {
        let registry = registry(subject);
        let fails = Tool::builder("fails").parameters("{}").output("{}").concurrency_safe(|_| true);
        let hangs = Tool::builder("hangs").parameters("{}").output("{}").concurrency_safe(|_| true);
        let hangs = hangs.body(async |_, context: ToolContext| {
            context.cancel().cancelled().await;
            Ok(Value::Null)
        });
        registry.register(fails.body(async |_, _| Err(BodyError::new("no")))).expect("valid").keep();
        registry.register(hangs).expect("valid").keep();
        registry.register(echo("echo")).expect("valid").keep();
        let lone = Tool::builder("lone").parameters("{}").output("{}");
        registry.register(lone.body(async |_, _| Ok(Value::Null))).expect("valid").keep();
        let steps = r#"["start", "h", "hangs", {}], ["start", "f", "fails", {}], ["try", "f"], ["call", "e", "echo", {}],
            ["start", "l", "lone", {}], ["start", "m", "echo", {}]"#;
        for end in [r#"["return", 1]"#, r#"["throw", "broken"]"#] {
            let result = registry.call(request(subject, &format!("[{steps}, {end}]"))).await;
            let list = ["hangs cancelled", "fails failed", "echo done", "lone not-started", "echo not-started"];
            assert_eq!(calls(&result), list);
            let facts = result.run_facts().expect("a program ran");
            assert_eq!(facts.calls.iter().map(|call| call.ordinal).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
            let abandoned: Vec<bool> = facts.calls.iter().map(|call| call.abandoned).collect();
            assert_eq!(abandoned, [true, false, false, true, true]);
            let took: Vec<bool> = facts.calls.iter().map(|call| call.elapsed.is_zero()).collect();
            assert_eq!(took, [false, false, false, true, true]);
            let report = result.run_report().expect("a program ran");
            let ids: Vec<&Value> = report.get("calls").and_then(Value::as_array).into_iter().flatten().collect();
            let ids: Vec<Option<&Value>> = ids.into_iter().map(|call| call.get("id")).collect();
            let expected: Vec<Value> = (1..=5).map(|n| Value::from(format!("run:code:{n}"))).collect();
            assert_eq!(ids, expected.iter().map(Some).collect::<Vec<_>>());
        }
    })
    .await;
}
