//! `hotcell run`: from the arguments to the exit code. [`Job::run`] owns the flow.
//!
//! Invariant: the program is run by a call of `run_code`, made from outside, and gets `tools` and nothing else. `tools` has
//! members only where a directory was granted.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::console::Console;
use super::deployment::{Deployment, DeploymentArgs, Setting, request};
use super::exit::{Exit, Problem};
use super::{interrupt, language, program, summary};
use crate::execution::ToolResult;
use crate::json::{Object, Value};
use crate::language::Language;
use crate::registry::RUN_CODE;

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
  hotcell run job.js --dir out=./out:rw --policy policy.toml --trace
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
    #[arg(short, long, hide_possible_values = true, value_parser = language::parser())]
    language: Option<&'static Language>,

    /// Make the program's randomness repeatable; the clock stays real
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Print the whole run as one JSON object instead of the result
    ///
    /// Its keys are status, result, logs, failure, calls, timings, guest and notes. The exit code stays the same.
    #[arg(long)]
    json: bool,

    /// Show no log entries while the program runs
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    deployment: DeploymentArgs,
}

fn after_help() -> String {
    format!("{EXAMPLES}\n{}", super::exit::HELP)
}

/// Runs a program as the arguments say.
pub(super) fn run(args: RunArgs) -> Result<Exit, Problem> {
    let job = Job::prepare(args)?;
    block_on(job.run())
}

/// Does a command's asynchronous part.
pub(super) fn block_on(work: impl Future<Output = Result<Exit, Problem>>) -> Result<Exit, Problem> {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let tokio = tokio.context("cannot start the runtime's threads").map_err(Problem::host)?;
    let exit = tokio.block_on(work);
    // A compilation that was interrupted is not waited for.
    tokio.shutdown_background();
    exit
}

/// Everything that was read before anything is run.
struct Job {
    program: String,
    description: String,
    deployment: Deployment,
    setting: Setting,
    json: bool,
    quiet: bool,
}

impl Job {
    fn prepare(args: RunArgs) -> Result<Self, Problem> {
        let language = match (args.language, args.source.as_deref()) {
            (Some(language), _) => language,
            (None, Some(path)) if path != Path::new(program::STDIN) => language::of_file(path)?,
            (None, _) => Language::find(language::DEFAULT)?,
        };
        language::check_built_in(language)?;
        let input_is_taken = args.source.as_deref() == Some(Path::new(program::STDIN));
        let description = match &args.source {
            Some(path) if !input_is_taken => format!("run {}", path.display()),
            _ => "run a program from the command line".to_owned(),
        };
        let deployment = args.deployment.open()?;
        let program = program::read(args.source.as_deref(), args.eval, &deployment.limits)?;
        let is_typescript = language.id() == "typescript";
        let setting = Setting { input_is_taken, seed: args.seed, is_typescript };
        Ok(Self { program, description, deployment, setting, json: args.json, quiet: args.quiet })
    }

    async fn run(self) -> Result<Exit, Problem> {
        let cancel = CancellationToken::new();
        interrupt::watch(cancel.clone()).context("cannot listen for Ctrl-C").map_err(Problem::host)?;
        let console = Console::start(self.quiet).context("cannot start a thread").map_err(Problem::host)?;
        let ended = self.execute(&console, cancel.clone()).await;
        console.finish();
        // From here on an interrupt has nothing left to cancel, and ends the process.
        cancel.cancel();
        let Some(result) = ended? else { return Ok(summary::interrupted()) };
        let exit = summary::show(&result, self.json)?;
        if exit == Exit::ProgramFailed && !self.json && !self.deployment.has_tools() {
            summary::hint_at_directories(&self.program);
        }
        Ok(exit)
    }

    /// Loads the guest and runs the program. `None` where it was interrupted before the program could start.
    async fn execute(
        &self,
        console: &Console,
        cancel: CancellationToken,
    ) -> Result<Option<Arc<ToolResult>>, Problem> {
        let Some(registry) = self.deployment.registry(console, self.setting, &cancel).await? else {
            return Ok(None);
        };
        let mut arguments = Object::new();
        arguments.insert("code", self.program.as_str());
        arguments.insert("description", self.description.as_str());
        let request = request(&registry, RUN_CODE, Value::from(arguments), cancel)?;
        Ok(Some(registry.call(request).await))
    }
}
