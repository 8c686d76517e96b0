//! Assemble listeners: what they see, what they may change, and what happens where they fail.

use std::sync::{Arc, Mutex};

use hotcell::ErrorKind;
use hotcell::prompt::{CODE_ONLY, SDK, Section, Variables};
use hotcell::registry::{Mode, Registry};

use super::{add, assembled, names, section};
use crate::tools::registry;

async fn fails(registry: &Registry) -> (ErrorKind, String) {
    let error = registry.assemble(&Variables::new()).await.expect_err("it fails");
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn pr_03_listeners_add_replace_and_drop_one_after_another_and_the_last_one_is_right() {
    let registry = registry(Mode::Native);
    for name in ["a", "b", "c"] {
        add(&registry, name, 0, name);
    }
    let agent = registry.child("agent").expect("shallow");
    drop(agent.on_assemble(async |assembly, mut sections| {
        assert_eq!(assembly.scope().name(), "agent");
        assert_eq!(assembly.stamp().mode(), Mode::Native);
        // It comes after the global one, which dropped `a`.
        assert_eq!(sections.iter().map(Section::name).collect::<Vec<_>>(), ["b", "c"]);
        sections[1] = section("c", -1, "another c");
        sections.push(Section::template("d", -2, "for {{who}}")?);
        Ok(sections)
    }));
    drop(registry.on_assemble(async |_, mut sections| {
        sections.retain(|section| section.name() != "a");
        Ok(sections)
    }));
    let prompt = agent.assemble(&Variables::new().with("who", "all")).await.expect("a prompt");
    assert_eq!(prompt.text(), "for all\n\nanother c\n\nb");
    assert_eq!(names(&registry).await, ["b", "c"]);
}

#[tokio::test]
async fn pr_06_guidance_is_gone_before_any_listener_looks_and_what_it_puts_in_stays() {
    let registry = registry(Mode::Code);
    add(&registry, "tool:a", 100, "call a");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    drop(registry.on_assemble(move |_, mut sections| {
        noted.lock().expect("whole").extend(sections.iter().map(|section| section.name().to_owned()));
        async move {
            sections.retain(|section| ![CODE_ONLY, SDK].contains(&section.name()));
            sections.push(section("tool:mine", 0, "mine"));
            Ok(sections)
        }
    }));
    assert_eq!(assembled(&registry).await.text(), "mine");
    let mut seen = seen.lock().expect("whole").clone();
    seen.retain(|name| name != SDK);
    assert_eq!(seen, [CODE_ONLY]);
}

#[tokio::test]
async fn a_listener_that_fails_or_panics_fails_the_assembly_and_can_be_removed() {
    let registry = registry(Mode::Native);
    let start = "the prompt could not be made: an assemble listener failed: ";
    let handle = registry.on_assemble(async |_, _| Err("no access".into()));
    assert_eq!(fails(&registry).await, (ErrorKind::Host, format!("{start}no access")));
    handle.remove();
    let handle = registry.on_assemble(async |_, _| panic!("secret"));
    assert_eq!(fails(&registry).await, (ErrorKind::Host, format!("{start}it panicked")));
    handle.remove();
    let twice = async |_, _| Ok(vec![section("a", 0, ""), section("b", 0, ""), section("a", 1, "")]);
    let handle = registry.on_assemble(twice);
    let expected = "the prompt has two sections `a` after its listeners".to_owned();
    assert_eq!(fails(&registry).await, (ErrorKind::Misuse, expected));
    handle.remove();
    assert_eq!(assembled(&registry).await.text(), "");
}
