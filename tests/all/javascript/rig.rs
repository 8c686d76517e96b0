//! What the tests of the JavaScript guest stand on: tools, requests, and outcomes as whole values.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::json::{self, Value};
use hotcell::limits::Limit;
use hotcell::runtime::{
    Bindings, CallError, CallState, CodeRuntime as _, Failure, FailureKind, Namespace, RunOutcome, RunRequest,
    UnhandledFailure,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::support::engine::javascript_runtime;

/// Far above what any case takes, on any machine: what reaches it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for something that has to happen.
pub(super) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("this ends long before two minutes have passed")
}

/// A string out of a tool's arguments.
pub(super) fn text(arguments: &Value, key: &str) -> Result<String, CallError> {
    let text = arguments.get(key).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| CallError::new(format!("`{key}` has to be a string")))
}

/// The tools of most tests.
///
/// - `echo` answers its arguments, `text` their JSON as a string, `value` the value of the text `json`;
/// - `fail` fails with the text `message`, `wait` waits for its cancellation;
/// - `gate` waits until `open` is called with the same `name`, then answers that name.
pub(super) fn bindings() -> Bindings {
    let gates = Arc::new(Gates::default());
    let inside = Arc::clone(&gates);
    Bindings::new()
        .tool("echo", |arguments| async move { Ok(arguments) })
        .tool("text", |arguments| async move { Ok(json::encode(&arguments).into()) })
        .tool("value", |arguments| async move {
            json::decode(&text(&arguments, "json")?).map_err(|error| CallError::new(error.to_string()))
        })
        .tool("fail", |arguments| async move { Err(CallError::new(text(&arguments, "message")?)) })
        .tool("wait", |_| std::future::pending())
        .tool("gate", move |arguments| {
            let gates = Arc::clone(&gates);
            async move {
                let name = text(&arguments, "name")?;
                let gate = gates.named(&name);
                gate.acquire().await.expect("gates are never closed for good").forget();
                Ok(name.into())
            }
        })
        .tool("open", move |arguments| {
            let gates = Arc::clone(&inside);
            async move {
                gates.named(&text(&arguments, "name")?).add_permits(1);
                Ok(Value::Null)
            }
        })
}

/// Where calls wait for each other.
#[derive(Default)]
struct Gates(Mutex<HashMap<String, Arc<Semaphore>>>);

impl Gates {
    fn named(&self, name: &str) -> Arc<Semaphore> {
        let mut gates = self.0.lock().expect("not poisoned");
        Arc::clone(gates.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))))
    }
}

/// These tools as the global `tools`, whose failed calls raise `ToolCallError`.
pub(super) fn tools(bindings: Bindings) -> Namespace {
    let tools = bindings.into_namespace("tools").expect("the names are portable");
    tools.with_error_class("ToolCallError", "toolName").expect("the names are portable")
}

/// A run of this program with [`bindings`] as `tools` and default limits.
pub(super) fn request(program: impl Into<String>) -> RunRequest {
    request_with(program, bindings())
}

/// A run of this program with these tools and default limits.
pub(super) fn request_with(program: impl Into<String>, bindings: Bindings) -> RunRequest {
    RunRequest::new(program, vec![tools(bindings)], CancellationToken::new())
}

/// The same request with one limit changed.
pub(super) fn limited(mut request: RunRequest, limit: Limit, value: u64) -> RunRequest {
    request.limits = std::mem::take(&mut request.limits).with(limit, value).expect("in bounds");
    request
}

/// Runs a request to its end.
pub(super) async fn run(request: RunRequest) -> RunOutcome {
    soon(javascript_runtime().await.run(request)).await.expect("the host is well")
}

/// How this program ends, with [`bindings`] and default limits.
pub(super) async fn ends(program: impl Into<String>) -> Seen {
    run(request(program)).await.into()
}

/// An outcome without its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) result: Result<Option<String>, (FailureKind, String)>,
    pub(super) logs: Vec<String>,
    pub(super) calls: Vec<(String, CallState)>,
    /// The failures that nothing looked at: the number of the call, if it was one, and the first line of the message.
    pub(super) unhandled: Vec<String>,
}

impl From<RunOutcome> for Seen {
    fn from(outcome: RunOutcome) -> Self {
        let RunOutcome { result, logs, calls, unhandled, .. } = outcome;
        assert_eq!(unhandled.count, unhandled.failures.len() as u64, "these programs leave few");
        Self {
            result: result
                .map(|value| value.as_ref().map(json::encode))
                .map_err(|Failure { kind, message }| (kind, message)),
            logs,
            calls: calls.into_iter().map(|call| (call.name.to_string(), call.state)).collect(),
            unhandled: unhandled.failures.iter().map(unhandled_line).collect(),
        }
    }
}

fn unhandled_line(failure: &UnhandledFailure) -> String {
    let line = failure.message.lines().next().unwrap_or_default();
    failure.call.map_or_else(|| line.to_owned(), |call| format!("{call} {line}"))
}

/// A completed run without logs or calls.
pub(super) fn completed(value: &str) -> Seen {
    Seen { result: Ok(Some(value.to_owned())), logs: Vec::new(), calls: Vec::new(), unhandled: Vec::new() }
}

/// A failed run without logs or calls.
pub(super) fn failed(kind: FailureKind, message: impl Into<String>) -> Seen {
    Seen { result: Err((kind, message.into())), logs: Vec::new(), calls: Vec::new(), unhandled: Vec::new() }
}

/// A completed run without a result, logs or calls.
impl Default for Seen {
    fn default() -> Self {
        Self { result: Ok(None), logs: Vec::new(), calls: Vec::new(), unhandled: Vec::new() }
    }
}

impl Seen {
    /// The same with these log entries.
    pub(super) fn logs(mut self, entries: &[&str]) -> Self {
        self.logs = entries.iter().map(|&entry| entry.to_owned()).collect();
        self
    }

    /// The same with this many more calls of one name, all ended alike.
    pub(super) fn calls(mut self, name: &str, count: usize, state: CallState) -> Self {
        self.calls.extend(std::iter::repeat_n((name.to_owned(), state), count));
        self
    }
}

/// As in the files of `tests/data/javascript`, which `cases` describes.
impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.logs.is_empty() {
            f.write_str("---- log\n")?;
        }
        for entry in &self.logs {
            for (number, line) in entry.split('\n').enumerate() {
                let mark = if number == 0 { '>' } else { '|' };
                let space = if line.is_empty() { "" } else { " " };
                writeln!(f, "{mark}{space}{line}")?;
            }
        }
        if !self.calls.is_empty() {
            f.write_str("---- calls\n")?;
        }
        for (name, state) in &self.calls {
            writeln!(f, "{name} {}", state.as_str())?;
        }
        if !self.unhandled.is_empty() {
            f.write_str("---- unhandled\n")?;
        }
        for failure in &self.unhandled {
            writeln!(f, "{failure}")?;
        }
        match &self.result {
            Ok(None) => f.write_str("---- no result\n"),
            Ok(Some(value)) => writeln!(f, "---- result\n{}", one_a_line(value)),
            Err((kind, message)) => writeln!(f, "---- {kind}\n{message}"),
        }
    }
}

/// The elements of an array one a line, anything else as it is.
fn one_a_line(encoded: &str) -> String {
    let value = json::decode(encoded).expect("it was encoded a moment ago");
    match value.as_array() {
        Some(elements) if elements.len() > 1 => {
            let lines: Vec<String> = elements.iter().map(json::encode).collect();
            format!("[\n{}\n]", lines.join(",\n"))
        }
        _ => encoded.to_owned(),
    }
}

/// The sentence for a reached limit, which has this value.
pub(super) fn over(limit: Limit, value: &str) -> String {
    let what = match limit {
        Limit::Compute => "the program computed for longer than",
        Limit::Wall => "the run took longer than",
        Limit::Memory => "the guest needs more memory than",
        Limit::HostMemory => "the run's calls, results and logs hold more host memory than",
        Limit::Output => "the output is larger than",
        Limit::LogLines => "the program logged more entries than",
        Limit::OutstandingCalls => "more calls are outstanding than",
        other => panic!("no program ends at `{other}`"),
    };
    format!("{what} the limit `{limit}` of {value} allows; do less in one run, or raise the limit `{limit}`")
}

/// The next run works as if nothing had happened.
pub(super) async fn still_clean() {
    const PROGRAM: &str = "
        class Point { constructor(x) { this.x = x } }
        const [one, failed] = await Promise.allSettled([tools.echo({ a: [1, 2.5, 'é'] }), tools.fail({ message: 'no' })]);
        await new Promise((go) => setTimeout(go, 1));
        console.log('point', new Point(1));
        return [one.value, failed.reason instanceof ToolCallError, failed.reason.message, [3, 1, 2].sort()];";
    let seen = completed(r#"[{"a":[1,2.5,"é"]},true,"no",[1,2,3]]"#).logs(&["point Point { x: 1 }"]);
    let seen = seen.calls("echo", 1, CallState::Done).calls("fail", 1, CallState::Failed);
    assert_eq!(ends(PROGRAM).await, seen);
}
