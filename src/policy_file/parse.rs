//! From the text of a policy file to its rules.
//!
//! Invariant: what is read here is complete and means something: no key is passed over, every glob and pointer is valid, and
//! sizes are within the bounds below.

use toml::de::DeTable;

use super::coverage;
use super::error::{Lines, PolicyError, quoted};
use super::fields::{Field, Section};
use super::glob::Glob;
use super::predicate::{Pointer, Predicate, Test};
use super::rules::{Action, Calls, Limit, Per, Rule, Rules};
use super::{GLOBS_MAX, LIMITS_MAX, REASON_BYTES_MAX, RULES_MAX, TEXT_BYTES_MAX};
use crate::stack::on_large_stack;

const ACTIONS: [(&str, Action); 3] = [("allow", Action::Allow), ("deny", Action::Deny), ("ask", Action::Ask)];
const CALLS: [(&str, Calls); 3] = [("direct", Calls::Direct), ("nested", Calls::Nested), ("any", Calls::Any)];
const PER: [(&str, Per); 2] = [("run", Per::Run), ("scope", Per::Scope)];

const AN_ACTION: &str = "one of `allow`, `deny`, `ask`";
const GLOBS: &str = "a glob or a list of globs";

/// Reads a file, on a large stack: dotted keys inside nested tables make it thousands of levels deep.
pub(super) fn parse(text: &str) -> Result<Rules, PolicyError> {
    on_large_stack(|| parse_here(text))
        .unwrap_or_else(|why| Err(PolicyError::new(1, format!("the policy cannot be read: {why}"))))
}

fn parse_here(text: &str) -> Result<Rules, PolicyError> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("the policy is {} bytes long; at most {TEXT_BYTES_MAX} are allowed", text.len());
        return Err(PolicyError::new(1, message));
    }
    let lines = Lines::of(text);
    let document = DeTable::parse(text).map_err(|error| syntax(text, &lines, &error))?;
    let file = Section::new("the policy", 1, document.get_ref(), &lines);
    file.only(&["default", "rule", "limit"])?;
    let rules = at_most(RULES_MAX, "rules", file.tables("rule", "a rule", false)?)?;
    let rules = rules.iter().map(rule).collect::<Result<Vec<_>, _>>()?;
    let limits = at_most(LIMITS_MAX, "limits", file.tables("limit", "a limit", false)?)?;
    let limits = limits.iter().map(limit).collect::<Result<Vec<_>, _>>()?;
    let default = file.need("default", AN_ACTION)?.word("default", &ACTIONS)?;
    coverage::check(&rules)?;
    Ok(Rules { rules, default, limits })
}

fn syntax(text: &str, lines: &Lines, error: &toml::de::Error) -> PolicyError {
    let span = error.span().unwrap_or_default();
    let mut message = error.message().to_owned();
    if let Some(piece) = text.get(span.clone()).filter(|piece| !piece.trim().is_empty()) {
        let at = if message == "duplicate key" { "" } else { " at" };
        message.push_str(&format!("{at} {}", quoted(piece)));
    }
    PolicyError::new(lines.at(span), message)
}

fn at_most<'t>(most: usize, what: &str, sections: Vec<Section<'t>>) -> Result<Vec<Section<'t>>, PolicyError> {
    match sections.get(most) {
        Some(one_more) => {
            let message = format!("there are {} {what}; at most {most} are allowed", sections.len());
            Err(PolicyError::new(one_more.line(), message))
        }
        None => Ok(sections),
    }
}

fn rule(section: &Section<'_>) -> Result<Rule, PolicyError> {
    section.only(&["action", "tools", "calls", "when", "reason"])?;
    let action = section.need("action", AN_ACTION)?.word("action", &ACTIONS)?;
    let reason = reason(section)?;
    if let (Action::Allow, Some(field)) = (action, section.get("reason")) {
        return Err(field.error("a rule that allows has no use for `reason`; write a comment"));
    }
    let when = section.tables("when", "a condition", true)?;
    if let (true, Some(field)) = (when.is_empty(), section.get("when")) {
        return Err(field.error("`when` is empty; leave it out where a rule has no conditions"));
    }
    Ok(Rule {
        line: section.line(),
        action,
        tools: tools(section)?,
        calls: calls(section)?,
        when: when.iter().map(predicate).collect::<Result<_, _>>()?,
        reason,
    })
}

fn limit(section: &Section<'_>) -> Result<Limit, PolicyError> {
    section.only(&["max-calls", "per", "tools", "calls", "reason"])?;
    let max_calls = section.need("max-calls", "an integer")?.count("max-calls")?;
    let per = section.need("per", "one of `run`, `scope`")?.word("per", &PER)?;
    let calls = calls(section)?;
    if let (Per::Run, Calls::Direct, Some(field)) = (per, calls, section.get("calls")) {
        let message = "a limit per run counts the calls that a run makes, which are nested; a direct call is a run \
                       itself";
        return Err(field.error(message));
    }
    let (line, tools, reason) = (section.line(), tools(section)?, reason(section)?);
    Ok(Limit { line, tools, calls, max_calls, per, reason })
}

fn tools(section: &Section<'_>) -> Result<Vec<Glob>, PolicyError> {
    let field = section.need("tools", GLOBS)?;
    match field.items() {
        None => Ok(vec![glob("tools", field, GLOBS)?]),
        Some(items) if items.is_empty() => Err(field.error("`tools` is empty; `*` means all tools")),
        Some(items) if items.len() > GLOBS_MAX => {
            let message = format!("`tools` has {} globs; at most {GLOBS_MAX} are allowed", items.len());
            Err(field.error(message))
        }
        Some(items) => items.into_iter().map(|item| glob("tools", item, GLOBS)).collect(),
    }
}

fn glob(key: &str, field: Field<'_>, expected: &str) -> Result<Glob, PolicyError> {
    let text = field.text(key).map_err(|_| field.wrong(key, expected))?;
    Glob::parse(text).map_err(|wrong| field.error(format!("bad glob {} in `{key}`: {wrong}", quoted(text))))
}

fn calls(section: &Section<'_>) -> Result<Calls, PolicyError> {
    section.get("calls").map_or(Ok(Calls::Any), |field| field.word("calls", &CALLS))
}

fn reason(section: &Section<'_>) -> Result<Option<String>, PolicyError> {
    let Some(field) = section.get("reason") else {
        return Ok(None);
    };
    let text = field.text("reason")?;
    if text.trim().is_empty() {
        return Err(field.error("`reason` is empty; leave it out where there is none"));
    }
    if text.len() > REASON_BYTES_MAX {
        let message = format!("`reason` is {} bytes long; at most {REASON_BYTES_MAX} are allowed", text.len());
        return Err(field.error(message));
    }
    Ok(Some(text.to_owned()))
}

fn predicate(section: &Section<'_>) -> Result<Predicate, PolicyError> {
    section.only(&["pointer", "equals", "one-of", "glob", "present"])?;
    let field = section.need("pointer", "a JSON pointer")?;
    let text = field.text("pointer")?;
    let pointer = Pointer::parse(text)
        .map_err(|wrong| field.error(format!("{} is not a JSON pointer: {wrong}", quoted(text))))?;
    let tests = ["equals", "one-of", "glob", "present"].map(|key| section.get(key).map(|field| (key, field)));
    let mut tests = tests.into_iter().flatten();
    let (Some((key, field)), None) = (tests.next(), tests.next()) else {
        let message = "a condition needs exactly one of `equals`, `one-of`, `glob`, `present`";
        return Err(PolicyError::new(section.line(), message));
    };
    let test = match key {
        "equals" => Test::OneOf(vec![field.json()?]),
        "one-of" => {
            let items = field.items().ok_or_else(|| field.wrong(key, "a list"))?;
            if items.is_empty() {
                return Err(field.error("`one-of` is empty, and nothing is one of nothing"));
            }
            Test::OneOf(items.iter().map(Field::json).collect::<Result<_, _>>()?)
        }
        "glob" => Test::Glob(glob(key, field, "a glob")?),
        _ => Test::Present(field.truth(key)?),
    };
    Ok(Predicate { pointer, test })
}
