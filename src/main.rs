//! The command `hotcell`. Everything is in [`hotcell::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    hotcell::cli::main()
}
