//! `hotcell sdk`: what a model is told of some tools, for programs in one language.
//!
//! Invariant: the definitions are text of a stranger. Whatever is in them, there is a text, or an error that says where in the
//! file something is wrong.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;

use super::exit::{Exit, Problem};
use super::grant::{self, Directory};
use super::{language, program, quantity, terminal};
use crate::json::{self, Value, clip};
use crate::language::{Language, SdkTool};
use crate::limits::{Limit, Limits};
use crate::shown::one_line;

const LONG_ABOUT: &str = "\
Prints what a model is told of tools, for programs in one language: how to write programs, and the declarations of the tools.

The tools are those of a file, which holds what an MCP server answers to tools/list, or the file tools of --dir. What is longer
than the budget becomes an index of the tools.";

const EXAMPLES: &str = "\
Examples:
  hotcell sdk --dir data=examples/data
  hotcell sdk --tools tools.json --language typescript --explain
  hotcell sdk --tools tools.json --budget 16KiB
";

/// The longest file of definitions.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Print what a model is told of tools
#[derive(Debug, Args)]
#[command(
    long_about = LONG_ABOUT,
    after_help = "See --help for examples.",
    after_long_help = EXAMPLES,
)]
pub(super) struct SdkArgs {
    /// The language of programs
    #[arg(short, long, value_name = "LANGUAGE", default_value = "javascript", value_parser = language::parser())]
    language: &'static Language,

    /// The definitions, as an MCP server lists them, or - for stdin
    #[arg(long, value_name = "FILE", required_unless_present = "directories", conflicts_with = "directories")]
    tools: Option<PathBuf>,

    /// Grant a directory, and show its file tools; may be repeated
    #[arg(long = "dir", value_name = "NAME=PATH[:ro|:rw]", value_parser = grant::parser())]
    directories: Vec<Directory>,

    /// How long the text may be before it becomes an index
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| quantity::parse(Limit::Sdk, text))]
    budget: Option<u64>,

    /// Say on stderr which types are wider than their schemas, and why
    #[arg(long)]
    explain: bool,
}

/// A tool of the file.
struct Listed {
    name: String,
    description: String,
    parameters: Value,
    output: Value,
}

/// Prints the text.
pub(super) fn sdk(args: SdkArgs) -> Result<Exit, Problem> {
    let language = args.language;
    let listed = match &args.tools {
        Some(path) => listed(path)?,
        None => granted(args.directories)?,
    };
    let limits = args.budget.map_or(Ok(Limits::default()), |budget| Limits::default().with(Limit::Sdk, budget))?;
    let tools = listed.iter().map(|tool| SdkTool {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        output: &tool.output,
    });
    let sdk = language.sdk(tools, limits.size(Limit::Sdk));
    if args.explain {
        for (tool, degradation) in sdk.degradations() {
            terminal::stderr(&format!("{}: {}\n", clip(&one_line(tool), 80), one_line(&degradation.to_string())));
        }
        let (written, wider) = (sdk.text().len(), sdk.degradations().count());
        terminal::stderr(&format!("{} tools, {written} bytes, {wider} wider types\n", sdk.tools()));
    }
    terminal::stdout(sdk.text()).context("cannot write to stdout").map_err(Problem::host)?;
    Ok(Exit::Completed)
}

fn granted(directories: Vec<Directory>) -> Result<Vec<Listed>, Problem> {
    let listed = |tool: crate::tool::Tool| Listed {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        parameters: tool.parameters().document().clone(),
        output: tool.output().document().clone(),
    };
    Ok(grant::open(directories)?.tools()?.into_iter().map(listed).collect())
}

/// The tools of a file.
fn listed(path: &Path) -> Result<Vec<Listed>, Problem> {
    let shown = path.display();
    let mut text = String::new();
    let read = if path == Path::new(program::STDIN) {
        io::stdin().lock().take(FILE_BYTES_MAX + 1).read_to_string(&mut text)
    } else {
        File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text))
    };
    read.with_context(|| format!("cannot read the tools `{shown}`")).map_err(Problem::misuse)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(Problem::misuse(anyhow!("the tools `{shown}` have more than {FILE_BYTES_MAX} bytes")));
    }
    let document =
        json::decode(&text).with_context(|| format!("the tools `{shown}` are not JSON that can be taken"));
    let document = document.map_err(Problem::misuse)?;
    tools_of(&document).map_err(|wrong| Problem::misuse(anyhow!("the tools `{shown}`: {wrong}")))
}

/// The tools of an answer to `tools/list`, of the result in it, or of a bare list.
fn tools_of(document: &Value) -> Result<Vec<Listed>, String> {
    let inside = document.get("result").unwrap_or(document);
    let list = inside.get("tools").unwrap_or(inside);
    let list = list.as_array().ok_or("there is no list of tools, neither at the top nor under `tools`")?;
    let mut names = HashSet::new();
    list.iter()
        .enumerate()
        .map(|(place, tool)| {
            let name = tool.get("name").and_then(Value::as_str).ok_or(format!("tool {place} has no name"))?;
            if !names.insert(name) {
                return Err(format!("two tools are called `{}`", clip(&one_line(name), 80)));
            }
            let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
            Ok(Listed {
                name: name.to_owned(),
                description: description.to_owned(),
                parameters: tool.get("inputSchema").cloned().unwrap_or(Value::Bool(true)),
                output: tool.get("outputSchema").cloned().unwrap_or(Value::Bool(true)),
            })
        })
        .collect()
}
