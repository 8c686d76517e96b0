//! Asking whoever sits at the terminal.
//!
//! Invariant: only a line that was typed after its question was shown answers it, and only `y` or `yes` is a yes. Where there
//! is no terminal nobody is asked, and the call is denied with the reason.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::thread;

use tokio::sync::{Mutex, mpsc};

use super::console::Writing;
use crate::execution::{ApprovalAnswer, ApprovalRequest, ApprovalService};
use crate::json;
use crate::runtime::BoxFuture;
use crate::shown::one_line;

/// How many characters of the arguments are shown.
const ARGUMENTS_CHARACTERS_MAX: usize = 4_000;

/// Asks on the terminal, one question at a time.
pub(super) struct Terminal {
    lines: std::sync::Arc<Mutex<Lines>>,
    writing: Writing,
    trace: bool,
}

/// What is typed.
enum Lines {
    /// Nobody reads yet.
    Unread,
    /// A thread reads and sends each line.
    Read(mpsc::UnboundedReceiver<String>),
    /// Nothing can be read, for this reason.
    Unreadable(&'static str),
}

impl Terminal {
    /// Asks through `writing`. Where standard input holds the program, nothing can be typed there.
    pub(super) fn new(writing: Writing, input_is_taken: bool, trace: bool) -> Self {
        let lines = if input_is_taken {
            Lines::Unreadable("standard input is read for something else")
        } else if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            Lines::Unreadable("there is no terminal to ask on")
        } else {
            Lines::Unread
        };
        Self { lines: std::sync::Arc::new(Mutex::new(lines)), writing, trace }
    }
}

impl ApprovalService for Terminal {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        let (lines, writing, trace) = (std::sync::Arc::clone(&self.lines), self.writing.clone(), self.trace);
        Box::pin(async move {
            let answer = ask(&mut *lines.lock().await, &writing, &request).await;
            if trace {
                let name = one_line(request.call.name());
                writing.line(format!("trace: {} {name}: asked, {}", request.call.id(), said(&answer)));
            }
            answer
        })
    }
}

fn said(answer: &ApprovalAnswer) -> &str {
    match answer {
        ApprovalAnswer::AllowedOnce => "allowed",
        ApprovalAnswer::Rejected(_) => "rejected",
        ApprovalAnswer::Unavailable(why) => why,
        ApprovalAnswer::Cancelled | ApprovalAnswer::TimedOut => "not answered",
    }
}

async fn ask(lines: &mut Lines, writing: &Writing, request: &ApprovalRequest) -> ApprovalAnswer {
    let typed = match lines.open() {
        Ok(typed) => typed,
        Err(why) => return ApprovalAnswer::Unavailable(why.to_owned()),
    };
    // What was typed before belongs to no question.
    while typed.try_recv().is_ok() {}
    let _open = Open(writing);
    writing.question(question(request));
    while let Some(line) = typed.recv().await {
        match answer(&line) {
            Some(answer) => return answer,
            None => writing.question("please type y or n: ".to_owned()),
        }
    }
    ApprovalAnswer::Unavailable("the terminal was closed".to_owned())
}

fn answer(line: &str) -> Option<ApprovalAnswer> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(ApprovalAnswer::AllowedOnce),
        "" | "n" | "no" => Some(ApprovalAnswer::Rejected(None)),
        _ => None,
    }
}

fn question(request: &ApprovalRequest) -> String {
    let call = &request.call;
    let arguments = call.arguments().map(|arguments| json::encode(arguments)).unwrap_or_default();
    let shown: String = arguments.chars().take(ARGUMENTS_CHARACTERS_MAX).collect();
    let more = match arguments.len() - shown.len() {
        0 => String::new(),
        more => format!(" … and {more} bytes more"),
    };
    let why = request.reason.as_deref().map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    let (name, id) = (one_line(call.name()), one_line(call.id()));
    format!("approval of {name} ({id}){why}\n  {}{more}\nallow this once? [y/N] ", one_line(&shown))
}

/// A question that is shown.
struct Open<'a>(&'a Writing);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.answered();
    }
}

impl Lines {
    fn open(&mut self) -> Result<&mut mpsc::UnboundedReceiver<String>, &'static str> {
        if let Self::Unread = self {
            let (send, lines) = mpsc::unbounded_channel();
            let reader = thread::Builder::new().name("hotcell-answers".to_owned());
            // It ends with the process: nothing takes a read from a terminal back.
            let started = reader.spawn(move || {
                for line in io::stdin().lock().lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
            *self = if started.is_ok() { Self::Read(lines) } else { Self::Unreadable("no thread can be started") };
        }
        match self {
            Self::Read(lines) => Ok(lines),
            Self::Unread => Err("nothing is read yet"),
            Self::Unreadable(why) => Err(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_a_yes() {
        for line in ["y", "Y", "yes", " YES\r"] {
            assert_eq!(answer(line), Some(ApprovalAnswer::AllowedOnce), "{line}");
        }
        for line in ["", "n", "no", "No "] {
            assert_eq!(answer(line), Some(ApprovalAnswer::Rejected(None)), "{line}");
        }
        for line in ["yeah", "ja", "1", "y n"] {
            assert_eq!(answer(line), None, "{line}");
        }
    }
}
