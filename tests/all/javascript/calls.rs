//! Calls: side by side, never awaited, many at a time, too large.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hotcell::json::Value;
use hotcell::limits::Limit;
use hotcell::runtime::{Bindings, CallState, FailureKind};
use tokio::sync::oneshot;

use super::rig::{Seen, completed, ends, failed, limited, over, request, request_with, run, still_clean};

#[tokio::test]
async fn ten_overlapping_calls_run_side_by_side() {
    let (now, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (counted, seen) = (Arc::clone(&now), Arc::clone(&most));
    let bindings = Bindings::new().tool("slow", move |arguments| {
        seen.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let counted = Arc::clone(&counted);
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            counted.fetch_sub(1, Ordering::SeqCst);
            Ok(arguments)
        }
    });
    let program = "return await Promise.all(Array.from({ length: 10 }, (_, n) => tools.slow(n)))";
    let outcome = run(request_with(program, bindings)).await;
    println!("ten overlapping 20 ms calls: {:?}", outcome.timings);
    assert_eq!(Seen::from(outcome), completed("[0,1,2,3,4,5,6,7,8,9]").calls("slow", 10, CallState::Done));
    assert_eq!((most.load(Ordering::SeqCst), now.load(Ordering::SeqCst)), (10, 0));
}

/// Calls of `hold`, which are answered once so many have been made, one after the other, in order or in reverse.
fn held(count: usize, reverse: bool) -> Bindings {
    let waiting: Arc<Mutex<VecDeque<oneshot::Sender<()>>>> = Arc::default();
    Bindings::new().tool("hold", move |arguments| {
        let waiting = Arc::clone(&waiting);
        let next = move |waiting: &Mutex<VecDeque<oneshot::Sender<()>>>| {
            let mut waiting = waiting.lock().expect("not poisoned");
            let next = if reverse { waiting.pop_back() } else { waiting.pop_front() };
            if let Some(sender) = next {
                sender.send(()).expect("the call waits");
            }
        };
        async move {
            let (sender, receiver) = oneshot::channel();
            let made = {
                let mut waiting = waiting.lock().expect("not poisoned");
                waiting.push_back(sender);
                waiting.len()
            };
            if made == count {
                next(&waiting);
            }
            receiver.await.expect("every call is answered");
            next(&waiting);
            Ok(arguments)
        }
    })
}

#[tokio::test]
async fn rt_05_as_many_calls_as_the_limit_says_settle_in_order_and_in_reverse() {
    const COUNT: usize = 16_384;
    let program = format!(
        "const seen = [];
         const all = Array.from({{ length: {COUNT} }}, (_, n) => tools.hold(n).then((value) => seen.push(value)));
         await Promise.all(all);
         return [seen.length, seen[0], seen.at(-1), seen.every((n, i) => n === (seen[0] ? {COUNT} - 1 - i : i))]"
    );
    for (reverse, ending) in [(false, "[16384,0,16383,true]"), (true, "[16384,16383,0,true]")] {
        let outcome = run(request_with(program.as_str(), held(COUNT, reverse))).await;
        println!("{COUNT} outstanding calls, reverse {reverse}: {:?}", outcome.timings);
        let seen = Seen::from(outcome);
        assert_eq!(seen.result, Ok(Some(ending.to_owned())));
        assert_eq!(seen.calls, Seen::default().calls("hold", COUNT, CallState::Done).calls);
    }
}

#[tokio::test]
async fn rt_05_one_call_more_than_the_limit_fails_that_call_only() {
    let program = "
        const calls = [1, 2, 3, 4].map((n) => tools.echo(n));
        const failed = await calls[3].catch((error) => [error.name, error.message, error.toolName]);
        return [failed, await Promise.all(calls.slice(0, 3))]";
    let outcome = run(limited(request(program), Limit::OutstandingCalls, 3)).await;
    let message = over(Limit::OutstandingCalls, "3");
    let is = completed(&format!("[[\"ToolCallError\",\"{message}\",\"echo\"],[1,2,3]]"));
    assert_eq!(Seen::from(outcome), is.calls("echo", 3, CallState::Done));

    let program = "
        const out = [];
        for (let n = 0; n < 10; n++) out.push(...await Promise.all([tools.echo(n), tools.echo(-n), tools.echo(0)]));
        return out.length";
    let outcome = run(limited(request(program), Limit::OutstandingCalls, 3)).await;
    assert_eq!(Seen::from(outcome), completed("30").calls("echo", 30, CallState::Done));
}

#[tokio::test]
async fn settled_calls_of_all_orders_are_told_apart() {
    // Interleaves new calls with settlements from the middle of the outstanding ones.
    let program = "
        let made = 0;
        const seen = [], waiting = new Map();
        const make = () => { const name = `g${made++}`; waiting.set(name, tools.gate({ name }).then((value) => seen.push(value === name))) };
        for (let n = 0; n < 50; n++) make();
        for (let round = 0; round < 120; round++) {
          const names = [...waiting.keys()], name = names[(round * 7919) % names.length];
          await tools.open({ name });
          await waiting.get(name);
          waiting.delete(name);
          if (round % 3) make();
        }
        return [seen.length, seen.every((same) => same)]";
    let seen = ends(program).await;
    assert_eq!(seen.result, Ok(Some("[120,true]".to_owned())));
}

#[tokio::test]
async fn cm_17_calls_that_were_never_awaited_are_cancelled_or_were_not_started() {
    // Whether the host had started a call before the program ended is a matter of microseconds.
    let ended = ends("tools.wait(); tools.echo({}); return 'gone'").await;
    let either = [CallState::Cancelled, CallState::NotStarted, CallState::Done];
    assert_eq!(ended.result, Ok(Some("\"gone\"".to_owned())));
    let names: Vec<&str> = ended.calls.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["wait", "echo"]);
    assert!(ended.calls.iter().all(|(_, state)| either.contains(state)), "{ended:?}");

    let ended = ends("tools.wait(); tools.wait(); await tools.echo({}); throw new Error('gone')").await;
    let states: Vec<CallState> = ended.calls.iter().map(|(_, state)| *state).collect();
    assert_eq!(states, [CallState::Cancelled, CallState::Cancelled, CallState::Done]);
    still_clean().await;
}

#[tokio::test]
async fn cm_13_a_result_that_the_host_has_no_room_for_fails_its_call() {
    let bindings = Bindings::new().tool("large", |_| async { Ok(Value::from("x".repeat(1 << 20))) });
    let program = "return await tools.large().catch((error) => [error.name, error.message])";
    let outcome = run(limited(request_with(program, bindings), Limit::HostMemory, 256 << 10)).await;
    let is = completed(&format!("[\"ToolCallError\",\"{}\"]", over(Limit::HostMemory, "256KiB")));
    assert_eq!(Seen::from(outcome), is.calls("large", 1, CallState::Failed));
}

#[tokio::test]
async fn arguments_that_the_host_has_no_room_for_fail_their_call() {
    let program = "return await tools.echo('x'.repeat(300000)).catch((error) => [error.name, error.message])";
    let outcome = run(limited(request(program), Limit::HostMemory, 256 << 10)).await;
    let is = completed(&format!("[\"ToolCallError\",\"{}\"]", over(Limit::HostMemory, "256KiB")));
    assert_eq!(Seen::from(outcome), is);
}

#[tokio::test]
async fn a_panicking_tool_is_a_failed_call() {
    let bindings = Bindings::new().tool("panics", |_| async { panic!("inside") });
    let program = "return await tools.panics().catch((error) => String(error))";
    let is = completed("\"ToolCallError: internal error: the tool `panics` panicked\"");
    let outcome = run(request_with(program, bindings)).await;
    assert_eq!(Seen::from(outcome), is.calls("panics", 1, CallState::Failed));
}

#[tokio::test]
async fn rt_07_logs_arrive_while_the_program_runs() {
    // The program goes on only after its first entry has arrived.
    let (sender, receiver) = oneshot::channel::<()>();
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let bindings = Bindings::new().tool("seen", move |_| {
        let receiver = Arc::clone(&receiver);
        async move {
            let receiver = receiver.lock().expect("not poisoned").take().expect("called once");
            receiver.await.expect("the entry arrives");
            Ok(Value::Null)
        }
    });
    let mut request = request_with("console.log('first'); await tools.seen(); console.log('second')", bindings);
    let sender = Mutex::new(Some(sender));
    request.log = Arc::new(move |entry| {
        if entry == "first" {
            let sender = sender.lock().expect("not poisoned").take().expect("logged once");
            sender.send(()).expect("the tool waits or will");
        }
    });
    let seen = Seen::default().logs(&["first", "second"]).calls("seen", 1, CallState::Done);
    assert_eq!(Seen::from(run(request).await), seen);
}

#[tokio::test]
async fn rt_06_a_program_that_logs_or_returns_too_much_ends_as_output_limit() {
    let message = over(Limit::Output, "1KiB");
    let program = "console.log('kept'); for (;;) console.log('x'.repeat(100))";
    let outcome = run(limited(request(program), Limit::Output, 1024)).await;
    assert_eq!(outcome.logs[0], "kept");
    assert_eq!(Seen::from(outcome).result, Err((FailureKind::OutputLimit, message.clone())));

    let outcome = run(limited(request("console.log('kept'); return 'x'.repeat(1024)"), Limit::Output, 1024)).await;
    let is = failed(FailureKind::OutputLimit, message).logs(&["kept"]);
    assert_eq!(Seen::from(outcome), is);

    let outcome = run(limited(request("for (let n = 1; ; n++) console.log(n)"), Limit::LogLines, 3)).await;
    let is = failed(FailureKind::OutputLimit, over(Limit::LogLines, "3")).logs(&["1", "2", "3"]);
    assert_eq!(Seen::from(outcome), is);
    still_clean().await;
}
