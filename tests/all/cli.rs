//! The built command, as its users meet it: exit code, stdout and stderr, whole.

mod asking;
mod calls;
mod flags;
mod inspect;
mod outcomes;
mod report;
mod sdk;
mod streams;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Where the tests' processes keep the compiled guest.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache");

/// What a process left behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Seen {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the command writes UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// What should be seen.
pub(crate) fn seen(code: i32, stdout: &str, stderr: &str) -> Seen {
    Seen { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

/// The command with these arguments and nothing of our own environment.
pub(crate) fn hotcell(arguments: &[&str]) -> Command {
    // The first process compiles the guest, so that the others find it.
    static WARM: LazyLock<()> = LazyLock::new(|| {
        let output = bare(&["run", "-e", ";"]).output().expect("the command starts");
        assert_eq!(Seen::from(output), seen(0, "", ""));
    });
    LazyLock::force(&WARM);
    bare(arguments)
}

fn bare(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotcell"));
    command.env_clear().env("HOTCELL_CACHE", CACHE).args(arguments).stdin(Stdio::null());
    command
}

/// Runs the command with these arguments.
pub(crate) fn run(arguments: &[&str]) -> Seen {
    hotcell(arguments).output().expect("the command starts").into()
}

/// Runs the command in this directory.
pub(crate) fn run_in(directory: &Path, arguments: &[&str]) -> Seen {
    hotcell(arguments).current_dir(directory).output().expect("the command starts").into()
}

/// Runs the command with this text on its stdin.
pub(crate) fn run_with_stdin(arguments: &[&str], stdin: &[u8]) -> Seen {
    let mut command = hotcell(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("stdin is piped");
    // The command may stop reading before everything is written.
    pipe.write_all(stdin).ok();
    drop(pipe);
    child.wait_with_output().expect("the command ends").into()
}

/// A directory of the test's own, with these files in it.
pub(crate) fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory can be made");
    for (name, bytes) in files {
        std::fs::write(directory.path().join(name), bytes).expect("a file can be written");
    }
    directory
}
