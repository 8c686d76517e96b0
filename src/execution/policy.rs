//! What a platform adds to the pipeline and to prompts: listeners, guards, wrappers, observers, sections.
//!
//! Invariant: a call is judged by the policy that its scope saw when the call was created, the global layer's first, then
//! along the chain, in order of registration. A hook stays until somebody removes it: forgetting a handle opens no door. What a
//! hook's own drop does stays with it, wherever the last pointer to it goes.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::around::{Attempt, NextAttempt};
use super::post_execute::{NextPostExecute, PostDecision};
use super::pre_execute::{Decision, NextPreExecute};
use super::{CallInfo, ToolResult};
use crate::contain::Quiet;
use crate::prompt::{self, Section};
use crate::registry::{HookHandle, Scope};
use crate::runtime::BoxFuture;

/// An error of a listener's or a wrapper's own code.
///
/// It becomes the result of the call, and its text (`Display`, not its sources) is shown to the model, cut at
/// [`MESSAGE_BYTES_MAX`](super::MESSAGE_BYTES_MAX). Leave out of it what a model must not know.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) type PreExecute =
    dyn Fn(Arc<CallInfo>, NextPreExecute) -> BoxFuture<'static, Result<Decision, BoxError>> + Send + Sync;
pub(super) type Guard = dyn Fn(&CallInfo) -> Verdict + Send + Sync;
pub(super) type Around =
    dyn Fn(Arc<CallInfo>, NextAttempt) -> BoxFuture<'static, Result<Attempt, BoxError>> + Send + Sync;
pub(super) type PostExecute = dyn Fn(Arc<CallInfo>, Arc<ToolResult>, NextPostExecute) -> BoxFuture<'static, Result<PostDecision, BoxError>>
    + Send
    + Sync;
pub(super) type Observer = dyn Fn(&CallInfo, &Arc<ToolResult>) + Send + Sync;

/// What a guard says. It can deny, and cannot allow what somebody denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a guard that could say more would not be monotonic")]
pub enum Verdict {
    /// The guard has nothing against the call.
    Pass,
    /// The call is denied, for this reason.
    Deny(String),
}

impl Verdict {
    /// A denial.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(reason.into())
    }
}

/// The hooks of a layer, or of a whole chain.
#[derive(Clone, Default)]
pub(crate) struct Policy {
    pub(super) pre_execute: Hooks<PreExecute>,
    pub(super) guards: Hooks<Guard>,
    pub(super) around: Hooks<Around>,
    pub(super) post_execute: Hooks<PostExecute>,
    pub(super) observers: Hooks<Observer>,
    sections: Hooks<Section>,
    assemble: Hooks<prompt::Listener>,
}

impl Policy {
    /// Adds the hooks of the next layer.
    pub(crate) fn extend(&mut self, nearer: Self) {
        self.pre_execute.0.extend(nearer.pre_execute.0);
        self.guards.0.extend(nearer.guards.0);
        self.around.0.extend(nearer.around.0);
        self.post_execute.0.extend(nearer.post_execute.0);
        self.observers.0.extend(nearer.observers.0);
        self.sections.0.extend(nearer.sections.0);
        self.assemble.0.extend(nearer.assemble.0);
    }

    /// Adds a section to a layer, where it has none of this name.
    pub(crate) fn add_section(&mut self, section: Section) -> Option<HookId> {
        let is_new = self.sections.iter().all(|other| other.name() != section.name());
        is_new.then(|| self.sections.add(Arc::new(section)))
    }

    /// The sections of a chain: the nearest one of each name, in no order that matters.
    pub(crate) fn sections(&self) -> Vec<&Section> {
        let by_name: BTreeMap<&str, &Section> =
            self.sections.iter().map(|section| (section.name(), &**section)).collect();
        by_name.into_values().collect()
    }

    pub(crate) fn add_assemble(&mut self, listener: Arc<prompt::Listener>) -> HookId {
        self.assemble.add(listener)
    }

    pub(crate) fn assemble_listeners(&self) -> impl Iterator<Item = &Arc<prompt::Listener>> {
        self.assemble.iter()
    }

    /// Takes one hook out, if it is there.
    pub(crate) fn remove(&mut self, id: HookId) -> Option<Removed> {
        let removed = Self {
            pre_execute: self.pre_execute.remove(id),
            guards: self.guards.remove(id),
            around: self.around.remove(id),
            post_execute: self.post_execute.remove(id),
            observers: self.observers.remove(id),
            sections: self.sections.remove(id),
            assemble: self.assemble.remove(id),
        };
        let found = !(removed.pre_execute.is_empty()
            && removed.guards.is_empty()
            && removed.around.is_empty()
            && removed.post_execute.is_empty()
            && removed.observers.is_empty()
            && removed.sections.is_empty()
            && removed.assemble.is_empty());
        found.then_some(Removed { _hook: removed })
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("pre_execute", &self.pre_execute.0.len())
            .field("guards", &self.guards.0.len())
            .field("around", &self.around.0.len())
            .field("post_execute", &self.post_execute.0.len())
            .field("observers", &self.observers.0.len())
            .field("sections", &self.sections.0.len())
            .field("assemble", &self.assemble.0.len())
            .finish()
    }
}

/// A hook that was taken out. Dropping it runs its owner's code.
pub(crate) struct Removed {
    _hook: Policy,
}

/// Hooks of one kind, in order.
pub(super) struct Hooks<H: ?Sized>(Vec<(HookId, Arc<H>)>);

impl<H: ?Sized> Hooks<H> {
    pub(super) fn get(&self, index: usize) -> Option<&Arc<H>> {
        self.0.get(index).map(|(_, hook)| hook)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<H>> {
        self.0.iter().map(|(_, hook)| hook)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, hook: Arc<H>) -> HookId {
        let id = HookId::next();
        self.0.push((id, hook));
        id
    }

    fn remove(&mut self, id: HookId) -> Self {
        let place = self.0.iter().position(|(other, _)| *other == id);
        Self(place.map(|place| self.0.remove(place)).into_iter().collect())
    }
}

impl<H: ?Sized> Clone for Hooks<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<H: ?Sized> Default for Hooks<H> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Tells hooks apart, in all registries of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HookId(u64);

impl HookId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Scope {
    /// Adds a pre-execute listener to this scope and below: it may deny a call, ask for approval, or go on with `next`.
    ///
    /// ```
    /// # use hotcell::execution::Decision;
    /// # let registry = hotcell::registry::Registry::new();
    /// registry.on_pre_execute(|call, next| async move {
    ///     if call.name().starts_with("admin_") { Ok(Decision::deny("not for models")) } else { Ok(next.run().await) }
    /// });
    /// ```
    ///
    /// Listeners are asked in order, and each asks the ones after it: one that returns without awaiting `next.run()` ends
    /// the chain, also with [`Decision::Allow`]. What nobody may override belongs in a [`guard`](Self::guard).
    ///
    /// An error becomes the final result of the call, whatever other listeners say, and the model is shown its text.
    pub fn on_pre_execute<F, T>(&self, listener: F) -> HookHandle
    where
        F: Fn(Arc<CallInfo>, NextPreExecute) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Decision, BoxError>> + Send + 'static,
    {
        let listener = Quiet::new(listener);
        let hook: Arc<PreExecute> = Arc::new(move |call, next| Box::pin((*listener)(call, next)));
        self.change_policy(|policy| policy.pre_execute.add(hook))
    }

    /// Adds a guard to this scope and below. All guards must pass, after all listeners. It must not block.
    pub fn guard(&self, guard: impl Fn(&CallInfo) -> Verdict + Send + Sync + 'static) -> HookHandle {
        let guard = Quiet::new(guard);
        let hook: Arc<Guard> = Arc::new(move |call| (*guard)(call));
        self.change_policy(|policy| policy.guards.add(hook))
    }

    /// Adds a wrapper around the dispatch of calls in this scope and below, for example a retry.
    ///
    /// It may run `next` several times, one attempt after another, and give it another cancellation signal. The value of a
    /// success it makes up itself is checked as if the tool had returned it. The model is shown the text of an error.
    pub fn around<F, T>(&self, wrapper: F) -> HookHandle
    where
        F: Fn(Arc<CallInfo>, NextAttempt) -> T + Send + Sync + 'static,
        T: Future<Output = Result<Attempt, BoxError>> + Send + 'static,
    {
        let wrapper = Quiet::new(wrapper);
        let hook: Arc<Around> = Arc::new(move |call, next| Box::pin((*wrapper)(call, next)));
        self.change_policy(|policy| policy.around.add(hook))
    }

    /// Adds a post-execute listener to this scope and below: it may replace what the model sees, add context, or block it.
    ///
    /// Listeners are asked in order, and each asks the ones after it: one that returns without awaiting `next.run()` ends
    /// the chain, also with [`PostDecision::accept`].
    ///
    /// An error becomes the final result of the call, whatever other listeners say, and the model is shown its text.
    pub fn on_post_execute<F, T>(&self, listener: F) -> HookHandle
    where
        F: Fn(Arc<CallInfo>, Arc<ToolResult>, NextPostExecute) -> T + Send + Sync + 'static,
        T: Future<Output = Result<PostDecision, BoxError>> + Send + 'static,
    {
        let listener = Quiet::new(listener);
        let hook: Arc<PostExecute> = Arc::new(move |call, result, next| Box::pin((*listener)(call, result, next)));
        self.change_policy(|policy| policy.post_execute.add(hook))
    }

    /// Adds an observer to this scope and below. It gets the final result of every call once; its panics are contained.
    /// It must not block.
    pub fn on_result(&self, observer: impl Fn(&CallInfo, &Arc<ToolResult>) + Send + Sync + 'static) -> HookHandle {
        let observer = Quiet::new(observer);
        let hook: Arc<Observer> = Arc::new(move |call, result| (*observer)(call, result));
        self.change_policy(|policy| policy.observers.add(hook))
    }
}
