//! `hotcell run`: from the arguments to the exit code. [`Job::run`] owns the flow.
//!
//! Invariant: the program gets `tools` and nothing else, and `tools` has members only where a directory was granted.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::console::Console;
use super::exit::{Exit, Problem};
use super::grant::{self, Directory};
use super::language::Language;
use super::limits::LimitArgs;
use super::{cache, interrupt, program, summary};
use crate::limits::Limits;
use crate::runtime::{Bindings, CodeRuntime as _, GuestIdentity, LogSink, Namespace, RunOutcome, RunRequest};
use crate::wasm::{self, Engine, EngineConfig, WasmRuntime};

const LONG_ABOUT: &str = "\
Runs one program in a fresh, sealed guest.

The program is the body of an async function: it may `await` and `return` at the top. What it returns goes to stdout,
a string as it is and anything else as JSON. What it logs with `console` goes to stderr while it runs. It is JavaScript:
TypeScript's own syntax and Python are not supported yet.

It reaches nothing but its tools. Every --dir adds file tools for one directory; a path is NAME/relative/path:
  tools.fs_list({path, recursive?, limit?})        {entries: [{path, kind, size}], skipped, truncated}
  tools.fs_stat({path})                            {path, kind, size, modified, writable}
  tools.fs_read({path, offset?, length?})          the text
  tools.fs_search({path, pattern, glob?, ignore_case?, limit?})
                                                   {matches: [{path, line, column, text}], truncated, ...}
  tools.fs_write({path, text, mode?, parents?})    {path, bytes}; with :rw only; mode create, replace or append
Each is called with `await`, and several may run at the same time. A failed call throws a ToolCallError, whose property
`toolName` names the tool. fs_list({path: \"\"}) lists the granted directories.";

const EXAMPLES: &str = "\
Examples:
  hotcell run -e 'return 6 * 7'
  hotcell run report.js --dir data=./data
  hotcell run - --dir src=./src --json < find.js
  hotcell run convert.js --dir in=./in --dir out=./out:rw --wall 2m --memory 512MiB

Times are written 250ms, 60s, 1.5m or 2h, sizes 64KiB, 256MiB or 1.5GiB, counts as plain numbers.

The compiled guest is kept in $HOTCELL_CACHE, else $XDG_CACHE_HOME/hotcell, else ~/.cache/hotcell.
The first Ctrl-C cancels the run and shows what it did; the second ends it at once.
";

/// Run a program in a sealed guest
#[derive(Debug, Args)]
#[command(
    long_about = LONG_ABOUT,
    override_usage = "hotcell run [OPTIONS] <PROGRAM | -e CODE>",
    after_help = "See --help for what a program can do, for examples and for exit codes.",
    after_long_help = after_help(),
)]
pub(super) struct RunArgs {
    /// The program's file, or - for stdin
    #[arg(value_name = "PROGRAM", required_unless_present = "eval")]
    source: Option<PathBuf>,

    /// Run this text instead of a file
    #[arg(short = 'e', long, value_name = "CODE", conflicts_with = "source", allow_hyphen_values = true)]
    eval: Option<String>,

    /// typescript, javascript or python [default: by extension; typescript for -e and -]
    #[arg(short, long, hide_possible_values = true)]
    language: Option<Language>,

    /// Grant a directory to the file tools, read-only unless it ends in :rw; may be repeated
    #[arg(long = "dir", value_name = "NAME=PATH[:ro|:rw]", value_parser = grant::parser())]
    directories: Vec<Directory>,

    /// Make the program's randomness repeatable; the clock stays real
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Print the whole run as one JSON object instead of the result
    ///
    /// Its keys are status, result, logs, failure, calls, timings and guest. The exit code stays the same.
    #[arg(long)]
    json: bool,

    /// Show no log entries while the program runs
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    limits: LimitArgs,
}

fn after_help() -> String {
    format!("{EXAMPLES}\n{}", super::exit::HELP)
}

/// Runs a program as the arguments say.
pub(super) fn run(args: RunArgs) -> Result<Exit, Problem> {
    let job = Job::prepare(args)?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let tokio = tokio.context("cannot start the runtime's threads").map_err(Problem::host)?;
    let exit = tokio.block_on(job.run());
    // A compilation that was interrupted is not waited for.
    tokio.shutdown_background();
    exit
}

/// Everything that was read before anything is run.
struct Job {
    program: String,
    language: Language,
    tools: Namespace,
    has_directories: bool,
    limits: Limits,
    seed: Option<u64>,
    json: bool,
    quiet: bool,
}

impl Job {
    fn prepare(args: RunArgs) -> Result<Self, Problem> {
        let LimitArgs(limits) = args.limits;
        let language = match (args.language, args.source.as_deref()) {
            (Some(language), _) => language,
            (None, Some(path)) if path != Path::new(program::STDIN) => Language::of_file(path)?,
            (None, _) => Language::Typescript,
        };
        language.check_built_in()?;
        let program = program::read(args.source.as_deref(), args.eval, &limits)?;
        let has_directories = !args.directories.is_empty();
        let tools = bind(args.directories)?;
        let (seed, json, quiet) = (args.seed, args.json, args.quiet);
        Ok(Self { program, language, tools, has_directories, limits, seed, json, quiet })
    }

    async fn run(self) -> Result<Exit, Problem> {
        let cancel = CancellationToken::new();
        interrupt::watch(cancel.clone()).context("cannot listen for Ctrl-C").map_err(Problem::host)?;
        let console = Console::start(self.quiet).context("cannot start a thread").map_err(Problem::host)?;
        let ended = self.execute(console.sink(), cancel.clone()).await;
        console.finish();
        // From here on an interrupt has nothing left to cancel, and ends the process.
        cancel.cancel();
        let Some((outcome, guest)) = ended? else { return Ok(summary::interrupted()) };
        let exit = summary::show(&outcome, &guest, self.json)?;
        if exit == Exit::ProgramFailed && !self.json && !self.has_directories {
            summary::hint_at_directories(&self.program);
        }
        Ok(exit)
    }

    /// Loads the guest and runs the program. `None` where it was interrupted before the program could start.
    async fn execute(
        &self,
        log: LogSink,
        cancel: CancellationToken,
    ) -> Result<Option<(RunOutcome, GuestIdentity)>, Problem> {
        let mut config = EngineConfig::default().with_runs_max(1);
        config.cache = cache::open();
        let engine = Engine::new(config)?;
        let guest = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(None),
            guest = wasm::javascript(&engine) => guest?,
        };
        let runtime = WasmRuntime::new(guest);
        let mut request = RunRequest::new(self.program.clone(), vec![self.tools.clone()], cancel);
        request.limits = self.limits.clone();
        request.log = log;
        request.seed = self.seed;
        let mut outcome = runtime.run(request).await?;
        if let (Err(failure), Language::Typescript) = (&mut outcome.result, self.language) {
            summary::explain_typescript(failure);
        }
        Ok(Some((outcome, runtime.guest().clone())))
    }
}

/// The global `tools`. Without a directory it has no members.
fn bind(directories: Vec<Directory>) -> Result<Namespace, Problem> {
    let mut tools = Bindings::new();
    if !directories.is_empty() {
        tools = grant::open(directories)?.bind(tools);
    }
    Ok(tools.into_namespace("tools")?.with_error_class("ToolCallError", "toolName")?)
}
