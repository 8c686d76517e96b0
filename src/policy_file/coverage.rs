//! Rules that can never decide anything, because an earlier one always comes first.
//!
//! Invariant: a rule is refused only where one earlier rule without predicates matches everything it matches. The work is
//! bounded by [`STEPS_MAX`], whatever the rules are; a file that needs more is refused too.

use super::error::PolicyError;
use super::glob::{Glob, Symbol};
use super::rules::Rule;

/// The most work spent on comparing globs, in characters compared. A thousand ordinary rules take a third of it.
const STEPS_MAX: u64 = 10_000_000;

/// Refuses the first rule that an earlier one covers.
pub(super) fn check(rules: &[Rule]) -> Result<(), PolicyError> {
    let mut steps = 0;
    for (place, rule) in rules.iter().enumerate() {
        let wanted: Vec<Vec<Symbol>> = rule.tools.iter().map(Glob::symbols).collect();
        let earlier = rules.iter().take(place).find(|earlier| covers(earlier, rule, &wanted, &mut steps));
        if steps > STEPS_MAX {
            let message = "the rules up to here take too long to compare with each other; use fewer globs, and fewer \
                           of them with a wildcard at the start";
            return Err(PolicyError::new(rule.line, message));
        }
        if let Some(earlier) = earlier {
            let message = format!(
                "this rule can never match: the rule in line {} matches everything it matches, and comes first",
                earlier.line
            );
            return Err(PolicyError::new(rule.line, message));
        }
    }
    Ok(())
}

/// Whether `earlier` matches everything that `later` does, whose globs are `wanted`. Beyond the bound nothing does.
fn covers(earlier: &Rule, later: &Rule, wanted: &[Vec<Symbol>], steps: &mut u64) -> bool {
    let mut one_covers = |glob: &Glob, wanted: &[Symbol]| {
        *steps += 1;
        *steps <= STEPS_MAX && glob.covers(wanted, steps)
    };
    earlier.when.is_empty()
        && earlier.calls.cover(later.calls)
        && wanted.iter().all(|wanted| earlier.tools.iter().any(|glob| one_covers(glob, wanted)))
}

#[cfg(test)]
mod tests {
    use super::super::rules::{Action, Calls};
    use super::*;

    fn rules(globs: impl Iterator<Item = String>) -> Vec<Rule> {
        globs
            .enumerate()
            .map(|(place, glob)| Rule {
                line: place + 1,
                action: Action::Allow,
                tools: vec![Glob::parse(&glob).expect("a valid glob")],
                calls: Calls::Any,
                when: Vec::new(),
                reason: None,
            })
            .collect()
    }

    #[test]
    fn a_thousand_ordinary_rules_are_compared() {
        for shape in ["tool_{}", "group_{}_*", "g{}_?_x*"] {
            let many = rules((1_000..2_000).map(|number| shape.replace("{}", &number.to_string())));
            assert_eq!(check(&many), Ok(()), "{shape}");
        }
    }

    #[test]
    fn what_would_take_too_long_is_refused() {
        let long = "a".repeat(40);
        let many = rules((1_000..2_000).map(|number| format!("*{number}?*{long}")));
        let error = check(&many).expect_err("too much work");
        let message = "the rules up to here take too long to compare with each other; use fewer globs, and fewer of \
                       them with a wildcard at the start";
        assert_eq!(error.message(), message);
    }

    #[test]
    fn every_comparison_of_two_globs_counts() {
        // No glob of the first rule is as short as those of the second, which shows at once, ten million times and more.
        let glob = |text: &str| Glob::parse(text).expect("a valid glob");
        let mut two = rules(["a", "b"].map(str::to_owned).into_iter());
        two[0].tools = vec![glob("aa"); 4_000];
        two[0].tools.push(glob("b"));
        two[1].tools = vec![glob("b"); 4_000];
        assert!(check(&two).is_err_and(|error| error.line() == 2));
    }
}
