//! What a policy file is refused for: every text, and the line.

use hotcell::policy_file::{GLOBS_MAX, LIMITS_MAX, PolicyFile, REASON_BYTES_MAX, RULES_MAX, TEXT_BYTES_MAX};

#[track_caller]
fn refused(text: &str) -> String {
    let error = PolicyFile::parse(text).expect_err("refused");
    assert_eq!(error.to_string(), format!("line {}: {}", error.line(), error.message()));
    error.to_string()
}

/// A policy of these rules, from line 2 on.
fn rules(rules: &[&str]) -> String {
    format!("default = 'allow'\n{}", rules.iter().map(|rule| format!("[[rule]]\n{rule}\n")).collect::<String>())
}

#[test]
fn a_file_must_be_toml_of_this_form() {
    let cases = [
        ("", "line 1: the policy has no `default`; it must be one of `allow`, `deny`, `ask`"),
        ("default = 'no'", "line 1: `default` must be one of `allow`, `deny`, `ask`, not `no`"),
        ("default = 1", "line 1: `default` must be a string, not an integer"),
        ("default = 'allow'\ndefault = 'deny'", "line 2: duplicate key `default`"),
        ("default = 'allow'\ndefault 'deny'", "line 2: key with no value, expected `=`"),
        ("default = 'allow'\nx = 'unterminated", "line 2: invalid literal string, expected `'`"),
        (
            "default = 'allow'\n\nrules = []\nq = 1",
            "line 3: unknown key `rules` in the policy; known are `default`, `rule`, `limit`",
        ),
        ("default = 'allow'\nrule = 1", "line 2: `rule` must be a list of tables, not an integer"),
        ("default = 'allow'\n[rule]\naction = 'deny'", "line 2: `rule` must be a list of tables, not a table"),
        ("default = 'allow'\nrule = [1]", "line 2: `rule` must be a list of tables, not an integer"),
        (
            "[[rule]]\naction = 'deny'\ntools = 'a'\ndefault = 'allow'",
            "line 4: unknown key `default` in a rule; known are `action`, `tools`, `calls`, `when`, `reason`; `default` must stand before the first `[[…]]`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(text), expected);
    }
}

#[test]
fn a_rule_must_be_sound() {
    let cases = [
        ("tools = 'a'", "line 2: a rule has no `action`; it must be one of `allow`, `deny`, `ask`"),
        ("action = 'deny'", "line 2: a rule has no `tools`; it must be a glob or a list of globs"),
        ("action = 'block'\ntools = 'a'", "line 3: `action` must be one of `allow`, `deny`, `ask`, not `block`"),
        (
            "action = 'deny'\ntool = 'a'",
            "line 4: unknown key `tool` in a rule; known are `action`, `tools`, `calls`, `when`, `reason`",
        ),
        ("action = 'deny'\ntools = 1", "line 4: `tools` must be a glob or a list of globs, not an integer"),
        ("action = 'deny'\ntools = []", "line 4: `tools` is empty; `*` means all tools"),
        (
            "action = 'deny'\ntools = [\n'a',\n2]",
            "line 6: `tools` must be a glob or a list of globs, not an integer",
        ),
        ("action = 'deny'\ntools = ''", "line 4: bad glob `` in `tools`: a glob is empty; `*` matches every text"),
        (
            "action = 'deny'\ntools = [\n'a',\n'b\\']",
            "line 6: bad glob `b\\` in `tools`: a glob ends with a backslash; write `\\\\` for one",
        ),
        (
            "action = 'deny'\ntools = 'a'\ncalls = 'inner'",
            "line 5: `calls` must be one of `direct`, `nested`, `any`, not `inner`",
        ),
        (
            "action = 'deny'\ntools = 'a'\nreason = ''",
            "line 5: `reason` is empty; leave it out where there is none",
        ),
        (
            "action = 'allow'\ntools = 'a'\nreason = 'x'",
            "line 5: a rule that allows has no use for `reason`; write a comment",
        ),
        ("action = 'deny'\ntools = 'a'\ntools = 'b'", "line 5: duplicate key `tools`"),
        (
            "action = 'deny'\ntools = 'a'\nwhen = 'x'",
            "line 5: `when` must be a table or a list of tables, not a string",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(&format!("default = 'allow'\n[[rule]]\n{text}")), expected);
    }
}

#[test]
fn a_limit_must_be_sound() {
    let cases = [
        ("tools = '*'\nper = 'run'", "line 2: a limit has no `max-calls`; it must be an integer"),
        ("tools = '*'\nmax-calls = 1", "line 2: a limit has no `per`; it must be one of `run`, `scope`"),
        ("max-calls = 1\nper = 'run'", "line 2: a limit has no `tools`; it must be a glob or a list of globs"),
        (
            "tools = '*'\nmax-calls = 0\nper = 'run'",
            "line 4: `max-calls` is 0; to allow no call at all, use a rule with the action `deny`",
        ),
        (
            "tools = '*'\nmax-calls = -1\nper = 'run'",
            "line 4: `max-calls` must be an integer from 1 to 9223372036854775807",
        ),
        ("tools = '*'\nmax-calls = 1.0\nper = 'run'", "line 4: `max-calls` must be an integer, not a float"),
        (
            "tools = '*'\nmax-calls = 99999999999999999999\nper = 'run'",
            "line 4: `max-calls` must be an integer from 1 to 9223372036854775807",
        ),
        ("tools = '*'\nmax-calls = 1\nper = 'day'", "line 5: `per` must be one of `run`, `scope`, not `day`"),
        (
            "tools = '*'\nmax-calls = 1\nper = 'run'\ncalls = 'direct'",
            "line 6: a limit per run counts the calls that a run makes, which are nested; a direct call is a run itself",
        ),
        (
            "tools = '*'\nmax-calls = 1\nper = 'run'\nwhen = []",
            "line 6: unknown key `when` in a limit; known are `max-calls`, `per`, `tools`, `calls`, `reason`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(&format!("default = 'allow'\n[[limit]]\n{text}")), expected);
    }
}

#[test]
fn a_condition_must_be_sound() {
    let cases = [
        ("when = []", "line 5: `when` is empty; leave it out where a rule has no conditions"),
        ("when = {}", "line 5: a condition has no `pointer`; it must be a JSON pointer"),
        (
            "when = { pointer = 'a', equals = 1 }",
            "line 5: `a` is not a JSON pointer: it must be empty or begin with `/`",
        ),
        (
            "when = { pointer = '/~2', equals = 1 }",
            "line 5: `/~2` is not a JSON pointer: after `~` there must be `0` or `1`",
        ),
        (
            "when = [\n{ pointer = '/a' },\n]",
            "line 6: a condition needs exactly one of `equals`, `one-of`, `glob`, `present`",
        ),
        (
            "when = { pointer = '/a', equals = 1, glob = 'x' }",
            "line 5: a condition needs exactly one of `equals`, `one-of`, `glob`, `present`",
        ),
        (
            "when = { pointer = '/a', is = 1 }",
            "line 5: unknown key `is` in a condition; known are `pointer`, `equals`, `one-of`, `glob`, `present`",
        ),
        (
            "when = { pointer = '/a', equals = 2026-01-01 }",
            "line 5: JSON knows no dates and times; write a string",
        ),
        (
            "when = { pointer = '/a', equals = [\n1,\n07:00:00] }",
            "line 7: JSON knows no dates and times; write a string",
        ),
        ("when = { pointer = '/a', equals = nan }", "line 5: `nan` is no number that JSON knows"),
        ("when = { pointer = '/a', equals = 1e999 }", "line 5: `1e999` is no number that JSON knows"),
        ("when = { pointer = '/a', one-of = 1 }", "line 5: `one-of` must be a list, not an integer"),
        ("when = { pointer = '/a', one-of = [] }", "line 5: `one-of` is empty, and nothing is one of nothing"),
        (
            "when = { pointer = '/a', glob = '' }",
            "line 5: bad glob `` in `glob`: a glob is empty; `*` matches every text",
        ),
        ("when = { pointer = '/a', glob = 1 }", "line 5: `glob` must be a glob, not an integer"),
        ("when = { pointer = '/a', present = 'yes' }", "line 5: `present` must be true or false, not a string"),
    ];
    for (text, expected) in cases {
        assert_eq!(
            refused(&format!("default = 'allow'\n[[rule]]\naction = 'deny'\ntools = 'a'\n{text}")),
            expected
        );
    }
}

#[test]
fn a_rule_that_can_never_match_is_refused_with_both_lines() {
    let covered = [
        (vec!["action = 'deny'\ntools = '*'", "action = 'allow'\ntools = 'a'"], (2, 5)),
        (vec!["action = 'deny'\ntools = 'a*'", "action = 'deny'\ntools = ['a', 'ab?']"], (2, 5)),
        (vec!["action = 'deny'\ntools = ['x', '?*', 'y']", "action = 'deny'\ntools = '*b'"], (2, 5)),
        (vec!["action = 'deny'\ntools = ['x*', 'y*']", "action = 'deny'\ntools = ['y1', 'x1']"], (2, 5)),
        (vec!["action = 'deny'\ntools = 'a'", "action = 'deny'\ntools = 'a'\ncalls = 'nested'"], (2, 5)),
        (
            vec![
                "action = 'deny'\ntools = 'a'",
                "action = 'deny'\ntools = 'a'\nwhen = { pointer = '/x', equals = 1 }",
            ],
            (2, 5),
        ),
        (
            vec![
                "action = 'deny'\ntools = 'b'",
                "action = 'deny'\ntools = 'a?'",
                "action = 'deny'\ntools = ['ab', 'a\\*']",
            ],
            (5, 8),
        ),
        (
            vec![
                "action = 'deny'\ntools = '*'\ncalls = 'direct'",
                "action = 'deny'\ntools = 'a'\ncalls = 'direct'",
            ],
            (2, 6),
        ),
    ];
    for (texts, (earlier, later)) in covered {
        let expected = format!(
            "line {later}: this rule can never match: the rule in line {earlier} matches everything it matches, and \
             comes first"
        );
        assert_eq!(refused(&rules(&texts)), expected);
    }
}

#[test]
fn a_rule_that_may_match_is_not_refused() {
    let sound = [
        ["action = 'deny'\ntools = 'a'", "action = 'deny'\ntools = ['a', 'b']"],
        ["action = 'deny'\ntools = 'a?'", "action = 'deny'\ntools = 'a*'"],
        ["action = 'deny'\ntools = '?*'", "action = 'deny'\ntools = '*'"],
        ["action = 'deny'\ntools = 'a*b'", "action = 'deny'\ntools = 'a*'"],
        ["action = 'deny'\ntools = '\\*'", "action = 'deny'\ntools = '*'"],
        ["action = 'deny'\ntools = 'A*'", "action = 'deny'\ntools = 'ab'"],
        ["action = 'deny'\ntools = '*'\ncalls = 'direct'", "action = 'deny'\ntools = 'a'"],
        ["action = 'deny'\ntools = '*'\ncalls = 'direct'", "action = 'deny'\ntools = 'a'\ncalls = 'nested'"],
        ["action = 'deny'\ntools = '*'\nwhen = { pointer = '', present = true }", "action = 'deny'\ntools = 'a'"],
    ];
    for texts in sound {
        PolicyFile::parse(&rules(&texts)).unwrap_or_else(|error| panic!("{texts:?}: {error}"));
    }
}

#[test]
fn values_are_bounded_in_depth_however_they_are_spelled() {
    let nested = |tables: usize, keys: usize| {
        let key = vec!["a"; keys].join(".");
        let value = format!("{}1{}", format!("{{ {key} = ").repeat(tables), " }".repeat(tables));
        format!(
            "default = 'deny'\n[[rule]]\naction = 'allow'\ntools = '*'\nwhen = [{{ pointer = '', equals = {value} }}]"
        )
    };
    assert!(PolicyFile::parse(&nested(8, 64)).is_ok());
    let message = refused(&nested(9, 64));
    assert_eq!(message.split(" at $").next(), Some("line 5: nesting deeper than 512 levels"));
    // The parser bounds either, and their product is thousands of levels.
    assert_eq!(refused(&nested(70, 70)).split(" at $").next(), Some("line 5: nesting deeper than 512 levels"));
}

#[test]
fn sizes_are_bounded() {
    let text = format!("default = 'allow'\n#{}", "x".repeat(TEXT_BYTES_MAX - 19));
    assert_eq!(text.len(), TEXT_BYTES_MAX);
    assert!(PolicyFile::parse(&text).is_ok());
    assert_eq!(
        refused(&format!("{text}x")),
        "line 1: the policy is 1048577 bytes long; at most 1048576 are allowed"
    );

    let rule = |number: usize| format!("[[rule]]\naction = 'deny'\ntools = 'tool_{number}'\n");
    let text = format!("default = 'allow'\n{}", (0..RULES_MAX).map(rule).collect::<String>());
    assert!(PolicyFile::parse(&text).is_ok());
    assert_eq!(refused(&(text + &rule(RULES_MAX))), "line 3002: there are 1001 rules; at most 1000 are allowed");

    let limit = "[[limit]]\ntools = '*'\nmax-calls = 1\nper = 'run'\n";
    let text = format!("default = 'allow'\n{}", limit.repeat(LIMITS_MAX));
    assert!(PolicyFile::parse(&text).is_ok());
    assert_eq!(refused(&(text + limit)), "line 4002: there are 1001 limits; at most 1000 are allowed");

    let reason =
        |bytes: usize| rules(&[&format!("action = 'deny'\ntools = 'a'\nreason = '{}'", "x".repeat(bytes))]);
    assert!(PolicyFile::parse(&reason(REASON_BYTES_MAX)).is_ok());
    assert_eq!(
        refused(&reason(REASON_BYTES_MAX + 1)),
        "line 5: `reason` is 1001 bytes long; at most 1000 are allowed"
    );

    let globs = |count: usize| rules(&[&format!("action = 'deny'\ntools = [{}]", "'a',".repeat(count))]);
    assert!(PolicyFile::parse(&globs(GLOBS_MAX)).is_ok());
    assert_eq!(refused(&globs(GLOBS_MAX + 1)), "line 4: `tools` has 1001 globs; at most 1000 are allowed");

    let glob = |bytes: usize| rules(&[&format!("action = 'deny'\ntools = '{}'", "x".repeat(bytes))]);
    assert!(PolicyFile::parse(&glob(500)).is_ok());
    let shown = format!("{}…{}", "x".repeat(52), "x".repeat(25));
    assert_eq!(
        refused(&glob(501)),
        format!("line 4: bad glob `{shown}` in `tools`: a glob is 501 bytes long; at most 500 are allowed")
    );
}

#[test]
fn errors_are_bounded_and_printable() {
    let long = "k".repeat(100_000);
    let hostile = [
        format!("'{long}' = 1"),
        format!("default = '{long}'"),
        format!("default = {long}"),
        format!("default = \"\\u001b[31m{long}\""),
        "[".repeat(100_000),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
    ];
    for text in hostile {
        let message = refused(&text);
        assert!(message.len() < 500 && !message.contains(char::is_control), "{message}");
    }
}
