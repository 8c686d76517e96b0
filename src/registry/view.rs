//! What one scope sees: its ancestors' layers, restrictions, mode, language and policy, folded into one value.
//!
//! Invariant: a view is immutable and made from one reading of each layer; it is made again only when a layer of its chain
//! has changed. There is no other way to find a tool.

use std::sync::{Arc, OnceLock};

use super::layer::{Layer, Restriction};
use super::mode::{Mode, RUN_CODE};
use super::order::ToolOrder;
use crate::execution::Policy;
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
    /// The names that a program gets, once somebody has asked.
    members: OnceLock<Arc<[Arc<str>]>>,
}

/// What the deployment decides where no scope does.
pub(super) struct Defaults<'a> {
    pub(super) mode: Mode,
    pub(super) language: Option<Arc<str>>,
    pub(super) transport: &'a dyn Fn(&str) -> Option<Tool>,
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
        Self { stamp, tools, mode, language, order, policy, members: OnceLock::new() }
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

    /// The names that a program in this scope gets: all that are visible but `run_code`, sorted.
    pub(crate) fn members(&self) -> &Arc<[Arc<str>]> {
        self.members.get_or_init(|| {
            let names = self.tools().map(Tool::shared_name).filter(|name| &***name != RUN_CODE);
            names.cloned().collect()
        })
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
