//! What is announced is what is enforced: random registries, scopes, restrictions and modes against a model of the rules.

use std::collections::BTreeSet;

use hotcell::execution::ErrorCode;
use hotcell::registry::{Mode, RUN_CODE, Registry, Scope};
use proptest::prelude::*;

use crate::tools::{call, call_in_program, echo, run_code, value};

/// The names that tools may have here.
const NAMES: [&str; 5] = ["read", "write", "my-tool", "__proto__", "路径"];

/// One scope: where it hangs, and what it declares.
#[derive(Clone, Debug)]
struct Plan {
    /// Which of the scopes before it is its parent; the first one hangs below the global scope.
    parent: usize,
    tools: BTreeSet<&'static str>,
    /// What it tries to restrict, one after another: allow or deny.
    restrictions: Vec<(bool, BTreeSet<&'static str>)>,
    mode: Option<Mode>,
}

fn names() -> impl Strategy<Value = BTreeSet<&'static str>> {
    prop::collection::btree_set(prop::sample::select(&NAMES[..]), 0..4)
}

fn modes() -> impl Strategy<Value = Mode> {
    prop::sample::select(&[Mode::Native, Mode::Code, Mode::Both][..])
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let restrictions = prop::collection::vec((any::<bool>(), names()), 0..3);
    let plan = (0_usize..100, names(), restrictions, prop::option::of(modes()))
        .prop_map(|(parent, tools, restrictions, mode)| Plan { parent, tools, restrictions, mode });
    prop::collection::vec(plan, 1..6)
}

/// What one scope sees, straight from the rules.
#[derive(Clone, Debug)]
struct Seen {
    tools: BTreeSet<&'static str>,
    mode: Mode,
}

/// What every scope sees, the global one first.
fn see(global: &BTreeSet<&'static str>, mode: Mode, plans: &[Plan]) -> Vec<Seen> {
    let mut all = vec![Seen { tools: global.clone(), mode }];
    for plan in plans {
        let above = &all[plan.parent % all.len()];
        let lets_through = |name: &&&'static str| {
            plan.restrictions.iter().all(|(allows, names)| names.contains(**name) == *allows)
        };
        let inherited = above.tools.iter().filter(lets_through);
        let tools = inherited.chain(&plan.tools).copied().collect();
        all.push(Seen { tools, mode: plan.mode.unwrap_or(above.mode) });
    }
    all
}

/// Makes a scope as planned. Restrictions that are refused are taken out of the plan: those that name nothing, or something
/// that is not inherited.
fn make(plan: &mut Plan, parent: &Scope, above: &Seen) -> Scope {
    let scope = parent.child("scope").expect("shallow");
    plan.restrictions.retain(|(allows, names)| {
        let restricted = if *allows { scope.restrict_to(names) } else { scope.restrict_from(names) };
        assert_eq!(restricted.is_ok(), !names.is_empty() && names.is_subset(&above.tools), "{names:?}");
        restricted.is_ok()
    });
    for name in &plan.tools {
        scope.register(echo(name)).expect("free in this scope").keep();
    }
    if let Some(mode) = plan.mode {
        scope.present_as(mode).expect("the first declaration");
    }
    scope
}

/// Everything the model says of one scope, asked of the scope, the executor and a program.
async fn agrees(scope: &Scope, seen: &Seen) {
    assert_eq!(scope.mode(), seen.mode);
    let runs_programs = seen.mode != Mode::Native;
    let mut visible: Vec<String> = seen.tools.iter().map(ToString::to_string).collect();
    visible.extend(runs_programs.then(|| RUN_CODE.to_owned()));
    visible.sort();
    let schemas: Vec<String> = scope.schemas().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(schemas, visible);
    let told: Vec<String> =
        scope.wire().expect("there is a runtime").iter().map(|tool| tool.name.to_string()).collect();
    let expected = match seen.mode {
        Mode::Native | Mode::Both => visible.clone(),
        Mode::Code => vec![RUN_CODE.to_owned()],
    };
    assert_eq!(told, expected);
    for name in NAMES.into_iter().chain([RUN_CODE, "absent"]) {
        let arguments = if name == RUN_CODE { r#"{"calls": []}"# } else { "{}" };
        let direct = call(scope, name, arguments).await;
        let refused = direct.code() == Some(ErrorCode::UnknownTool);
        assert_eq!(refused, !told.iter().any(|one| one == name), "{name} in {:?}", seen.mode);
        assert!(refused || direct.value().is_some(), "{name}: {:?}", direct.error());
        if runs_programs {
            let reachable = seen.tools.contains(name);
            let expected = if reachable { value("{}") } else { value(r#"{"error": "UNKNOWN_TOOL"}"#) };
            assert_eq!(call_in_program(scope, name, arguments).await, expected, "{name} in a program");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pr_02_the_wire_list_the_executor_and_the_rules_agree(
        global in names(),
        mode in modes(),
        plans in plans(),
        late in names(),
    ) {
        let registry = Registry::builder()
            .mode(mode)
            .transport("javascript", run_code())
            .build()
            .expect("a valid registry");
        for name in &global {
            registry.register(echo(name)).expect("free").keep();
        }
        let mut plans = plans;
        let mut scopes = vec![registry.global().clone()];
        for number in 0..plans.len() {
            let seen = see(&global, mode, &plans[..number]);
            let parent = plans[number].parent % scopes.len();
            scopes.push(make(&mut plans[number], &scopes[parent], &seen[parent]));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let check = |global: &BTreeSet<&'static str>| runtime.block_on(async {
            for (scope, seen) in scopes.iter().zip(see(global, mode, &plans)) {
                agrees(scope, &seen).await;
            }
        });
        check(&global);
        // Tools that come later are seen where every restriction on the way lets them through, and nowhere else.
        for name in late.difference(&global) {
            registry.register(echo(name)).expect("free").keep();
        }
        check(&global.union(&late).copied().collect());
    }
}
