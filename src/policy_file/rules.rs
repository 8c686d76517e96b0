//! What a policy file says, once it is read: rules in order, a default, limits.
//!
//! Invariant: judging depends on the name, the arguments and the nesting of a call alone, none of which can change, so a
//! call is judged alike wherever in the pipeline that happens.

use super::glob::Glob;
use super::predicate::Predicate;
use super::ruling::RuledBy;
use crate::execution::{CallInfo, Decision};

/// All of a file.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) default: Action,
    pub(super) limits: Vec<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Allow,
    Deny,
    Ask,
}

/// Which calls are meant, by where they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    Direct,
    Nested,
    Any,
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// Where it begins.
    pub(super) line: usize,
    pub(super) action: Action,
    pub(super) tools: Vec<Glob>,
    pub(super) calls: Calls,
    pub(super) when: Vec<Predicate>,
    pub(super) reason: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// Where it begins.
    pub(super) line: usize,
    pub(super) tools: Vec<Glob>,
    pub(super) calls: Calls,
    pub(super) max_calls: u64,
    pub(super) per: Per,
    pub(super) reason: Option<String>,
}

/// What has a count of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    Run,
    Scope,
}

impl Calls {
    /// Whether all calls that `other` means are meant.
    pub(super) fn cover(self, other: Self) -> bool {
        self == Self::Any || self == other
    }

    fn mean(self, nested: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Direct => !nested,
            Self::Nested => nested,
        }
    }
}

impl Rules {
    /// Whether there are counts that end with a run.
    pub(super) fn counts_runs(&self) -> bool {
        self.limits.iter().any(|limit| limit.per == Per::Run)
    }

    /// What the first rule that matches decides, or the default; and what decided.
    pub(super) fn judge(&self, call: &CallInfo) -> (Decision, RuledBy) {
        let Some(rule) = self.rules.iter().find(|rule| rule.matches(call)) else {
            let decision = match self.default {
                Action::Allow => Decision::Allow,
                Action::Deny => Decision::deny("no rule of the policy allows it"),
                Action::Ask => Decision::ask("no rule of the policy allows it without approval"),
            };
            return (decision, RuledBy::Default);
        };
        let reason = |what: &str| {
            rule.reason.clone().unwrap_or_else(|| format!("the rule in line {} of the policy {what}", rule.line))
        };
        let decision = match rule.action {
            Action::Allow => Decision::Allow,
            Action::Deny => Decision::Deny(reason("denies it")),
            Action::Ask => Decision::Ask(Some(reason("wants approval for it"))),
        };
        (decision, RuledBy::Rule { line: rule.line })
    }
}

impl Rule {
    fn matches(&self, call: &CallInfo) -> bool {
        self.calls.mean(call.is_nested())
            && self.tools.iter().any(|glob| glob.matches(call.name()))
            && self
                .when
                .iter()
                .all(|predicate| call.arguments().is_some_and(|arguments| predicate.holds(arguments)))
    }
}

impl Limit {
    /// Whether the call counts. The outermost call of a run is the run itself, and is not among the calls below it.
    pub(super) fn counts(&self, call: &CallInfo) -> bool {
        let nested = call.is_nested();
        self.calls.mean(nested)
            && (self.per == Per::Scope || nested)
            && self.tools.iter().any(|glob| glob.matches(call.name()))
    }

    /// Why one call more is denied.
    pub(super) fn denial(&self) -> String {
        self.reason.clone().unwrap_or_else(|| {
            let (line, most) = (self.line, self.max_calls);
            let calls = if most == 1 { "call" } else { "calls" };
            let per = match self.per {
                Per::Run => "in one run",
                Per::Scope => "in one scope",
            };
            format!("the limit in line {line} of the policy allows {most} {calls} {per}")
        })
    }
}
