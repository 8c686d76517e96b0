//! Who waits for a change is woken by it, whatever its kind; asking again would hide that it was not.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use hotcell::execution::{Decision, Verdict};
use hotcell::registry::{Mode, Scope, ToolOrder};

use crate::tools::{echo, registry};

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether a change wakes one who waits in `scope`, and whether the wait is over then.
fn wakes(scope: &Scope, change: impl FnOnce()) -> (bool, bool) {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut changes = scope.changes();
    let mut waiting = pin!(changes.changed());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    change();
    (woken.0.load(Ordering::Relaxed) > 0, waiting.as_mut().poll(&mut context).is_ready())
}

#[test]
fn every_kind_of_change_wakes_who_waits_below() {
    let registry = registry(Mode::Both);
    registry.register(echo("a")).expect("free").keep();
    let preset = registry.child("preset").expect("shallow");
    let below = preset.child("below").expect("shallow");
    let told = |what: &str, change: &mut dyn FnMut()| assert_eq!(wakes(&below, change), (true, true), "{what}");
    let mut registration = None;
    told("a registration", &mut || registration = Some(preset.register(echo("own")).expect("free")));
    told("a registration's end", &mut || drop(registration.take()));
    let mut explicit = preset.register(echo("own")).expect("free again");
    told("an explicit end", &mut || explicit.unregister());
    told("an allow list", &mut || preset.restrict_to(["a"]).expect("inherited"));
    told("a deny list", &mut || preset.restrict_from(["a"]).expect("inherited"));
    told("a mode", &mut || preset.present_as(Mode::Code).expect("the first"));
    told("a language", &mut || preset.use_language("javascript").expect("the first"));
    let order = ToolOrder::new(["run_code", "*"]).expect("valid");
    told("an order", &mut || preset.order_tools(order.clone()).expect("the first"));
    let mut hooks = Vec::new();
    told("a listener before", &mut || hooks.push(preset.on_pre_execute(async |_, _| Ok(Decision::Allow))));
    told("a guard", &mut || hooks.push(preset.guard(|_| Verdict::Pass)));
    told("a wrapper", &mut || hooks.push(preset.around(async |_, mut next| Ok(next.run().await))));
    told("a listener after", &mut || hooks.push(preset.on_post_execute(async |_, _, next| Ok(next.run().await))));
    told("an observer", &mut || hooks.push(preset.on_result(|_, _| ())));
    assert_eq!(hooks.len(), 5);
    for hook in hooks {
        let mut hook = Some(hook);
        told("a hook's end", &mut || hook.take().expect("called once").remove());
    }
}

#[test]
fn a_change_beside_the_chain_or_one_that_failed_ends_no_wait() {
    let registry = registry(Mode::Native);
    registry.register(echo("a")).expect("free").keep();
    let (agent, sibling) =
        (registry.child("agent").expect("shallow"), registry.child("sibling").expect("shallow"));
    let ended = |scope: &Scope, change: &dyn Fn()| wakes(scope, change).1;
    assert!(!ended(&agent, &|| sibling.register(echo("b")).expect("free").keep()));
    assert!(!ended(&agent, &|| sibling.restrict_from(["a"]).expect("inherited")));
    assert!(!ended(&agent, &|| {
        sibling.guard(|_| Verdict::Pass);
    }));
    assert!(!ended(&registry, &|| agent.register(echo("c")).expect("free").keep()));
    // What changed nothing does not even wake.
    let nothing = wakes(&agent, || {
        assert!(agent.register(echo("c")).is_err());
        assert!(agent.restrict_to(["absent"]).is_err());
        assert!(registry.present_as(Mode::Both).is_err());
    });
    assert_eq!(nothing, (false, false));
}
