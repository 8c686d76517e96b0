//! `hotcell call`: one call as a model would make it directly, past no policy and no mode.
//!
//! Invariant: what the mode hides from a model is refused here too.

use std::io::{self, Read as _};

use anyhow::{Context as _, anyhow};
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::console::Console;
use super::deployment::{Deployment, DeploymentArgs, Setting, request};
use super::exit::{Exit, Problem};
use super::{interrupt, run, summary};
use crate::limits::Limit;

const LONG_ABOUT: &str = "\
Makes one call of a tool, as a model would make it directly.

In mode code, the default, a model can call nothing but run_code: everything else is refused, and the message says how to
reach it. With --mode native or both the call goes through the policy to the tool. What it gives goes to stdout, a string as
it is and anything else as JSON.";

const EXAMPLES: &str = "\
Examples:
  hotcell call fs_read '{\"path\": \"data/orders.csv\"}' --dir data=examples/data
  hotcell call fs_read '{\"path\": \"data/orders.csv\"}' --dir data=examples/data --mode native
  hotcell call run_code '{\"code\": \"return 6 * 7\", \"description\": \"multiply\"}'
";

/// Call one tool directly, as a model would
#[derive(Debug, Args)]
#[command(
    long_about = LONG_ABOUT,
    override_usage = "hotcell call [OPTIONS] <TOOL> [JSON]",
    after_help = "See --help for examples and for exit codes.",
    after_long_help = format!("{EXAMPLES}\n{}", super::exit::HELP),
)]
pub(super) struct CallArgs {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    tool: String,

    /// Its arguments, or - for stdin
    #[arg(value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    arguments: String,

    /// Print the whole result as one JSON object: of run_code the run report, of others status, result and failure
    #[arg(long)]
    json: bool,

    /// Show no log entries while a program runs
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    deployment: DeploymentArgs,
}

/// Makes the call.
pub(super) fn call(args: CallArgs) -> Result<Exit, Problem> {
    let deployment = args.deployment.open()?;
    let from_stdin = args.arguments == super::program::STDIN;
    let arguments = if from_stdin { stdin(&deployment)? } else { args.arguments };
    let setting = Setting { input_is_taken: from_stdin, seed: None, is_typescript: false };
    run::block_on(async {
        let cancel = CancellationToken::new();
        interrupt::watch(cancel.clone()).context("cannot listen for Ctrl-C").map_err(Problem::host)?;
        let console = Console::start(args.quiet).context("cannot start a thread").map_err(Problem::host)?;
        let made = async {
            let Some(registry) = deployment.registry(&console, setting, &cancel).await? else { return Ok(None) };
            let request = request(&registry, &args.tool, arguments, cancel.clone())?;
            Ok::<_, Problem>(Some(registry.call(request).await))
        };
        let result = made.await;
        console.finish();
        cancel.cancel();
        let Some(result) = result? else { return Ok(summary::interrupted()) };
        summary::show(&result, args.json)
    })
}

fn stdin(deployment: &Deployment) -> Result<String, Problem> {
    let most = deployment.limits.get(Limit::HostMemory);
    let mut text = String::new();
    let read = io::stdin().lock().take(most + 1).read_to_string(&mut text);
    read.context("cannot read the arguments from stdin").map_err(Problem::misuse)?;
    if text.len() as u64 > most {
        let limit = Limit::HostMemory.display(most);
        return Err(Problem::misuse(anyhow!(
            "the arguments are longer than the {limit} of the limit `host-memory`"
        )));
    }
    Ok(text)
}
