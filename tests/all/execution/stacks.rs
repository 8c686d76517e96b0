//! Checks below many pipelines: what needs stack gets a stack of its own.

use std::future::Future;

use hotcell::execution::{ErrorCode, NESTING_DEPTH_MAX, spans};
use hotcell::json::{self, Value};
use hotcell::registry::Registry;
use hotcell::tool::Tool;

use super::log::request;

/// What tokio gives its threads.
const STACK_BYTES: usize = 2 << 20;

/// Runs on a thread as tokio makes them, whatever the test harness gives.
fn on_a_worker(work: impl Future<Output = ()> + Send + 'static) {
    let run = move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work);
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread").join().expect("no panic");
}

/// A tool that calls itself until `levels` calls are below each other, and then `name` with `arguments`. Its value is what that
/// came to, as text.
fn below(name: &'static str, arguments: String) -> hotcell::tool::ToolBuilder {
    Tool::builder("below").parameters("true").output("true").body(move |own, context| {
        let arguments = arguments.clone();
        async move {
            let levels = own.get("levels").and_then(Value::as_u64).unwrap_or(1);
            let result = if levels == 1 {
                context.invoke(name, arguments).await
            } else {
                context.invoke("below", format!(r#"{{"levels": {}}}"#, levels - 1)).await
            };
            if levels > 1 {
                return Ok(result.value().cloned().unwrap_or(Value::Null));
            }
            Ok(result.outcome().map_or_else(|error| error.to_string(), json::encode).into())
        }
    })
}

/// What the call of a tool with these schemas comes to, below as many pipelines as there may be.
fn deepest(schema: &str, arguments: &str) -> String {
    let registry = Registry::new();
    let tool = Tool::builder("checked").parameters(schema.to_owned()).output(schema.to_owned());
    registry.register(tool.body(async |arguments, _| Ok(Value::clone(&arguments)))).expect("valid").keep();
    registry.register(below("checked", arguments.to_owned())).expect("valid").keep();
    // What adds to the stack.
    for _ in 0..10 {
        registry.around(spans);
        registry.on_pre_execute(async |_, next| Ok(next.run().await));
        registry.on_post_execute(async |_, _, next| Ok(next.run().await));
    }
    let (sends, result) = std::sync::mpsc::channel();
    on_a_worker(async move {
        let levels = format!(r#"{{"levels": {}}}"#, NESTING_DEPTH_MAX - 1);
        let result = registry.call(request("below", &levels)).await;
        sends.send(result.value().and_then(Value::as_str).map(str::to_owned)).expect("somebody waits");
    });
    result.recv().expect("it ended").expect("a text")
}

fn nest(open: &str, levels: usize, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

const LIST: &str = r##"{"type":"array","items":{"$ref":"#"}}"##;
const TREE: &str = r##"{"properties":{"c":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"type":"object"}"##;

#[test]
fn deep_arguments_are_judged_below_as_many_pipelines_as_there_may_be() {
    let list = nest("[", 512, "", "]");
    assert_eq!(deepest(LIST, &list), list);
    let tree = nest(r#"{"c":"#, 511, "{}", "}");
    assert_eq!(deepest(TREE, &tree), tree);
    // Explaining takes more stack than looking.
    let found = deepest(LIST, &nest("[", 511, "1", "]"));
    let path = format!("${}…{}", "[0]".repeat(32), "[0]".repeat(32));
    let expected = format!("the arguments of `checked` are not valid:\n{path}: expected array, found integer 1");
    assert_eq!(found, format!("{}: {expected}", ErrorCode::InvalidArgs));
    let found = deepest(TREE, &nest(r#"{"c":"#, 511, "1", "}"));
    assert!(found.starts_with("INVALID_ARGS: the arguments of `checked` are not valid:\n$: "), "{found}");
}

#[test]
fn long_chains_of_subschemas_are_judged_there_as_well() {
    let mut definitions = String::new();
    for number in 0..250 {
        definitions.push_str(&format!(r##""{number}":{{"not":{{"$ref":"#/$defs/{}"}}}},"##, number + 1));
    }
    let schema = format!(r##"{{"$defs":{{{definitions}"250":{{"type":"string"}}}},"$ref":"#/$defs/0"}}"##);
    assert_eq!(deepest(&schema, "\"a\""), "\"a\"");
    let found = deepest(&schema, "1");
    assert!(found.ends_with("$: expected no match of the schema in not, found integer 1"), "{found}");
}
