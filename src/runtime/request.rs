//! What a runtime is handed for one run.
//!
//! Invariant: names are checked where a [`Namespace`] is made, limits where [`Limits`] are; a runtime only has to
//! check what spans several of them.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{BoxFuture, Pauses, names};
use crate::error::Error;
use crate::json::Value;
use crate::limits::{Limit, Limits};

/// Receives log entries in the order in which the program wrote them, while it runs.
///
/// It is called on the run's own task and its time counts as the program's compute time: hand the entry on and
/// return. A panic in it is contained and ends the run as [`FailureKind::GuestExit`](super::FailureKind::GuestExit).
pub type LogSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A sink for those who only want the logs of the outcome.
#[must_use]
pub fn no_log() -> LogSink {
    Arc::new(|_| {})
}

/// One run: a program, what it may call, and how far it may go.
#[non_exhaustive]
pub struct RunRequest {
    /// The program's text, written by a model.
    pub program: String,
    /// The globals through which it calls tools.
    pub namespaces: Vec<Namespace>,
    /// Its limits.
    pub limits: Limits,
    /// Ends the run when cancelled.
    pub cancel: CancellationToken,
    /// Where log entries go while it runs.
    pub log: LogSink,
    /// Stops the wall clock while somebody else has the word.
    pub pauses: Pauses,
    /// Makes the program's randomness repeatable. `None` takes it from the operating system.
    pub seed: Option<u64>,
}

impl RunRequest {
    /// A request with default limits, no log sink and fresh randomness.
    pub fn new(program: impl Into<String>, namespaces: Vec<Namespace>, cancel: CancellationToken) -> Self {
        let limits = Limits::default();
        let pauses = Pauses::new(&limits);
        Self { program: program.into(), namespaces, limits, cancel, log: no_log(), pauses, seed: None }
    }

    /// What spans the parts of a request: no name bound twice, no program over its limit.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let size = self.program.len() as u64;
        if size > self.limits.get(Limit::Program) {
            let text = self.limits.reached(Limit::Program);
            return Err(Error::misuse(format!("{text} (it has {size} bytes)")));
        }
        let mut bound: Vec<&str> = Vec::new();
        for namespace in &self.namespaces {
            let class = namespace.error_class.as_ref().map(|class| class.name.as_str());
            for name in [Some(namespace.global.as_str()), class].into_iter().flatten() {
                if bound.contains(&name) {
                    return Err(Error::misuse(format!("the global `{name}` is bound twice")));
                }
                bound.push(name);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest")
            .field("program", &self.program)
            .field("namespaces", &self.namespaces)
            .field("limits", &self.limits)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// A global object whose members are functions answered by the host.
#[derive(Clone)]
pub struct Namespace {
    pub(crate) global: String,
    pub(crate) members: Arc<[Arc<str>]>,
    pub(crate) handler: Arc<dyn CallHandler>,
    pub(crate) error_class: Option<ErrorClass>,
}

impl Namespace {
    /// A namespace bound to `global`, with these members in any order. A member may have any non-empty name.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when `global` is not portable ([`is_portable`](super::is_portable)), or a
    /// member is empty or named twice.
    pub fn new<I>(global: &str, members: I, handler: Arc<dyn CallHandler>) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: Into<Arc<str>>,
    {
        if !names::is_portable(global) {
            return Err(not_portable("global", global));
        }
        let mut members: Vec<Arc<str>> = members.into_iter().map(Into::into).collect();
        members.sort_unstable();
        if members.first().is_some_and(|first| first.is_empty()) {
            return Err(Error::misuse(format!("a member of `{global}` has an empty name")));
        }
        if let Some((twice, _)) = members.iter().zip(members.iter().skip(1)).find(|(one, next)| one == next) {
            return Err(Error::misuse(format!("the member `{twice}` of `{global}` is named twice")));
        }
        Ok(Self { global: global.to_owned(), members: members.into(), handler, error_class: None })
    }

    /// A namespace whose members are known to be sorted, named once each, and not empty.
    pub(crate) fn of_sorted(global: &str, members: Arc<[Arc<str>]>, handler: Arc<dyn CallHandler>) -> Self {
        Self { global: global.to_owned(), members, handler, error_class: None }
    }

    /// The same namespace, whose failed calls raise a class of their own.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when one of the two names is not portable.
    pub fn with_error_class(mut self, name: &str, member_property: &str) -> Result<Self, Error> {
        if !names::is_portable(name) {
            return Err(not_portable("error class", name));
        }
        if !names::is_portable_property(member_property) {
            return Err(not_portable("error property", member_property));
        }
        self.error_class = Some(ErrorClass { name: name.to_owned(), member_property: member_property.to_owned() });
        Ok(self)
    }

    /// The member's own copy of its name, if there is such a member.
    pub(crate) fn member(&self, name: &str) -> Option<&Arc<str>> {
        let place = self.members.binary_search_by(|member| (**member).cmp(name)).ok()?;
        self.members.get(place)
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Namespace")
            .field("global", &self.global)
            .field("members", &self.members)
            .field("error_class", &self.error_class)
            .finish_non_exhaustive()
    }
}

fn not_portable(what: &str, name: &str) -> Error {
    Error::misuse(format!(
        "the {what} `{name}` cannot be bound: a name here is a letter or `_`, then letters, digits or `_`, and is \
         taken by no language"
    ))
}

/// A class that a guest binds for failed calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorClass {
    pub(crate) name: String,
    pub(crate) member_property: String,
}

/// One call that a program makes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call {
    /// Its place in the run, from 1, in order of submission.
    pub ordinal: u64,
    /// The name the program called. It need not be a member of the namespace.
    pub member: Arc<str>,
    /// What the program passed.
    pub arguments: Value,
    /// Cancelled when nobody wants the answer any more: the program gave up the call, or ended.
    pub cancel: CancellationToken,
}

/// Answers the calls of one namespace.
pub trait CallHandler: Send + Sync {
    /// Answers one call. Called once per call, in order of submission; the future is polled on the run's task.
    ///
    /// After [`Call::cancel`] is cancelled the future gets the limit `grace` to settle, and is then dropped. Blocking
    /// work belongs on a blocking pool, joined before the future ends. Panics, here and in the future, are contained:
    /// the call fails.
    fn call(&self, call: Call) -> BoxFuture<'static, Result<Arc<Value>, CallError>>;

    /// The program has ended: no call comes any more, and those that are outstanding have just been cancelled. Their futures
    /// are polled until they have settled.
    fn ended(&self) {}
}

/// What a program may know of a failed call: one message, never a cause chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    message: String,
}

impl CallError {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallError {}
