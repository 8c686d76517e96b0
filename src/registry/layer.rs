//! What one scope declares itself.
//!
//! Invariant: every change of a layer raises its version, under the same lock, before anybody can see the change.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::mode::Mode;
use super::order::ToolOrder;
use crate::execution::Policy;
use crate::tool::Tool;

/// One layer.
#[derive(Debug, Default)]
pub(super) struct Layer {
    version: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tools: BTreeMap<Arc<str>, Tool>,
    pub(super) restrictions: Vec<Arc<Restriction>>,
    pub(super) mode: Option<Mode>,
    pub(super) language: Option<Arc<str>>,
    pub(super) order: Option<Arc<ToolOrder>>,
    pub(super) policy: Policy,
}

/// What a layer declared at one moment. Reading it drops nothing, and so runs nobody's code, under the layer's lock.
pub(super) struct Declared {
    pub(super) tools: Vec<Tool>,
    pub(super) restrictions: Vec<Arc<Restriction>>,
    pub(super) mode: Option<Mode>,
    pub(super) language: Option<Arc<str>>,
    pub(super) order: Option<Arc<ToolOrder>>,
    pub(super) policy: Policy,
}

/// A mask over what a scope inherits.
pub(super) struct Restriction {
    /// Whether the names are the ones that stay, or the ones that go.
    pub(super) allows: bool,
    /// Sorted, each once.
    pub(super) names: Vec<Arc<str>>,
}

impl Layer {
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A reading of the layer.
    pub(super) fn declared(&self) -> Declared {
        let state = self.state();
        Declared {
            tools: state.tools.values().cloned().collect(),
            restrictions: state.restrictions.clone(),
            mode: state.mode,
            language: state.language.clone(),
            order: state.order.clone(),
            policy: state.policy.clone(),
        }
    }

    /// Changes the layer. Nothing changes where `change` fails. What is taken out must be handed out: dropping a tool or a
    /// hook is other people's code, which may come back here.
    pub(super) fn change<T, E>(&self, change: impl FnOnce(&mut State) -> Result<T, E>) -> Result<T, E> {
        let mut state = self.state();
        let changed = change(&mut state)?;
        self.version.fetch_add(1, Ordering::Release);
        Ok(changed)
    }
}

impl fmt::Debug for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.allows { "allow " } else { "deny " })?;
        f.debug_set().entries(&self.names).finish()
    }
}
