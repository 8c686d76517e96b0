//! Messages show the ends of a long name, never all of it: names are other people's, and messages go to models and logs.

use hotcell::execution::ErrorCode;
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::tool::{NAME_BYTES_MAX, Tool};
use hotcell::{Error, ErrorKind};

use crate::tools::{call, echo, failure, registry, run_code};

fn misuse<T>(result: Result<T, Error>) -> String {
    let error = result.err().expect("refused");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    error.to_string()
}

/// The longest name, of one letter.
fn long(letter: &str) -> String {
    letter.repeat(NAME_BYTES_MAX)
}

/// The same name as messages show it.
fn shown(letter: &str) -> String {
    format!("{}…{}", letter.repeat(52), letter.repeat(25))
}

#[test]
fn sc_03_refused_restrictions_show_the_ends_of_long_names() {
    let registry = Registry::new();
    for letter in ["a", "b"] {
        registry.register(echo(&long(letter))).expect("valid").keep();
    }
    let scope: Scope = registry.child(long("s")).expect("shallow");
    let (s, x) = (shown("s"), shown("x"));
    assert_eq!(
        misuse(scope.restrict_to([long("x")])),
        format!("the scope `{s}` inherits no tool `{x}`; it inherits `{}`, `{}`", shown("a"), shown("b"))
    );
    let none: [&str; 0] = [];
    assert_eq!(
        misuse(scope.restrict_from(none)),
        format!("a restriction of scope `{s}` names no tool; name at least one")
    );
    scope.present_as(Mode::Native).expect("the first");
    assert_eq!(misuse(scope.present_as(Mode::Native)), format!("the scope `{s}` has declared a mode already"));
    scope.register(echo(&long("a"))).expect("free here").keep();
    let taken = format!("the tool `{}` is registered in scope `{s}` already", shown("a"));
    assert_eq!(misuse(scope.register(echo(&long("a")))), taken);
}

#[test]
fn rg_04_what_is_wrong_with_a_tool_is_said_with_the_ends_of_its_name() {
    let error = Tool::builder(long("t")).parameters("{}").build();
    assert_eq!(
        misuse(error),
        format!("the tool `{}` has no output declaration; give it a JSON Schema", shown("t"))
    );
}

#[test]
fn sc_06_languages_and_transports_are_shown_by_their_ends() {
    let (l, t) = (shown("l"), shown("t"));
    let misnamed = echo(&long("t")).build().expect("valid");
    assert_eq!(
        misuse(Registry::builder().transport(&long("l"), misnamed).build()),
        format!("the transport for `{l}` is named `{t}`; it must be `run_code`")
    );
    let unknown = Registry::builder().transport(&long("l"), run_code());
    let known = "`typescript`, `javascript`, `python`";
    assert_eq!(misuse(unknown.build()), format!("there is no language `{l}`; there are {known}"));
    let builder = || Registry::builder().transport("javascript", run_code()).transport("python", run_code());
    let unknown =
        format!("there is no runtime for the language `{}`; there is one for `javascript`, `python`", shown("x"));
    assert_eq!(misuse(builder().language(&long("x")).build()), unknown);
    let registry = builder().mode(Mode::Code).build().expect("valid");
    let scope = registry.child("agent").expect("shallow");
    scope.use_language(&long("x")).expect("the first");
    assert_eq!(misuse(scope.wire()), unknown);
}

#[tokio::test]
async fn pl_02_refused_calls_show_the_ends_of_long_names() {
    let registry = registry(Mode::Both);
    let name = long("n");
    registry.register(echo(&name)).expect("valid").keep();
    let n = shown("n");
    let invalid = call(&registry, &name, "1").await;
    let message = format!("the arguments of `{n}` are not valid:\n$: expected object, found integer 1");
    assert_eq!(failure(&invalid), (ErrorCode::InvalidArgs, message.as_str()));
    let coder = registry.child("coder").expect("shallow");
    coder.present_as(Mode::Code).expect("the first");
    // No example: it would have to hold all of the name.
    let message = format!(
        "`{n}` cannot be called directly; only `run_code` can. Call it from inside a program that you pass to \
         `run_code`"
    );
    let collapsed = call(&coder, &name, "{}").await;
    assert_eq!(failure(&collapsed), (ErrorCode::UnknownTool, message.as_str()));
    let typed = Tool::typed(long("y"), "", async |number: u8| Ok(number));
    registry.register(typed.parameters("true")).expect("valid").keep();
    let refused = call(&registry, &long("y"), "256").await;
    let message =
        format!("the arguments of `{}` are not valid:\n$: invalid value: integer 256, expected u8", shown("y"));
    assert_eq!(failure(&refused), (ErrorCode::InvalidArgs, message.as_str()));
}
