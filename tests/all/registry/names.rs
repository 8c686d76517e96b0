//! Names are whatever a platform chose: every script and shape arrives unchanged, and only equal bytes are equal names.

use hotcell::execution::ErrorCode;
use hotcell::json::{self, Value};
use hotcell::registry::{Mode, RESERVED_NAMES, Registry, Scope};
use hotcell::tool::NAME_BYTES_MAX;

use crate::tools::{call, call_in_program, echo, failure, registry, value};

/// What a C string, a terminal or a Unicode normalization would change.
const SCRIPTS: &[&str] = &[
    "\0", "a\0b", "\u{1}", "\r\n", "\t", "\u{85}", "\u{2028}", "\u{a0}", "\u{feff}", "\u{200b}", "\u{202e}cba",
    "עברית", "العربية", "हिन्दी", "ไทย", "\u{1f3f3}\u{fe0f}", "\u{10ffff}", "\u{fffd}", "\u{e000}", "ﬁ", "fi", "K",
    "\u{212a}", "é", "e\u{301}",
];

/// What a lookup in somebody's object, a keyword, a path or a template would lose or confuse.
const WORDS: &[&str] = &[
    "hasOwnProperty", "valueOf", "then", "length", "prototype", "__defineGetter__", "arguments", "eval", "null",
    "undefined", "true", "0", "-1", "1e3", "NaN", "import", "None", "self", "__class__", "a.b", "a/b", "../a",
    "a\\b", "a\"b", "${a}", "</script>", "*", "%s", "{}", "A", "a", "a ", " a",
];

/// Near misses of the reserved names.
const NEARLY_RESERVED: &[&str] =
    &["search_tools ", "Run_Code", "run_code ", "run_code\0", "run-code", "runcode", "RUN_CODE", "describe_tool"];

/// All of them, a family of emoji, and two as long as names may be.
fn hostile() -> Vec<String> {
    let mut names: Vec<String> =
        [SCRIPTS, WORDS, NEARLY_RESERVED].concat().into_iter().map(str::to_owned).collect();
    names.push("👩\u{200d}👩\u{200d}👧".to_owned());
    names.push("n".repeat(NAME_BYTES_MAX));
    names.push("路".repeat(NAME_BYTES_MAX / 3));
    names
}

fn seen(scope: &Scope) -> Vec<String> {
    scope.schemas().iter().map(|tool| tool.name.to_string()).collect()
}

#[tokio::test]
async fn rg_02_hostile_names_are_registered_listed_called_and_returned_as_they_are() {
    let registry = registry(Mode::Both);
    let names = hostile();
    for name in &names {
        registry.register(echo(name).description(format!("I am {name}."))).expect("a fine name").keep();
    }
    for name in &names {
        let arguments = format!(r#"{{"name": {}}}"#, json::encode(&Value::from(name.as_str())));
        let tool = registry.get(name).expect("registered");
        assert_eq!((tool.name(), tool.description()), (name.as_str(), format!("I am {name}.").as_str()));
        let result = call(&registry, name, &arguments).await;
        assert_eq!((result.name(), result.value()), (name.as_str(), Some(&value(&arguments))));
        assert_eq!(call_in_program(&registry, name, &arguments).await, value(&arguments));
    }
    let mut expected: Vec<&str> = names.iter().map(String::as_str).chain(["run_code"]).collect();
    expected.sort_unstable();
    assert_eq!(seen(&registry), expected);
    let told: Vec<String> = registry.wire().expect("valid").iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(told, expected);
}

#[tokio::test]
async fn rg_02_a_restriction_takes_hostile_names_and_no_neighbour_of_theirs() {
    let registry = Registry::new();
    let names = hostile();
    for name in &names {
        registry.register(echo(name)).expect("a fine name").keep();
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    for name in &names {
        let (without, only) =
            (registry.child("deny").expect("shallow"), registry.child("allow").expect("shallow"));
        without.restrict_from([name]).expect("inherited");
        only.restrict_to([name]).expect("inherited");
        let others: Vec<String> = sorted.iter().filter(|other| *other != name).cloned().collect();
        assert_eq!(seen(&without), others);
        assert_eq!(seen(&only), [name.as_str()]);
        assert_eq!(call(&without, name, "{}").await.code(), Some(ErrorCode::UnknownTool));
        assert_eq!(call(&only, name, "{}").await.outcome(), Ok(&value("{}")));
    }
}

#[tokio::test]
async fn rg_02_names_that_only_look_alike_are_different_names() {
    let registry = registry(Mode::Both);
    let composed = registry.register(echo("é")).expect("valid");
    assert!(registry.get("e\u{301}").is_none());
    let result = call(&registry, "e\u{301}", "{}").await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, "unknown tool `e\u{301}`"));
    let decomposed = registry.register(echo("e\u{301}")).expect("another name");
    drop(composed);
    assert_eq!(seen(&registry), ["e\u{301}", "run_code"]);
    drop(decomposed);
    assert_eq!(seen(&registry), ["run_code"]);
}

#[tokio::test]
async fn rg_02_a_name_may_fill_its_bound_and_not_pass_it() {
    let registry = registry(Mode::Both);
    let longest = "n".repeat(NAME_BYTES_MAX);
    let registration = registry.register(echo(&longest)).expect("exactly the bound");
    assert_eq!(call_in_program(&registry, &longest, "{}").await, value("{}"));
    // Messages show the ends of a long name; the bytes are what counts.
    let shown = format!("{}…{}", "n".repeat(52), "n".repeat(25));
    assert_eq!(
        registry.register(echo(&longest)).expect_err("taken").to_string(),
        format!("the tool `{shown}` is registered in scope `global` already")
    );
    drop(registration);
    let result = call(&registry, &longest, "{}").await;
    assert_eq!(failure(&result), (ErrorCode::UnknownTool, format!("unknown tool `{shown}`").as_str()));
    // 65,536 bytes are 21,845 characters of three bytes and one of one.
    let exact = format!("{}x", "路".repeat(NAME_BYTES_MAX / 3));
    assert_eq!(exact.len(), NAME_BYTES_MAX);
    registry.register(echo(&exact)).expect("exactly the bound, in bytes").keep();
    let shown = format!("{}…{}", "路".repeat(17), "路".repeat(8));
    for name in [format!("{exact}x"), "路".repeat(NAME_BYTES_MAX / 3 + 1)] {
        let tail = name.strip_prefix(&"路".repeat(NAME_BYTES_MAX / 3)).expect("it begins so");
        let error = registry.register(echo(&name)).expect_err("over the bound").to_string();
        let shown =
            if tail == "路" { shown.clone() } else { format!("{}…{}xx", "路".repeat(17), "路".repeat(7)) };
        assert_eq!(
            error,
            format!("the tool `{shown}` has a name of {} bytes; at most 65536 are taken", name.len())
        );
    }
    assert_eq!(seen(&registry), ["run_code".to_owned(), exact]);
}

#[tokio::test]
async fn rg_03_reserved_names_mean_the_same_whether_or_not_somebody_tried_them() {
    for mode in [Mode::Native, Mode::Code, Mode::Both] {
        let registry = registry(mode);
        let child = registry.child("child").expect("shallow");
        for name in RESERVED_NAMES {
            // A complete tool, and one whose own faults would be found first.
            assert_eq!(echo(name).build().expect("a transport is built like this").name(), name);
            let faulty = child.register(echo(name).output("{")).expect_err("refused").to_string();
            let expected = format!(
                "the tool `{name}` has an output declaration that does not compile: expected a key, found the end of the text at $ (byte 1)"
            );
            assert_eq!(faulty, expected);
            assert_eq!(
                child.register(echo(name)).expect_err("refused").to_string(),
                format!("the tool `{name}` cannot be registered: its name is reserved")
            );
        }
        let expected: &[&str] = if mode == Mode::Native { &[] } else { &["run_code"] };
        assert_eq!(
            (seen(&registry), seen(&child)),
            (expected.iter().map(|name| (*name).to_owned()).collect(), seen(&registry))
        );
        for name in ["search_tools", "describe_tools"] {
            let result = call(&child, name, "{}").await;
            assert_eq!(
                failure(&result),
                (
                    ErrorCode::UnknownTool,
                    format!(
                        "`{name}` exists only inside programs, and only where the tools are too many to declare"
                    )
                    .as_str()
                ),
                "{mode:?}"
            );
        }
    }
}

#[tokio::test]
async fn cm_04_a_program_cannot_reach_its_own_transport() {
    let registry = registry(Mode::Code);
    let nested = r#"{"calls": [{"name": "run_code", "arguments": {"calls": []}}]}"#;
    let result = call(&registry, "run_code", nested).await;
    assert_eq!(result.outcome(), Ok(&value(r#"[{"error": "UNKNOWN_TOOL"}]"#)));
}
