//! A policy that is written down: which calls are allowed, denied, asked about, and how many there may be.
//!
//! A [`PolicyFile`] is read from TOML text and compiled to ordinary listeners and guards of a
//! [`Scope`]; reading the file itself is the platform's business.
//!
//! ```toml
#![doc = include_str!("example.toml")]
//! ```
//!
//! # Rules
//!
//! `default` is required and stands before the first rule. Rules are looked at in order; the first one that matches decides,
//! and the default where none does. A rule has these keys:
//!
//! | key | |
//! |---|---|
//! | `action` | `allow`, `deny` or `ask` |
//! | `tools` | a glob over the name that is called, or a list of globs. A name that no tool has is judged alike |
//! | `calls` | `direct` for what a model calls itself, `nested` for what another call makes, `any` by default |
//! | `when` | conditions on the arguments, all of which must hold |
//! | `reason` | for the model where a call is denied, for the person where it is asked about |
//!
//! In a glob `*` stands for any text, `/` and nothing included, `?` for one character, and `\` takes the next character as it
//! is. Everything else is itself, upper and lower case are different. In TOML, `'single quotes'` keep a backslash.
//!
//! A condition names a place in the arguments by a JSON pointer (RFC 6901) and has one test:
//!
//! | test | holds where |
//! |---|---|
//! | `equals` | this value is there. Numbers are equal when they are the same number: `1` and `1.0` are |
//! | `one-of` | one of these values is there |
//! | `glob` | a string is there that the glob matches. It is compared as it is: no path is resolved |
//! | `present` | something is there, `null` included (`true`), or nothing is (`false`) |
//!
//! All but `present = false` fail where nothing is there. A rule that an earlier rule without conditions covers is refused,
//! as is every unknown key: such a rule does not do what it says.
//!
//! # What the actions do
//!
//! * `deny` denies the call as a listener and again as a guard, so that no other listener can allow it.
//! * `ask` has the registry's [`ApprovalService`](crate::execution::ApprovalService) asked, unless a listener after this one
//!   denies the call. A listener before this one may answer instead of the person: it was put there to decide first.
//! * `allow` goes on to the listeners after this one. It never overrules anybody.
//!
//! In mode `code`, the call of `run_code` is a call like others: under `default = "deny"`, a rule must allow it.
//!
//! # Limits
//!
//! A `[[limit]]` has `tools`, `calls` and `reason` as a rule has, `max-calls`, and `per`:
//!
//! * `per = "run"` counts the calls below one outermost call, for example those that one program makes. The outermost call
//!   itself is the run and does not count. The count ends with the run.
//! * `per = "scope"` counts all calls made in one scope, those in scopes below it apart. The count ends with the scope, or
//!   with the policy's removal.
//!
//! A call counts once policy lets it through: when listeners, approval, the guards before this policy's, its rules and all
//! its limits have passed it. What they deny does not count. What comes later, as a guard added after this policy, an unknown
//! name or a cancellation, gives no count back. Where a limit is used up already, nobody is asked for approval.
//!
//! Invariant: each installed policy has counts of its own, and a call is let through at most `max-calls` times by each
//! limit, however many calls are made at once.

mod counts;
mod coverage;
mod error;
mod fields;
mod glob;
mod parse;
mod predicate;
mod rules;
mod ruling;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::counts::Counts;
use self::counts::Refusal;
use self::rules::Rules;
use self::ruling::Witness;
use crate::contain::quietly;
use crate::execution::{CallInfo, Decision, Verdict};
use crate::registry::{HookHandle, Scope};

pub use self::error::PolicyError;
pub use self::ruling::{RuledBy, Ruling};

/// The longest text of a policy, in bytes.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The most rules of a policy. Each is compared with all before it when the policy is read.
pub const RULES_MAX: usize = 1_000;

/// The most limits of a policy.
pub const LIMITS_MAX: usize = 1_000;

/// The most globs of one rule or limit.
pub const GLOBS_MAX: usize = 1_000;

/// The longest `reason`, in bytes.
pub const REASON_BYTES_MAX: usize = 1_000;

/// A policy that was read and found sound.
///
/// ```
/// # use hotcell::policy_file::PolicyFile;
/// # use hotcell::registry::Registry;
/// let registry = Registry::new();
/// let policy = PolicyFile::parse("default = 'deny'\n[[rule]]\naction = 'allow'\ntools = 'read_*'")?;
/// policy.install(&registry);
/// # Ok::<(), hotcell::policy_file::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicyFile {
    rules: Arc<Rules>,
}

/// The policy in a scope. Dropping it changes nothing: the policy then stays for as long as the scope lives.
#[derive(Debug)]
pub struct InstalledPolicy {
    hooks: Vec<HookHandle>,
}

/// What the hooks of one installation share.
struct Enforced {
    rules: Arc<Rules>,
    counts: Counts,
    witness: Option<Witness>,
}

impl PolicyFile {
    /// Reads a policy.
    ///
    /// # Errors
    /// For text that is not TOML, and for whatever the policy cannot mean, with the line.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        parse::parse(text).map(|rules| Self { rules: Arc::new(rules) })
    }

    /// Puts the policy on all calls that are created in this scope and below from now on, after the policy that is there.
    ///
    /// Installed twice, it counts twice, each time for itself.
    pub fn install(&self, scope: &Scope) -> InstalledPolicy {
        self.enforce(scope, None).0
    }

    /// The same, and shows `witness` every decision: of each call the one of the rules, and then, where it is another, that of
    /// the guard. A panic of the witness is contained.
    pub fn install_witnessed(
        &self,
        scope: &Scope,
        witness: impl Fn(&Ruling<'_>) + Send + Sync + 'static,
    ) -> InstalledPolicy {
        self.enforce(scope, Some(Arc::new(witness))).0
    }

    fn enforce(&self, scope: &Scope, witness: Option<Witness>) -> (InstalledPolicy, Arc<Enforced>) {
        let enforced = Arc::new(Enforced { rules: Arc::clone(&self.rules), counts: Counts::new(), witness });
        let listening = Arc::clone(&enforced);
        let listener = scope.on_pre_execute(move |call, next| {
            let decision = listening.decide(&call);
            async move {
                let reason = match decision {
                    Decision::Allow => return Ok(next.run().await),
                    denied @ Decision::Deny(_) => return Ok(denied),
                    Decision::Ask(reason) => reason,
                };
                Ok(match next.run().await {
                    denied @ Decision::Deny(_) => denied,
                    Decision::Allow | Decision::Ask(_) => Decision::Ask(reason),
                })
            }
        });
        let guarding = Arc::clone(&enforced);
        let guard = scope.guard(move |call| guarding.guard(call));
        let mut hooks = vec![listener, guard];
        if enforced.rules.counts_runs() {
            let observing = Arc::clone(&enforced);
            hooks.push(scope.on_result(move |call, _| observing.observe(call)));
        }
        (InstalledPolicy { hooks }, enforced)
    }
}

impl InstalledPolicy {
    /// Removes the policy. Calls that are under way keep it.
    pub fn remove(self) {
        for hook in self.hooks {
            hook.remove();
        }
    }
}

impl Enforced {
    fn decide(&self, call: &CallInfo) -> Decision {
        let (decision, by) = match self.rules.judge(call) {
            denied @ (Decision::Deny(_), _) => denied,
            decided => self.counts.refusal(&self.rules, call).map_or(decided, denied),
        };
        self.show(call, &decision, by);
        decision
    }

    fn guard(&self, call: &CallInfo) -> Verdict {
        if let (Decision::Deny(reason), _) = self.rules.judge(call) {
            return Verdict::Deny(reason);
        }
        match self.counts.take(&self.rules, call) {
            Ok(()) => Verdict::Pass,
            Err(refusal) => {
                let reason = refusal.reason.clone();
                let (decision, by) = denied(refusal);
                self.show(call, &decision, by);
                Verdict::Deny(reason)
            }
        }
    }

    fn show(&self, call: &CallInfo, decision: &Decision, by: RuledBy) {
        if let Some(witness) = &self.witness {
            quietly(|| witness(&Ruling { call, decision, by }));
        }
    }

    fn observe(&self, call: &CallInfo) {
        if !call.is_nested() {
            self.counts.forget(&self.rules, call);
        }
    }
}

fn denied(refusal: Refusal) -> (Decision, RuledBy) {
    (Decision::Deny(refusal.reason), RuledBy::Limit { line: refusal.line })
}

impl std::fmt::Debug for Enforced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enforced")
            .field("rules", &self.rules)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
