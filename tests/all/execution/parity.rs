//! There is one pipeline: a call from a program passes the same stages as a direct one.

use hotcell::registry::Mode;

use super::platform::{Act, GOOD, Platform, Script};

/// Every act of every stage, and the ways a call can be wrong from the start.
fn scripts() -> Vec<Script> {
    let acts = [
        Act::Go,
        Act::No,
        Act::Ask,
        Act::Fail,
        Act::Panic,
        Act::Cancel,
        Act::Hang,
        Act::CancelAndFail,
        Act::Author,
        Act::AuthorWrongly,
        Act::Rewrite,
    ];
    let mut scripts = vec![
        Script { name: "absent", ..GOOD },
        Script { arguments: r#"{"a": 1, "a": 2}"#, ..GOOD },
        Script { arguments: r#"{"a": "x"}"#, ..GOOD },
        Script { cancelled: true, ..GOOD },
        Script { cancelled: true, arguments: "[", ..GOOD },
    ];
    for act in acts {
        scripts.extend([
            Script { listener: act, ..GOOD },
            Script { listener: Act::Ask, approval: act, ..GOOD },
            Script { guard: act, ..GOOD },
            Script { around: act, ..GOOD },
            Script { body: act, ..GOOD },
            Script { render: act, ..GOOD },
            Script { post: act, ..GOOD },
            Script { post: act, body: Act::Fail, ..GOOD },
            Script { finalizer: act, ..GOOD },
            Script { observer: act, ..GOOD },
        ]);
    }
    scripts
}

#[tokio::test(start_paused = true)]
async fn pl_18_a_call_from_a_program_passes_the_same_stages_as_a_direct_one() {
    for script in scripts() {
        let direct = Platform::new(Mode::Native, script);
        direct.call().await;
        for mode in [Mode::Code, Mode::Both] {
            let program = Platform::new(mode, script);
            program.call_in_program().await;
            let stripped = |platform: &Platform| {
                let mut seen = platform.seen(script.name);
                // The results themselves carry ids; their details are compared.
                seen.iter_mut().for_each(|seen| seen.result = None);
                seen
            };
            assert_eq!(stripped(&program), stripped(&direct), "{mode:?} {script:?}");
            assert_eq!(direct.seen(script.name).last().map(|seen| seen.stage), Some("observer"));
        }
    }
}
