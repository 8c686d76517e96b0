//! How runs end: what is printed where, and with which exit code.

use super::{directory, run, run_in, seen};

fn eval(code: &str) -> super::Seen {
    run(&["run", "-e", code])
}

#[test]
fn os_03_a_string_is_printed_as_it_is_and_anything_else_as_json() {
    for (code, stdout) in [
        ("return 'one\\ntwo'", "one\ntwo\n"),
        ("return 'ends\\n'", "ends\n"),
        ("return ''", ""),
        (";", ""),
        ("return undefined", ""),
        ("return null", "null\n"),
        ("return 6 * 7", "42\n"),
        ("return 2n ** 64n", "18446744073709551616\n"),
        ("return [1, { a: 'x', b: [] }]", "[\n  1,\n  {\n    \"a\": \"x\",\n    \"b\": []\n  }\n]\n"),
        ("return await Promise.resolve(true)", "true\n"),
    ] {
        assert_eq!(eval(code), seen(0, stdout, ""), "{code}");
    }
}

#[test]
fn os_03_logs_go_to_stderr_and_the_result_alone_to_stdout() {
    let code = "console.log('one', 1); console.error('two\\nlines'); console.log(''); return 'result'";
    assert_eq!(eval(code), seen(0, "result\n", "one 1\ntwo\nlines\n\n"));
    assert_eq!(run(&["run", "--quiet", "-e", code]), seen(0, "result\n", ""));
}

#[test]
fn os_02_a_program_that_throws_exits_with_1() {
    let stderr = "before\nerror: exception: Error: no luck\n    at <program> (program.js:2:11)\n";
    assert_eq!(eval("console.log('before');\nthrow new Error('no luck')"), seen(1, "", stderr));
}

#[test]
fn os_02_a_result_that_json_cannot_hold_exits_with_1() {
    let stderr = "error: invalid-output: result.f is a function, which JSON cannot carry\n";
    assert_eq!(eval("return { f: () => 1 }"), seen(1, "", stderr));
}

#[test]
fn os_02_a_limit_that_ends_the_run_exits_with_3() {
    let way_out = "do less in one run, or raise the limit";
    for (limit, value, code, kind, what) in [
        ("compute", "100ms", "for (;;);", "timeout", "the program computed for longer than"),
        (
            "wall",
            "50ms",
            "await new Promise((go) => setTimeout(go, 60000))",
            "timeout",
            "the run took longer than",
        ),
        ("output", "1KiB", "return 'x'.repeat(1023)", "output-limit", "the output is larger than"),
    ] {
        let error = format!("error: {kind}: {what} the limit `{limit}` of {value} allows; {way_out} `{limit}`\n");
        assert_eq!(run(&["run", "-e", code, &format!("--{limit}"), value]), seen(3, "", &error));
    }
    let error = format!(
        "1\n2\nerror: output-limit: the program logged more entries than the limit `log-lines` of 2 allows; {way_out} \
         `log-lines`\n"
    );
    let code = "for (let n = 1; n < 9; n++) console.log(n)";
    assert_eq!(run(&["run", "-e", code, "--log-lines", "2"]), seen(3, "", &error));
}

#[test]
fn os_02_a_guest_that_dies_exits_with_3() {
    let code = "const all = []; for (;;) all.push(new Uint8Array(65536))";
    let error = "error: guest-exit: the guest needs more memory than the limit `memory` of 16MiB allows; do less in one \
                 run, or raise the limit `memory`; it ended with: InternalError: out of memory\n    at <program> (program.js:1:39)\n";
    assert_eq!(run(&["run", "-e", code, "--memory", "16MiB"]), seen(3, "", error));
}

#[test]
fn cm_16_a_failed_run_names_the_calls_it_made() {
    let directory = directory(&[("a.txt", b"a")]);
    let code = "\
        const read = (name) => tools.fs_read({ path: `d/${name}` });\n\
        await read('a.txt');\n\
        await read('a.txt');\n\
        await tools.fs_stat({ path: 'd' });\n\
        await read('b.txt').catch(() => {});\n\
        await read('c.txt');";
    let stderr = "\
error: exception: ToolCallError: `d/c.txt` does not exist
    at read (program.js:1:51)
    at <program> (program.js:6:7)
calls made:
  completed: fs_read (2), fs_stat
  failed: fs_read (2)
";
    assert_eq!(run_in(directory.path(), &["run", "-e", code, "--dir", "d=."]), seen(1, "", stderr));
}

#[test]
fn without_a_directory_tools_has_no_members_and_the_way_out_is_shown() {
    assert_eq!(
        eval("return [Object.keys(tools), typeof ToolCallError]"),
        seen(0, "[\n  [],\n  \"function\"\n]\n", "")
    );
    let stderr = "\
error: exception: ToolCallError: unknown tool `fs_read`
    at <program> (program.js:1:19)
calls made:
  failed: fs_read
hint: there are file tools only where a directory is granted, with --dir NAME=PATH
";
    assert_eq!(eval("return await tools.fs_read({ path: 'a' })"), seen(1, "", stderr));
}

#[test]
fn os_04_typescript_syntax_fails_clearly_where_typescript_was_declared() {
    let code = "const one: number = 1;\nreturn one";
    let directory = directory(&[("a.ts", code.as_bytes()), ("a.js", code.as_bytes())]);
    let plain = "error: exception: SyntaxError: missing initializer for variable\n    at program.js:1:10\n";
    let noted = format!("{plain}TypeScript syntax is not supported yet; leave types out\n");
    assert_eq!(run_in(directory.path(), &["run", "a.js"]), seen(1, "", plain));
    assert_eq!(run_in(directory.path(), &["run", "a.ts"]), seen(1, "", &noted));
    assert_eq!(eval(code), seen(1, "", &noted));
    assert_eq!(run(&["run", "-l", "javascript", "-e", code]), seen(1, "", plain));

    let at_run_time =
        "error: exception: SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)
    at <input>:1:2
    at <program> (program.js:1:5)
";
    assert_eq!(eval("JSON.parse('{')"), seen(1, "", at_run_time));
}

#[test]
fn a_failed_call_is_a_tool_call_error_with_the_tool_s_name() {
    let directory = directory(&[]);
    let code = "\
        try { await tools.fs_read({ path: 'd/none' }) }\n\
        catch (error) { return [error instanceof ToolCallError, error.toolName, error.message] }";
    let stdout = "[\n  true,\n  \"fs_read\",\n  \"`d/none` does not exist\"\n]\n";
    assert_eq!(run_in(directory.path(), &["run", "-e", code, "--dir", "d=."]), seen(0, stdout, ""));
}
