//! What a person sees while a program runs: its log entries as they come, and a sign of life when it takes long.
//!
//! A thread of its own writes, so that a slow reader costs the program no compute time. Its queue is bounded by the
//! run's limits `output` and `log-lines`, which end the run. Invariant: the sign of life is gone before anything else is
//! written, and after [`Console::finish`] everything has been.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::terminal;
use crate::clock;
use crate::runtime::{LogSink, no_log};

/// How long a run may take before the sign of life appears.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it changes.
const PULSE: Duration = Duration::from_secs(1);

/// Entries that wait are written together, up to about this many bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// Back to the start of the line, and clear it.
const CLEAR: &str = "\r\u{1b}[2K";

enum Message {
    Entry(String),
    End,
}

/// The writing thread's owner.
#[derive(Debug)]
pub(super) struct Console(Option<(Sender<Message>, JoinHandle<()>)>);

impl Console {
    /// Starts to show. A quiet console shows nothing.
    pub(super) fn start(quiet: bool) -> io::Result<Self> {
        if quiet {
            return Ok(Self(None));
        }
        let (sender, receiver) = mpsc::channel();
        let pulse = Pulse::new(io::stderr().is_terminal());
        let writer = thread::Builder::new().name("hotcell-console".to_owned());
        let writer = writer.spawn(move || show(&receiver, pulse))?;
        Ok(Self(Some((sender, writer))))
    }

    /// Where the run's log entries go.
    pub(super) fn sink(&self) -> LogSink {
        let Some((sender, _)) = &self.0 else { return no_log() };
        let sender = sender.clone();
        Arc::new(move |entry| {
            // Without a receiver everything has been shown that will be.
            drop(sender.send(Message::Entry(entry.to_owned())));
        })
    }

    /// Waits until everything is written.
    pub(super) fn finish(self) {
        let Some((sender, writer)) = self.0 else { return };
        // Either fails only when the writer is gone already.
        drop(sender.send(Message::End));
        drop(writer.join());
    }
}

fn show(messages: &Receiver<Message>, mut pulse: Pulse) {
    loop {
        match messages.recv_timeout(pulse.wait()) {
            Ok(Message::Entry(entry)) => {
                pulse.clear();
                let (text, ended) = gather(entry, messages);
                terminal::stderr(&text);
                if ended {
                    return;
                }
            }
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return pulse.clear(),
            Err(RecvTimeoutError::Timeout) => pulse.beat(),
        }
    }
}

/// One entry and those that wait behind it, each on a line; and whether the end was among them.
fn gather(first: String, messages: &Receiver<Message>) -> (String, bool) {
    let mut text = first;
    text.push('\n');
    while text.len() < BATCH_BYTES {
        match messages.try_recv() {
            Ok(Message::Entry(entry)) => {
                text.push_str(&entry);
                text.push('\n');
            }
            Ok(Message::End) => return (text, true),
            Err(_) => break,
        }
    }
    (text, false)
}

/// The sign of life: one line that is overwritten in place. Only on a terminal.
struct Pulse {
    started: Instant,
    terminal: bool,
    next: Duration,
    visible: bool,
}

impl Pulse {
    fn new(terminal: bool) -> Self {
        Self { started: clock::now(), terminal, next: PATIENCE, visible: false }
    }

    fn elapsed(&self) -> Duration {
        clock::now().duration_since(self.started)
    }

    /// How long until the next beat.
    fn wait(&self) -> Duration {
        if self.terminal { self.next.saturating_sub(self.elapsed()) } else { Duration::from_secs(3600) }
    }

    fn beat(&mut self) {
        if self.terminal {
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
