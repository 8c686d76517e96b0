//! Whatever happens to a tree of scopes, in whatever order, each scope sees what the rules say, at once.

use std::collections::{BTreeMap, BTreeSet};

use hotcell::execution::ErrorCode;
use hotcell::registry::{Mode, RUN_CODE, Registration, Scope};
use hotcell::tool::Tool;
use proptest::prelude::*;

use crate::tools::{call, call_in_program, echo, registry, value};

const NAMES: [&str; 4] = ["a", "b", "__proto__", "路径"];

/// The tool of every scope that calls others without being a program.
const RELAY: &str = "relay";

/// Something that happens. Scopes are chosen modulo how many there are.
#[derive(Clone, Debug)]
enum Event {
    Child(usize),
    Register(usize, &'static str),
    Unregister(usize, &'static str),
    Restrict(usize, bool, BTreeSet<&'static str>),
    Present(usize, Mode),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let scope = || 0_usize..60;
    let name = || prop::sample::select(&NAMES[..]);
    let event = prop_oneof![
        2 => scope().prop_map(Event::Child),
        6 => (scope(), name()).prop_map(|(scope, name)| Event::Register(scope, name)),
        3 => (scope(), name()).prop_map(|(scope, name)| Event::Unregister(scope, name)),
        3 => (scope(), any::<bool>(), prop::collection::btree_set(name(), 0..3))
            .prop_map(|(scope, allows, names)| Event::Restrict(scope, allows, names)),
        1 => (scope(), prop::sample::select(&[Mode::Native, Mode::Code, Mode::Both][..]))
            .prop_map(|(scope, mode)| Event::Present(scope, mode)),
    ];
    prop::collection::vec(event, 1..32)
}

/// A scope and what was declared in it, as the test remembers it.
struct Remembered {
    scope: Scope,
    /// Absent for the global scope.
    parent: Option<usize>,
    own: BTreeMap<&'static str, Registration>,
    masks: Vec<(bool, BTreeSet<&'static str>)>,
    mode: Option<Mode>,
}

impl Remembered {
    fn new(scope: Scope, parent: Option<usize>) -> Self {
        let relay = Tool::typed_with_context(RELAY, "", async |name: String, context| {
            let result = context.invoke(&*name, value(r#"{"calls": []}"#)).await;
            Ok(result.code() != Some(ErrorCode::UnknownTool))
        });
        scope.register(relay).expect("free").keep();
        Self { scope, parent, own: BTreeMap::new(), masks: Vec::new(), mode: None }
    }
}

struct World(Vec<Remembered>);

impl World {
    /// What one scope inherits: what its parent sees.
    fn inherited(&self, at: usize) -> BTreeSet<&'static str> {
        self.0[at].parent.map(|parent| self.visible(parent)).unwrap_or_default()
    }

    /// What one scope sees: what it inherits and no mask of its own takes, and its own tools.
    fn visible(&self, at: usize) -> BTreeSet<&'static str> {
        let mut visible = self.inherited(at);
        for (allows, names) in &self.0[at].masks {
            visible.retain(|name| names.contains(name) == *allows);
        }
        visible.extend(self.0[at].own.keys());
        visible.insert(RELAY);
        visible
    }

    fn mode(&self, at: usize) -> Mode {
        let above = || self.0[at].parent.map_or(Mode::Native, |parent| self.mode(parent));
        self.0[at].mode.unwrap_or_else(above)
    }

    /// Lets it happen, and says whether the rules let it.
    fn happen(&mut self, event: Event) {
        let place = |at: usize| at % self.0.len();
        match event {
            Event::Child(at) => {
                let at = place(at);
                let scope = self.0[at].scope.child("scope").expect("at most 32 events");
                self.0.push(Remembered::new(scope, Some(at)));
            }
            Event::Register(at, name) => {
                let at = place(at);
                let one = &mut self.0[at];
                let registered = one.scope.register(echo(name));
                assert_eq!(registered.is_err(), one.own.contains_key(name), "{name} at {at}");
                one.own.extend(registered.ok().map(|registration| (name, registration)));
            }
            Event::Unregister(at, name) => {
                let at = place(at);
                drop(self.0[at].own.remove(name));
            }
            Event::Restrict(at, allows, names) => {
                let at = place(at);
                let known = at != 0 && !names.is_empty() && names.is_subset(&self.inherited(at));
                let one = &mut self.0[at];
                let done = if allows { one.scope.restrict_to(&names) } else { one.scope.restrict_from(&names) };
                assert_eq!(done.is_ok(), known, "{names:?} at {at}");
                one.masks.extend(done.ok().map(|()| (allows, names)));
            }
            Event::Present(at, mode) => {
                let at = place(at);
                let one = &mut self.0[at];
                let first = at != 0 && one.mode.is_none();
                assert_eq!(one.scope.present_as(mode).is_ok(), first, "{mode:?} at {at}");
                one.mode = one.mode.or(first.then_some(mode));
            }
        }
    }

    /// Asks every scope what it sees and tells.
    fn lookups_agree(&self) {
        for (at, one) in self.0.iter().enumerate() {
            let mode = self.mode(at);
            let mut visible = self.visible(at);
            visible.extend((mode != Mode::Native).then_some(RUN_CODE));
            let seen = one.scope.schemas();
            assert!(seen.iter().map(|tool| &*tool.name).eq(visible.iter().copied()), "{seen:?} at {at}");
            for name in NAMES.into_iter().chain([RUN_CODE, RELAY, "absent"]) {
                assert_eq!(one.scope.get(name).is_some(), visible.contains(name), "{name} at {at}");
            }
            if mode == Mode::Code {
                visible.retain(|name| *name == RUN_CODE);
            }
            let told = one.scope.wire().expect("there is a runtime");
            assert!(told.iter().map(|tool| &*tool.name).eq(visible.iter().copied()), "{told:?} at {at}");
        }
    }

    /// Calls every name in every scope: directly, from a program, and from a tool that is none.
    async fn calls_agree(&self) {
        for (at, one) in self.0.iter().enumerate() {
            let told = one.scope.wire().expect("there is a runtime");
            for name in NAMES.into_iter().chain([RUN_CODE, "absent"]) {
                let announced = told.iter().any(|tool| &*tool.name == name);
                let direct = call(&one.scope, name, r#"{"calls": []}"#).await;
                assert_eq!(direct.code() == Some(ErrorCode::UnknownTool), !announced, "{name} at {at}");
                let found = one.scope.get(name).is_some();
                if self.mode(at) != Mode::Native {
                    let reached = call_in_program(&one.scope, name, "{}").await == value("{}");
                    assert_eq!(reached, found && name != RUN_CODE, "{name} in a program at {at}");
                }
                if self.mode(at) != Mode::Code {
                    let relayed = call(&one.scope, RELAY, &format!("{name:?}")).await;
                    let reached = value(if found { "true" } else { "false" });
                    assert_eq!(relayed.outcome(), Ok(&reached), "{name} from a tool at {at}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pr_02_each_scope_sees_what_the_rules_say_whatever_happened_in_whatever_order(events in events()) {
        let registry = registry(Mode::Native);
        let mut world = World(vec![Remembered::new(registry.global().clone(), None)]);
        for event in events {
            world.happen(event);
            world.lookups_agree();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(world.calls_agree());
    }
}
