//! One scope: where tools are registered, looked up and called.
//!
//! Invariant: a scope points to its parent and never the other way, so dropping the last handle of a scope drops what was
//! registered in it.

use std::convert::Infallible;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::layer::{Layer, State};
use super::mode::{Mode, RESERVED_NAMES};
use super::order::ToolOrder;
use super::registration::{HookHandle, Registration};
use super::view::{Defaults, View};
use super::{Changes, Shared};
use crate::error::Error;
use crate::execution::{HookId, Policy};
use crate::json::clip;
use crate::limits::Limit;
use crate::tool::{Tool, WireTool};

/// The longest chain of scopes, the global one included. Every lookup walks it.
pub const SCOPE_DEPTH_MAX: usize = 32;

/// A scope. Cloning it clones a pointer.
///
/// What is registered in a scope is dropped with its last handle. A tool or hook whose closure captures its own scope, or one
/// below it, keeps that scope alive, which keeps the tool alive: neither is dropped until it is taken out. A body gets its scope from
/// [`CallInfo::scope`](crate::execution::CallInfo::scope) instead, and so do hooks.
///
/// A scope remembers what it saw last, unregistered tools and removed hooks among it, until it is used the next time. A scope
/// that is kept and not used keeps their definitions alive for as long.
#[derive(Clone)]
pub struct Scope(Arc<Node>);

/// Recognizes a scope, and keeps nothing of it alive.
#[derive(Clone)]
pub(crate) struct ScopeKey(Weak<Node>);

struct Node {
    name: Arc<str>,
    shared: Arc<Shared>,
    own: Arc<Layer>,
    /// From the global layer to this scope's own.
    chain: Vec<Arc<Layer>>,
    cached: Mutex<Option<Arc<View>>>,
}

impl Scope {
    pub(super) fn global(shared: Arc<Shared>) -> Self {
        Self::below(&[], "global".into(), shared)
    }

    fn below(parents: &[Arc<Layer>], name: Arc<str>, shared: Arc<Shared>) -> Self {
        let own: Arc<Layer> = Arc::default();
        let chain = parents.iter().chain([&own]).cloned().collect();
        Self(Arc::new(Node { name, shared, own, chain, cached: Mutex::default() }))
    }

    /// A new scope below this one. The name is for people and logs; it identifies nothing.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when the chain would be longer than [`SCOPE_DEPTH_MAX`].
    pub fn child(&self, name: impl Into<Arc<str>>) -> Result<Self, Error> {
        let name = name.into();
        let depth = self.0.chain.len() + 1;
        if depth > SCOPE_DEPTH_MAX {
            return Err(Error::misuse(format!(
                "the scope `{}` would be {depth} deep; at most {SCOPE_DEPTH_MAX} are allowed",
                clip(&name, 80)
            )));
        }
        Ok(Self::below(&self.0.chain, name, Arc::clone(&self.0.shared)))
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Registers a tool here. It is seen by this scope and its descendants until the registration is dropped.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse), naming the tool, for a reserved name, a name that is taken in this very scope,
    /// and whatever is wrong with the tool itself.
    pub fn register<T>(&self, tool: T) -> Result<Registration, Error>
    where
        T: TryInto<Tool>,
        Error: From<T::Error>,
    {
        let tool: Tool = tool.try_into()?;
        let name = tool.name();
        if RESERVED_NAMES.contains(&name) {
            return Err(Error::misuse(format!("the tool `{name}` cannot be registered: its name is reserved")));
        }
        self.change(|state| {
            if state.tools.contains_key(name) {
                return Err(Error::misuse(format!(
                    "the tool `{}` is registered in scope `{}` already",
                    clip(name, 80),
                    clip(self.name(), 80)
                )));
            }
            state.tools.insert(Arc::clone(tool.shared_name()), tool.clone());
            Ok(())
        })?;
        let layer = Arc::downgrade(&self.0.own);
        Ok(Registration::new(layer, Arc::downgrade(&self.0.shared), tool))
    }

    /// Declares how tools are presented in this scope and below, for as long as the scope lives.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) in the global scope, where the deployment decides, and when this scope has
    /// declared a mode before.
    pub fn present_as(&self, mode: Mode) -> Result<(), Error> {
        self.declare("a mode", "RegistryBuilder::mode", |state| &mut state.mode, mode)
    }

    /// Declares the language of programs in this scope and below, for as long as the scope lives. Whether there is a
    /// transport for it shows in [`Scope::wire`].
    ///
    /// # Errors
    /// As [`Scope::present_as`].
    pub fn use_language(&self, language: &str) -> Result<(), Error> {
        self.declare("a language", "RegistryBuilder::language", |state| &mut state.language, language.into())
    }

    /// Declares the order of the wire list in this scope and below, for as long as the scope lives.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when this scope has declared an order before.
    pub fn order_tools(&self, order: ToolOrder) -> Result<(), Error> {
        self.declare_here("a tool order", |state| &mut state.order, Arc::new(order))
    }

    fn declare<T>(
        &self,
        what: &str,
        instead: &str,
        slot: impl FnOnce(&mut State) -> &mut Option<T>,
        value: T,
    ) -> Result<(), Error> {
        if self.is_global() {
            return Err(Error::misuse(format!(
                "the global scope cannot declare {what}: the deployment decides it, with `{instead}`"
            )));
        }
        self.declare_here(what, slot, value)
    }

    fn declare_here<T>(
        &self,
        what: &str,
        slot: impl FnOnce(&mut State) -> &mut Option<T>,
        value: T,
    ) -> Result<(), Error> {
        self.change(|state| {
            let slot = slot(state);
            if slot.is_some() {
                let scope = clip(self.name(), 80);
                return Err(Error::misuse(format!("the scope `{scope}` has declared {what} already")));
            }
            *slot = Some(value);
            Ok(())
        })
    }

    /// The tool of this name that this scope sees. `run_code` is there where the mode presents it; apart from that, the
    /// mode does not matter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.view().get(name).cloned()
    }

    /// All tools that this scope sees, sorted by name, whatever the mode presents.
    #[must_use]
    pub fn schemas(&self) -> Vec<WireTool> {
        self.view().tools().map(Tool::wire).collect()
    }

    /// The effective mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.view().mode()
    }

    /// The effective language of programs, where one was chosen.
    #[must_use]
    pub fn language(&self) -> Option<Arc<str>> {
        self.view().language().cloned()
    }

    /// The tools a model is told of in this scope: exactly those it can call directly. In the declared order, or sorted by
    /// name.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when the mode presents `run_code` and there is no transport for the effective
    /// language, and when the declared order names a tool that does not exist or that the mode removes.
    pub fn wire(&self) -> Result<Vec<WireTool>, Error> {
        self.wire_of(&self.view())
    }

    /// The tools a model is told of, in one reading of the scope.
    pub(crate) fn wire_of(&self, view: &View) -> Result<Vec<WireTool>, Error> {
        self.presentable(view)?;
        let exists = |name: &str| self.0.chain.iter().any(|layer| layer.state().tools.contains_key(name));
        let tools = match view.order() {
            Some(order) => order.apply(view, exists)?,
            None => view.presented().cloned().collect(),
        };
        Ok(tools.iter().map(Tool::wire).collect())
    }

    /// Fails where the mode presents `run_code` and nothing can run programs.
    pub(super) fn presentable(&self, view: &View) -> Result<(), Error> {
        if !view.mode().presents_run_code() || view.get(super::RUN_CODE).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = self.0.shared.transports.keys().map(AsRef::as_ref).collect();
        Err(match view.language() {
            Some(language) => unknown_language(language, &known),
            None => Error::misuse(format!(
                "mode `{}` needs a runtime for programs, and this registry has none",
                view.mode().as_str()
            )),
        })
    }

    /// Changes of what this scope sees, from now on.
    #[must_use]
    pub fn changes(&self) -> Changes {
        Changes::new(self.clone(), self.0.shared.version.subscribe())
    }

    /// Whether `self` is `other` or below it.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.0.chain.iter().any(|layer| Arc::ptr_eq(layer, &other.0.own))
    }

    /// What recognizes this scope, and not its descendants.
    pub(crate) fn key(&self) -> ScopeKey {
        ScopeKey(Arc::downgrade(&self.0))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    pub(super) fn is_global(&self) -> bool {
        self.0.chain.len() == 1
    }

    pub(super) fn version(&self) -> u64 {
        self.0.chain.iter().map(|layer| layer.version()).sum()
    }

    /// What the scope sees. Made again only when something in its chain has changed.
    pub(crate) fn view(&self) -> Arc<View> {
        let stamp = self.version();
        let cached = || self.0.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = cached().as_ref().filter(|view| view.stamp == stamp) {
            return Arc::clone(view);
        }
        // Neither made nor dropped under the lock: the last pointer to a tool may be in the old view, and its drop is other
        // people's code, which may come back here.
        let view = Arc::new(self.fold(stamp, &self.0.chain));
        let old = cached().replace(Arc::clone(&view));
        drop(old);
        view
    }

    /// What the scope inherits: the view of its parent.
    pub(super) fn inherited(&self) -> View {
        let (_, parents) = self.0.chain.split_last().unzip();
        self.fold(0, parents.unwrap_or_default())
    }

    fn fold(&self, stamp: u64, chain: &[Arc<Layer>]) -> View {
        let shared = &self.0.shared;
        let defaults = Defaults {
            mode: shared.mode,
            language: shared.language.clone(),
            transport: &|language| shared.transport(language),
            sdk_bytes_max: shared.limits.size(Limit::Sdk),
        };
        View::fold(stamp, chain, &defaults)
    }

    pub(crate) fn change_policy(&self, add: impl FnOnce(&mut Policy) -> HookId) -> HookHandle {
        let added = self.add_to_policy(|policy| Ok::<_, Infallible>(add(policy)));
        added.unwrap_or_else(|never| match never {})
    }

    /// The same for what may be refused.
    pub(crate) fn add_to_policy<E>(
        &self,
        add: impl FnOnce(&mut Policy) -> Result<HookId, E>,
    ) -> Result<HookHandle, E> {
        let id = self.0.own.change(|state| add(&mut state.policy))?;
        self.0.shared.changed();
        Ok(HookHandle::new(Arc::downgrade(&self.0.own), Arc::downgrade(&self.0.shared), id))
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> Result<T, Error>) -> Result<T, Error> {
        let changed = self.0.own.change(change)?;
        self.0.shared.changed();
        Ok(changed)
    }
}

impl ScopeKey {
    /// Whether nobody can make a call in the scope any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl PartialEq for ScopeKey {
    fn eq(&self, other: &Self) -> bool {
        // The allocation stays reserved while there is a key, so no other scope gets its address.
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ScopeKey {}

impl Hash for ScopeKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}

impl fmt::Debug for ScopeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScopeKey")
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("name", &self.0.name).finish_non_exhaustive()
    }
}

pub(super) fn unknown_language(language: &str, known: &[&str]) -> Error {
    let known: Vec<String> = known.iter().map(|language| format!("`{}`", clip(language, 80))).collect();
    let language = clip(language, 80);
    Error::misuse(match known.as_slice() {
        [] => format!("there is no runtime for the language `{language}`, nor for any other"),
        known => {
            format!("there is no runtime for the language `{language}`; there is one for {}", known.join(", "))
        }
    })
}
