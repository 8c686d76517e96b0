//! What the declarations of tools cost: 520 tools as public servers publish them, in each language, and once they are known.

#![expect(clippy::expect_used, clippy::disallowed_methods, reason = "a benchmark that cannot go on stops")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hotcell::json::{self, Value};
use hotcell::language::{Language, SdkTool};
use hotcell::limits::{Limit, Limits};
use hotcell::prompt::Variables;
use hotcell::registry::{Mode, Registry};
use hotcell::runtime::ScriptedRuntime;
use hotcell::tool::Tool;

/// A definition.
struct Listed {
    name: String,
    description: String,
    parameters: Value,
}

/// The 40 definitions of the tests, thirteen times under different names.
fn listed() -> Vec<Listed> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mcp-tools.json"));
    let document = json::decode(&text.expect("it is there")).expect("JSON");
    let tools = document.get("tools").and_then(Value::as_array).expect("tools");
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    (0..13)
        .flat_map(|round| tools.iter().map(move |tool| (round, tool)))
        .map(|(round, tool)| Listed {
            name: format!("{}_{round}", text(tool, "name")),
            description: text(tool, "description"),
            parameters: tool.get("inputSchema").cloned().expect("it has one"),
        })
        .collect()
}

fn languages(criterion: &mut Criterion) {
    let tools = listed();
    let output = Value::Bool(true);
    let sdk = |tools: &[Listed], language: &Language| {
        let tools = tools.iter().map(|tool| SdkTool {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
            output: &output,
        });
        language.sdk(tools, usize::MAX)
    };
    let mut group = criterion.benchmark_group("declarations");
    for id in ["typescript", "python"] {
        let language = Language::find(id).expect("known");
        for count in [130, 260, 520] {
            let tools = tools.get(..count).expect("there are more");
            group.bench_function(format!("{id}, {count} tools"), |bencher| {
                bencher.iter(|| black_box(sdk(tools, language)));
            });
        }
    }
    group.finish();
}

fn assembled(criterion: &mut Criterion) {
    let limits = Limits::default().with(Limit::Sdk, 4 * 1024 * 1024).expect("within bounds");
    let runtime = std::sync::Arc::new(ScriptedRuntime::new(|_| async { Ok(None) }));
    let programs = hotcell::code_mode::CodeMode::new(runtime);
    let builder = Registry::builder().mode(Mode::Code).limits(limits).programs(programs).expect("valid");
    let registry = builder.build().expect("valid");
    let mut count = 0;
    for tool in listed() {
        let tool = Tool::builder(tool.name.as_str())
            .description(tool.description)
            .parameters(tool.parameters)
            .output("true")
            .body(async |_, _| Ok(Value::Null));
        // One of the definitions is of a draft that nothing validates any more.
        if let Ok(tool) = tool.build() {
            registry.register(tool).expect("free").keep();
            count += 1;
        }
    }
    let tokio = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut group = criterion.benchmark_group("prompt");
    group.bench_function(format!("{count} tools, nothing changed"), |bencher| {
        bencher.iter(|| black_box(tokio.block_on(registry.assemble(&Variables::new())).expect("a prompt")));
    });
    group.finish();
}

criterion_group!(benches, languages, assembled);
criterion_main!(benches);
