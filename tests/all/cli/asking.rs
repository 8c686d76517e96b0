//! Approvals on a terminal: a real one, of which the test holds the other end.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{directory, hotcell};

const POLICY: &[u8] =
    b"default = 'allow'\n[[rule]]\naction = 'ask'\ntools = 'fs_read'\nreason = 'it may be private'";

const CODE: &str =
    "try { return await tools.fs_read({ path: 'data/a.txt' }) } catch (error) { return error.message }";

const QUESTION: &str = "approval of fs_read (run:code:1): it may be private\r\n  {\"path\":\"data/a.txt\"}\r\nallow this once? \
                        [y/N] ";

/// A command whose stdin and stderr are a terminal.
struct Seated {
    child: Child,
    /// The person's end.
    person: File,
    shown: String,
    _directory: tempfile::TempDir,
}

impl Seated {
    fn start(more: &[&str]) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&person).and_then(|()| unlockpt(&person)).expect("it is ours");
        let name = ptsname(&person, Vec::new()).expect("it has a name");
        let seat = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");
        let directory = directory(&[("a.txt", b"text"), ("policy.toml", POLICY)]);
        let arguments = ["run", "-e", CODE, "--dir", "data=.", "--policy", "policy.toml"];
        let clone = || Stdio::from(OwnedFd::try_clone(&seat).expect("another handle"));
        let mut command = hotcell(&[&arguments[..], more].concat());
        let command = command.current_dir(directory.path()).stdin(clone()).stderr(clone()).stdout(Stdio::piped());
        let child = command.spawn().expect("the command starts");
        Self { child, person: person.into(), shown: String::new(), _directory: directory }
    }

    /// Reads until this is shown.
    fn await_text(&mut self, text: &str) {
        let mut bytes = [0; 1024];
        while !self.shown.contains(text) {
            let count = self.person.read(&mut bytes).expect("the command still runs");
            self.shown.push_str(str::from_utf8(&bytes[..count]).expect("ASCII"));
        }
    }

    fn say(&mut self, line: &str) {
        self.person.write_all(line.as_bytes()).expect("the command listens");
    }

    /// What came out on stdout, and the exit code.
    fn end(self) -> (String, Option<i32>) {
        let output = self.child.wait_with_output().expect("the command ends");
        (String::from_utf8(output.stdout).expect("UTF-8"), output.status.code())
    }
}

#[test]
fn pl_09_a_yes_on_the_terminal_lets_the_call_through() {
    let mut seated = Seated::start(&[]);
    seated.await_text(QUESTION);
    seated.say("perhaps\n");
    seated.await_text("please type y or n: ");
    seated.say("yes\n");
    assert_eq!(seated.end(), ("text\n".to_owned(), Some(0)));
}

#[test]
fn pl_09_a_no_on_the_terminal_is_an_error_that_the_program_can_catch() {
    for answer in ["n\n", "\n"] {
        let mut seated = Seated::start(&[]);
        seated.await_text(QUESTION);
        seated.say(answer);
        let denied = "the call of `fs_read` was denied: a person said no\n";
        assert_eq!(seated.end(), (denied.to_owned(), Some(0)), "{answer:?}");
    }
}

#[test]
fn rt_05_a_question_that_nobody_answers_is_a_denial() {
    let mut seated = Seated::start(&["--approval", "1200ms", "--wall", "1s"]);
    seated.await_text(QUESTION);
    let (stdout, code) = seated.end();
    assert_eq!(code, Some(0), "{stdout}");
    let denied = "the call of `fs_read` was denied: it needs approval, and nobody answered within 1200ms, the limit `approval`\n";
    assert_eq!(stdout, denied);
}

#[test]
fn an_interrupt_withdraws_the_question() {
    let mut seated = Seated::start(&[]);
    seated.await_text(QUESTION);
    let process = rustix::process::Pid::from_child(&seated.child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
    let (stdout, code) = seated.end();
    assert_eq!((stdout.as_str(), code), ("", Some(130)));
}
