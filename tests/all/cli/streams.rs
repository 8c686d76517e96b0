//! Pipes, signals and terminals: what a process meets outside its arguments.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Seen, directory, hotcell, run_with_stdin, seen};

#[test]
fn a_program_may_come_from_stdin() {
    assert_eq!(run_with_stdin(&["run", "-"], b"return 'piped'"), seen(0, "piped\n", ""));
    assert_eq!(run_with_stdin(&["run", "-", "-l", "javascript"], b";"), seen(0, "", ""));
}

#[test]
fn a_program_s_text_reaches_a_pipe_as_it_is() {
    let text = "\u{1b}[31mred\u{9b}0m\r\u{202e}";
    let code = "const text = '\\x1b[31mred\\x9b0m\\r\\u202e'; console.log(text); return text";
    let output = hotcell(&["run", "-e", code]).output().expect("the command starts");
    assert_eq!(Seen::from(output), seen(0, &format!("{text}\n"), &format!("{text}\n")));
}

#[test]
fn a_reader_of_stdout_that_goes_away_is_no_error() {
    let mut command = hotcell(&["run", "-e", "return 'x'.repeat(1 << 20)"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(Seen::from(output), seen(0, "", ""));
}

#[test]
fn a_reader_of_stderr_that_goes_away_is_no_error() {
    let code = "for (let n = 0; n < 5000; n++) console.log('x'.repeat(100)); return 'done'";
    let mut command = hotcell(&["run", "-e", code]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(Seen::from(output), seen(0, "done\n", ""));
}

#[test]
fn a_stdout_that_takes_nothing_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the device is there");
    let output = hotcell(&["run", "-e", "return 1"]).stdout(full).output().expect("the command starts");
    let stderr = "error: cannot write to stdout: No space left on device (os error 28)\n";
    assert_eq!(Seen::from(output), seen(3, "", stderr));
}

#[test]
fn logs_appear_while_the_program_runs() {
    let directory = directory(&[]);
    let code = "\
        console.log('waiting');\n\
        for (;;) {\n\
          const { entries } = await tools.fs_list({ path: 'd' });\n\
          if (entries.length > 0) return entries[0].path;\n\
          await new Promise((resolve) => setTimeout(resolve, 5));\n\
        }";
    let grant = format!("d={}", directory.path().display());
    let (child, mut stderr) = start(&["run", "-e", code, "--dir", &grant]);
    assert_eq!(line(&mut stderr), "waiting\n");
    std::fs::write(directory.path().join("go"), "").expect("a file can be written");
    assert_eq!(end(child, stderr), seen(0, "d/go\n", ""));
}

#[test]
fn os_02_an_interrupt_cancels_and_shows_what_was_done() {
    let (child, mut stderr) = start(&["run", "-e", "console.log('one'); for (;;);"]);
    assert_eq!(line(&mut stderr), "one\n");
    interrupt(&child);
    assert_eq!(end(child, stderr), seen(130, "", "error: abort: the caller cancelled the run\n"));
}

#[test]
fn os_02_an_interrupt_with_json_still_prints_the_report() {
    let (child, mut stderr) = start(&["run", "--json", "-e", "console.log('one'); for (;;);"]);
    assert_eq!(line(&mut stderr), "one\n");
    interrupt(&child);
    let ended = end(child, stderr);
    let start = "{\"status\":\"failed\",\"logs\":[\"one\"],\"failure\":{\"code\":\"CODE_RUN_FAILED\",\"kind\":\"abort\",\
                 \"message\":\"the caller cancelled the run\"},\"calls\":[],\"timings\":";
    assert_eq!((ended.code, ended.stdout.get(..start.len()), ended.stderr.as_str()), (Some(130), Some(start), ""));
}

#[test]
fn a_second_interrupt_ends_a_command_that_nobody_reads() {
    // More than a pipe holds, so that after the first interrupt the command waits for its reader.
    let code = "for (let n = 0; n < 5000; n++) console.log('x'.repeat(100)); for (;;);";
    let (mut child, mut stderr) = start(&["run", "-e", code]);
    assert_eq!(line(&mut stderr), format!("{}\n", "x".repeat(100)));
    let deadline = Instant::now() + Duration::from_secs(30);
    let status = loop {
        if let Some(status) = child.try_wait().expect("the child can be asked") {
            break status;
        }
        assert!(Instant::now() < deadline, "the command does not end");
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(130));
}

fn start(arguments: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let mut command = hotcell(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let stderr = child.stderr.take().expect("stderr is piped");
    (child, BufReader::new(stderr))
}

fn line(stderr: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    stderr.read_line(&mut line).expect("stderr is readable");
    line
}

fn interrupt(child: &Child) {
    let pid = Pid::from_child(child);
    kill_process(pid, Signal::INT).expect("the child can be signalled");
}

/// What is seen after what was read already.
fn end(child: Child, mut stderr: BufReader<ChildStderr>) -> Seen {
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("stderr is readable");
    let mut seen = Seen::from(child.wait_with_output().expect("the command ends"));
    seen.stderr = rest;
    seen
}
