//! The file tools as programs meet them: through a runtime, with whole answers and whole messages.
//!
//! Every test has a tree of its own, with a granted directory `docs` (read-only), another `out` (read-write), and beside
//! them a file that no program may see or change.
#![cfg(all(feature = "fs", unix))]
#![expect(clippy::disallowed_methods, clippy::expect_used, reason = "tests make and look at their own files")]

mod escapes;
mod list;
mod read;
mod search;
mod write;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use hotcell::json::{Object, Value, decode, encode};
use hotcell::runtime::{Bindings, CodeRuntime as _, RunRequest, ScriptedRuntime};
use hotcell::tools::fs::{Access, Grants};
use hotcell::{Error, ErrorKind};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What the file beside the granted directories says, and what no answer may.
const SENTINEL: &str = "the sentinel";

pub(crate) struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        let tree = Self(TempDir::new().expect("a place for temporary files"));
        for name in ["docs", "out", "beside"] {
            fs::create_dir(tree.at(name)).expect("a new directory");
        }
        tree.file("beside/secret", SENTINEL);
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("below the tree")).expect("directories");
        fs::write(path, text).expect("a file");
    }

    fn link(&self, path: &str, to: &str) {
        symlink(to, self.at(path)).expect("a link");
    }

    fn pipe(&self, path: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.at(path)).status().expect("mkfifo is there");
        assert!(made.success());
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("a file")
    }

    /// The names in a directory, sorted.
    fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(path)).expect("a directory");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn grants(&self) -> Grants {
        Grants::new()
            .with_ambient("docs", self.at("docs"), Access::ReadOnly)
            .and_then(|grants| grants.with_ambient("out", self.at("out"), Access::ReadWrite))
            .expect("both are there")
    }

    /// What one call answers: the value as JSON, or the message.
    fn call(&self, tool: &'static str, arguments: &str) -> String {
        ask(self.grants(), tool, &decode(arguments).expect("good JSON"))
    }

    /// What one call answers whose only argument is a path.
    fn about(&self, tool: &'static str, path: &str) -> String {
        let mut arguments = Object::new();
        arguments.insert("path", path);
        ask(self.grants(), tool, &arguments.into())
    }
}

fn ask(grants: Grants, tool: &'static str, arguments: &Value) -> String {
    let arguments = Arc::new(arguments.clone());
    let runtime = ScriptedRuntime::new(move |script| {
        let arguments = Arc::clone(&arguments);
        async move { script.call(tool, &arguments).await.map(Some).map_err(|error| error.message().to_owned()) }
    });
    let tools = grants.bind(Bindings::new()).into_namespace("tools").expect("a good name");
    let request = RunRequest::new("", vec![tools], CancellationToken::new());
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let outcome = tokio.block_on(runtime.run(request)).expect("a good request");
    match outcome.result {
        Ok(value) => encode(&value.expect("every tool answers")),
        Err(failure) => failure.message,
    }
}

fn refusal(granted: Result<Grants, Error>) -> (ErrorKind, String) {
    let error = granted.expect_err("it cannot be granted");
    (error.kind(), error.to_string())
}

#[test]
fn only_a_plain_name_and_a_directory_can_be_granted() {
    let tree = Tree::new();
    for name in ["a", "A-Z_0.9", "...", &"n".repeat(64)] {
        assert!(Grants::new().with_ambient(name, tree.at("docs"), Access::ReadOnly).is_ok(), "{name}");
    }
    for name in ["", ".", "..", "a/b", "a b", "é", "a\0", &"n".repeat(65)] {
        let shown = name.replace('\0', "\\u{0}");
        let message = format!(
            "`{shown}` cannot name a granted directory: a name here is 1 to 64 of the characters `A-Z`, `a-z`, `0-9`, \
             `.`, `_` and `-`, and neither `.` nor `..`"
        );
        let granted = Grants::new().with_ambient(name, tree.at("docs"), Access::ReadOnly);
        assert_eq!(refusal(granted), (ErrorKind::Misuse, message));
    }
    for (path, why) in [("none", "does not exist"), ("beside/secret", "is not a directory")] {
        let path = tree.at(path);
        let message = format!("`d` cannot be granted: `{}` {why}", path.display());
        let granted = Grants::new().with_ambient("d", path, Access::ReadOnly);
        assert_eq!(refusal(granted), (ErrorKind::Misuse, message));
    }
    let granted = tree.grants().with_ambient("out", tree.at("docs"), Access::ReadOnly);
    assert_eq!(refusal(granted), (ErrorKind::Misuse, "the name `out` is granted twice".to_owned()));
}

#[test]
fn grants_know_what_they_hold() {
    let tree = Tree::new();
    let none = Grants::new();
    assert!(none.is_empty() && !none.any_writable());
    let one = none.with_ambient("d", tree.at("docs"), Access::ReadOnly).expect("it is there");
    assert!(!one.is_empty() && !one.any_writable());
    let two = one.with_ambient("o", tree.at("out"), Access::ReadWrite).expect("it is there");
    assert!(!two.is_empty() && two.any_writable());
    assert_eq!(format!("{two:?}"), r#"{"d": ReadOnly, "o": ReadWrite}"#, "no path of the host");
}

#[test]
fn tools_are_bound_as_far_as_something_is_granted() {
    let tree = Tree::new();
    let bound = |grants: Grants| format!("{:?}", grants.bind(Bindings::new()));
    assert_eq!(bound(Grants::new()), "{}");
    let reading = Grants::new().with_ambient("d", tree.at("docs"), Access::ReadOnly).expect("it is there");
    assert_eq!(bound(reading), r#"{"fs_list", "fs_read", "fs_search", "fs_stat"}"#);
    assert_eq!(bound(tree.grants()), r#"{"fs_list", "fs_read", "fs_search", "fs_stat", "fs_write"}"#);
}

#[test]
fn arguments_that_are_not_known_are_named() {
    let tree = Tree::new();
    for (tool, known) in [
        ("fs_list", "`path`, `recursive`, `limit`"),
        ("fs_stat", "`path`"),
        ("fs_read", "`path`, `offset`, `length`"),
        ("fs_search", "`path`, `pattern`, `glob`, `ignore_case`, `limit`"),
        ("fs_write", "`path`, `text`, `mode`, `parents`"),
    ] {
        let message = format!("unknown argument `pth`; known are {known}");
        assert_eq!(tree.call(tool, r#"{"path":"docs","pth":1}"#), message);
        let message = format!("unknown arguments `1`, `2`, `3`, `4`, `5` and 1 more; known are {known}");
        assert_eq!(tree.call(tool, r#"{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0}"#), message);
        assert_eq!(tree.call(tool, r#"["docs"]"#), "the arguments must be an object, got array");
        assert_eq!(tree.call(tool, "{}"), "the argument `path` is missing; it must be a string");
        assert_eq!(tree.call(tool, r#"{"path":7}"#), "the argument `path` must be a string, got 7");
        assert_eq!(tree.call(tool, r#"{"path":null}"#), "the argument `path` must be a string, got null");
    }
}

#[test]
fn arguments_of_another_type_are_named() {
    let tree = Tree::new();
    tree.file("docs/a", "text");
    let long = "9".repeat(4000);
    for (tool, arguments, message) in [
        ("fs_list", r#""recursive":"yes""#, "the argument `recursive` must be a boolean, got string"),
        ("fs_list", r#""limit":"7""#, "the argument `limit` must be an integer from 1 to 10000, got string"),
        ("fs_list", r#""limit":0"#, "the argument `limit` must be an integer from 1 to 10000, got 0"),
        ("fs_list", r#""limit":10001"#, "the argument `limit` must be an integer from 1 to 10000, got 10001"),
        ("fs_list", r#""limit":1.0"#, "the argument `limit` must be an integer from 1 to 10000, got float"),
        (
            "fs_read",
            r#""offset":-1"#,
            "the argument `offset` must be an integer from 0 to 9223372036854775807, got -1",
        ),
        (
            "fs_read",
            r#""length":16777217"#,
            "the argument `length` must be an integer from 0 to 16777216, got 16777217",
        ),
        ("fs_search", r#""limit":1"#, "the argument `pattern` is missing; it must be a string"),
        (
            "fs_search",
            r#""pattern":"","limit":5001"#,
            "the argument `limit` must be an integer from 1 to 5000, got 5001",
        ),
        ("fs_search", r#""pattern":"","glob":[]"#, "the argument `glob` must be a string, got array"),
        (
            "fs_search",
            r#""pattern":"","ignore_case":{}"#,
            "the argument `ignore_case` must be a boolean, got object",
        ),
        ("fs_write", r#""mode":"create""#, "the argument `text` is missing; it must be a string"),
        ("fs_write", r#""text":"","parents":0"#, "the argument `parents` must be a boolean, got 0"),
        (
            "fs_write",
            r#""text":"","mode":"Replace""#,
            "the argument `mode` must be `create`, `replace` or `append`, got `Replace`",
        ),
        (
            "fs_list",
            &format!(r#""limit":-{long}"#),
            "the argument `limit` must be an integer from 1 to 10000, got an integer of 4000 digits",
        ),
    ] {
        assert_eq!(tree.call(tool, &format!(r#"{{"path":"docs/a",{arguments}}}"#)), message);
    }
}
