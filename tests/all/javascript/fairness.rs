//! Many runs on few threads.

use std::sync::Arc;

use hotcell::runtime::{CallState, CodeRuntime as _, FailureKind};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::rig::{Seen, completed, failed, request, soon};
use crate::support::engine::javascript_runtime;

#[test]
fn rt_10_a_hundred_runs_on_two_threads_complete_beside_three_hot_loops() {
    const PROGRAM: &str = "
        const answers = await Promise.all([1, 2, 3].map((n) => tools.echo({ n })));
        for (let n = 0; n < 3; n++) await new Promise((go) => setTimeout(go, 1));
        return answers.map(({ n }) => n)";
    let threads = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("tokio");
    threads.block_on(async {
        let runtime = Arc::new(javascript_runtime().await);
        let cancel = CancellationToken::new();
        let (mut hot, mut others) = (JoinSet::new(), JoinSet::new());
        for _ in 0..3 {
            let (runtime, mut request) = (Arc::clone(&runtime), request("for (;;);"));
            request.cancel = cancel.clone();
            hot.spawn(async move { Seen::from(runtime.run(request).await.expect("the host is well")) });
        }
        let began = Instant::now();
        for _ in 0..97 {
            let runtime = Arc::clone(&runtime);
            others
                .spawn(async move { Seen::from(runtime.run(request(PROGRAM)).await.expect("the host is well")) });
        }
        while let Some(seen) = soon(others.join_next()).await {
            assert_eq!(seen.expect("it does not panic"), completed("[1,2,3]").calls("echo", 3, CallState::Done));
        }
        println!("97 runs beside 3 hot loops on 2 threads: {:?}", began.elapsed());
        assert!(hot.try_join_next().is_none(), "a hot loop ended by itself");
        cancel.cancel();
        while let Some(seen) = soon(hot.join_next()).await {
            let is = failed(FailureKind::Abort, "the caller cancelled the run");
            assert_eq!(seen.expect("it does not panic"), is);
        }
    });
}
