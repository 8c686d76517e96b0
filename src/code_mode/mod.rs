//! `run_code`: the tool through which a model runs programs, and through which programs call tools.
//!
//! A [`CodeMode`] joins a [`CodeRuntime`] to a registry. Invariant: a call that a program makes *is* an execution whose parent
//! is the call of `run_code`: it passes the whole pipeline, may name what the scope sees, and nothing else leads in or out of
//! the guest. When the call of `run_code` has its result, everything its program started has stopped.
//!
//! ```
//! # use std::sync::Arc;
//! # use hotcell::code_mode::CodeMode;
//! # use hotcell::registry::{Mode, Registry};
//! # fn example(runtime: Arc<dyn hotcell::runtime::CodeRuntime>) -> Result<(), hotcell::Error> {
//! let registry = Registry::builder().mode(Mode::Code).programs(CodeMode::new(runtime))?.build()?;
//! # Ok(())
//! # }
//! ```

mod bridge;
mod events;
mod run;
mod text;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::num::NonZeroUsize;
use std::sync::Arc;

use self::bridge::Bridge;
use self::run::{Harvest, Run};
use self::text::Leftovers;
use crate::content::Content;
use crate::error::{Error, ErrorKind};
use crate::execution::{Context, ErrorCode, ToolContext};
use crate::json::{Array, Object, Value};
use crate::language::Language;
use crate::limits::Limit;
use crate::registry::{RUN_CODE, RegistryBuilder};
use crate::runtime::{
    CodeRuntime, Failure, FailureKind, GuestIdentity, LogSink, Namespace, RunFacts, RunOutcome, RunRequest, no_log,
};
use crate::tool::{BodyError, Tool};

pub use events::{
    FOLLOWED_BYTES_MAX, FOLLOWED_EVENTS_MAX, Followed, Follower, RunEvent, RunEventKind, RunEvents, SettledCall,
    StartedCall,
};
#[cfg(feature = "cli")]
pub(crate) use text::calls_made;

/// How many calls of a program overlap where nobody says otherwise.
const OVERLAP_DEFAULT: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

/// The global through which programs call tools, and the class of the errors that failed calls raise.
const TOOLS: &str = "tools";
const CALL_ERROR: (&str, &str) = ("ToolCallError", "toolName");

const OUTPUT: &str = r#"{
    "type": "object",
    "properties": {"logs": {"type": "array", "items": {"type": "string"}}, "result": true},
    "required": ["logs"],
    "additionalProperties": false
}"#;

/// How programs of one language are run.
#[derive(Clone)]
#[must_use = "it runs programs once a registry has it"]
pub struct CodeMode {
    runtime: Arc<dyn CodeRuntime>,
    guest: Arc<GuestIdentity>,
    language: Arc<str>,
    overlap_max: NonZeroUsize,
    seed: Option<u64>,
    events: RunEvents,
}

impl CodeMode {
    /// Programs of the guest's own language, run by `runtime`.
    pub fn new(runtime: Arc<dyn CodeRuntime>) -> Self {
        let guest = Arc::new(runtime.guest().clone());
        Self {
            language: guest.language.as_str().into(),
            runtime,
            guest,
            overlap_max: OVERLAP_DEFAULT,
            seed: None,
            events: RunEvents::new(),
        }
    }

    /// The language that models are told to write programs in, where it is not called as the guest calls its own.
    pub fn in_language(mut self, language: &'static Language) -> Self {
        self.language = language.id().into();
        self
    }

    /// How many calls of a program may overlap, where their tools allow it; 1 is serial. Ten by default.
    pub fn with_overlap_max(mut self, calls: NonZeroUsize) -> Self {
        self.overlap_max = calls;
        self
    }

    /// Makes the randomness of every program repeatable.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Where its runs are followed.
    pub fn with_events(mut self, events: &RunEvents) -> Self {
        self.events = events.clone();
        self
    }

    /// The tool `run_code`.
    fn tool(self) -> Result<Tool, Error> {
        let guest = Arc::clone(&self.guest);
        let language = Language::find(&self.language)?;
        let text = |description: &str| {
            object([
                ("type", "string".into()),
                // Something that is not white space.
                ("pattern", r"\S".into()),
                ("description", description.into()),
            ])
        };
        let properties = object([
            ("code", text(language.code_description())),
            ("description", text("What the program does, in a few words for people.")),
        ]);
        let parameters = object([
            ("type", "object".into()),
            ("properties", properties),
            ("required", Value::from(vec![Value::from("code"), Value::from("description")])),
            ("additionalProperties", false.into()),
        ]);
        Tool::builder(RUN_CODE)
            .description(language.tool_description())
            .parameters(parameters)
            .output(OUTPUT)
            .guest(guest)
            .render(|_, value| vec![Content::text(text::completed(value))])
            .present_call(|arguments| {
                let part = |name| arguments.get(name).cloned().unwrap_or(Value::Null);
                object([("title", part("description")), ("input", part("code"))])
            })
            .body(move |arguments, context| {
                let mode = self.clone();
                async move { mode.run(&arguments, context).await }
            })
            .build()
    }

    /// One call of `run_code`. This is all of it.
    async fn run(&self, arguments: &Value, context: ToolContext) -> Result<Value, BodyError> {
        self.check_stamp(&context)?;
        let part = |name| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let limits = context.call().scope().shared().limits.clone();
        let program = part("code");
        if program.len() > limits.size(Limit::Program) {
            let message = format!("{} (it has {} bytes)", limits.reached(Limit::Program), program.len());
            return Err(BodyError::with_code(ErrorCode::InvalidArgs, message));
        }
        let (id, guest) = (Arc::clone(context.call().shared_id()), Arc::clone(&self.guest));
        let run = Arc::new(Run::new(id, guest, self.events.clone(), limits.clone()));
        context.run_program(Arc::<Run>::clone(&run));
        let _underway = run.begin(part("description"));
        let (entrance, bridge) = Bridge::new(&context, &run, key(&context), self.overlap_max);
        let members = Arc::clone(context.call().scope().view().members());
        let tools = Namespace::of_sorted(TOOLS, members, Arc::<bridge::Entrance>::clone(&entrance));
        let tools = tools.with_error_class(CALL_ERROR.0, CALL_ERROR.1)?;
        let mut request = RunRequest::new(program, vec![tools], context.cancel().clone());
        request.log = self.log(&run);
        request.pauses = run.pauses.clone();
        request.limits = limits;
        request.seed = self.seed;
        let running = async {
            let outcome = self.runtime.run(request).await;
            // A runtime that could not begin has not said so.
            crate::runtime::CallHandler::ended(&*entrance);
            outcome
        };
        let (outcome, ()) = tokio::join!(running, bridge.drive());
        self.conclude(&context, &run, outcome.unwrap_or_else(|error| broken(&error)))
    }

    /// Refuses a program that was written for another language or guest than this one.
    fn check_stamp(&self, context: &ToolContext) -> Result<(), BodyError> {
        let shown = |language: &str, guest: &GuestIdentity| {
            format!(
                "`{language}`, run by {} {} ({})",
                guest.name,
                guest.version,
                guest.digest.get(..12).unwrap_or("no digest")
            )
        };
        let here = shown(&self.language, &self.guest);
        let told = match context.call().stamp() {
            None if context.call().scope().shared().has_one_guest() => return Ok(()),
            None => "no language, as the call brought no stamp, and there is more than one guest here".to_owned(),
            Some(stamp) => match (stamp.language(), stamp.guest()) {
                (Some(language), Some(guest)) if *language == *self.language && *guest == *self.guest => {
                    return Ok(());
                }
                (Some(language), Some(guest)) => shown(language, guest),
                _ => "no language, as it was told of no programs".to_owned(),
            },
        };
        let message = format!(
            "the program was not run: the model was told {told}; programs here are {here}. Tell the model its tools again, and \
             pass the stamp of what it was told"
        );
        Err(BodyError::with_code(ErrorCode::LanguageMismatch, message))
    }

    fn log(&self, run: &Arc<Run>) -> LogSink {
        if !self.events.are_followed() {
            return no_log();
        }
        let run = Arc::clone(run);
        Arc::new(move |entry| run.emit(|| RunEventKind::Log(entry.into())))
    }

    /// Makes the result of the call out of what the run came to.
    fn conclude(&self, context: &ToolContext, run: &Run, outcome: RunOutcome) -> Result<Value, BodyError> {
        let RunOutcome { result, logs, mut calls, unhandled, timings } = outcome;
        let Harvest { contexts, concludes, left_out } = run.harvest(&mut calls);
        let running = text::still_running(&calls);
        let unhandled = text::not_handled(&unhandled, &calls, CALL_ERROR.0);
        let leftovers = Leftovers { running, unhandled, left_out };
        contexts.into_iter().for_each(|context_of_call| context.defer(context_of_call));
        let notes = leftovers.sentences();
        let mut facts = RunFacts { calls, timings, notes, ..RunFacts::none(Arc::clone(&self.guest)) };
        match result {
            Ok(result) => {
                if concludes {
                    context.conclude_turn();
                }
                if !facts.notes.is_empty() {
                    context.defer(Context::text(facts.notes.join("\n")));
                }
                run.set_facts(facts);
                let mut value = Object::new();
                value.insert("logs", logs.into_iter().map(Value::from).collect::<Array>());
                if let Some(result) = result {
                    value.insert("result", result);
                }
                Ok(value.into())
            }
            Err(failure) => {
                let message = text::failed(&failure, &logs, &facts.calls, &leftovers);
                (facts.failure, facts.logs) = (Some(failure), logs);
                run.set_facts(facts);
                Err(BodyError::with_code(ErrorCode::CodeRunFailed, message))
            }
        }
    }
}

/// What the idempotency keys of a run's calls begin with. Without a key of the call it is good for this run only.
fn key(context: &ToolContext) -> Arc<str> {
    context.call().idempotency_key().map_or_else(
        || {
            // Seeded by the operating system, and different for each.
            let random = || RandomState::new().build_hasher().finish();
            format!("run-{:016x}{:016x}", random(), random()).into()
        },
        Into::into,
    )
}

/// What a run came to that the runtime could not make.
fn broken(error: &Error) -> RunOutcome {
    let kind = match error.kind() {
        ErrorKind::ShutDown => FailureKind::Abort,
        _ => FailureKind::GuestExit,
    };
    RunOutcome::failed(Failure::new(kind, error.to_string()))
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>().into()
}

impl RegistryBuilder {
    /// Runs programs in this way. The first one's language is the deployment's, where it chooses none.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) where the guest's language is not in [`Language::ALL`];
    /// [`Host`](crate::ErrorKind::Host) where the system gives no thread to compile a schema on.
    pub fn programs(self, programs: CodeMode) -> Result<Self, Error> {
        let language = Arc::clone(&programs.language);
        Ok(self.transport(&language, programs.tool()?))
    }
}

impl std::fmt::Debug for CodeMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeMode")
            .field("language", &self.language)
            .field("guest", &self.guest)
            .field("overlap_max", &self.overlap_max)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
