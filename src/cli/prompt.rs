//! `hotcell prompt`: what a model is told of a deployment, in one of its modes.
//!
//! Invariant: it is what a platform gets from the same registry, byte by byte.

use anyhow::Context as _;
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::console::Console;
use super::deployment::{Deployment, DeploymentArgs, Setting};
use super::exit::{Exit, Problem};
use super::{interrupt, run, summary, terminal};
use crate::json::{self, Array, Object, Value};
use crate::prompt::{Prompt, Variables};

const LONG_ABOUT: &str = "\
Prints what a model is told: the sections of the prompt, and with --json also the tools that it can call directly.

In mode native there are no sections, as a platform has its own; in code and both there is the section that declares the tools for
programs.";

const EXAMPLES: &str = "\
Examples:
  hotcell prompt --dir data=examples/data
  hotcell prompt --dir data=examples/data --mode both --json
";

/// Print what a model is told of a deployment
#[derive(Debug, Args)]
#[command(
    long_about = LONG_ABOUT,
    override_usage = "hotcell prompt [OPTIONS]",
    after_help = "See --help for examples.",
    after_long_help = EXAMPLES,
)]
pub(super) struct PromptArgs {
    /// Print sections, tools and stamp as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    deployment: DeploymentArgs,
}

/// Prints the prompt.
pub(super) fn prompt(args: PromptArgs) -> Result<Exit, Problem> {
    let deployment = args.deployment.open()?;
    run::block_on(async {
        let cancel = CancellationToken::new();
        interrupt::watch(cancel.clone()).context("cannot listen for Ctrl-C").map_err(Problem::host)?;
        let console = Console::start(true).context("cannot start a thread").map_err(Problem::host)?;
        let assembled = assemble(&deployment, &console, &cancel).await;
        console.finish();
        cancel.cancel();
        let Some(prompt) = assembled? else { return Ok(summary::interrupted()) };
        let text = if args.json { json::pretty(&shown(&prompt)) + "\n" } else { prompt.text() };
        terminal::stdout(&text).context("cannot write to stdout").map_err(Problem::host)?;
        Ok(Exit::Completed)
    })
}

async fn assemble(
    deployment: &Deployment,
    console: &Console,
    cancel: &CancellationToken,
) -> Result<Option<Prompt>, Problem> {
    let setting = Setting { input_is_taken: false, seed: None, is_typescript: false };
    let Some(registry) = deployment.registry(console, setting, cancel).await? else { return Ok(None) };
    Ok(Some(registry.assemble(&Variables::new()).await?))
}

fn shown(prompt: &Prompt) -> Value {
    let sections = prompt.sections().iter().map(|section| {
        object([
            ("name", section.name().into()),
            ("order", i64::from(section.order()).into()),
            ("text", section.text().into()),
        ])
    });
    let tools = prompt.tools().iter().map(|tool| {
        object([
            ("name", (&*tool.name).into()),
            ("description", tool.description.as_str().into()),
            ("parameters", tool.parameters.document().clone()),
        ])
    });
    let mut shown = Object::new();
    shown.insert("mode", prompt.stamp().mode().as_str());
    if let Some(language) = prompt.stamp().language() {
        shown.insert("language", language);
    }
    shown.insert("sections", sections.collect::<Array>());
    shown.insert("tools", tools.collect::<Array>());
    shown.into()
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>().into()
}
