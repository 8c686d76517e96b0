//! In which order calls start, overlap and commit (CM-06, CM-07).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hotcell::code_mode::CodeMode;
use hotcell::json::Value;
use hotcell::limits::{Limit, Limits};
use hotcell::registry::{Mode, Registry};
use hotcell::tool::{Tool, ToolBuilder};
use tokio::sync::{Barrier, Notify};

use super::plan::{Subject, scripted};
use super::rig::{calls, registry, returned, run, with_each};
use crate::execution::log::Log;
use crate::tools::value;

fn anything(name: &str) -> ToolBuilder {
    Tool::builder(name).parameters("true").output("true")
}

fn safe(name: &str) -> ToolBuilder {
    anything(name).concurrency_safe(|_| true)
}

/// Counts what is inside of something at one time, and the most that ever was.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    fn enter(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// A registry whose programs overlap at most so many calls. Whoever waits for what cannot come fails instead of hanging.
fn overlapping(subject: &Subject, most: Option<usize>) -> Registry {
    let mut programs = CodeMode::new(Arc::clone(&subject.runtime));
    if let Some(most) = most {
        programs = programs.with_overlap_max(NonZeroUsize::new(most).expect("not zero"));
    }
    let limits = Limits::default().with(Limit::Wall, 60_000).expect("within bounds");
    let builder = Registry::builder().mode(Mode::Code).limits(limits).programs(programs);
    builder.expect("a valid tool").build().expect("valid")
}

#[tokio::test]
async fn cm_06_calls_that_may_overlap_do_so_up_to_the_cap_and_no_further() {
    with_each(async |subject| {
        for (most, cap) in [(Some(1), 1), (Some(2), 2), (None, 10), (Some(11), 11)] {
            let registry = overlapping(subject, most);
            let inside = Arc::<Inside>::default();
            // Nobody passes before as many as the cap are inside.
            let together = Arc::new(Barrier::new(cap));
            let counted = Arc::clone(&inside);
            let work = safe("work").body(move |_, _| {
                let (inside, together) = (Arc::clone(&counted), Arc::clone(&together));
                async move {
                    inside.enter();
                    together.wait().await;
                    tokio::task::yield_now().await;
                    inside.leave();
                    Ok(Value::Null)
                }
            });
            registry.register(work).expect("free").keep();
            let count = cap * 3;
            let plan = format!(r#"[["flood", "all", "work", {count}], ["return", {{"of": "all"}}]]"#);
            let result = run(subject, &registry, &plan).await;
            assert_eq!(returned(&result), value(&format!(r#"{{"done": {count}, "failed": 0, "why": null}}"#)));
            assert_eq!(inside.most(), cap);
        }
    })
    .await;
}

/// A tool that notes its begin and its end, and meets the others of its kind in between.
fn noting(tool: ToolBuilder, log: &Log, together: &Arc<Barrier>) -> ToolBuilder {
    let (log, together) = (log.clone(), Arc::clone(together));
    tool.body(move |arguments, _| {
        let (log, together) = (log.clone(), Arc::clone(&together));
        async move {
            log.note(format!("{arguments:?} begins"));
            together.wait().await;
            log.note(format!("{arguments:?} ends"));
            Ok(Value::Null)
        }
    })
}

#[tokio::test]
async fn cm_06_an_exclusive_call_waits_for_those_before_it_and_holds_those_after_it_until_it_is_settled() {
    with_each(async |subject| {
        let registry = overlapping(subject, None);
        let log = Log::default();
        registry.register(noting(safe("safe"), &log, &Arc::new(Barrier::new(2)))).expect("free").keep();
        registry.register(noting(anything("alone"), &log, &Arc::new(Barrier::new(1)))).expect("free").keep();
        let noted = log.clone();
        drop(registry.on_post_execute(move |call, _, next| {
            let noted = noted.clone();
            async move {
                // Whoever did not wait for this would have begun by now.
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                if call.name() != "run_code" {
                    noted.note(format!("{:?} is settled", call.arguments().expect("valid")));
                }
                Ok(next.run().await)
            }
        }));
        let plan = r#"[["start", "1", "safe", 1], ["start", "2", "safe", 2], ["start", "3", "alone", 3],
            ["start", "4", "safe", 4], ["start", "5", "safe", 5],
            ["await", "1"], ["await", "2"], ["await", "3"], ["await", "4"], ["await", "5"]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(calls(&result), ["safe done", "safe done", "alone done", "safe done", "safe done"]);
        let lines = log.lines();
        let at =
            |line: &str| lines.iter().position(|one| one == line).unwrap_or_else(|| panic!("{line}: {lines:?}"));
        assert!(at("1 begins") < at("2 begins"));
        for before in ["1 is settled", "2 is settled"] {
            assert!(at(before) < at("3 begins"), "{lines:?}");
        }
        assert!(at("3 is settled") < at("4 begins") && at("4 begins") < at("5 begins"), "{lines:?}");
        assert_eq!(lines.len(), 15);
    })
    .await;
}

#[tokio::test]
async fn cm_06_a_call_is_classified_when_it_starts() {
    with_each(async |subject| {
        let registry = overlapping(subject, None);
        let may = Arc::new(AtomicBool::new(false));
        let (asked, changed) = (Arc::clone(&may), Arc::clone(&may));
        let together = Arc::new(Barrier::new(2));
        // Both would wait without end for each other if they had been classified when they were submitted.
        let work = anything("work").concurrency_safe(move |_| asked.load(Ordering::SeqCst)).body(move |_, _| {
            let together = Arc::clone(&together);
            async move {
                together.wait().await;
                Ok(Value::Null)
            }
        });
        registry.register(work).expect("free").keep();
        let flip = anything("flip").body(move |_, _| {
            changed.store(true, Ordering::SeqCst);
            async { Ok(Value::Null) }
        });
        registry.register(flip).expect("free").keep();
        let plan = r#"[["start", "f", "flip", 0], ["start", "1", "work", 1], ["start", "2", "work", 2],
            ["await", "1"], ["await", "2"], ["return", 1]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(returned(&result), Value::from(1));
    })
    .await;
}

#[tokio::test]
async fn cm_07_ordered_stages_never_overlap_and_bodies_do() {
    with_each(async |subject| {
        let registry = overlapping(subject, None);
        let (stages, bodies) = (Arc::<Inside>::default(), Arc::<Inside>::default());
        let (before, after, counted) = (Arc::clone(&stages), Arc::clone(&stages), Arc::clone(&bodies));
        let together = Arc::new(Barrier::new(10));
        let work = safe("work").body(move |_, _| {
            let (bodies, together) = (Arc::clone(&counted), Arc::clone(&together));
            async move {
                bodies.enter();
                together.wait().await;
                bodies.leave();
                Ok(Value::Null)
            }
        });
        registry.register(work).expect("free").keep();
        drop(registry.on_pre_execute(move |call, next| {
            let stages = Arc::clone(&before);
            async move {
                if call.name() == "run_code" {
                    return Ok(next.run().await);
                }
                stages.enter();
                tokio::task::yield_now().await;
                let decision = next.run().await;
                stages.leave();
                Ok(decision)
            }
        }));
        drop(registry.on_post_execute(move |call, _, next| {
            let stages = Arc::clone(&after);
            async move {
                if call.name() == "run_code" {
                    return Ok(next.run().await);
                }
                stages.enter();
                tokio::task::yield_now().await;
                let decision = next.run().await;
                stages.leave();
                Ok(decision)
            }
        }));
        let result = run(subject, &registry, r#"[["flood", "all", "work", 40], ["return", {"of": "all"}]]"#).await;
        assert_eq!(returned(&result), value(r#"{"done": 40, "failed": 0, "why": null}"#));
        assert_eq!((stages.most(), bodies.most()), (1, 10));
    })
    .await;
}

#[tokio::test]
async fn cm_07_results_reach_the_program_in_the_order_in_which_bodies_end() {
    with_each(async |subject| {
        let registry = overlapping(subject, None);
        // Each body waits until the one after it was committed; the last one for nothing.
        let committed: Arc<[Notify; 3]> = Arc::default();
        let waiting = Arc::clone(&committed);
        let work = safe("work").body(move |arguments, _| {
            let waiting = Arc::clone(&waiting);
            async move {
                let place = arguments.as_i64().and_then(|place| usize::try_from(place).ok()).expect("a place");
                if let Some(next) = waiting.get(place + 1) {
                    next.notified().await;
                }
                Ok(Value::clone(&arguments))
            }
        });
        registry.register(work).expect("free").keep();
        drop(registry.on_result(move |call, _| {
            let place = call.arguments().and_then(|arguments| arguments.as_i64());
            if let Some(place) = place.and_then(|place| usize::try_from(place).ok()) {
                committed[place].notify_one();
            }
        }));
        let plan = r#"[["start", "a", "work", 0], ["start", "b", "work", 1], ["start", "c", "work", 2],
            ["order", "o", ["a", "b", "c"]], ["return", {"of": "o"}]]"#;
        let result = run(subject, &registry, plan).await;
        assert_eq!(returned(&result), value(r#"["c", "b", "a"]"#));
        assert_eq!(calls(&result), ["work done"; 3]);
    })
    .await;
}

#[tokio::test]
async fn cm_07_a_call_that_is_given_up_is_seen_at_once_and_one_that_waits_never_starts() {
    let subject = scripted();
    let registry = registry(&subject);
    let log = Log::default();
    let noted = log.clone();
    let slow = anything("slow").body(move |arguments, context| {
        noted.note(format!("{arguments:?} begins"));
        async move {
            context.cancel().cancelled().await;
            Ok(Value::Null)
        }
    });
    registry.register(slow).expect("free").keep();
    let plan = r#"[["start", "a", "slow", 1], ["start", "b", "slow", 2], ["yield"], ["cancel", "b"], ["try", "b"],
        ["cancel", "a"], ["try", "a"], ["return", {"of": "b"}]]"#;
    let result = run(&subject, &registry, plan).await;
    assert_eq!(returned(&result), value(r#"{"failed": "cancelled"}"#));
    assert_eq!(calls(&result), ["slow cancelled", "slow not-started"]);
    assert_eq!(log.lines(), ["1 begins"]);
}
