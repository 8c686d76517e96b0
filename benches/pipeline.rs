//! What the registry costs: a call's way through the pipeline, and a scope's view.
//!
//!     cargo bench --no-default-features --bench pipeline

#![expect(clippy::expect_used, reason = "a benchmark that cannot start has nothing to say")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use hotcell::execution::{CallRequest, PostDecision, Verdict};
use hotcell::json::{self, Value};
use hotcell::registry::{Registry, Scope};
use hotcell::tool::Tool;
use tokio_util::sync::CancellationToken;

/// A tool that gives its arguments back, with schemas as tools have them.
fn echo(name: &str) -> Tool {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}"#;
    Tool::builder(name)
        .parameters(schema)
        .output(schema)
        .render(|_, _| Vec::new())
        .body(async |arguments, _| Ok(Value::clone(&arguments)))
        .build()
        .expect("valid")
}

fn calls(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let arguments = Arc::new(json::decode(r#"{"a": 1, "b": "two"}"#).expect("valid"));
    let plain = Registry::new();
    plain.register(echo("echo")).expect("valid").keep();
    let judged = Registry::new();
    judged.register(echo("echo")).expect("valid").keep();
    for _ in 0..5 {
        judged.on_pre_execute(async |_, next| Ok(next.run().await));
        judged.guard(|call| if call.name().is_empty() { Verdict::deny("no name") } else { Verdict::Pass });
    }
    let watched = Registry::new();
    watched.register(echo("echo")).expect("valid").keep();
    watched.on_post_execute(async |_, _, next| {
        let decision: PostDecision = next.run().await;
        Ok(decision)
    });
    watched.on_result(|_, result| {
        black_box(result.code());
    });
    let mut group = criterion.benchmark_group("call");
    let id: Arc<str> = "id".into();
    let request = |name: &Arc<str>| {
        CallRequest::new(Arc::clone(name), Arc::clone(&arguments), CancellationToken::new())
            .with_id(Arc::clone(&id))
    };
    let (echo_name, absent): (Arc<str>, Arc<str>) = ("echo".into(), "absent".into());
    for (name, registry) in
        [("no policy", &plain), ("5 listeners, 5 guards", &judged), ("post-execute, observer", &watched)]
    {
        group.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter(|| registry.call(request(&echo_name)));
        });
    }
    group.bench_function("no policy, unknown tool", |bencher| {
        bencher.to_async(&runtime).iter(|| plain.call(request(&absent)));
    });
    // What of it is not the pipeline: checking and copying the value twice.
    let schema = echo("echo").parameters().clone();
    group.bench_function("of that: two validations", |bencher| {
        bencher.iter(|| {
            (schema.validate(black_box(&arguments)).is_ok(), schema.validate(black_box(&arguments)).is_ok())
        });
    });
    group.finish();
}

fn views(criterion: &mut Criterion) {
    const TOOLS: usize = 10_000;
    let registry = Registry::new();
    let names: Vec<String> =
        (0..TOOLS).map(|number| format!("server_{}__tool_{number:05}", number % 37)).collect();
    for name in &names {
        registry.register(echo(name)).expect("valid").keep();
    }
    let mut scope: Scope = registry.global().clone();
    for level in 0..5 {
        scope = scope.child(format!("level {level}")).expect("shallow");
        scope.restrict_from(names.iter().skip(level * 10).take(10)).expect("inherited");
        scope.register(echo(&format!("own_{level}"))).expect("valid").keep();
    }
    let mut group = criterion.benchmark_group("view");
    group.bench_function("10,000 tools under 5 scopes, cold", |bencher| {
        bencher.iter_batched(
            || scope.on_result(|_, _| ()).remove(),
            |()| scope.get(black_box("own_0")),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("the same, cached", |bencher| bencher.iter(|| black_box(&scope).mode()));
    group.bench_function("the same, cached, one lookup", |bencher| {
        bencher.iter(|| scope.get(black_box("server_5__tool_05000")).is_some());
    });
    group.finish();
}

criterion_group!(benches, calls, views);
criterion_main!(benches);
