//! Every limit a program or a guest can run into, in one table.
//!
//! Invariant: a limit always has a finite value between its bounds. There is no "unlimited", and nothing outside
//! this file invents a default. The table here, `LIMITS.md` and the command line's flags are kept equal by a test.

use std::fmt;
use std::time::Duration;

use crate::error::Error;

const MS: u64 = 1;
const SECOND: u64 = 1000 * MS;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// The longest tool or namespace name a guest may send, in bytes. Names are copied out of the guest one at a
/// time; 64 KiB is far above any real name and still a small copy.
pub const NAME_BYTES_MAX: usize = 64 * 1024;

/// The most random bytes a guest gets per request, in bytes. Matches the quota of the web's `getRandomValues`.
pub const ENTROPY_BYTES_MAX: u32 = 65_536;

/// How many of a program's unhandled failures are told one by one; the others are counted. Nobody reads more.
pub const UNHANDLED_MAX: usize = 50;

/// How many bytes of the message of each are kept.
pub const UNHANDLED_BYTES_MAX: usize = 1024;

/// The steps in which guests see time pass. Coarse enough that a guest cannot time the processor's caches with
/// it, fine enough for a program that measures its own calls.
pub const CLOCK_STEP: Duration = Duration::from_micros(100);

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Elapsed time, in milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

/// One limit of a run. The number of each is set with [`Limits::with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Elapsed time in which the guest executes. Waiting for a tool costs nothing.
    Compute,
    /// Elapsed time of the whole run, waiting included. Starts when the run has its place in the pool.
    Wall,
    /// How long a cancelled call may take to settle before it is dropped.
    Grace,
    /// How long one approval may stay unanswered before its call is denied; for a program, all of its approvals together.
    Approval,
    /// How many approvals the calls of one program may ask for.
    Approvals,
    /// Guest memory: all memories and tables of the instance together.
    Memory,
    /// Host memory that a run's calls, results, names and logs may hold at one time.
    HostMemory,
    /// Bytes of the outcome: the logs array and the value or the failure message, as compact JSON.
    Output,
    /// Log entries per run.
    LogLines,
    /// Calls submitted and not yet received by the program.
    OutstandingCalls,
    /// Bytes of the program text.
    Program,
    /// Bytes of the declarations of the tools that a model is told. Longer ones become an index, and programs can look tools up.
    Sdk,
}

struct Spec {
    name: &'static str,
    unit: Unit,
    default: u64,
    min: u64,
    max: u64,
}

impl Limit {
    /// All limits, in the order of their declaration.
    pub const ALL: [Self; 12] = [
        Self::Compute,
        Self::Wall,
        Self::Grace,
        Self::Approval,
        Self::Approvals,
        Self::Memory,
        Self::HostMemory,
        Self::Output,
        Self::LogLines,
        Self::OutstandingCalls,
        Self::Program,
        Self::Sdk,
    ];

    const fn spec(self) -> Spec {
        let (name, unit, default, min, max) = match self {
            Self::Compute => ("compute", Unit::Milliseconds, 60 * SECOND, MS, 24 * 3600 * SECOND),
            Self::Wall => ("wall", Unit::Milliseconds, 600 * SECOND, MS, 7 * 24 * 3600 * SECOND),
            Self::Grace => ("grace", Unit::Milliseconds, 5 * SECOND, 0, 600 * SECOND),
            Self::Approval => ("approval", Unit::Milliseconds, 300 * SECOND, MS, 7 * 24 * 3600 * SECOND),
            // Nobody reads more questions of one program than these with care.
            Self::Approvals => ("approvals", Unit::Count, 32, 0, 10_000),
            // A wasm32 memory cannot pass 4 GiB. Below 2 MiB no shipped interpreter starts.
            Self::Memory => ("memory", Unit::Bytes, 256 * MIB, 64 * KIB, 4 * GIB),
            Self::HostMemory => ("host-memory", Unit::Bytes, 256 * MIB, 64 * KIB, 64 * GIB),
            // The least output still holds every diagnostic of this crate.
            Self::Output => ("output", Unit::Bytes, 64 * MIB, KIB, 4 * GIB),
            Self::LogLines => ("log-lines", Unit::Count, 100_000, 1, 100_000_000),
            Self::OutstandingCalls => ("outstanding-calls", Unit::Count, 16_384, 1, 1_000_000),
            Self::Program => ("program", Unit::Bytes, MIB, 1, 64 * MIB),
            // About 40,000 tokens, which a model pays for with every request.
            Self::Sdk => ("sdk", Unit::Bytes, 128 * KIB, 4 * KIB, 64 * MIB),
        };
        Spec { name, unit, default, min, max }
    }

    /// The name in messages, in `LIMITS.md` and, after `--`, on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// What it counts.
    #[must_use]
    pub const fn unit(self) -> Unit {
        self.spec().unit
    }

    /// Its value where nobody set one.
    #[must_use]
    pub const fn default_value(self) -> u64 {
        self.spec().default
    }

    /// The least and the greatest value it takes.
    #[must_use]
    pub const fn bounds(self) -> (u64, u64) {
        let spec = self.spec();
        (spec.min, spec.max)
    }

    /// A value of this limit as people write it: `60s`, `256MiB`, `16384`.
    #[must_use]
    pub fn display(self, value: u64) -> String {
        let steps: &[(u64, &str)] = match self.unit() {
            Unit::Milliseconds => &[(SECOND, "s"), (MS, "ms")],
            Unit::Bytes => &[(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1, "B")],
            Unit::Count => &[(1, "")],
        };
        let fits = steps.iter().find(|(step, _)| value.is_multiple_of(*step) && value >= *step);
        let (step, unit) = fits.or(steps.last()).copied().unwrap_or((1, ""));
        format!("{}{unit}", value / step)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The limits of one run. [`Limits::default`] is safe for programs nobody has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits([u64; Limit::ALL.len()]);

impl Default for Limits {
    fn default() -> Self {
        Self(Limit::ALL.map(Limit::default_value))
    }
}

impl Limits {
    /// The same limits with one changed. `value` is in the limit's [`Unit`].
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) when the value is outside [`Limit::bounds`].
    pub fn with(mut self, limit: Limit, value: u64) -> Result<Self, Error> {
        let (min, max) = limit.bounds();
        if !(min..=max).contains(&value) {
            return Err(Error::misuse(format!(
                "limit `{limit}` is {}; it must be between {} and {}",
                limit.display(value),
                limit.display(min),
                limit.display(max)
            )));
        }
        for (slot, one) in self.0.iter_mut().zip(Limit::ALL) {
            if one == limit {
                *slot = value;
            }
        }
        Ok(self)
    }

    /// The value of one limit, in its [`Unit`].
    #[must_use]
    pub fn get(&self, limit: Limit) -> u64 {
        Limit::ALL.iter().zip(self.0).find_map(|(one, value)| (*one == limit).then_some(value)).unwrap_or(0)
    }

    /// The value of a limit that counts time.
    #[must_use]
    pub(crate) fn duration(&self, limit: Limit) -> Duration {
        Duration::from_millis(self.get(limit))
    }

    /// The value of a limit that counts bytes or things.
    #[must_use]
    pub(crate) fn size(&self, limit: Limit) -> usize {
        usize::try_from(self.get(limit)).unwrap_or(usize::MAX)
    }

    /// The sentence for a run or a call that reached `limit`: what it was, and the way out.
    #[must_use]
    pub(crate) fn reached(&self, limit: Limit) -> String {
        let what = match limit {
            Limit::Compute => "the program computed for longer than",
            Limit::Wall => "the run took longer than",
            Limit::Grace => "the call did not stop within",
            Limit::Approval => "the run's approvals wait for longer than",
            Limit::Approvals => "the run asks for more approvals than",
            Limit::Memory => "the guest needs more memory than",
            Limit::HostMemory => "the run's calls, results and logs hold more host memory than",
            Limit::Output => "the output is larger than",
            Limit::LogLines => "the program logged more entries than",
            Limit::OutstandingCalls => "more calls are outstanding than",
            Limit::Program => "the program text is longer than",
            Limit::Sdk => "the declarations of the tools are longer than",
        };
        format!(
            "{what} the limit `{limit}` of {} allows; do less in one run, or raise the limit `{limit}`",
            limit.display(self.get(limit))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_within_its_bounds() {
        for limit in Limit::ALL {
            let default = limit.default_value();
            let limits = Limits::default().with(limit, default).expect("the default is allowed");
            assert_eq!(limits, Limits::default());
        }
    }

    #[test]
    fn bounds_are_inclusive_and_the_error_names_them() {
        for limit in Limit::ALL {
            let (min, max) = limit.bounds();
            assert_eq!(Limits::default().with(limit, min).expect("the least is allowed").get(limit), min);
            assert_eq!(Limits::default().with(limit, max).expect("the greatest is allowed").get(limit), max);
            assert!(Limits::default().with(limit, max + 1).is_err());
            if min > 0 {
                assert!(Limits::default().with(limit, min - 1).is_err());
            }
        }
        let error = Limits::default().with(Limit::Output, 1023).expect_err("below the least");
        assert_eq!(error.to_string(), "limit `output` is 1023B; it must be between 1KiB and 4GiB");
    }

    #[test]
    fn values_are_shown_in_the_largest_unit_that_is_exact() {
        assert_eq!(Limit::Compute.display(60_000), "60s");
        assert_eq!(Limit::Compute.display(1_500), "1500ms");
        assert_eq!(Limit::Memory.display(256 * MIB), "256MiB");
        assert_eq!(Limit::Memory.display(MIB + 1), "1048577B");
        assert_eq!(Limit::OutstandingCalls.display(16_384), "16384");
        assert_eq!(Limit::Grace.display(0), "0ms");
    }
}
