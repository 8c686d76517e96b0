//! `hotcell sdk` and `hotcell prompt`: what a model is told.

use super::{directory, run, run_in, run_with_stdin, seen};
use crate::language::{language, listed};
use crate::support::golden;

/// The file tools of one directory, as every language declares them.
#[test]
fn the_file_tools_are_declared_in_every_language() {
    let directory = directory(&[("a.txt", b"x")]);
    for (language, file) in [("javascript", "sdk-javascript.txt"), ("python", "sdk-python.txt")] {
        let shown = run_in(directory.path(), &["sdk", "--dir", "data=.:rw", "--language", language]);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
        golden::check(&format!("tests/data/cli/{file}"), &shown.stdout);
    }
}

#[test]
fn the_tools_of_a_server_are_declared_as_the_library_declares_them() {
    let file = format!("{}/tests/data/mcp-tools.json", env!("CARGO_MANIFEST_DIR"));
    let tools = listed("mcp-tools.json");
    for id in ["typescript", "python"] {
        let shown = run(&["sdk", "--tools", &file, "--budget", "1MiB", "--language", id, "--explain"]);
        let expected = language(id).sdk(tools.iter().map(crate::language::Listed::sdk), 1024 * 1024);
        assert_eq!(shown.stdout, **expected.text());
        let summary = format!("40 tools, {} bytes, 0 wider types\n", expected.text().len());
        assert_eq!((shown.code, shown.stderr), (Some(0), summary));
    }
    let partial = run(&["sdk", "--tools", &file, "--budget", "4KiB"]).stdout;
    assert!(partial.len() <= 4096 && partial.contains("PARTIAL: there are 40 tools"));
}

#[test]
fn a_file_of_tools_may_be_an_answer_its_result_or_a_list() {
    let tool = r#"{"name": "a", "inputSchema": {"type": "object", "required": ["x"]}}"#;
    let bare = run_with_stdin(&["sdk", "--tools", "-"], format!("[{tool}]").as_bytes());
    assert!(bare.stdout.contains("  a: { x: JsonValue };\n"));
    for text in [format!(r#"{{"tools": [{tool}]}}"#), format!(r#"{{"id": 1, "result": {{"tools": [{tool}]}}}}"#)] {
        assert_eq!(run_with_stdin(&["sdk", "--tools", "-"], text.as_bytes()), bare);
    }
}

#[test]
fn what_is_wrong_with_a_file_of_tools_is_said() {
    for (text, wrong) in [
        (r#"{"a": 1}"#, "there is no list of tools, neither at the top nor under `tools`"),
        (r#"[{"inputSchema": {}}]"#, "tool 0 has no name"),
        (r#"[{"name": "x\ny"}, {"name": "x\ny"}]"#, "two tools are called `x\\u000ay`"),
    ] {
        let error = format!("error: the tools `-`: {wrong}\n");
        assert_eq!(run_with_stdin(&["sdk", "--tools", "-"], text.as_bytes()), seen(2, "", &error));
    }
    let surrogate = run_with_stdin(&["sdk", "--tools", "-"], br#"[{"name": "\ud800"}]"#);
    assert_eq!(surrogate.code, Some(2));
    assert!(
        surrogate.stderr.starts_with("error: the tools `-` are not JSON that can be taken: "),
        "{}",
        surrogate.stderr
    );
    let unknown = "error: invalid value 'toString' for '--language <LANGUAGE>'\n  [possible values: typescript, javascript, \
                   python]\n\nFor more information, try '--help'.\n";
    assert_eq!(run_with_stdin(&["sdk", "--tools", "-", "--language", "toString"], b"[]"), seen(2, "", unknown));
    let missing = "error: cannot read the tools `none.json`: No such file or directory (os error 2)\n";
    assert_eq!(run(&["sdk", "--tools", "none.json"]), seen(2, "", missing));
}

#[test]
fn types_that_are_wider_than_their_schemas_are_explained() {
    let tools = br#"[{"name": "a", "inputSchema": {"type": "object", "properties": {"d": {"type": "date"}}}}]"#;
    let shown = run_with_stdin(&["sdk", "--tools", "-", "--explain"], tools);
    assert!(shown.stderr.starts_with("a: $.d: the type `date` is unknown\n1 tools, "), "{}", shown.stderr);
}

#[test]
fn a_prompt_has_what_its_mode_has() {
    let directory = directory(&[("a.txt", b"x")]);
    let prompt = |arguments: &[&str]| {
        let all: Vec<&str> = ["prompt", "--dir", "data=."].iter().chain(arguments).copied().collect();
        run_in(directory.path(), &all)
    };
    assert_eq!(prompt(&["--mode", "native"]), seen(0, "", ""));
    let sdk = run_in(directory.path(), &["sdk", "--dir", "data=."]).stdout;
    assert_eq!(prompt(&["--mode", "both"]), seen(0, &sdk, ""));
    let only = "Only `run_code` can be called directly. Every other tool is called from inside a program that you pass to \
                `run_code`; a direct call of one is refused.";
    assert_eq!(prompt(&[]), seen(0, &format!("{only}\n\n{sdk}"), ""));
    let shown = prompt(&["--json", "--mode", "both"]);
    let shown = hotcell::json::decode(&shown.stdout).expect("JSON");
    let names = |key: &str| -> Vec<String> {
        let list = shown.get(key).and_then(|list| list.as_array()).expect("a list");
        list.iter().filter_map(|one| one.get("name")?.as_str().map(str::to_owned)).collect()
    };
    assert_eq!(names("sections"), ["tools:sdk"]);
    assert_eq!(names("tools"), ["fs_list", "fs_read", "fs_search", "fs_stat", "run_code"]);
}
