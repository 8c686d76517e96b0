//! Programs that need more memory than there is.

use hotcell::json::Value;
use hotcell::limits::Limit;
use hotcell::runtime::{Bindings, CallState, FailureKind};

use super::rig::{Seen, completed, failed, limited, over, request, request_with, run, still_clean};

/// Room for the guest and some 14 MiB of a program's own.
const MEMORY: u64 = 16 << 20;

/// Programs that allocate without end, and the start of the error they see.
const GREEDY: &[&str] = &[
    "const all = []; for (;;) all.push(new Uint8Array(65536))",
    "const all = []; for (;;) all.push({ a: all.length })",
    "const all = []; for (;;) all.push([1, 2, 3])",
    "const all = []; for (;;) all.push(() => all)",
    "const all = []; for (;;) all.push(Promise.resolve(1))",
    "const all = []; for (;;) all.push(`text ${all.length}`)",
    "const all = []; for (;;) all.push(Symbol('s'))",
    "const all = []; for (;;) all.push(new Map([[1, 2]]))",
    "const all = []; for (;;) all.push(new Date())",
    "const all = {}; for (let n = 0; ; n++) all[`key ${n}`] = n",
    "const all = new Map(); for (let n = 0; ; n++) all.set(n, n)",
    "const all = new Set(); for (let n = 0; ; n++) all.add({ n })",
    "const all = []; all.length = 1e6; all.fill(0); for (;;) all.push(...all)",
    "let text = 'x'; for (;;) text = (text + text + Math.random()).normalize()",
    "let list = null; for (;;) list = { list }",
    "let bytes = new Uint8Array(1024); for (;;) bytes = new Uint8Array(bytes.length * 2)",
    "const all = []; for (;;) { let open; new Promise((go) => { open = go }).then(() => all); all.push(open) }",
    "return 'x'.repeat(2 ** 25).split('')",
    "return Array.from({ length: 1e7 }, (_, n) => n)",
    "return JSON.stringify(new Array(1e7).fill('text'))",
    "return new Array(1e7).fill(0)",
    "return new ArrayBuffer(2 ** 30)",
    "return 'x'.repeat(2 ** 28)",
    "return 'x'.padEnd(2 ** 28, 'ab')",
    "console.log('x'.repeat(2 ** 23) + 'é')",
    "return structuredClone(new Uint8Array(6 << 20)).length + new Uint8Array(8 << 20).length",
    "for (;;) setTimeout(() => {}, 1e9)",
    "for (;;) queueMicrotask(() => {})",
    "return new Array(2 ** 20).join('0123456789abcdef')",
];

/// What is said of the end: by the program's error, by the guest where it could not even say that, or by the host where
/// the guest had no room for something that the host hands in.
const ENDINGS: [&str; 3] =
    ["InternalError: out of memory", "the program ran out of memory", "the guest aborted itself"];

#[tokio::test]
async fn rt_03_uncaught_exhaustion_is_guest_exit_and_names_the_limit() {
    let start = over(Limit::Memory, "16MiB") + "; it ended with: ";
    let mut wrong = Vec::new();
    for program in GREEDY {
        let request = request(format!("console.log('before');\n{program}"));
        let seen = Seen::from(run(limited(request, Limit::Memory, MEMORY)).await);
        let ending = match &seen.result {
            Err((FailureKind::GuestExit, message)) => {
                message.strip_prefix(&start).and_then(|text| text.lines().next())
            }
            _ => None,
        };
        if !ending.is_some_and(|ending| ENDINGS.contains(&ending)) || seen.logs != ["before"] {
            wrong.push(format!("{program}\n  {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} end in another way:\n{}", wrong.len(), wrong.join("\n"));
    still_clean().await;
}

#[tokio::test]
async fn rt_03_a_program_that_catches_exhaustion_and_finishes_completed() {
    for program in GREEDY.iter().filter(|program| program.starts_with("const all = []; for")) {
        let program = program.strip_prefix("const all = [];").expect("it begins so");
        let program = format!(
            "let all = []; let caught;
             try {{ {program} }} catch (error) {{ caught = error; all = null }}
             return [String(caught), await tools.echo({{ still: 'here' }})]"
        );
        let seen = Seen::from(run(limited(request(program.as_str()), Limit::Memory, MEMORY)).await);
        let is = completed("[\"InternalError: out of memory\",{\"still\":\"here\"}]");
        assert_eq!(seen, is.calls("echo", 1, CallState::Done), "{program}");
    }
    still_clean().await;
}

#[tokio::test]
async fn one_program_may_run_out_of_memory_again_and_again() {
    let program = "
        const times = [];
        for (let turn = 0; turn < 5; turn++) {
          let all = [];
          try { for (;;) all.push(turn % 2 ? { turn } : new Uint8Array(65536)) } catch (error) { times.push(String(error)); all = null }
        }
        return [times.length, new Set(times).size, times[0]]";
    let seen = Seen::from(run(limited(request(program), Limit::Memory, MEMORY)).await);
    assert_eq!(seen, completed("[5,1,\"InternalError: out of memory\"]"));
}

#[tokio::test]
async fn a_result_of_a_call_that_does_not_fit_into_the_guest_ends_the_run() {
    let bindings = Bindings::new().tool("large", |_| async { Ok(Value::from("x".repeat(20 << 20))) });
    let seen =
        Seen::from(run(limited(request_with("await tools.large()", bindings), Limit::Memory, MEMORY)).await);
    let message = over(Limit::Memory, "16MiB") + "; it ended with: the guest aborted itself";
    assert_eq!(seen, failed(FailureKind::GuestExit, message).calls("large", 1, CallState::Done));
    still_clean().await;
}

#[tokio::test]
async fn a_program_that_does_not_fit_into_the_guest_ends_the_run() {
    let mut request = limited(request(format!("return 1 /* {} */", "x".repeat(20 << 20))), Limit::Memory, MEMORY);
    request.limits = request.limits.with(Limit::Program, 32 << 20).expect("in bounds");
    let message = over(Limit::Memory, "16MiB") + "; it ended with: the guest aborted itself";
    assert_eq!(Seen::from(run(request).await), failed(FailureKind::GuestExit, message));
    still_clean().await;
}

#[tokio::test]
async fn garbage_is_collected_within_the_limit() {
    for program in [
        "for (let n = 0; n < 200; n++) new Uint8Array(1 << 20); return 'ok'",
        "for (let n = 0; n < 200000; n++) { const o = { n }; o.self = o } return 'ok'",
        "let s = ''; for (let n = 0; n < 100; n++) s = 'x'.repeat(1 << 20); return 'ok'",
        "for (let n = 0; n < 300; n++) await tools.echo('x'.repeat(1 << 17)); return 'ok'",
    ] {
        let seen = Seen::from(run(limited(request(program), Limit::Memory, MEMORY)).await);
        assert_eq!(seen.result, Ok(Some("\"ok\"".to_owned())), "{program}");
    }
}
