//! The flags of the limits, made from the table of limits.
//!
//! Invariant: every limit of a run has a flag of its own name, and no flag knows a default or a bound that the table does not.

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use super::quantity;
use crate::limits::{Limit, Limits};

/// The limits that the flags asked for.
#[derive(Debug)]
pub(super) struct LimitArgs(pub(super) Limits);

impl Args for LimitArgs {
    fn augment_args(command: Command) -> Command {
        command.args(Limit::ALL.map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut limits = Self(Limits::default());
        limits.update_from_arg_matches(matches)?;
        Ok(limits)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for limit in Limit::ALL {
            if let Some(value) = matches.get_one::<u64>(limit.name()) {
                let changed = self.0.clone().with(limit, *value);
                self.0 = changed.map_err(|error| Error::raw(clap::error::ErrorKind::ValueValidation, error))?;
            }
        }
        Ok(())
    }
}

fn flag(limit: Limit) -> Arg {
    Arg::new(limit.name())
        .long(limit.name())
        .value_name(quantity::value_name(limit))
        // So that a negative number is refused as one, not as an unknown flag.
        .allow_hyphen_values(true)
        .value_parser(move |text: &str| quantity::parse(limit, text))
        .help(format!("{} [default: {}]", meaning(limit), limit.display(limit.default_value())))
        .help_heading("Limits")
}

fn meaning(limit: Limit) -> &'static str {
    match limit {
        Limit::Compute => "Time in which the program computes; waiting for tools costs nothing",
        Limit::Wall => "Time of the whole run, waiting included",
        Limit::Grace => "Time a cancelled call has to stop by itself",
        Limit::Approval => "Time in which the run may wait for approvals, besides --wall",
        Limit::Approvals => "Approvals the run may ask for",
        Limit::Memory => "Memory of the guest",
        Limit::HostMemory => "Host memory that calls, results and logs may hold at one time",
        Limit::Output => "Logs and result together, as compact JSON",
        Limit::LogLines => "Log entries",
        Limit::OutstandingCalls => "Calls that are submitted and not yet answered",
        Limit::Program => "Text of the program",
        Limit::Sdk => "Declarations of the tools; longer ones become an index",
    }
}
