//! What a run costs and what a call costs, through the public API, on two worker threads.
//!
//! `cargo bench` for figures; the gate runs each once. Criterion gives the means; the table at the end gives p50 and p99 of single
//! runs. Ratios within one table are worth more than any single number.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads files, arguments and clocks")]
#![expect(clippy::expect_used, clippy::panic, reason = "a benchmark that cannot run has nothing else to say")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group};
use hotcell::json::Value;
use hotcell::runtime::{Bindings, CodeRuntime as _, Namespace, RunRequest};
use hotcell::wasm::{self, Engine, EngineConfig, Guest, WasmRuntime};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

#[path = "../tests/all/support/component.rs"]
mod component;

/// How many calls the programs below make.
const CALLS: u32 = 1000;

const CASES: &[(&str, &str)] = &[
    ("return 1", "return 1"),
    ("1000 calls, one after another", "for (let i = 0; i < 1000; i++) await tools.echo({ i }); return 0"),
    (
        "1000 calls, 100 at a time",
        "for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 100 }, (_, j) => tools.echo({ j }))); \
         return 0",
    ),
    ("1000 calls that yield", "for (let i = 0; i < 1000; i++) await tools.pause({}); return 0"),
    ("1 MB of objects in and out", "return (await tools.echo(await tools.megabyte())).length"),
    ("fib(22)", "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(22)"),
];

struct Bench {
    tokio: Runtime,
    javascript: WasmRuntime,
    /// A guest without an interpreter that completes at once: the host's own share.
    polite: WasmRuntime,
    /// A guest without an interpreter that makes 1000 calls.
    echo: WasmRuntime,
    tools: Namespace,
}

impl Bench {
    fn new() -> Self {
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("tokio starts");
        let engine = Engine::new(EngineConfig::default().with_runs_max(64)).expect("the pool is reserved");
        let load = |name| {
            let bytes = Arc::from(component::hostile(name));
            WasmRuntime::new(tokio.block_on(Guest::load(&engine, bytes)).expect("the guest loads"))
        };
        let (polite, echo) = (load("polite"), load("echo"));
        let javascript = WasmRuntime::new(tokio.block_on(wasm::javascript(&engine)).expect("the guest loads"));
        Self { tools: tools(), tokio, javascript, polite, echo }
    }

    fn run(&self, runtime: &WasmRuntime, program: &str) -> Option<Value> {
        let request = RunRequest::new(program, vec![self.tools.clone()], CancellationToken::new());
        let outcome = self.tokio.block_on(runtime.run(request)).expect("the host is well");
        outcome.result.expect("the program is well")
    }
}

fn tools() -> Namespace {
    let row = |id: i64| {
        let text =
            format!(r#"{{"id":{id},"name":"user name {id}","tags":["a","b","c"],"score":{id}.5,"ok":true}}"#);
        hotcell::json::decode(&text).expect("valid")
    };
    let megabyte: Value = (0..13_000).map(row).collect::<Vec<_>>().into();
    let bindings = Bindings::new()
        .tool("echo", |arguments| async move { Ok(arguments) })
        .tool("megabyte", move |_| std::future::ready(Ok(megabyte.clone())))
        .tool("pause", |_| async {
            tokio::task::yield_now().await;
            Ok(Value::Null)
        });
    let tools = bindings.into_namespace("tools").expect("a good name");
    tools.with_error_class("ToolCallError", "toolName").expect("good names")
}

fn criterion(c: &mut Criterion) {
    let bench = Bench::new();
    let mut group = c.benchmark_group("without an interpreter");
    group.bench_function("fresh run", |b| b.iter(|| black_box(bench.run(&bench.polite, "x"))));
    group.bench_function("1000 calls", |b| b.iter(|| black_box(bench.run(&bench.echo, "{\"i\":1}"))));
    group.finish();
    let mut group = c.benchmark_group("javascript");
    group.sample_size(30);
    for (name, program) in CASES {
        group.bench_function(*name, |b| b.iter(|| black_box(bench.run(&bench.javascript, program))));
    }
    group.finish();
}

/// p50 and p99 of whole runs, and of one call as a share of 1000.
fn percentiles() {
    let bench = Bench::new();
    let measure = |runtime: &WasmRuntime, program: &str, times: u32| {
        let mut each: Vec<Duration> = (0..times)
            .map(|_| {
                let start = Instant::now();
                black_box(bench.run(runtime, program));
                start.elapsed()
            })
            .collect();
        each.sort_unstable();
        let at = |percent: usize| each.get(each.len() * percent / 100).copied().unwrap_or_default();
        (at(50), at(99))
    };
    println!("\n{:<44} {:>12} {:>12}", "", "p50", "p99");
    let row = |name: &str, (p50, p99): (Duration, Duration), share: u32| {
        println!("{name:<44} {:>12?} {:>12?}", p50 / share, p99 / share);
    };
    row("no interpreter: fresh run", measure(&bench.polite, "x", 3000), 1);
    row("no interpreter: one call of 1000", measure(&bench.echo, "{\"i\":1}", 300), CALLS);
    for (name, program) in CASES {
        let (times, share) = if name.starts_with("1000") { (100, CALLS) } else { (1000, 1) };
        let times = if name.contains("MB") { 30 } else { times };
        row(&format!("javascript: {name}"), measure(&bench.javascript, program, times), share);
    }
}

criterion_group!(benches, criterion);

fn main() {
    benches();
    // `cargo test` wants to know only that everything runs.
    if std::env::args().any(|argument| argument == "--bench") {
        percentiles();
    }
    Criterion::default().configure_from_args().final_summary();
}
