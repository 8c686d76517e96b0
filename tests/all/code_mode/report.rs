//! The run report beside every result of `run_code`, and its arguments (CM-01, OS-01).

use hotcell::code_mode::RunEvents;
use hotcell::execution::{CallRequest, ErrorCode, PostDecision, ToolContext, ToolResult, Verdict};
use hotcell::json::{self, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::Registry;
use hotcell::tool::BodyError;
use tokio_util::sync::CancellationToken;

use super::plan::{Subject, scripted};
use super::rig::{builder, cancellable, registry, request, run, with_each};
use crate::tools::{call, echo, failure, value};

/// The report with every time set to zero.
fn report(result: &ToolResult) -> String {
    let report = json::encode(&result.run_report().expect("the call was to run a program"));
    let mut report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let mask = |time: &mut serde_json::Value| {
        assert!(time.as_f64().is_some_and(|time| time >= 0.0), "{time} is no time");
        *time = 0.into();
    };
    for name in ["compute_ms", "wall_ms", "approval_ms"] {
        mask(&mut report["timings"][name]);
    }
    for call in report["calls"].as_array_mut().expect("an array") {
        mask(&mut call["ms"]);
    }
    report.to_string()
}

/// The end of every report.
fn rest(subject: &Subject) -> String {
    let guest = subject.runtime.guest();
    format!(
        r#""timings":{{"compute_ms":0,"wall_ms":0,"approval_ms":0}},"guest":{{"language":"{}","name":"{}","version":"{}","digest":"{}"}}"#,
        guest.language, guest.name, guest.version, guest.digest
    )
}

fn prepare(registry: &Registry) {
    registry.register(echo("echo")).expect("valid").keep();
    registry.register(echo("fails").body(async |_, _| Err(BodyError::new("no")))).expect("valid").keep();
    let hangs = echo("hangs").body(async |_, context: ToolContext| {
        context.cancel().cancelled().await;
        Ok(Value::Null)
    });
    registry.register(hangs).expect("valid").keep();
}

#[tokio::test]
async fn os_01_the_report_of_a_scripted_run_is_exactly_this() {
    let subject = scripted();
    let registry = registry(&subject);
    prepare(&registry);
    let plan = r#"[["log", "one"], ["call", "a", "echo", {"x": 1}], ["start", "b", "fails", {}], ["try", "b"],
        ["return", {"of": "a"}]]"#;
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        concat!(
            r#"{{"status":"completed","result":{{"x":1}},"logs":["one"],"calls":["#,
            r#"{{"id":"run:code:1","name":"echo","state":"done","ms":0}},"#,
            r#"{{"id":"run:code:2","name":"fails","state":"failed","ms":0}}],"#,
            r#""timings":{{"compute_ms":0,"wall_ms":0,"approval_ms":0}},"#,
            r#""guest":{{"language":"javascript","name":"scripted","version":"{}","digest":""}}}}"#,
        ),
        version
    );
    assert_eq!(report(&*run(&subject, &registry, plan).await), expected);
}

#[tokio::test]
async fn cm_01_every_result_carries_the_report_of_its_run() {
    with_each(async |subject| {
        let registry = registry(subject);
        prepare(&registry);
        let rest = rest(subject);
        let result = run(subject, &registry, r#"[["log", "one"]]"#).await;
        assert_eq!(report(&result), format!(r#"{{"status":"completed","logs":["one"],"calls":[],{rest}}}"#));
        let result = run(subject, &registry, r#"[["return", null]]"#).await;
        assert_eq!(
            report(&result),
            format!(r#"{{"status":"completed","result":null,"logs":[],"calls":[],{rest}}}"#)
        );

        let result = run(subject, &registry, r#"[["log", "one"], ["throw", "broken"]]"#).await;
        let message = &result.run_facts().and_then(|facts| facts.failure.as_ref()).expect("it failed").message;
        assert!(message.starts_with("Error: broken"), "{message}");
        let message = json::encode(&Value::from(message.as_str()));
        let failure = format!(r#"{{"code":"CODE_RUN_FAILED","kind":"exception","message":{message}}}"#);
        let expected = format!(r#"{{"status":"failed","logs":["one"],"failure":{failure},"calls":[],{rest}}}"#);
        assert_eq!(report(&result), expected);

        let result = run(subject, &registry, r#"[["start", "a", "hangs", {}], ["call", "b", "echo", {}]]"#).await;
        let calls = concat!(
            r#"{"id":"run:code:1","name":"hangs","state":"cancelled","ms":0},"#,
            r#"{"id":"run:code:2","name":"echo","state":"done","ms":0}"#
        );
        let notes = r#""notes":["still running when the program ended: hangs"]"#;
        assert_eq!(
            report(&result),
            format!(r#"{{"status":"completed","logs":[],"calls":[{calls}],{rest},{notes}}}"#)
        );
    })
    .await;
}

#[tokio::test]
async fn cm_01_an_aborted_run_reports_what_it_did() {
    with_each(async |subject| {
        let registry = registry(subject);
        prepare(&registry);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let stops = echo("stops").body(move |_, context: ToolContext| {
            stop.cancel();
            async move {
                context.cancel().cancelled().await;
                Ok(Value::Null)
            }
        });
        registry.register(stops).expect("valid").keep();
        let plan = r#"[["log", "one"], ["call", "a", "echo", {}], ["call", "b", "stops", {}], ["return", 7]]"#;
        let result = registry.call(cancellable(subject, plan, &cancel)).await;
        let failure = r#"{"code":"CODE_RUN_FAILED","kind":"abort","message":"the caller cancelled the run"}"#;
        let calls = concat!(
            r#"{"id":"run:code:1","name":"echo","state":"done","ms":0},"#,
            r#"{"id":"run:code:2","name":"stops","state":"cancelled","ms":0}"#
        );
        let rest = rest(subject);
        let notes = r#""notes":["still running when the program ended: stops"]"#;
        let expected = format!(
            r#"{{"status":"failed","logs":["one"],"failure":{failure},"calls":[{calls}],{rest},{notes}}}"#
        );
        assert_eq!(report(&result), expected);
        // Cancelled before it began, it did nothing.
        let result = registry.call(cancellable(subject, plan, &cancel)).await;
        let failure =
            r#"{"code":"ABORTED_BEFORE_DISPATCH","message":"the call was cancelled before it was dispatched"}"#;
        let expected = format!(r#"{{"status":"failed","logs":[],"failure":{failure},"calls":[],{rest}}}"#);
        assert_eq!(report(&result), expected);
    })
    .await;
}

#[tokio::test]
async fn os_01_without_a_program_there_is_no_kind() {
    with_each(async |subject| {
        let registry = registry(subject);
        let rest = rest(subject);
        let reported = |result: &ToolResult, code: &str| {
            let message = json::encode(&Value::from(failure(result).1));
            let failure = format!(r#"{{"code":"{code}","message":{message}}}"#);
            let expected = format!(r#"{{"status":"failed","logs":[],"failure":{failure},"calls":[],{rest}}}"#);
            assert_eq!(report(result), expected);
            assert_eq!(result.run_facts().expect("empty ones").failure, None);
        };
        let native = registry.child("native").expect("a scope");
        native.present_as(hotcell::registry::Mode::Native).expect("the first");
        let stamp = native.stamp().expect("nothing to present");
        let plan = r#"[["return", 7]]"#;
        reported(&*registry.call(request(subject, plan).with_stamp(&stamp)).await, "LANGUAGE_MISMATCH");
        reported(&*call(&registry, "run_code", "{}").await, "INVALID_ARGS");
        let guard = registry.guard(|_| Verdict::deny("not today"));
        reported(&*run(subject, &registry, plan).await, "DENIED");
        guard.remove();
        registry.on_post_execute(async |_, _, _| Ok(PostDecision::block("withheld")));
        let result = run(subject, &registry, plan).await;
        let message = r#"{"code":"BLOCKED","message":"withheld"}"#;
        let expected = format!(r#"{{"status":"failed","logs":[],"failure":{message},"calls":[],{rest}}}"#);
        assert_eq!(report(&result), expected);
    })
    .await;
}

#[tokio::test]
async fn cm_01_calls_of_other_tools_have_no_report() {
    let registry = Registry::new();
    prepare(&registry);
    let result = call(&registry, "echo", "{}").await;
    assert_eq!((result.run_report(), result.run_facts().is_none()), (None, true));
}

#[tokio::test]
async fn cm_01_both_arguments_are_required_and_neither_may_be_blank() {
    with_each(async |subject| {
        let registry = registry(subject);
        let code = |code: &str, description: &str| {
            let object: json::Object = [("code", code), ("description", description)]
                .into_iter()
                .map(|(key, text)| (key.to_owned(), Value::from(text)))
                .collect();
            Value::from(object)
        };
        let request = |arguments: Value| CallRequest::new("run_code", arguments, CancellationToken::new());
        let program = subject.program(r#"[["return", 7]]"#);
        assert!(registry.call(request(code(&program, "x"))).await.outcome().is_ok());
        for arguments in [code(&program, ""), code(&program, " \n\t"), code("", "x"), code(" \n", "x")] {
            assert_eq!(registry.call(request(arguments)).await.code(), Some(ErrorCode::InvalidArgs));
        }
        for text in [
            "{}",
            r#"{"code": "return 1"}"#,
            r#"{"description": "x"}"#,
            r#"{"code": "return 1", "description": "x", "more": 1}"#,
            r#"{"code": 1, "description": "x"}"#,
        ] {
            assert_eq!(call(&registry, "run_code", text).await.code(), Some(ErrorCode::InvalidArgs), "{text}");
        }
    })
    .await;
}

#[tokio::test]
async fn cm_01_a_program_over_its_limit_is_an_invalid_argument() {
    with_each(async |subject| {
        let plan = r#"[["return", 7]]"#;
        let bytes = subject.program(plan).len() as u64;
        for (most, is_taken) in [(bytes + 1, true), (bytes, true), (bytes - 1, false)] {
            let limits = Limits::default().with(Limit::Program, most).expect("in bounds");
            let registry = builder(subject, &RunEvents::new()).limits(limits).build().expect("valid");
            let result = run(subject, &registry, plan).await;
            if is_taken {
                assert!(result.outcome().is_ok());
                continue;
            }
            let message = format!(
                "the program text is longer than the limit `program` of {} allows; do less in one run, or raise the \
                 limit `program` (it has {bytes} bytes)",
                Limit::Program.display(most)
            );
            assert_eq!(failure(&result), (ErrorCode::InvalidArgs, &*message));
        }
    })
    .await;
}

#[tokio::test]
async fn cm_15_the_card_of_a_run_shows_its_description_and_its_program() {
    with_each(async |subject| {
        let registry = registry(subject);
        let tool = registry.get("run_code").expect("programs can be run");
        let card = tool.present_call(&value(r#"{"code": "return 1", "description": "counts"}"#));
        assert_eq!(card, Some(value(r#"{"title": "counts", "input": "return 1"}"#)));
    })
    .await;
}
