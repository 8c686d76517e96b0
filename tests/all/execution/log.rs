//! Lines that hooks and bodies write, in order; and tools that wait for a test to go on.

use std::sync::{Arc, Mutex};

use hotcell::execution::{CallRequest, ExecutionToken, ToolResult};
use hotcell::registry::{Registry, Scope};
use hotcell::tool::Tool;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::tools::value;

/// A shared log.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn note(&self, line: impl Into<String>) {
        self.0.lock().expect("not poisoned").push(line.into());
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").clone()
    }

    /// Notes `line` when dropped.
    pub fn at_drop(&self, line: &'static str) -> NoteAtDrop {
        NoteAtDrop(self.clone(), line)
    }
}

pub struct NoteAtDrop(Log, &'static str);

impl Drop for NoteAtDrop {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}

/// A request that nobody cancels.
pub fn request(name: &str, arguments: &str) -> CallRequest {
    CallRequest::new(name, arguments, CancellationToken::new())
}

/// Logs each final result: `observed NAME OK` or `observed NAME CODE`.
pub fn observe(scope: &Scope, log: &Log) {
    let log = log.clone();
    scope.on_result(move |call, result| {
        log.note(format!("observed {} {}", call.name(), result.code().map_or("OK", |code| code.as_str())));
    });
}

/// A call of the tool `holder` whose body runs until it is released.
pub struct Holder {
    pub token: ExecutionToken,
    release: Arc<Notify>,
    task: JoinHandle<Arc<ToolResult>>,
}

impl Holder {
    /// Registers `holder` globally, and calls it in `scope`.
    pub async fn start(registry: &Registry, scope: &Scope) -> Self {
        let (given, mut taken) = mpsc::unbounded_channel();
        let release = Arc::new(Notify::new());
        let released = Arc::clone(&release);
        let body = move |_, context: hotcell::execution::ToolContext| {
            let (given, released) = (given.clone(), Arc::clone(&released));
            async move {
                given.send(context.token().clone()).expect("somebody listens");
                released.notified().await;
                Ok(value("null"))
            }
        };
        let tool = Tool::builder("holder").parameters("true").output("true").body(body);
        registry.register(tool).expect("valid").keep();
        let mut task = tokio::spawn(scope.call(request("holder", "{}")));
        let token = tokio::select! {
            token = taken.recv() => token.expect("the body runs"),
            result = &mut task => panic!("the call ended: {result:?}"),
        };
        Self { token, release, task }
    }

    /// Lets the body settle, and waits for the call; gives the token, which is dead now.
    pub async fn end(self) -> ExecutionToken {
        self.release.notify_one();
        self.task.await.expect("no panic");
        self.token
    }
}
