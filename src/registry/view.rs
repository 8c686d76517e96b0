//! What one scope sees: its ancestors' layers, restrictions, mode, language and policy, folded into one value.
//!
//! Invariant: a view is immutable and made from one reading of each layer; it is made again only when a layer of its chain
//! has changed. There is no other way to find a tool.

use std::sync::{Arc, OnceLock};

use super::layer::{Layer, Restriction};
use super::mode::{DESCRIBE_TOOLS, Mode, RUN_CODE, SEARCH_TOOLS};
use super::order::ToolOrder;
use crate::execution::Policy;
use crate::language::{Language, Sdk};
use crate::prompt::Index;
use crate::tool::Tool;

/// What one scope sees.
#[derive(Debug)]
pub(crate) struct View {
    /// The sum of the chain's versions before it was read: grows with every change of any of them.
    pub(super) stamp: u64,
    /// Sorted by name, the transport among them.
    tools: Vec<Tool>,
    mode: Mode,
    language: Option<Arc<str>>,
    order: Option<Arc<ToolOrder>>,
    policy: Policy,
    /// How long the declarations of the tools may be.
    sdk_bytes_max: usize,
    /// What is made of the tools once somebody asks: the names that a program gets, the declarations, the index of words.
    members: OnceLock<Arc<[Arc<str>]>>,
    sdk: OnceLock<Option<Sdk>>,
    index: OnceLock<Index>,
}

/// What the deployment decides where no scope does.
pub(super) struct Defaults<'a> {
    pub(super) mode: Mode,
    pub(super) language: Option<Arc<str>>,
    pub(super) transport: &'a dyn Fn(&str) -> Option<Tool>,
    pub(super) sdk_bytes_max: usize,
}

impl View {
    /// Folds the layers of a chain, the global one first.
    pub(super) fn fold(stamp: u64, chain: &[Arc<Layer>], defaults: &Defaults<'_>) -> Self {
        let mut tools: Vec<Tool> = Vec::new();
        let mut mode = defaults.mode;
        let mut language = defaults.language.clone();
        let mut order = None;
        let mut policy = Policy::default();
        for layer in chain {
            let declared = layer.declared();
            for restriction in &declared.restrictions {
                tools = restriction.mask(tools);
            }
            tools = merge(tools, declared.tools);
            mode = declared.mode.unwrap_or(mode);
            language = declared.language.or(language);
            order = declared.order.or(order);
            policy.extend(declared.policy);
        }
        if mode.presents_run_code()
            && let Some(transport) = language.as_deref().and_then(defaults.transport)
        {
            tools = merge(tools, vec![transport]);
        }
        Self {
            stamp,
            tools,
            mode,
            language,
            order,
            policy,
            sdk_bytes_max: defaults.sdk_bytes_max,
            members: OnceLock::new(),
            sdk: OnceLock::new(),
            index: OnceLock::new(),
        }
    }

    /// The tool of this name. Presentation does not matter here, apart from whether `run_code` exists.
    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        let place = self.tools.binary_search_by(|tool| tool.name().cmp(name)).ok()?;
        self.tools.get(place)
    }

    /// All visible tools, sorted by name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// The tools that programs can call: all that are visible but `run_code`, sorted by name.
    pub(crate) fn programs_tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools().filter(|tool| tool.name() != RUN_CODE)
    }

    /// The names that a program in this scope gets, sorted.
    pub(crate) fn members(&self) -> &Arc<[Arc<str>]> {
        self.members.get_or_init(|| {
            let mut names: Vec<Arc<str>> = self.programs_tools().map(Tool::shared_name).cloned().collect();
            if self.needs_discovery() {
                names.extend([SEARCH_TOOLS, DESCRIBE_TOOLS].map(Arc::from));
                names.sort();
            }
            names.into()
        })
    }

    /// What a model is told of the tools for programs. `None` where no programs are run, or in a language without declarations.
    pub(crate) fn sdk(&self) -> Option<&Sdk> {
        let sdk = self.sdk.get_or_init(|| {
            self.get(RUN_CODE)?;
            let language = Language::find(self.language.as_deref()?).ok()?;
            Some(language.sdk(self.programs_tools().map(Tool::sdk), self.sdk_bytes_max))
        });
        sdk.as_ref()
    }

    /// Whether the tools are too many to declare, so that programs have to find them.
    pub(super) fn needs_discovery(&self) -> bool {
        self.sdk().is_some_and(|sdk| !sdk.is_complete())
    }

    /// The index of the words of the tools.
    pub(crate) fn search_index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    /// The effective mode.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The effective language.
    pub(crate) fn language(&self) -> Option<&Arc<str>> {
        self.language.as_ref()
    }

    /// The effective order of the wire list, where one was declared.
    pub(super) fn order(&self) -> Option<&Arc<ToolOrder>> {
        self.order.as_ref()
    }

    /// Listeners, guards, wrappers and observers of the chain, the global ones first.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The names a restriction in a child scope could name.
    pub(super) fn inheritable(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(Tool::name).filter(|name| *name != RUN_CODE)
    }
}

impl Restriction {
    /// What stays of tools that are sorted by name. Looks up the few names, not the many tools.
    fn mask(&self, mut tools: Vec<Tool>) -> Vec<Tool> {
        let find = |name: &Arc<str>| tools.binary_search_by(|tool| tool.name().cmp(name)).ok();
        let mut named = self.names.iter().filter_map(find);
        if self.allows {
            return named.filter_map(|place| tools.get(place).cloned()).collect();
        }
        let named: Vec<usize> = named.by_ref().collect();
        let mut named = named.into_iter().peekable();
        let mut place = 0..;
        tools.retain(|_| named.next_if_eq(&place.next().unwrap_or(usize::MAX)).is_none());
        tools
    }
}

/// Two sequences sorted by name as one; the nearer tool shadows the farther one of the same name.
fn merge(farther: Vec<Tool>, nearer: Vec<Tool>) -> Vec<Tool> {
    if nearer.is_empty() {
        return farther;
    }
    if farther.is_empty() {
        return nearer;
    }
    let mut merged = Vec::with_capacity(farther.len() + nearer.len());
    let mut farther = farther.into_iter().peekable();
    for tool in nearer {
        while let Some(before) = farther.next_if(|other| other.name() < tool.name()) {
            merged.push(before);
        }
        let _shadowed = farther.next_if(|other| other.name() == tool.name());
        merged.push(tool);
    }
    merged.extend(farther);
    merged
}
