//! `--json`: the run report, whole, with only its times and the guest's digest replaced.

use hotcell::json::{self, Object, Value};

use super::{Seen, directory, run, run_in};

const GUEST: &str = r#""guest":{"language":"javascript","name":"quickjs-ng","version":"0.16.2","digest":"D"}"#;
const TIMINGS: &str = r#""timings":{"compute_ms":0.0,"wall_ms":0.0,"approval_ms":0.0}"#;

/// The one line on stdout, decoded, with times as 0.0 and the digest as `D`.
#[track_caller]
fn normalized(seen: &Seen) -> String {
    let line = seen.stdout.strip_suffix('\n').expect("one line");
    let report = json::decode(line).expect("the report is JSON");
    assert_eq!(json::encode(&report), line, "the report is compact");
    json::encode(&replace(report))
}

fn replace(value: Value) -> Value {
    match value {
        Value::Object(object) => object
            .into_iter()
            .map(|(key, value)| match (key.as_str(), &value) {
                ("ms" | "compute_ms" | "wall_ms" | "approval_ms", Value::Float(_)) => {
                    (key, Value::try_from(0.0).expect("zero is finite"))
                }
                ("digest", Value::String(digest)) if digest.len() == 64 => (key, Value::from("D")),
                _ => (key, replace(value)),
            })
            .collect::<Object>()
            .into(),
        Value::Array(array) => array.into_iter().map(replace).collect::<json::Array>().into(),
        scalar => scalar,
    }
}

#[test]
fn os_01_a_completed_run() {
    let directory = directory(&[("a.txt", b"text")]);
    let code = "\
        console.log('one'); console.log('two');\n\
        const text = await tools.fs_read({ path: 'd/a.txt' });\n\
        await tools.fs_read({ path: 'd/b.txt' }).catch(() => {});\n\
        return { text, exact: 12345678901234567890n }";
    let seen = run_in(directory.path(), &["run", "--json", "-e", code, "--dir", "d=."]);
    let calls = concat!(
        r#"{"id":"run:code:1","name":"fs_read","state":"done","ms":0.0},"#,
        r#"{"id":"run:code:2","name":"fs_read","state":"failed","ms":0.0}"#
    );
    let expected = format!(
        r#"{{"status":"completed","result":{{"text":"text","exact":12345678901234567890}},"logs":["one","two"],"calls":[{calls}],{TIMINGS},{GUEST}}}"#
    );
    assert_eq!(normalized(&seen), expected);
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), "one\ntwo\n"));
}

#[test]
fn os_01_a_run_that_returned_nothing() {
    let seen = run(&["run", "--json", "--quiet", "-e", "console.log('one')"]);
    let expected = format!(r#"{{"status":"completed","logs":["one"],"calls":[],{TIMINGS},{GUEST}}}"#);
    assert_eq!(normalized(&seen), expected);
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""));
}

#[test]
fn os_01_failed_runs() {
    let limit = "the program computed for longer than the limit `compute` of 50ms allows; do less in one run, or raise \
                 the limit `compute`";
    for (code, exit, kind, message) in [
        ("throw new Error('no')", 1, "exception", "Error: no\\n    at <program> (program.js:1:11)"),
        ("for (;;);", 3, "timeout", limit),
    ] {
        let seen = run(&["run", "--json", "-e", code, "--compute", "50ms"]);
        let failure = format!(r#"{{"code":"CODE_RUN_FAILED","kind":"{kind}","message":"{message}"}}"#);
        let expected =
            format!(r#"{{"status":"failed","logs":[],"failure":{failure},"calls":[],{TIMINGS},{GUEST}}}"#);
        assert_eq!(normalized(&seen), expected);
        assert_eq!((seen.code, seen.stderr.as_str()), (Some(exit), ""));
    }
}

#[test]
fn misuse_prints_no_report() {
    let seen = run(&["run", "--json", "none.js"]);
    let stderr = "error: cannot read the program `none.js`: No such file or directory (os error 2)\n";
    assert_eq!(seen, super::seen(2, "", stderr));
}
