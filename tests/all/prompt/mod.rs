//! What a model is told: sections, listeners, variables, and that text, tools and stamp agree.

mod discovery;
mod listeners;
mod sections;

use hotcell::prompt::{Prompt, Section, Variables};
use hotcell::registry::Scope;

pub fn section(name: &str, order: i32, text: &str) -> Section {
    Section::new(name, order, text).expect("a valid section")
}

pub async fn assembled(scope: &Scope) -> Prompt {
    scope.assemble(&Variables::new()).await.expect("a prompt")
}

/// The names of the sections there are, without the generated declarations.
pub async fn names(scope: &Scope) -> Vec<String> {
    let prompt = assembled(scope).await;
    let names = prompt.sections().iter().map(|section| section.name().to_owned());
    names.filter(|name| name != hotcell::prompt::SDK).collect()
}

/// Adds a section for as long as the scope lives.
pub fn add(scope: &Scope, name: &str, order: i32, text: &str) {
    drop(scope.section(section(name, order, text)).expect("a new section"));
}
