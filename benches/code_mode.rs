//! What a program's calls cost on their way through the registry, beside the bare runtime.
//!
//!     cargo bench --bench code_mode
//!
//! Each row is measured for both, one after the other, so that the difference is the registry's share: validation, policy,
//! scheduling, events. Ratios within one table are worth more than any single number.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads arguments and clocks")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run has nothing else to say")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hotcell::code_mode::CodeMode;
use hotcell::execution::{CallRequest, ToolResult, Verdict};
use hotcell::json::{Object, Value};
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry};
use hotcell::runtime::{Bindings, CodeRuntime, Namespace, RunRequest};
use hotcell::tool::Tool;
use hotcell::wasm::{self, Engine, EngineConfig, WasmRuntime};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// How many calls a program with calls makes.
const CALLS: u32 = 1000;

const ONE: &str = "return 1";
const SERIAL: &str = "for (let i = 0; i < 1000; i++) await tools.echo({ a: i, b: 'two' }); return 0";
const OVERLAPPING: &str = "await Promise.all(Array.from({ length: 1000 }, (_, a) => tools.wait({ a }))); return 0";

struct Bench {
    tokio: Runtime,
    runtime: Arc<WasmRuntime>,
    bare: Namespace,
    registry: Registry,
    judged: Registry,
}

impl Bench {
    fn new() -> Self {
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let tokio = tokio.expect("tokio starts");
        let engine = Engine::new(EngineConfig::default().with_runs_max(8)).expect("the pool is reserved");
        let guest = tokio.block_on(wasm::javascript(&engine)).expect("the guest loads");
        let runtime = Arc::new(WasmRuntime::new(guest));
        let bindings = Bindings::new().tool("echo", |arguments| async move { Ok(arguments) });
        let bindings = bindings.tool("wait", |_| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(Value::Null)
        });
        let bare = bindings.into_namespace("tools").expect("a good name");
        let registry = registry(&runtime);
        let judged = self::registry(&runtime);
        for _ in 0..5 {
            judged.on_pre_execute(async |_, next| Ok(next.run().await));
            judged.guard(|call| if call.name().is_empty() { Verdict::deny("no name") } else { Verdict::Pass });
        }
        Self { tokio, runtime, bare, registry, judged }
    }

    fn run_bare(&self, program: &str) {
        let request = RunRequest::new(program, vec![self.bare.clone()], CancellationToken::new());
        let outcome = self.tokio.block_on(CodeRuntime::run(&*self.runtime, request)).expect("the host is well");
        black_box(outcome.result.expect("the program is well"));
    }

    fn run(&self, registry: &Registry, program: &str) -> Arc<ToolResult> {
        let mut arguments = Object::new();
        arguments.insert("code", program);
        arguments.insert("description", "a benchmark");
        let request = CallRequest::new("run_code", Value::from(arguments), CancellationToken::new());
        let result = self.tokio.block_on(registry.call(request));
        result.outcome().expect("the program is well");
        result
    }
}

fn registry(runtime: &Arc<WasmRuntime>) -> Registry {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}"#;
    let echo = Tool::builder("echo").parameters(schema).output(schema);
    let echo = echo.concurrency_safe(|_| true).body(async |arguments, _| Ok(Value::clone(&arguments)));
    let wait = Tool::builder("wait").parameters(schema).output("true").concurrency_safe(|_| true);
    let wait = wait.body(async |_, _| {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(Value::Null)
    });
    let overlap = NonZeroUsize::new(100).expect("not zero");
    let programs = CodeMode::new(Arc::<WasmRuntime>::clone(runtime)).with_overlap_max(overlap);
    // The largest results need more room on the host than programs have by default.
    let limits = Limits::default().with(Limit::HostMemory, 2 << 30).expect("in bounds");
    let registry = Registry::builder().mode(Mode::Code).limits(limits).programs(programs).expect("valid");
    let registry = registry.build().expect("valid");
    registry.register(echo).expect("valid").keep();
    registry.register(wait).expect("valid").keep();
    registry
}

fn p50(times: u32, mut run: impl FnMut()) -> Duration {
    let mut each: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    each.sort_unstable();
    each.get(each.len() / 2).copied().unwrap_or_default()
}

fn main() {
    let bench = Bench::new();
    // `cargo test` wants to know only that everything runs.
    let thorough = std::env::args().any(|argument| argument == "--bench");
    let times = |often: u32| if thorough { often } else { 1 };
    println!("{:<44} {:>12} {:>12} {:>8}", "p50", "runtime", "registry", "ratio");
    let row = |name: &str, bare: Duration, ours: Duration| {
        println!("{name:<44} {bare:>12.2?} {ours:>12.2?} {:>8.2}", ours.as_secs_f64() / bare.as_secs_f64());
    };
    let runs = times(2000);
    row("a fresh run", p50(runs, || bench.run_bare(ONE)), p50(runs, || drop(bench.run(&bench.registry, ONE))));
    let runs = times(100);
    let bare = p50(runs, || bench.run_bare(SERIAL)) / CALLS;
    row("one call of 1000", bare, p50(runs, || drop(bench.run(&bench.registry, SERIAL))) / CALLS);
    row("the same, 5 listeners, 5 guards", bare, p50(runs, || drop(bench.run(&bench.judged, SERIAL))) / CALLS);
    // Ten times a hundred calls of 20 ms.
    let ideal = Duration::from_millis(200);
    row(
        "1000 calls of 20 ms, 100 at a time; ideal",
        ideal,
        p50(times(5), || drop(bench.run(&bench.registry, OVERLAPPING))),
    );
    // A result at the cap, and a half of it: twice the time, not four times.
    let result = |bytes: usize| format!("return 'x'.repeat({})", bytes - 4);
    let most = Limit::Output.default_value().try_into().unwrap_or(usize::MAX);
    let half = p50(times(5), || drop(bench.run(&bench.registry, &result(most / 2))));
    row("64 MiB of result beside 32 MiB", half, p50(times(5), || drop(bench.run(&bench.registry, &result(most)))));
}
