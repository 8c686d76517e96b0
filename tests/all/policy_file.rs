//! Policy files: what they refuse, and what they do to calls.

mod errors;
mod limits;

use std::sync::{Arc, Mutex};

use hotcell::execution::{
    ApprovalAnswer, ApprovalRequest, ApprovalService, CallRequest, Caller, Decision, ErrorCode, ToolResult,
};
use hotcell::policy_file::PolicyFile;
use hotcell::registry::{Mode, Registry, Scope};
use hotcell::runtime::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::tools::{call, call_in_program, echo, failure, registry, run_code, value};

/// A person who always says the same, and remembers what they were asked.
struct Person {
    answer: ApprovalAnswer,
    asked: Mutex<Vec<(String, Option<String>)>>,
}

impl ApprovalService for Person {
    fn request(&self, request: ApprovalRequest) -> BoxFuture<'static, ApprovalAnswer> {
        self.asked.lock().expect("not poisoned").push((request.call.name().to_owned(), request.reason));
        let answer = self.answer.clone();
        Box::pin(async move { answer })
    }
}

impl Person {
    fn saying(answer: ApprovalAnswer) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }

    /// What they were asked since the last time.
    fn asked(&self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut self.asked.lock().expect("not poisoned"))
    }
}

fn question(name: &str, reason: &str) -> (String, Option<String>) {
    (name.to_owned(), Some(reason.to_owned()))
}

/// A registry in mode `both` with a person to ask, and tools of these names.
fn asking(person: &Arc<Person>, tools: &[&str]) -> Registry {
    let registry = Registry::builder()
        .mode(Mode::Both)
        .transport("javascript", run_code())
        .approval(Arc::<Person>::clone(person))
        .build()
        .expect("a valid registry");
    register(&registry, tools);
    registry
}

fn register(registry: &Registry, tools: &[&str]) {
    for name in tools {
        registry.register(echo(name)).expect("valid").keep();
    }
}

fn policy(text: &str) -> PolicyFile {
    PolicyFile::parse(text).expect("a valid policy")
}

/// A call on behalf of somebody who can be asked.
async fn call_for_somebody(scope: &Scope, name: &str, arguments: &str) -> Arc<ToolResult> {
    let caller = Caller::new("somebody", ());
    scope.call(CallRequest::new(name, arguments, CancellationToken::new()).with_caller(caller)).await
}

fn denied(name: &str, reason: &str) -> String {
    format!("the call of `{name}` was denied: {reason}")
}

#[track_caller]
fn assert_denied(result: &ToolResult, reason: &str) {
    assert_eq!(failure(result), (ErrorCode::Denied, denied(result.name(), reason).as_str()));
}

#[tokio::test]
async fn the_first_rule_that_matches_decides_and_else_the_default() {
    let registry = registry(Mode::Both);
    register(&registry, &["read", "read_all", "write"]);
    let installed = policy(
        r#"default = "deny"
        [[rule]]
        action = "allow"
        tools = "read"
        [[rule]]
        action = "deny"
        tools = ["x", "read*"]
        [[rule]]
        action = "allow"
        tools = "*_all""#,
    )
    .install(&registry);
    assert_eq!(call(&registry, "read", "{}").await.code(), None);
    assert_denied(&*call(&registry, "read_all", "{}").await, "the rule in line 5 of the policy denies it");
    assert_denied(&*call(&registry, "write", "{}").await, "no rule of the policy allows it");
    assert_denied(&*call(&registry, "absent", "{}").await, "no rule of the policy allows it");
    assert_eq!(
        failure(&*call(&registry, "absent_all", "{}").await),
        (ErrorCode::UnknownTool, "unknown tool `absent_all`")
    );
    installed.remove();
    assert_eq!(call(&registry, "write", "{}").await.code(), None);
}

#[tokio::test]
async fn direct_and_nested_calls_are_told_apart() {
    let registry = registry(Mode::Both);
    register(&registry, &["a", "b"]);
    policy(
        r#"default = "allow"
        rule = [
            { action = "deny", tools = "a", calls = "direct" },
            { action = "deny", tools = "b", calls = "nested" },
        ]"#,
    )
    .install(&registry);
    assert_denied(&*call(&registry, "a", "{}").await, "the rule in line 3 of the policy denies it");
    assert_eq!(call_in_program(&registry, "a", "{}").await, value("{}"));
    assert_eq!(call(&registry, "b", "{}").await.code(), None);
    assert_eq!(call_in_program(&registry, "b", "{}").await, value(r#"{"error": "DENIED"}"#));
}

#[tokio::test]
async fn a_rule_matches_where_all_its_conditions_hold() {
    let cases = [
        (r#"{ pointer = "/a", equals = 1 }"#, r#"{"a": 1.0}"#, true),
        (r#"{ pointer = "/a", equals = 1.0 }"#, r#"{"a": 1}"#, true),
        (r#"{ pointer = "/a", equals = 0x10 }"#, r#"{"a": 16}"#, true),
        (r#"{ pointer = "/a", equals = 1 }"#, r#"{"a": "1"}"#, false),
        (r#"{ pointer = "/a", equals = 1 }"#, "{}", false),
        (r#"{ pointer = "/a", equals = true }"#, r#"{"a": true}"#, true),
        (r#"{ pointer = "/a", equals = [1, { b = "x" }] }"#, r#"{"a": [1, {"b": "x"}]}"#, true),
        (r#"{ pointer = "", equals = {} }"#, "{}", true),
        (r#"{ pointer = "/a", one-of = ["x", 2] }"#, r#"{"a": 2}"#, true),
        (r#"{ pointer = "/a", one-of = ["x", 2] }"#, r#"{"a": "y"}"#, false),
        (r#"{ pointer = "/a/0", glob = "x/*" }"#, r#"{"a": ["x/y"]}"#, true),
        (r#"{ pointer = "/a/0", glob = "x/*" }"#, r#"{"a": ["y/x/"]}"#, false),
        (r#"{ pointer = "/a", glob = "*" }"#, r#"{"a": 1}"#, false),
        (r#"{ pointer = "/a", present = true }"#, r#"{"a": null}"#, true),
        (r#"{ pointer = "/a", present = true }"#, "{}", false),
        (r#"{ pointer = "/a", present = false }"#, "{}", true),
        (r#"{ pointer = "/a", present = false }"#, r#"{"a": null}"#, false),
        (r#"[{ pointer = "/a", equals = 1 }, { pointer = "/b", equals = 2 }]"#, r#"{"a": 1, "b": 2}"#, true),
        (r#"[{ pointer = "/a", equals = 1 }, { pointer = "/b", equals = 2 }]"#, r#"{"a": 1, "b": 3}"#, false),
    ];
    for (when, arguments, matches) in cases {
        let registry = registry(Mode::Both);
        register(&registry, &["a b"]);
        let text =
            format!("default = 'allow'\n[[rule]]\naction = 'deny'\ntools = 'a b'\nreason = 'no'\nwhen = {when}");
        policy(&text).install(&registry);
        let result = call(&registry, "a b", arguments).await;
        assert_eq!(result.code(), matches.then_some(ErrorCode::Denied), "{when} {arguments}");
    }
}

#[tokio::test]
async fn a_denial_stays_whatever_other_listeners_say() {
    let registry = registry(Mode::Both);
    register(&registry, &["read"]);
    registry.on_pre_execute(async |_, _| Ok(Decision::Allow));
    let scope = registry.child("below").expect("shallow");
    policy("default = 'allow'\n[[rule]]\naction = 'deny'\ntools = 'read'\nreason = 'never'").install(&scope);
    assert_denied(&*call(&scope, "read", "{}").await, "never");
    assert_eq!(call(&registry, "read", "{}").await.code(), None);
}

#[tokio::test]
async fn an_allowance_overrules_nobody() {
    let registry = registry(Mode::Both);
    register(&registry, &["read"]);
    policy("default = 'allow'").install(&registry);
    registry.on_pre_execute(async |_, _| Ok(Decision::deny("somebody else's reason")));
    assert_denied(&*call(&registry, "read", "{}").await, "somebody else's reason");
}

#[tokio::test]
async fn asking_reaches_the_person() {
    let text = "default = 'ask'\n[[rule]]\naction = 'ask'\ntools = 'a'\n[[rule]]\naction = 'ask'\ntools = 'b'\nreason = 'why'";
    let yes = Person::saying(ApprovalAnswer::AllowedOnce);
    let no = Person::saying(ApprovalAnswer::Rejected(None));
    let questions = [
        question("a", "the rule in line 2 of the policy wants approval for it"),
        question("b", "why"),
        question("c", "no rule of the policy allows it without approval"),
    ];
    for (person, code) in [(yes, None), (no, Some(ErrorCode::Denied))] {
        let registry = asking(&person, &["a", "b", "c"]);
        policy(text).install(&registry);
        for name in ["a", "b", "c"] {
            assert_eq!(call_for_somebody(&registry, name, "{}").await.code(), code);
        }
        assert_eq!(person.asked(), questions);
    }
}

#[tokio::test]
async fn nobody_is_asked_about_what_a_later_listener_denies() {
    let person = Person::saying(ApprovalAnswer::AllowedOnce);
    let registry = asking(&person, &["a"]);
    policy("default = 'ask'").install(&registry);
    registry.on_pre_execute(async |_, _| Ok(Decision::deny("no")));
    assert_denied(&*call_for_somebody(&registry, "a", "{}").await, "no");
    assert_eq!(person.asked(), []);
}

#[tokio::test]
async fn two_policies_ask_once_with_the_first_ones_reason() {
    let person = Person::saying(ApprovalAnswer::AllowedOnce);
    let registry = asking(&person, &["a"]);
    for reason in ["first", "second"] {
        policy(&format!("default = 'allow'\n[[rule]]\naction = 'ask'\ntools = 'a'\nreason = '{reason}'"))
            .install(&registry);
    }
    assert_eq!(call_for_somebody(&registry, "a", "{}").await.code(), None);
    assert_eq!(person.asked(), [question("a", "first")]);
}

#[tokio::test]
async fn the_example_of_the_documentation_does_what_it_says() {
    let person = Person::saying(ApprovalAnswer::AllowedOnce);
    let registry = asking(&person, &["fs_read", "fs_write", "web_search", "shell"]);
    policy(include_str!("../../src/policy_file/example.toml")).install(&registry);

    assert_eq!(call(&registry, "fs_read", r#"{"path": "notes/a"}"#).await.code(), None);
    assert_denied(&*call(&registry, "fs_read", r#"{"path": "secrets/a"}"#).await, "secrets are not for models");
    assert_denied(&*call(&registry, "shell", "{}").await, "no rule of the policy allows it");
    assert_eq!(call_in_program(&registry, "shell", "{}").await, value(r#"{"error": "DENIED"}"#));

    let replace = r#"{"path": "a", "mode": "replace"}"#;
    assert_eq!(call_for_somebody(&registry, "fs_write", replace).await.code(), None);
    assert_eq!(person.asked(), []);
    let program = format!(r#"{{"calls": [{{"name": "fs_write", "arguments": {replace}}}]}}"#);
    let result = call_for_somebody(&registry, "run_code", &program).await;
    assert_eq!(result.outcome(), Ok(&value(&format!("[{replace}]"))));
    assert_eq!(person.asked(), [question("fs_write", "a program wants to replace a file")]);

    let hundred_and_one = vec![r#"{"name": "fs_read", "arguments": {}}"#; 101].join(", ");
    let result = call(&registry, "run_code", &format!(r#"{{"calls": [{hundred_and_one}]}}"#)).await;
    let expected = format!(r#"[{}{{"error": "DENIED"}}]"#, "{}, ".repeat(100));
    assert_eq!(result.outcome(), Ok(&value(&expected)));

    for _ in 0..20 {
        assert_eq!(call(&registry, "web_search", "{}").await.code(), None);
    }
    assert_denied(&*call(&registry, "web_search", "{}").await, "this session has used up its searches");
}
