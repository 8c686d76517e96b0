//! Names of tools: any text but none, called by exactly that name.

use hotcell::ErrorKind;
use hotcell::json::Value;
use hotcell::runtime::{Bindings, CallError, CallState, FailureKind};

use super::rig::{Seen, completed, ends, failed, request, request_with, run};

/// Names that a language, an object or a careless guest would give a meaning of its own.
const EXOTIC: &[&str] = &[
    "__proto__",
    "__defineGetter__",
    "a b",
    "arguments",
    "await",
    "class",
    "constructor",
    "default",
    "eval",
    "hasOwnProperty",
    "isPrototypeOf",
    "length",
    "my-tool",
    "name",
    "new",
    "prototype",
    "return",
    "then",
    "toJSON",
    "toString",
    "tools",
    "undefined",
    "valueOf",
    "0",
    "5",
    "-1",
    "1.5",
    "007",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "Infinity",
    "NaN",
    "null",
    "e\u{301}",
    "é",
    "路径",
    "😀",
    "\0",
    "a\0b",
    "\n",
    " ",
    "\u{2028}",
    "\u{feff}",
    "\"",
    "'",
    "\\",
    "\\ud800",
    "`",
    "${x}",
    "*/",
    "</script>",
    "fs.read",
    "Symbol(Symbol.iterator)",
    "@@iterator",
    "#private",
    "%s",
    "[0]",
];

/// One tool for each name, which answers with its own name, or fails with it.
fn exotic() -> Bindings {
    let long = "n".repeat(10_000);
    EXOTIC.iter().copied().chain([long.as_str()]).fold(Bindings::new(), |bindings, name| {
        let own = name.to_owned();
        bindings.tool(name, move |arguments| {
            let own = own.clone();
            async move {
                match arguments.get("fail") {
                    Some(_) => Err(CallError::new(format!("{own} failed"))),
                    None => Ok(own.into()),
                }
            }
        })
    })
}

/// All names, in code point order.
fn names() -> Vec<String> {
    let mut names: Vec<String> = EXOTIC.iter().map(|&name| name.to_owned()).collect();
    names.push("n".repeat(10_000));
    names.sort();
    names
}

#[tokio::test]
async fn rg_02_every_name_is_called_by_exactly_that_name() {
    let program = "
        const names = Object.keys(tools);
        const wrong = names.filter((name) => typeof tools[name] !== 'function' || !(name in tools) || !Object.hasOwn(tools, name));
        for (const name of names) {
          if (await tools[name]({}) !== name) wrong.push(name);
          const error = await tools[name]({ fail: true }).catch((error) => error);
          if (!(error instanceof ToolCallError) || error.toolName !== name || error.message !== `${name} failed`) wrong.push(name);
        }
        console.log(JSON.stringify(names));
        return wrong;";
    let names = names();
    let listed: Value = names.iter().map(|name| Value::from(name.as_str())).collect::<Vec<_>>().into();
    let mut seen = completed("[]").logs(&[&hotcell::json::encode(&listed)]);
    for name in &names {
        seen = seen.calls(name, 1, CallState::Done).calls(name, 1, CallState::Failed);
    }
    assert_eq!(Seen::from(run(request_with(program, exotic())).await), seen);
}

#[tokio::test]
async fn wb_07_names_are_ordinary_members_however_they_are_written() {
    for (expression, name) in [
        ("tools['__proto__']", "__proto__"),
        ("tools.__proto__", "__proto__"),
        ("tools.constructor", "constructor"),
        ("tools['my-tool']", "my-tool"),
        ("tools['a b']", "a b"),
        ("tools.路径", "路径"),
        ("tools.then", "then"),
        ("tools.toJSON", "toJSON"),
        ("tools.class", "class"),
        ("tools[5]", "5"),
        ("tools[-1]", "-1"),
        ("tools[1.5]", "1.5"),
        ("tools[4294967295]", "4294967295"),
        ("tools[18446744073709551616n]", "18446744073709551616"),
        ("tools[NaN]", "NaN"),
        ("tools[null]", "null"),
        ("tools[undefined]", "undefined"),
        ("tools?.['\\0']", "\0"),
        ("tools['\\u00e9']", "é"),
        ("tools['e\\u0301']", "e\u{301}"),
        ("tools['\\u{1f600}']", "😀"),
        ("tools[{ toString: () => 'name' }]", "name"),
        ("tools['\\\\ud800']", "\\ud800"),
        ("({ ...tools })['__proto__']", "__proto__"),
        ("Reflect.get(tools, 'valueOf')", "valueOf"),
        ("tools['n'.repeat(10000)]", &"n".repeat(10_000)),
    ] {
        let program = format!("return await ({expression})({{}})");
        let is = completed(&hotcell::json::encode(&name.into())).calls(name, 1, CallState::Done);
        assert_eq!(Seen::from(run(request_with(program, exotic())).await), is, "{expression}");
    }
}

#[tokio::test]
async fn a_tool_named_then_makes_its_namespace_wait_for_nothing() {
    let message = "the program awaits something that no pending call or timer can settle";
    let seen = Seen::from(run(request_with("await tools", exotic())).await);
    let mut stalls = failed(FailureKind::Exception, message);
    // The interpreter calls `then` with its two functions, and looks at nothing that comes back.
    stalls.unhandled = vec!["TypeError: tools.then takes one argument, an object; it was given 2".to_owned()];
    assert_eq!(seen, stalls);
    let seen = Seen::from(run(request_with("return JSON.stringify([typeof tools.then])", exotic())).await);
    assert_eq!(seen, completed("\"[\\\"function\\\"]\""));
}

#[test]
fn an_empty_name_is_refused_by_the_host() {
    let refused = Bindings::new().tool("", |value| async { Ok(value) }).into_namespace("tools");
    let error = refused.expect_err("a name has to be there");
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert_eq!(error.to_string(), "a member of `tools` has an empty name");
}

#[tokio::test]
async fn unknown_names_reach_the_host_as_they_are() {
    let long = "n".repeat(10_000);
    let shown = format!("{}…", "n".repeat(80));
    for (expression, name, shown) in [
        ("''", "", ""),
        ("'\\0'", "\0", "\0"),
        ("'😀'", "😀", "😀"),
        ("'n'.repeat(10000)", long.as_str(), shown.as_str()),
    ] {
        let program =
            format!("return await tools[{expression}]().catch((error) => [error.toolName, error.message])");
        let expected: Value = vec![Value::from(name), Value::from(format!("unknown tool `{shown}`"))].into();
        let is = completed(&hotcell::json::encode(&expected)).calls(name, 1, CallState::Failed);
        assert_eq!(ends(program).await, is, "{expression}");
    }
}

#[tokio::test]
async fn a_name_longer_than_the_host_takes_fails_its_call() {
    let program = "return await tools['n'.repeat(65537)]().catch((error) => [error.name, error.message, error.toolName.length])";
    let is = "[\"ToolCallError\",\"a tool name has 65537 bytes; at most 65536 are taken\",65537]";
    assert_eq!(ends(program).await, completed(is));
    let program = "return await tools['n'.repeat(65536)]().catch((error) => error.message.length)";
    let is = completed("96").calls(&"n".repeat(65_536), 1, CallState::Failed);
    assert_eq!(ends(program).await, is);
}

#[tokio::test]
async fn rg_02_a_lone_surrogate_in_a_name_is_no_alias_of_its_text() {
    let program = "return await tools['\\ud800']({}).catch((error) => [error.name, error.message])";
    let is = "[\"TypeError\",\"tools.\\\\ud800: the name holds a lone surrogate, which is not valid Unicode\"]";
    assert_eq!(Seen::from(run(request_with(program, exotic())).await), completed(is));
}

#[tokio::test]
async fn a_run_without_namespaces_has_neither_tools_nor_their_errors() {
    let mut request = request("return [typeof tools, typeof ToolCallError]");
    request.namespaces.clear();
    assert_eq!(Seen::from(run(request).await), completed("[\"undefined\",\"undefined\"]"));
}

#[tokio::test]
async fn a_namespace_without_tools_is_empty() {
    let seen = Seen::from(
        run(request_with("return [Object.keys(tools), await tools.a().catch(String)]", Bindings::new())).await,
    );
    let is = completed("[[],\"ToolCallError: unknown tool `a`\"]");
    assert_eq!(seen, is.calls("a", 1, CallState::Failed));
}
