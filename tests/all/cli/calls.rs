//! `hotcell call`, and what mode and policy do to it and to programs.

use super::{directory, run_in, seen};

const DATA: &str = "data=.";

/// Runs the command in a directory with `a.txt`, with it granted as `data`, and with this policy.
fn with_policy(policy: &str, arguments: &[&str]) -> super::Seen {
    let directory = directory(&[("a.txt", b"text"), ("policy.toml", policy.as_bytes())]);
    run_in(directory.path(), &[arguments, &["--dir", DATA, "--policy", "policy.toml"]].concat())
}

fn without_policy(arguments: &[&str]) -> super::Seen {
    with_policy("default = \"allow\"", arguments)
}

const READ: [&str; 3] = ["call", "fs_read", r#"{"path": "data/a.txt"}"#];

#[test]
fn pl_02_a_native_tool_cannot_be_called_directly_in_mode_code() {
    let refused = "error: UNKNOWN_TOOL: `fs_read` cannot be called directly; only `run_code` can. Call it from inside a \
                   program that you pass to `run_code`, for example: return await tools[\"fs_read\"]({ … })\n";
    assert_eq!(without_policy(&READ), seen(4, "", refused));
    assert_eq!(without_policy(&[&READ[..], &["--mode", "code"]].concat()), seen(4, "", refused));
    for mode in ["native", "both"] {
        assert_eq!(without_policy(&[&READ[..], &["--mode", mode]].concat()), seen(0, "text\n", ""), "{mode}");
    }
    let unknown = "error: UNKNOWN_TOOL: unknown tool `fs_red`\n";
    assert_eq!(without_policy(&["call", "fs_red"]), seen(4, "", unknown));
}

#[test]
fn pr_01_there_are_no_programs_in_mode_native() {
    let unknown = "error: UNKNOWN_TOOL: unknown tool `run_code`\n";
    assert_eq!(without_policy(&["run", "-e", "return 1", "--mode", "native"]), seen(4, "", unknown));
    assert_eq!(without_policy(&["run", "-e", "return 1", "--mode", "both"]), seen(0, "1\n", ""));
}

#[test]
fn os_02_a_called_tool_that_fails_exits_with_1_and_arguments_it_does_not_take_with_2() {
    let native = |arguments: &[&str]| without_policy(&[arguments, &["--mode", "native"]].concat());
    let missing = native(&["call", "fs_read", r#"{"path": "data/b.txt"}"#]);
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(1), ""));
    assert!(missing.stderr.starts_with("error: TOOL_FAILED: "), "{}", missing.stderr);
    let invalid = "error: INVALID_ARGS: the arguments of `fs_read` are not valid:\n$: missing property \"path\"\n";
    assert_eq!(native(&["call", "fs_read"]), seen(2, "", invalid));
    let twice = native(&["call", "fs_read", r#"{"path": "a", "path": "b"}"#]);
    assert_eq!((twice.code, twice.stdout.as_str()), (Some(2), ""));
    let json = native(&["call", "fs_read", "--json"]);
    let report = "{\"status\":\"failed\",\"failure\":{\"code\":\"INVALID_ARGS\",\"message\":\"the arguments of `fs_read` \
                  are not valid:\\n$: missing property \\\"path\\\"\"}}\n";
    assert_eq!(json, seen(2, report, ""));
}

#[test]
fn cm_01_run_code_can_be_called_like_any_tool() {
    let arguments = r#"{"code": "console.log('one'); return [1]", "description": "a test"}"#;
    assert_eq!(without_policy(&["call", "run_code", arguments]), seen(0, "[\n  1\n]\n", "one\n"));
    let blank = r#"{"code": " \n", "description": "a test"}"#;
    let refused = without_policy(&["call", "run_code", blank]);
    assert_eq!(refused.code, Some(2));
}

const GUARDED: &str = r#"
default = "allow"

[[rule]]
action = "deny"
tools = "fs_list"
reason = "nobody lists"

[[rule]]
action = "ask"
tools = "fs_read"
"#;

#[test]
fn a_policy_judges_the_calls_of_a_program_which_can_catch_a_denial() {
    let code = "try { await tools.fs_list({ path: '' }) } catch (error) { return error.message }";
    let denied = "the call of `fs_list` was denied: nobody lists\n";
    assert_eq!(with_policy(GUARDED, &["run", "-e", code]), seen(0, denied, ""));
    let direct = "error: DENIED: the call of `fs_list` was denied: nobody lists\n";
    let call = ["call", "fs_list", r#"{"path": ""}"#, "--mode", "native"];
    assert_eq!(with_policy(GUARDED, &call), seen(4, "", direct));
}

#[test]
fn a_policy_judges_the_program_itself_before_it_runs() {
    let policy = "default = \"allow\"\n[[rule]]\naction = \"deny\"\ntools = \"run_code\"\nwhen = [{ pointer = \"/code\", glob = \
                  \"*forbidden*\" }]";
    let code = "console.log('forbidden'); return 1";
    let denied = "error: DENIED: the call of `run_code` was denied: the rule in line 2 of the policy denies it\n";
    assert_eq!(with_policy(policy, &["run", "-e", code]), seen(4, "", denied));
    assert_eq!(with_policy(policy, &["run", "-e", "return 1"]), seen(0, "1\n", ""));
}

#[test]
fn pl_09_without_a_terminal_what_needs_approval_is_denied_with_the_reason() {
    let code = "try { await tools.fs_read({ path: 'data/a.txt' }) } catch (error) { return error.message }";
    let denied = "the call of `fs_read` was denied: it needs approval, and nobody can be asked: there is no terminal to ask \
                  on\n";
    assert_eq!(with_policy(GUARDED, &["run", "-e", code]), seen(0, denied, ""));
}

#[test]
fn a_trace_shows_every_decision_with_its_rule_and_how_each_call_ended() {
    let code = "console.log('hi'); await tools.fs_stat({ path: 'data' }); await tools.fs_list({ path: '' })";
    let traced = with_policy(GUARDED, &["run", "-e", code, "--trace"]);
    let expected = "trace: run run_code: allowed by the default\n\
                    hi\n\
                    trace: run:code:1 fs_stat: allowed by the default\n\
                    trace: run:code:1 fs_stat: succeeded\n\
                    trace: run:code:2 fs_list: denied by the rule in line 4: nobody lists\n\
                    trace: run:code:2 fs_list: DENIED: the call of `fs_list` was denied: nobody lists\n\
                    trace: run run_code: CODE_RUN_FAILED: code run failed (exception): ToolCallError: the call of `fs_list` was \
                    denied: nobody lists\n\
                    error: exception: ToolCallError: the call of `fs_list` was denied: nobody lists\n    at <program> \
                    (program.js:1:70)\ncalls made:\n  completed: fs_stat\n  failed: fs_list\n";
    assert_eq!(traced, seen(1, "", expected));
}

#[test]
fn a_policy_that_cannot_be_used_is_misuse_and_named() {
    let broken = with_policy("default = \"perhaps\"", &["run", "-e", "return 1"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(2), ""));
    assert!(broken.stderr.starts_with("error: the policy `policy.toml` cannot be used: "), "{}", broken.stderr);
    let directory = directory(&[]);
    let missing = "error: cannot read the policy `none.toml`: No such file or directory (os error 2)\n";
    assert_eq!(
        run_in(directory.path(), &["run", "-e", "return 1", "--policy", "none.toml"]),
        seen(2, "", missing)
    );
}
