//! Writing to stdout and stderr.
//!
//! What a program logs, returns or is called is text of a stranger. Invariant: nothing in it that a terminal would
//! obey reaches a terminal; a pipe or a file gets every byte as it is. A reader that has gone away is no error.

use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::shown::harmless;

/// Writes `text` to stdout.
///
/// # Errors
/// When it cannot be written for another reason than that nobody reads it.
pub(super) fn stdout(text: &str) -> io::Result<()> {
    let stream = io::stdout().lock();
    let terminal = stream.is_terminal();
    write(stream, if terminal { harmless(text) } else { text.into() }.as_bytes())
}

/// Writes `text` to stderr. There is nowhere to report a failure.
pub(super) fn stderr(text: &str) {
    let stream = io::stderr().lock();
    let terminal = stream.is_terminal();
    drop(write(stream, if terminal { harmless(text) } else { text.into() }.as_bytes()));
}

/// Sends a terminal on stderr what it is to obey.
pub(super) fn control(sequence: &str) {
    drop(write(io::stderr().lock(), sequence.as_bytes()));
}

fn write(mut stream: impl Write, bytes: &[u8]) -> io::Result<()> {
    match stream.write_all(bytes).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that fails with one kind of error.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_a_reader_that_went_away_is_no_error() {
        let outcome = |kind| write(Broken(kind), b"text").map_err(|error| error.kind());
        assert_eq!(outcome(ErrorKind::BrokenPipe), Ok(()));
        assert_eq!(outcome(ErrorKind::StorageFull), Err(ErrorKind::StorageFull));
    }
}
