//! What a person sees while a program runs: its log entries as they come, and a sign of life when it takes long.
//!
//! A thread of its own writes, so that a slow reader costs the program no compute time. Its queue is bounded by the
//! run's limits `output` and `log-lines`, which end the run. Invariant: the sign of life is gone before anything else is
//! written, and after [`Console::finish`] everything has been.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::terminal;
use crate::clock;
use crate::code_mode::{RunEventKind, RunEvents};

/// How long a run may take before the sign of life appears.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it changes.
const PULSE: Duration = Duration::from_secs(1);

/// Entries that wait are written together, up to about this many bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// Back to the start of the line, and clear it.
const CLEAR: &str = "\r\u{1b}[2K";

enum Message {
    Line(String),
    /// A question: it has no line break behind it, and the sign of life keeps away until it is over.
    Question(String),
    Answered,
    End,
}

/// The writing thread's owner.
#[derive(Debug)]
pub(super) struct Console {
    writing: Writing,
    writer: JoinHandle<()>,
    quiet: bool,
}

/// Writes through the console.
#[derive(Clone, Debug)]
pub(super) struct Writing(Sender<Message>);

impl Console {
    /// Starts to show. A quiet console shows neither log entries nor the sign of life.
    pub(super) fn start(quiet: bool) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let pulse = Pulse::new(io::stderr().is_terminal() && !quiet);
        let writer = thread::Builder::new().name("hotcell-console".to_owned());
        let writer = writer.spawn(move || show(&receiver, pulse))?;
        Ok(Self { writing: Writing(sender), writer, quiet })
    }

    /// Shows what runs log.
    pub(super) fn follow(&self, events: &RunEvents) {
        if self.quiet {
            return;
        }
        let writing = self.writing.clone();
        events.observe(move |event| {
            if let RunEventKind::Log(entry) = &event.what {
                writing.line(&**entry);
            }
        });
    }

    /// Writes through the console.
    pub(super) fn writing(&self) -> Writing {
        self.writing.clone()
    }

    /// Waits until everything is written.
    pub(super) fn finish(self) {
        self.writing.send(Message::End);
        // Fails only when the writer is gone already.
        drop(self.writer.join());
    }
}

impl Writing {
    /// Shows a line.
    pub(super) fn line(&self, text: impl Into<String>) {
        self.send(Message::Line(text.into()));
    }

    /// Shows a question, until [`Writing::answered`].
    pub(super) fn question(&self, text: String) {
        self.send(Message::Question(text));
    }

    /// The question is over.
    pub(super) fn answered(&self) {
        self.send(Message::Answered);
    }

    fn send(&self, message: Message) {
        // Without a receiver everything has been shown that will be.
        drop(self.0.send(message));
    }
}

fn show(messages: &Receiver<Message>, mut pulse: Pulse) {
    let mut next = None;
    loop {
        match next.take().map_or_else(|| messages.recv_timeout(pulse.wait()), Ok) {
            Ok(Message::Line(entry)) => {
                pulse.clear();
                let (text, after) = gather(entry, messages);
                terminal::stderr(&text);
                next = after;
            }
            Ok(Message::Question(text)) => {
                pulse.clear();
                pulse.rests = true;
                terminal::stderr(&text);
            }
            Ok(Message::Answered) => pulse.rests = false,
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return pulse.clear(),
            Err(RecvTimeoutError::Timeout) => pulse.beat(),
        }
    }
}

/// One line and those that wait behind it, and what came after them.
fn gather(first: String, messages: &Receiver<Message>) -> (String, Option<Message>) {
    let mut text = first;
    text.push('\n');
    while text.len() < BATCH_BYTES {
        match messages.try_recv() {
            Ok(Message::Line(entry)) => {
                text.push_str(&entry);
                text.push('\n');
            }
            Ok(other) => return (text, Some(other)),
            Err(_) => break,
        }
    }
    (text, None)
}

/// The sign of life: one line that is overwritten in place. Only on a terminal.
struct Pulse {
    started: Instant,
    terminal: bool,
    next: Duration,
    visible: bool,
    /// While a question is open.
    rests: bool,
}

impl Pulse {
    fn new(terminal: bool) -> Self {
        Self { started: clock::now(), terminal, next: PATIENCE, visible: false, rests: false }
    }

    fn elapsed(&self) -> Duration {
        clock::now().duration_since(self.started)
    }

    /// How long until the next beat.
    fn wait(&self) -> Duration {
        if self.terminal && !self.rests {
            self.next.saturating_sub(self.elapsed())
        } else {
            Duration::from_secs(3600)
        }
    }

    fn beat(&mut self) {
        if self.terminal && !self.rests {
            let elapsed = self.elapsed();
            self.next = elapsed + PULSE;
            self.visible = true;
            terminal::control(&format!("{CLEAR}running for {} s", elapsed.as_secs()));
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.visible) {
            terminal::control(CLEAR);
        }
    }
}
