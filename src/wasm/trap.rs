//! From what the engine reports to how the run ended. The only file that knows wasmtime's error types.
//!
//! Invariant: every error that comes out of a guest's call has a row here; none of its text is longer than a line.

use std::fmt;

use wasmtime::Trap;

use crate::runtime::{Failure, FailureKind, Stop};

/// Carries a stop through wasmtime's error type, out of a host function.
#[derive(Debug)]
pub(super) struct Stopped(pub(super) Stop);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Stopped {}

/// The longest text of the engine that goes into a message, in bytes. It can quote what a guest chose.
const TEXT_BYTES_MAX: usize = 300;

/// Why a guest's call ended in `error`.
pub(super) fn failure(error: &wasmtime::Error) -> Failure {
    if let Some(Stopped(stop)) = error.downcast_ref::<Stopped>() {
        return stop.clone();
    }
    let message = match error.downcast_ref::<Trap>() {
        Some(trap) => trapped(*trap),
        None => format!("the guest broke the boundary's contract: {}", line(&error.root_cause().to_string())),
    };
    Failure::new(FailureKind::GuestExit, message)
}

fn trapped(trap: Trap) -> String {
    match trap {
        Trap::StackOverflow => "the guest overflowed its stack".to_owned(),
        Trap::UnreachableCodeReached => "the guest aborted itself".to_owned(),
        Trap::MemoryOutOfBounds => "the guest accessed memory outside its bounds".to_owned(),
        Trap::TableOutOfBounds => "the guest accessed a table outside its bounds".to_owned(),
        Trap::CannotLeaveComponent => {
            "the guest called the host where it may not: from cabi_realloc or post-return".to_owned()
        }
        other => format!("the guest trapped: {}", line(&other.to_string())),
    }
}

/// The first line of `text`, of bounded length.
fn line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.get(..line.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default()
}
