//! Every guest of `guest/hostile` and how it must end.
//!
//! A case is a guest, a program that chooses what it attempts, limits, and the whole ending. After each case a polite guest
//! runs on the same engine.

mod boundary;
mod floods;
mod json;
mod memory;
mod refused;
mod time;
mod traps;

use std::collections::BTreeSet;

use hotcell::ErrorKind;
use hotcell::limits::{Limit, Limits};
use hotcell::runtime::FailureKind;
use hotcell::wasm::WasmRuntime;

use super::rig::{self, Seen};
use crate::support::component;

/// Guests that tests outside the tables use.
const ELSEWHERE: &[&str] = &[
    "announce-endless",
    "calls-counted",
    "calls-large-endless",
    "cancel",
    "cancel-unread",
    "clocks",
    "echo",
    "logs-counted",
    "memory-fill",
    "next-endless",
    "nothing",
    "poison",
    "polite",
    "start-endless",
    "submit-and-return",
    "ticks",
    "unhandled-counted",
];

/// One hostile attempt.
pub(super) struct Case {
    guest: &'static str,
    program: String,
    limits: Limits,
    ends: Ends,
    logs: Vec<String>,
}

enum Ends {
    /// Refused when it is loaded.
    Refused(String),
    /// Loaded and run; the run has this result.
    Run(Result<Option<String>, (FailureKind, String)>),
}

/// A guest that is refused when it is loaded.
fn refused(guest: &'static str, message: impl Into<String>) -> Case {
    Case::new(guest, Ends::Refused(message.into()))
}

/// A guest whose run fails.
fn fails(guest: &'static str, kind: FailureKind, message: impl Into<String>) -> Case {
    Case::new(guest, Ends::Run(Err((kind, message.into()))))
}

/// A guest that dies as `guest-exit`.
fn exits(guest: &'static str, message: impl Into<String>) -> Case {
    fails(guest, FailureKind::GuestExit, message)
}

/// A guest that breaks a rule of the component model's ABI, in the engine's words.
fn breaks(guest: &'static str, how: &str) -> Case {
    exits(guest, format!("the guest broke the boundary's contract: {how}"))
}

/// A guest whose attempt is answered with an error value or is allowed, and which completes.
fn completes(guest: &'static str, value: &str) -> Case {
    Case::new(guest, Ends::Run(Ok(Some(value.to_owned()))))
}

impl Case {
    fn new(guest: &'static str, ends: Ends) -> Self {
        Self { guest, program: "1".to_owned(), limits: Limits::default(), ends, logs: Vec::new() }
    }

    fn program(mut self, program: impl Into<String>) -> Self {
        self.program = program.into();
        self
    }

    fn limit(mut self, limit: Limit, value: u64) -> Self {
        self.limits = self.limits.with(limit, value).expect("in bounds");
        self
    }

    fn logs<T: Into<String>>(mut self, entries: impl IntoIterator<Item = T>) -> Self {
        self.logs = entries.into_iter().map(Into::into).collect();
        self
    }

    /// What differs from what must be.
    async fn check(self) -> Result<(), String> {
        let Self { guest: name, program, limits, ends, logs } = self;
        let short = program.get(..program.floor_char_boundary(40)).expect("a boundary").to_owned();
        let differs =
            |must: String, is: String| Err(format!("{name} with program {short:?}\n  must: {must}\n  is:   {is}"));
        let (must, guest) = match (ends, rig::load(name).await) {
            (Ends::Run(result), Ok(guest)) => (result, guest),
            (Ends::Run(_), Err(error)) => return differs("load".to_owned(), format!("{error:?}")),
            (Ends::Refused(message), Ok(_)) => return differs(message, "loaded".to_owned()),
            (Ends::Refused(message), Err(error)) => {
                let is = (error.kind(), error.to_string());
                let must = (ErrorKind::Refused, message);
                return if is == must { Ok(()) } else { differs(format!("{must:?}"), format!("{is:?}")) };
            }
        };
        let mut request = rig::request(program);
        request.limits = limits;
        let seen = Seen::from(rig::run(&WasmRuntime::new(guest), request).await);
        let (must, is) = ((must, logs), (seen.result, seen.logs));
        if is == must { Ok(()) } else { differs(format!("{must:?}"), format!("{is:?}")) }
    }
}

/// Runs cases one after the other and reports all that end in another way.
async fn check_all(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        if let Err(text) = case.check().await {
            wrong.push(text);
        }
        rig::still_polite().await;
    }
    assert!(wrong.is_empty(), "{} cases end in another way:\n{}", wrong.len(), wrong.join("\n"));
}

fn all_cases() -> Vec<Case> {
    [
        boundary::handles(),
        boundary::texts(),
        boundary::values(),
        boundary::order(),
        boundary::reentry(),
        floods::cases(),
        json::arguments(),
        json::results(),
        memory::cases(),
        refused::imports(),
        refused::exports(),
        refused::announcements(),
        refused::features(),
        refused::sizes(),
        time::cases(),
        traps::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The names of all files of `guest/hostile`, without their ending.
fn files() -> BTreeSet<String> {
    std::fs::read_dir(component::hostile_directory())
        .expect("the directory is there")
        .map(|entry| entry.expect("an entry is readable").file_name().into_string().expect("names are UTF-8"))
        .filter_map(|name| name.strip_suffix(".wat").map(str::to_owned))
        .collect()
}

#[test]
fn every_hostile_guest_is_in_a_test() {
    let mut named: BTreeSet<String> = ELSEWHERE.iter().map(|&name| name.to_owned()).collect();
    named.extend(all_cases().into_iter().map(|case| case.guest.to_owned()));
    assert_eq!(named, files());
}

#[test]
fn the_readme_has_one_line_for_every_hostile_guest() {
    let readme =
        std::fs::read_to_string(component::hostile_directory().join("README.md")).expect("it is readable");
    let lines: Vec<String> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`').map(|(name, _)| name.to_owned()))
        .collect();
    let named: BTreeSet<String> = lines.iter().cloned().collect();
    assert_eq!(named, files());
    assert_eq!(lines.len(), named.len(), "no guest has two lines");
}
