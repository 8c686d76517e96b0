//! A program is run by the guest it was written for (PR-09).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hotcell::code_mode::CodeMode;
use hotcell::execution::{CallRequest, Decision, ErrorCode};
use hotcell::registry::{Mode, PresentationStamp, Registry, Scope};
use hotcell::runtime::{CodeRuntime as _, ScriptedRuntime};
use hotcell::tool::Tool;
use tokio_util::sync::CancellationToken;

use crate::execution::log::Log;
use crate::tools::failure;

/// A runtime that counts the programs it begins.
fn counting(runs: &Arc<AtomicUsize>) -> Arc<ScriptedRuntime> {
    let runs = Arc::clone(runs);
    Arc::new(ScriptedRuntime::new(move |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        async { Ok(None) }
    }))
}

/// A registry with one guest, and how many programs it began.
fn with_one() -> (Registry, Arc<AtomicUsize>) {
    let runs = Arc::<AtomicUsize>::default();
    let programs = CodeMode::new(counting(&runs));
    (Registry::builder().mode(Mode::Code).programs(programs).expect("valid").build().expect("valid"), runs)
}

fn request(stamp: Option<&PresentationStamp>) -> CallRequest {
    let request =
        CallRequest::new("run_code", r#"{"code": "x", "description": "a test"}"#, CancellationToken::new());
    stamp.into_iter().fold(request, |request, stamp| request.with_stamp(stamp))
}

#[tokio::test]
async fn pr_09_the_stamp_of_what_a_model_was_told_lets_its_programs_run() {
    let (registry, runs) = with_one();
    let stamp = registry.stamp().expect("presentable");
    assert!(registry.call(request(Some(&stamp))).await.outcome().is_ok());
    // One guest is the only one a program can have been written for.
    assert!(registry.call(request(None)).await.outcome().is_ok());
    // What the model sees may change; the guest is the same.
    registry.register(crate::tools::echo("new")).expect("free").keep();
    assert!(registry.call(request(Some(&stamp))).await.outcome().is_ok());
    assert_eq!(runs.load(Ordering::SeqCst), 3);
}

/// A `run_code` of somebody else, for another language.
fn foreign() -> Tool {
    crate::tools::run_code()
}

/// A scope whose language is `language`, in a registry with our guest and a foreign one.
fn with_two(language: &str) -> (Registry, Scope, Arc<AtomicUsize>) {
    let runs = Arc::<AtomicUsize>::default();
    let registry = Registry::builder()
        .mode(Mode::Code)
        .programs(CodeMode::new(counting(&runs)))
        .expect("valid")
        .transport("python", foreign())
        .build()
        .expect("valid");
    let scope = registry.child("agent").expect("shallow");
    scope.use_language(language).expect("the first");
    (registry, scope, runs)
}

const REMEDY: &str = "Tell the model its tools again, and pass the stamp of what it was told";
const HERE: &str = "programs here are `javascript`, run by scripted 0.1.0 (no digest)";

#[tokio::test]
async fn pr_09_a_program_for_another_language_or_none_is_refused_before_any_of_it_runs() {
    let (registry, scripted, runs) = with_two("javascript");
    let log = Log::default();
    let noted = log.clone();
    drop(registry.on_pre_execute(move |call, next| {
        noted.note(format!("policy sees {}", call.name()));
        async move { Ok::<Decision, _>(next.run().await) }
    }));
    // Without a stamp nobody knows which of the two.
    let result = registry.call(request(None)).await;
    let expected = format!(
        "the program was not run: the model was told no language, as the call brought no stamp, and there is more than one \
         guest here; {HERE}. {REMEDY}"
    );
    assert_eq!(failure(&result), (ErrorCode::LanguageMismatch, expected.as_str()));
    assert_eq!(log.lines(), ["policy sees run_code"]);
    // Told natively: of no programs at all.
    let native = registry.child("native").expect("shallow");
    native.present_as(Mode::Native).expect("the first");
    let result = scripted.call(request(Some(&native.stamp().expect("presentable")))).await;
    let expected = format!(
        "the program was not run: the model was told no language, as it was told of no programs; {HERE}. {REMEDY}"
    );
    assert_eq!(failure(&result), (ErrorCode::LanguageMismatch, expected.as_str()));
    // Told in one scope, run in another of the same guest.
    let other = registry.child("other").expect("shallow");
    assert!(scripted.call(request(Some(&other.stamp().expect("presentable")))).await.outcome().is_ok());
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[cfg(feature = "wasm")]
#[tokio::test]
async fn pr_09_a_program_for_another_guest_is_refused_and_both_are_named() {
    let javascript = super::plan::javascript().await;
    let identity = javascript.runtime.guest().clone();
    let told = super::rig::registry(&javascript);
    let (registry, runs) = with_one();
    let result = registry.call(request(Some(&told.stamp().expect("presentable")))).await;
    let expected = format!(
        "the program was not run: the model was told `javascript`, run by {} {} ({}); {HERE}. {REMEDY}",
        identity.name,
        identity.version,
        &identity.digest[..12]
    );
    assert_eq!(failure(&result), (ErrorCode::LanguageMismatch, expected.as_str()));
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert_eq!(result.run_facts().map(|facts| facts.calls.len()), Some(0));
    assert_eq!(result.run_report().and_then(|report| report.get("status").cloned()), Some("failed".into()));
}

#[test]
fn cm_02_a_guest_of_no_known_language_needs_to_be_told_one() {
    struct Cobol(hotcell::runtime::GuestIdentity);
    impl hotcell::runtime::CodeRuntime for Cobol {
        fn guest(&self) -> &hotcell::runtime::GuestIdentity {
            &self.0
        }
        fn isolation(&self) -> &'static str {
            "none"
        }
        fn run(
            &self,
            _: hotcell::runtime::RunRequest,
        ) -> hotcell::runtime::BoxFuture<'_, Result<hotcell::runtime::RunOutcome, hotcell::Error>> {
            Box::pin(std::future::pending())
        }
        fn shutdown(&self) -> hotcell::runtime::BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }
    let mut identity = counting(&Arc::default()).guest().clone();
    "cobol".clone_into(&mut identity.language);
    let programs = CodeMode::new(Arc::new(Cobol(identity)));
    let error = Registry::builder().programs(programs.clone()).expect_err("unknown").to_string();
    assert_eq!(error, "there is no language `cobol`; there are `typescript`, `javascript`, `python`");
    let known = programs.in_language(hotcell::language::Language::find("python").expect("known"));
    let registry = Registry::builder().mode(Mode::Code).programs(known).expect("valid").build().expect("valid");
    assert_eq!(registry.stamp().expect("presentable").language(), Some("python"));
}
