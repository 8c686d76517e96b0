//! Everything that a model is promised of programs, line by line, in the real guest (SD-08).
//!
//! A line that changes, or a new one, fails here until it has programs. What the guests cannot do yet is in a list of its own, and
//! leaves it as soon as it works.

use std::sync::{Arc, Mutex};

use hotcell::Content;
use hotcell::execution::{ErrorCode, ToolContext, ToolResult};
use hotcell::json::{self, Object, Value};
use hotcell::language::Language;
use hotcell::registry::Registry;
use hotcell::tool::{BodyError, Tool, ToolBuilder};
use tokio::sync::Barrier;

use crate::code_mode::plan::javascript;
use crate::code_mode::rig::{registry, shown};
use crate::tools::{call, echo, value};

/// A line of the instructions for JavaScript, and programs that show it, each with what it returns as JSON.
const PROMISES: [(&str, &[(&str, &str)]); 6] = [
    (
        "- `code` is the body of an async function: `await` and `return` work at its top level; there is no `import`, `require`, \
         `fetch` or `process`.",
        &[
            ("return await Promise.resolve(1)", "1"),
            (
                "return [typeof require, typeof fetch, typeof process]",
                r#"["undefined", "undefined", "undefined"]"#,
            ),
            ("try { await import('x') } catch { return 'none' }", r#""none""#),
        ],
    ),
    (
        "- Call a tool with one object: `await tools.name({ … })`, or `await tools[\"odd-name\"]({ … })`. The types below are there to be \
         read; what is passed is checked when the call is made.",
        &[
            ("return await tools.name({ a: 1 })", r#"{"a": 1}"#),
            ("return await tools[\"odd-name\"]({ b: 2 })", r#"{"b": 2}"#),
            (
                "try { await tools.strict({ n: 'x' }) } catch (error) { return error.message }",
                r#""the arguments of `strict` are not valid:\n$.n: expected integer, found string \"x\"""#,
            ),
        ],
    ),
    (
        "- A failed call throws a `ToolCallError`; its `message` says why and its `toolName` which tool.",
        &[(
            "try { await tools.fails({}) } catch (error) {
                return [error instanceof ToolCallError, error instanceof Error, error.message, error.toolName];
            }",
            r#"[true, true, "out of order", "fails"]"#,
        )],
    ),
    (
        "- Calls that are started together, as with `Promise.all`, overlap where their tools allow it; the others run one after another, \
         in the order in which they were started. A call that nobody awaits is cancelled when the program ends.",
        &[
            // Neither would settle if they did not overlap.
            ("return await Promise.all([tools.meets({}), tools.meets({})])", "[null, null]"),
            (
                "await Promise.all([tools.alone(1), tools.alone(2), tools.alone(3)]); return await tools.lines({})",
                r#"["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"]"#,
            ),
            ("tools.waits({}); await tools.name({}); return 'over'", r#""over""#),
        ],
    ),
    (
        "- Only what is printed with `console.log` or returned comes back; print or return what is needed, not everything. An image in a \
         tool's result is attached after the program's result.",
        &[("const hidden = 'not this'; await tools.draws({}); return 'this'", r#""this""#)],
    ),
    (
        "- Values cross as JSON without loss: an integer too large for a Number arrives as a BigInt, and `undefined`, `NaN` or a function \
         in an argument is an error.",
        &[
            (
                "const { n } = await tools.large({}); return [typeof n, n + 1n]",
                r#"["bigint", 1152921504606846978]"#,
            ),
            ("try { await tools.name({ x: NaN }) } catch (error) { return 'no' }", r#""no""#),
            ("try { await tools.name({ x: [undefined] }) } catch (error) { return 'no' }", r#""no""#),
            ("try { await tools.name({ x: () => 1 }) } catch (error) { return 'no' }", r#""no""#),
        ],
    ),
];

/// Lines that no guest keeps yet, by language, and a program that will run when one does.
const PENDING: [(&str, &str, &str); 1] = [(
    "typescript",
    "- `code` is the body of an async function: `await` and `return` work at its top level; there is no `import`, `require`, `fetch` or \
     `process`. Types are erased and not checked; what cannot be erased, such as `enum`, is an error.",
    "const n: number = 1; return n as unknown",
)];

fn anything(name: &str) -> ToolBuilder {
    Tool::builder(name).parameters("true").output("true")
}

/// The tools of the programs.
async fn tools() -> Registry {
    let registry = registry(&javascript().await);
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let (noted, read) = (Arc::clone(&lines), lines);
    let together = Arc::new(Barrier::new(2));
    let strict = echo("strict").parameters(r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#);
    let picture = |_: &Value, _: &Value| vec![Content::image("image/png", b"picture")];
    let tools = [
        echo("name"),
        echo("odd-name"),
        strict,
        anything("fails").body(async |_, _| Err(BodyError::new("out of order"))),
        anything("meets").concurrency_safe(|_| true).body(move |_, _| {
            let together = Arc::clone(&together);
            async move {
                together.wait().await;
                Ok(Value::Null)
            }
        }),
        anything("alone").body(move |arguments, _| {
            let noted = Arc::clone(&noted);
            async move {
                noted.lock().expect("whole").push(format!("{arguments:?} begins"));
                tokio::task::yield_now().await;
                noted.lock().expect("whole").push(format!("{arguments:?} ends"));
                Ok(Value::Null)
            }
        }),
        anything("lines").body(move |_, _| {
            let lines: json::Array = read.lock().expect("whole").drain(..).map(Value::from).collect();
            async move { Ok(lines.into()) }
        }),
        anything("waits").concurrency_safe(|_| true).body(async |_, context: ToolContext| {
            context.cancel().cancelled().await;
            Ok(Value::Null)
        }),
        anything("draws").render(picture).body(async |_, _| Ok(Value::Null)),
        anything("large").body(async |_, _| Ok(value(r#"{"n": 1152921504606846977}"#))),
    ];
    for tool in tools {
        registry.register(tool).expect("free").keep();
    }
    registry
}

async fn run(registry: &Registry, code: &str) -> Arc<ToolResult> {
    let mut arguments = Object::new();
    arguments.insert("code", code);
    arguments.insert("description", "a promise");
    call(registry, "run_code", &json::encode(&Value::from(arguments))).await
}

/// The lines of a language's instructions.
fn lines(language: &str) -> Vec<&'static str> {
    let instructions = Language::find(language).expect("known").instructions();
    instructions.lines().filter(|line| line.starts_with("- ")).collect()
}

#[tokio::test]
async fn sd_08_every_line_is_kept_by_the_guest() {
    assert_eq!(lines("javascript"), PROMISES.map(|(line, _)| line));
    let registry = tools().await;
    for (line, programs) in PROMISES {
        for (program, expected) in programs {
            let result = run(&registry, program).await;
            let returned = result.value().and_then(|value| value.get("result").cloned());
            assert_eq!(returned, Some(value(expected)), "{line}\n{program}\n{}", shown(&result));
        }
    }
    // What comes back is what was printed and returned, and the picture after it.
    let result =
        run(&registry, "console.log('printed'); const hidden = 1; await tools.draws({}); return 'this'").await;
    assert_eq!(shown(&result), "printed\nthis");
    let blocks: Vec<_> = result.contexts().iter().flat_map(|context| context.content()).collect();
    assert_eq!(blocks, [&Content::image("image/png", b"picture")]);
    // What nobody awaited was cancelled, and is named.
    let result = run(&registry, "tools.waits({}); await tools.name({}); return 1").await;
    let facts = result.run_facts().expect("it ran");
    assert_eq!(facts.notes, ["still running when the program ended: waits"]);
    // `code` and `description` are both required; an `import` statement is an error.
    for arguments in [r#"{"code": "return 1"}"#, r#"{"description": "x"}"#] {
        assert_eq!(call(&registry, "run_code", arguments).await.code(), Some(ErrorCode::InvalidArgs));
    }
    assert_eq!(run(&registry, "import x from 'x'; return x").await.code(), Some(ErrorCode::CodeRunFailed));
}

#[tokio::test]
async fn sd_08_what_is_promised_and_pending_does_not_work_yet() {
    let registry = tools().await;
    for (language, line, program) in PENDING {
        assert!(lines(language).contains(&line), "{line}");
        assert_eq!(run(&registry, program).await.code(), Some(ErrorCode::CodeRunFailed), "{line} is kept now");
    }
    // TypeScript promises what JavaScript does, apart from its pending line.
    let pending: Vec<&str> = PENDING.iter().map(|(_, line, _)| *line).collect();
    let rest: Vec<&str> = lines("typescript").into_iter().filter(|line| !pending.contains(line)).collect();
    assert_eq!(rest, lines("javascript")[1..]);
    // There is no guest for Python, so nothing of it can be tried; nor can a registry present it.
    assert_eq!(lines("python").len(), 6);
    let scope = registry.child("python").expect("shallow");
    scope.use_language("python").expect("the first");
    assert!(scope.wire().is_err());
}
