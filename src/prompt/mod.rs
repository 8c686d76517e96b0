//! What a model is told: sections of text, the tools it can call, and the stamp of both.
//!
//! A scope's sections come from its layers ([`Scope::section`]), from the mode and the SDK, and from listeners
//! ([`Scope::on_assemble`]), which have the last word on the text. Invariant: text, tools and stamp of one [`Prompt`] come from one
//! reading of the scope, and the same reading gives the same bytes, whatever was registered first.
//!
//! ```
//! # use hotcell::prompt::{Section, Variables};
//! # use hotcell::registry::Registry;
//! # async fn example(registry: Registry) -> Result<(), hotcell::Error> {
//! registry.section(Section::template("rules", 10, "Today is {{date}}. Be brief.")?)?;
//! let prompt = registry.assemble(&Variables::new().with("date", "2026-11-30")).await?;
//! assert_eq!(prompt.text(), "Today is 2026-11-30. Be brief.");
//! # Ok(())
//! # }
//! ```

pub(crate) mod discovery;
mod search;
mod section;
mod variables;

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use crate::contain::{Contained, Quiet};
use crate::error::{Error, ErrorKind};
use crate::execution::BoxError;
use crate::json::clip;
use crate::language::SdkTool;
use crate::registry::{HookHandle, Nesting, PresentationStamp, Scope, View, collapses};
use crate::runtime::BoxFuture;
use crate::tool::{Tool, WireTool};

pub(crate) use search::Index;
pub use section::{SECTION_NAME_BYTES_MAX, Section};
pub use variables::Variables;

/// The section that says how tools are reached where only `run_code` can be called. In mode `code`.
pub const CODE_ONLY: &str = "tools:code-only";

/// The section that declares the tools for programs. In modes `code` and `both`.
pub const SDK: &str = "tools:sdk";

/// What the names of sections begin with that say how to use one tool.
const GUIDANCE: &str = "tool:";

const CODE_ONLY_ORDER: i32 = 99;
const SDK_ORDER: i32 = 150;

const CODE_ONLY_TEXT: &str = "Only `run_code` can be called directly. Every other tool is called from inside a program that you pass to \
     `run_code`; a direct call of one is refused.";

/// What a model is told at one moment.
#[derive(Clone, Debug)]
#[must_use = "it is what the model is to be told"]
pub struct Prompt {
    sections: Vec<Section>,
    tools: Vec<WireTool>,
    stamp: PresentationStamp,
}

impl Prompt {
    /// The sections, by order and then by name, with all variables filled in.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The texts of all sections that are not empty, an empty line between two of them.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.sections.iter().map(Section::text).filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }

    /// The tools that the model can call directly, as [`Scope::wire`] gives them.
    #[must_use]
    pub fn tools(&self) -> &[WireTool] {
        &self.tools
    }

    /// What to pass with each call that the model makes
    /// ([`CallRequest::with_stamp`](crate::execution::CallRequest::with_stamp)).
    #[must_use]
    pub fn stamp(&self) -> &PresentationStamp {
        &self.stamp
    }
}

/// What an assemble listener knows of the assembly.
#[derive(Clone, Debug)]
pub struct Assembly {
    scope: Scope,
    stamp: PresentationStamp,
}

impl Assembly {
    /// The scope whose prompt it is.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The stamp of the prompt: mode, language and guest.
    #[must_use]
    pub fn stamp(&self) -> &PresentationStamp {
        &self.stamp
    }
}

pub(crate) type Listener =
    dyn Fn(Arc<Assembly>, Vec<Section>) -> BoxFuture<'static, Result<Vec<Section>, BoxError>> + Send + Sync;

impl Scope {
    /// Adds a section to the prompts of this scope and below. In a scope below, a section of the same name replaces it.
    ///
    /// In mode `code` sections whose names begin with `tool:` are left out, apart from `tool:run_code`: they say how to call tools
    /// that cannot be called.
    ///
    /// # Errors
    /// [`Misuse`](ErrorKind::Misuse) for a name that this very scope has a section of, and for the names [`SDK`] and [`CODE_ONLY`].
    pub fn section(&self, section: Section) -> Result<HookHandle, Error> {
        let name = Arc::clone(section.shared_name());
        if [SDK, CODE_ONLY].contains(&&*name) {
            return Err(Error::misuse(format!(
                "the section `{name}` is made by the registry; a listener (`on_assemble`) can replace or drop it"
            )));
        }
        self.add_to_policy(|policy| {
            policy.add_section(section).ok_or_else(|| {
                let (name, scope) = (clip(&name, 80), clip(self.name(), 80));
                Error::misuse(format!("the scope `{scope}` has a section `{name}` already"))
            })
        })
    }

    /// Adds a listener to the assemblies of this scope and below: it gets the sections and gives those that are to be there
    /// instead.
    ///
    /// Listeners come one after another, in order of registration, the global ones first; what the last one gives is what the model
    /// is told, in the order of the sections. An error fails the assembly.
    pub fn on_assemble<F, T>(&self, listener: F) -> HookHandle
    where
        F: Fn(Arc<Assembly>, Vec<Section>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Vec<Section>, BoxError>> + Send + 'static,
    {
        let listener = Quiet::new(listener);
        let hook: Arc<Listener> = Arc::new(move |assembly, sections| Box::pin((*listener)(assembly, sections)));
        self.change_policy(|policy| policy.add_assemble(hook))
    }

    /// Makes the prompt of this scope.
    ///
    /// # Errors
    /// As [`Scope::wire`]; [`Misuse`](ErrorKind::Misuse) for a variable that has no value and for two sections of one name;
    /// [`Host`](ErrorKind::Host) when a listener fails or panics.
    pub async fn assemble(&self, variables: &Variables) -> Result<Prompt, Error> {
        let view = self.view();
        let tools = self.wire_of(&view)?;
        let stamp = self.stamp_of(&view)?;
        let assembly = Arc::new(Assembly { scope: self.clone(), stamp: stamp.clone() });
        let mut sections = contributed(&view);
        for listener in view.policy().assemble_listeners() {
            let running = Contained::new(|| listener(Arc::clone(&assembly), std::mem::take(&mut sections)));
            sections = match running.await {
                Ok(Ok(sections)) => sections,
                Ok(Err(error)) => return Err(failed(&error.to_string())),
                Err(_) => return Err(failed("it panicked")),
            };
        }
        sections.sort_by(|one, other| one.place().cmp(&other.place()));
        let mut names = HashSet::new();
        if let Some(twice) = sections.iter().find(|section| !names.insert(section.name())) {
            let name = clip(twice.name(), 80);
            return Err(Error::misuse(format!("the prompt has two sections `{name}` after its listeners")));
        }
        let sections = sections.into_iter().map(|section| section.filled(variables)).collect::<Result<_, _>>()?;
        Ok(Prompt { sections, tools, stamp })
    }
}

/// What the layers and the mode contribute, sorted.
fn contributed(view: &View) -> Vec<Section> {
    let is_told = |section: &&Section| match section.name().strip_prefix(GUIDANCE) {
        Some(tool) => !collapses(tool, view.mode(), Nesting::Direct),
        None => true,
    };
    let mut sections: Vec<Section> = view.policy().sections().into_iter().filter(is_told).cloned().collect();
    if !view.mode().announces_tools() {
        sections.push(Section::made(CODE_ONLY, CODE_ONLY_ORDER, CODE_ONLY_TEXT.into()));
    }
    if let Some(sdk) = view.sdk() {
        sections.push(Section::made(SDK, SDK_ORDER, Arc::clone(sdk.text())));
    }
    sections.sort_by(|one, other| one.place().cmp(&other.place()));
    sections
}

impl Tool {
    /// The tool, as far as programs see it.
    pub(crate) fn sdk(&self) -> SdkTool<'_> {
        SdkTool {
            name: self.name(),
            description: self.description(),
            parameters: self.parameters().document(),
            output: self.output().document(),
        }
    }
}

fn failed(why: &str) -> Error {
    Error::new(ErrorKind::Host, format!("the prompt could not be made: an assemble listener failed: {why}"))
}
