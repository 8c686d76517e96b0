//! What a policy decided about a call, for those who want to see why.
//!
//! Invariant: seeing changes nothing, and there is no decision of an installed policy that is not shown.

use std::fmt;
use std::sync::Arc;

use crate::execution::{CallInfo, Decision};

/// One decision about one call.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ruling<'a> {
    /// The call.
    pub call: &'a CallInfo,
    /// What was decided.
    pub decision: &'a Decision,
    /// What decided it.
    pub by: RuledBy,
}

/// A part of a policy file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuledBy {
    /// The rule that begins in this line.
    Rule {
        /// Counted from 1.
        line: usize,
    },
    /// The limit that begins in this line.
    Limit {
        /// Counted from 1.
        line: usize,
    },
    /// The default, as no rule matches.
    Default,
}

impl fmt::Display for RuledBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { line } => write!(f, "the rule in line {line}"),
            Self::Limit { line } => write!(f, "the limit in line {line}"),
            Self::Default => f.write_str("the default"),
        }
    }
}

pub(super) type Witness = Arc<dyn Fn(&Ruling<'_>) + Send + Sync>;
