//! There is one pipeline: a call from a program passes the same stages as a direct one.

use hotcell::registry::Mode;

use super::platform::{Platform, scripts};

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
