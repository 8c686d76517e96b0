//! There is one pipeline: what a program calls passes the same stages as what a model calls, whichever guest runs the program.

use std::sync::Arc;

use hotcell::code_mode::{CodeMode, RunEvents};
use hotcell::execution::{Decision, ErrorCode};
use hotcell::json;
use hotcell::registry::Mode;
use hotcell::tool::Tool;

use super::rig::{self, calls, returned, with_each};
use crate::execution::log::{Log, observe};
use crate::execution::platform::{GOOD, Platform, scripts};
use crate::tools::{call, echo, failure, value};

#[tokio::test]
async fn pl_18_a_call_through_a_guest_leaves_the_trace_of_a_direct_one() {
    with_each(async |subject| {
        let mut compared = 0;
        for script in scripts() {
            // A program cannot write arguments that are no JSON, nor call anything before it runs.
            if script.cancelled || json::decode(script.arguments).is_err() {
                continue;
            }
            let direct = Platform::new(Mode::Native, script);
            direct.call().await;
            let mode = CodeMode::new(Arc::clone(&subject.runtime));
            let program = Platform::with_programs(Mode::Code, script, mode);
            let plan = format!(
                r#"[["start", "a", "{}", {}], ["try", "a"], ["return", {{"of": "a"}}]]"#,
                script.name, script.arguments
            );
            program.run(rig::arguments(subject, &plan)).await;
            let stripped = |platform: &Platform| {
                let mut seen = platform.seen(script.name);
                // The results themselves carry ids; their details are compared.
                seen.iter_mut().for_each(|seen| seen.result = None);
                seen
            };
            assert_eq!(stripped(&program), stripped(&direct), "{script:?}");
            compared += 1;
        }
        assert_eq!(compared, scripts().len() - 3);
    })
    .await;
}

#[tokio::test]
async fn the_trace_of_a_good_call_through_a_guest_has_every_stage() {
    with_each(async |subject| {
        let mode = CodeMode::new(Arc::clone(&subject.runtime));
        let platform = Platform::with_programs(Mode::Code, GOOD, mode);
        let plan = r#"[["call", "a", "tool", {"a": 1}], ["return", {"of": "a"}]]"#;
        platform.run(rig::arguments(subject, plan)).await;
        assert_eq!(platform.trace(), "listener guard around body post finalizer observer");
        assert_eq!(platform.seen("run_code").len(), 5);
    })
    .await;
}

/// Tools as a coding agent has them.
fn writer(name: &str, log: &Log) -> hotcell::tool::ToolBuilder {
    let log = log.clone();
    Tool::builder(name).parameters(r#"{"type": "object"}"#).output("true").body(move |arguments, context| {
        log.note(format!("{} runs", context.call().name()));
        async move { Ok(json::Value::clone(&arguments)) }
    })
}

#[tokio::test]
async fn what_a_model_is_not_told_it_cannot_call_and_its_programs_can_under_policy() {
    with_each(async |subject| {
        for (mode, told, direct) in [
            (Mode::Code, vec!["run_code"], Some(ErrorCode::UnknownTool)),
            (Mode::Both, vec!["bash", "read", "run_code", "write"], None),
        ] {
            let log = Log::default();
            let registry = rig::builder(subject, &RunEvents::new()).mode(mode).build().expect("valid");
            for name in ["write", "bash"] {
                registry.register(writer(name, &log)).expect("free").keep();
            }
            registry.register(echo("read")).expect("free").keep();
            let policy = log.clone();
            drop(
                registry.on_pre_execute(move |call, next| {
                    policy.note(format!("policy sees {}", call.name()));
                    async move {
                        if call.name() == "bash" { Ok(Decision::deny("no shell")) } else { Ok(next.run().await) }
                    }
                }),
            );
            observe(&registry, &log);
            let names: Vec<_> =
                registry.wire().expect("presentable").iter().map(|tool| tool.name.clone()).collect();
            assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), told);

            // Directly.
            let result = call(&registry, "write", r#"{"path": "a"}"#).await;
            assert_eq!(result.code(), direct);
            let expected: &[&str] = match direct {
                Some(_) => {
                    assert!(
                        failure(&result).1.starts_with("`write` cannot be called directly; only `run_code` can.")
                    );
                    &["observed write UNKNOWN_TOOL"]
                }
                None => &["policy sees write", "write runs", "observed write OK"],
            };
            assert_eq!(log.lines(), expected);

            // From a program.
            let plan = r#"[["call", "w", "write", {"path": "a"}], ["start", "b", "bash", {}], ["try", "b"],
                ["return", {"of": "b"}]]"#;
            let result = rig::run(subject, &registry, plan).await;
            assert_eq!(returned(&result), value(r#"{"failed": "the call of `bash` was denied: no shell"}"#));
            assert_eq!(calls(&result), ["write done", "bash failed"]);
            let lines = [
                "policy sees run_code",
                "policy sees write",
                "write runs",
                "observed write OK",
                "policy sees bash",
                "observed bash DENIED",
                "observed run_code OK",
            ];
            assert_eq!(log.lines()[expected.len()..], lines);
        }
    })
    .await;
}
