//! The command line: `hotcell run`, `call`, `sdk`, `prompt` and `inspect`.
//!
//! The only module that reads arguments, environment and terminal. Invariant: stdout carries what was asked for and
//! nothing else, everything for people goes to stderr, and every ending has an `Exit` code.
//!
//! `run` is the main job; each of the other files is one thing it needs. Nothing here is meant for embedders.

#![expect(clippy::disallowed_methods, reason = "arguments, environment and files of the user enter here")]

mod approvals;
mod cache;
mod call;
mod console;
mod deployment;
mod exit;
mod grant;
mod inspect;
mod interrupt;
mod language;
mod limits;
mod program;
mod prompt;
mod quantity;
mod run;
mod sdk;
mod summary;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Exit;

const ABOUT: &str = "Runs programs that a language model wrote, sealed in a WebAssembly guest.";

const LONG_ABOUT: &str = "\
Runs programs that a language model wrote, sealed in a WebAssembly guest.

A program reaches nothing but the tools it is given: no files, no network, no environment. It runs in a fresh guest,
within limits on time, memory and output.";

#[derive(Debug, Parser)]
#[command(name = "hotcell", version, about = ABOUT, long_about = LONG_ABOUT, after_help = exit::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    Call(call::CallArgs),
    Sdk(sdk::SdkArgs),
    Prompt(prompt::PromptArgs),
    Inspect(inspect::InspectArgs),
}

/// Does what the process's arguments say, and answers with the process's exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    let done = match arguments.command {
        Command::Run(args) => run::run(args),
        Command::Call(args) => call::call(args),
        Command::Sdk(args) => sdk::sdk(args),
        Command::Prompt(args) => prompt::prompt(args),
        Command::Inspect(args) => inspect::inspect(&args),
    };
    done.unwrap_or_else(|problem| problem.report()).into()
}

/// Prints help, the version, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    // A reader that has gone away does not change the ending.
    drop(error.print());
    if error.use_stderr() { Exit::Misuse } else { Exit::Completed }.into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
