//! What `run` and `call` share: the tools, the mode, the policy, and who is asked.
//!
//! Invariant: both make their one call as a model would, from outside, with this registry's mode and policy on it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;

use super::approvals::Terminal;
use super::cache;
use super::console::{Console, Writing};
use super::exit::Problem;
use super::grant::{self, Directory};
use super::limits::LimitArgs;
use crate::code_mode::{CodeMode, RunEvents};
use crate::error::Error;
use crate::execution::{CallRequest, Caller, Decision};
use crate::limits::Limits;
use crate::policy_file::{PolicyFile, Ruling, TEXT_BYTES_MAX};
use crate::registry::{Mode, Registry, Scope};
use crate::runtime::{BoxFuture, CodeRuntime, GuestIdentity, RunOutcome, RunRequest};
use crate::shown::one_line;
use crate::tool::Tool;
use crate::wasm::{self, Engine, EngineConfig, WasmRuntime};

#[derive(Debug, Args)]
pub(super) struct DeploymentArgs {
    /// Grant a directory to the file tools, read-only unless it ends in :rw; may be repeated
    #[arg(long = "dir", value_name = "NAME=PATH[:ro|:rw]", value_parser = grant::parser())]
    directories: Vec<Directory>,

    /// How tools are presented: native, code or both
    ///
    /// With native every tool can be called directly and there are no programs; with code only run_code can, and programs
    /// reach the rest; with both, both.
    #[arg(long, value_name = "MODE", default_value = "code", hide_possible_values = true)]
    mode: ModeArg,

    /// A policy in TOML: which calls are allowed, denied or asked about
    ///
    /// It judges the call of run_code and every call of the program. Where it asks, the question comes on the terminal; without
    /// a terminal the call is denied.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Show every decision of the policy with the rule that made it, and how every call ended
    #[arg(long)]
    trace: bool,

    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeArg {
    Native,
    Code,
    Both,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Native => Self::Native,
            ModeArg::Code => Self::Code,
            ModeArg::Both => Self::Both,
        }
    }
}

/// What was read and opened before anything is run.
pub(super) struct Deployment {
    tools: Vec<Tool>,
    mode: Mode,
    policy: Option<PolicyFile>,
    trace: bool,
    pub(super) limits: Limits,
}

/// What is particular to one command.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// Standard input is read for something else than answers.
    pub(super) input_is_taken: bool,
    pub(super) seed: Option<u64>,
    /// The program says that it is TypeScript.
    pub(super) is_typescript: bool,
}

impl DeploymentArgs {
    /// Opens directories and reads the policy.
    pub(super) fn open(self) -> Result<Deployment, Problem> {
        let LimitArgs(limits) = self.limits;
        Ok(Deployment {
            tools: grant::open(self.directories)?.tools()?,
            mode: self.mode.into(),
            policy: self.policy.as_deref().map(policy).transpose()?,
            trace: self.trace,
            limits,
        })
    }
}

impl Deployment {
    /// Whether there are any tools.
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// The registry, with a guest where the mode needs one. `None` where `cancel` came first.
    pub(super) async fn registry(
        &self,
        console: &Console,
        setting: Setting,
        cancel: &CancellationToken,
    ) -> Result<Option<Registry>, Problem> {
        let terminal = Terminal::new(console.writing(), setting.input_is_taken, self.trace);
        let mut builder =
            Registry::builder().mode(self.mode).limits(self.limits.clone()).approval(Arc::new(terminal));
        if self.mode.presents_run_code() {
            let Some(programs) = programs(console, setting, cancel).await? else { return Ok(None) };
            builder = builder.programs(programs)?;
        }
        let registry = builder.build()?;
        for tool in &self.tools {
            registry.register(tool.clone())?.keep();
        }
        if let Some(policy) = &self.policy {
            let writing = console.writing();
            if self.trace {
                policy.install_witnessed(&registry, move |ruling| writing.line(decided(ruling)));
            } else {
                policy.install(&registry);
            }
        }
        if self.trace {
            trace_results(&registry, console.writing());
        }
        Ok(Some(registry))
    }
}

/// The request for the one call that a command makes.
pub(super) fn request(
    scope: &Scope,
    name: &str,
    arguments: impl Into<crate::execution::Arguments>,
    cancel: CancellationToken,
) -> Result<CallRequest, Problem> {
    let request = CallRequest::new(name, arguments, cancel).with_id("run");
    Ok(request.with_caller(Caller::new("terminal", ())).with_stamp(&scope.stamp()?))
}

async fn programs(
    console: &Console,
    setting: Setting,
    cancel: &CancellationToken,
) -> Result<Option<CodeMode>, Problem> {
    let mut config = EngineConfig::default().with_runs_max(1);
    config.cache = cache::open();
    let engine = Engine::new(config)?;
    let guest = tokio::select! {
        biased;
        () = cancel.cancelled() => return Ok(None),
        guest = wasm::javascript(&engine) => guest?,
    };
    let events = RunEvents::new();
    console.follow(&events);
    let runtime = Explaining { runtime: WasmRuntime::new(guest), is_typescript: setting.is_typescript };
    let programs = CodeMode::new(Arc::new(runtime)).with_events(&events);
    Ok(Some(match setting.seed {
        Some(seed) => programs.with_seed(seed),
        None => programs,
    }))
}

fn policy(path: &Path) -> Result<PolicyFile, Problem> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut text))
        .with_context(|| format!("cannot read the policy `{}`", path.display()))
        .map_err(Problem::misuse)?;
    let text = String::from_utf8(text).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Problem::misuse(anyhow!(
            "the policy `{}` is not UTF-8: there is no character at byte {offset}",
            path.display()
        ))
    })?;
    PolicyFile::parse(&text)
        .map_err(|error| Problem::misuse(anyhow!("the policy `{}` cannot be used: {error}", path.display())))
}

fn decided(ruling: &Ruling<'_>) -> String {
    let (id, name) = (one_line(ruling.call.id()), one_line(ruling.call.name()));
    let (decision, reason) = match ruling.decision {
        Decision::Allow => ("allowed", None),
        Decision::Deny(reason) => ("denied", Some(reason)),
        Decision::Ask(reason) => ("to be asked about", reason.as_ref()),
    };
    let reason = reason.map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    format!("trace: {id} {name}: {decision} by {}{reason}", ruling.by)
}

fn trace_results(scope: &Scope, writing: Writing) {
    scope.on_result(move |call, result| {
        let (id, name) = (one_line(call.id()), one_line(call.name()));
        let ended = match result.error() {
            None => "succeeded".to_owned(),
            Some(error) => {
                let first = error.message().lines().next().unwrap_or_default();
                format!("{}: {}", error.code(), one_line(first))
            }
        };
        writing.line(format!("trace: {id} {name}: {ended}"));
    });
}

/// A runtime that says of a syntax error that TypeScript's syntax is a likely reason.
struct Explaining {
    runtime: WasmRuntime,
    is_typescript: bool,
}

impl CodeRuntime for Explaining {
    fn guest(&self) -> &GuestIdentity {
        self.runtime.guest()
    }

    fn isolation(&self) -> &'static str {
        self.runtime.isolation()
    }

    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<RunOutcome, Error>> {
        Box::pin(async move {
            let mut outcome = CodeRuntime::run(&self.runtime, request).await?;
            if let (Err(failure), true) = (&mut outcome.result, self.is_typescript) {
                super::summary::explain_typescript(failure);
            }
            Ok(outcome)
        })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        self.runtime.shutdown()
    }
}
