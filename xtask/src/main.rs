//! Repository tasks that need more than Cargo: `cargo xtask guests [--check]`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool at the command line, never shipped: it reads files, starts compilers and says what it did"
)]

mod guests;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask guests [--check]

  guests           rebuild the guest components in assets/
  guests --check   rebuild them below target/ and prove that assets/ holds the same bytes";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["guests"] => guests::build(),
        ["guests", "--check"] => guests::check(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
