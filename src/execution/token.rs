//! The capability to act as part of a running execution.
//!
//! Invariant: a token is made by the pipeline alone and is equal only to its own copies. It confers something only from its
//! execution's creation until dispatch is over, only in its own registry, and only in its own scope and below. Dispatch is over
//! when no attempt can follow: the body has settled for good, its value was checked, and the wrappers have returned; or when the
//! call was refused before. Then the token dies: the calls it was lent to are cancelled, and the execution takes them to their ends.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::program::Program;
use super::request::Caller;
use super::slot::{Part, Takeover};
use crate::registry::{Nesting, Scope};

/// Stands for one execution. It can be compared, and lent as the parent of another call.
///
/// It lives from its execution's creation until dispatch is over: listeners, approval, guards, wrappers and every attempt of the
/// body may lend it. It does not die between two attempts of a retry, nor while a value is checked; it is dead before the
/// execution's own post-execute listeners, finalizer and observers.
///
/// It cannot be made, parsed or guessed, and tells nothing when printed.
#[derive(Clone)]
pub struct ExecutionToken(Arc<Inner>);

struct Inner {
    scope: Scope,
    parent: Option<ExecutionToken>,
    /// How many executions are above it.
    depth: usize,
    runs_programs: bool,
    caller: Option<Caller>,
    /// The program that the execution runs, once it does.
    program: Mutex<Option<Arc<dyn Program>>>,
    /// When the grace of what is below it is over, once a stage has seen that it was cancelled.
    deadline: OnceLock<Instant>,
    state: Mutex<State>,
}

/// Recognizes an execution, and keeps nothing of it alive.
#[derive(Clone)]
pub(crate) struct TokenKey(Weak<Inner>);

struct State {
    live: bool,
    children: BTreeMap<u64, Adopted>,
    adopted: u64,
}

/// A nested call, or an attempt that a wrapper holds.
struct Adopted {
    cancel: CancellationToken,
    part: Weak<dyn Part>,
}

/// The place of a nested call among its parent's children, given back when dropped.
pub(super) struct Child {
    parent: ExecutionToken,
    place: u64,
}

impl ExecutionToken {
    pub(super) fn new(scope: Scope, parent: Option<Self>, runs_programs: bool, caller: Option<Caller>) -> Self {
        Self(Arc::new(Inner {
            scope,
            depth: parent.as_ref().map_or(0, |parent| parent.depth() + 1),
            caller: caller.or_else(|| parent.as_ref().and_then(|parent| parent.0.caller.clone())),
            parent,
            runs_programs,
            program: Mutex::default(),
            deadline: OnceLock::new(),
            state: Mutex::new(State { live: true, children: BTreeMap::new(), adopted: 0 }),
        }))
    }

    /// Takes a call in `scope` under this token, if it is alive and may be lent there. When the token dies, `cancel` is
    /// cancelled, and `part` taken over.
    pub(super) fn adopt(&self, scope: &Scope, cancel: &CancellationToken, part: Weak<dyn Part>) -> Option<Child> {
        if !scope.is_within(&self.0.scope) {
            return None;
        }
        let mut state = self.state();
        if !state.live {
            return None;
        }
        state.adopted += 1;
        let place = state.adopted;
        state.children.insert(place, Adopted { cancel: cancel.clone(), part });
        Some(Child { parent: self.clone(), place })
    }

    /// Whether a call in `scope` would be taken now.
    pub(super) fn may_lend_to(&self, scope: &Scope) -> bool {
        scope.is_within(&self.0.scope) && self.is_live()
    }

    /// What a call under this token is.
    pub(super) fn nesting(&self) -> Nesting {
        let mut ancestors = std::iter::successors(Some(self), |token| token.0.parent.as_ref());
        Nesting::Nested { in_program: ancestors.any(|token| token.0.runs_programs) }
    }

    /// The token dies: no call is taken any more, and those that were are cancelled.
    pub(super) fn kill(&self) {
        let children: Vec<CancellationToken> = {
            let mut state = self.state();
            state.live = false;
            state.children.values().map(|child| child.cancel.clone()).collect()
        };
        for child in children {
            child.cancel();
        }
    }

    /// Says that the execution runs this program now.
    pub(super) fn lend_to(&self, program: Arc<dyn Program>) {
        *self.0.program.lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
    }

    /// The program that this very execution runs.
    pub(super) fn own_program(&self) -> Option<Arc<dyn Program>> {
        if !self.0.runs_programs {
            return None;
        }
        self.0.program.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The program that this execution is a part of.
    pub(super) fn program(&self) -> Option<Arc<dyn Program>> {
        let mut ancestors = std::iter::successors(Some(self), |token| token.0.parent.as_ref());
        ancestors.find_map(Self::own_program)
    }

    /// Whether calls under this token are not over.
    pub(super) fn has_children(&self) -> bool {
        !self.state().children.is_empty()
    }

    /// Takes all calls under this token to their ends, whoever holds them.
    ///
    /// Whoever holds one would do, but need not: it may be kept somewhere and never polled again.
    pub(super) async fn take_over(&self) {
        let parts: FuturesUnordered<Takeover> = {
            let state = self.state();
            state.children.values().filter_map(|child| child.part.upgrade()).map(Takeover).collect()
        };
        parts.for_each(|()| ready(())).await;
    }

    /// When the grace of a cancelled execution is over, and that of what is below it: asked for the first time, so long from now,
    /// but no later than that of any execution above it; then always the same. An execution that runs a program has as long
    /// again, to tell what the program did.
    pub(super) fn deadline(&self, grace: Duration) -> Instant {
        let shared = *self.0.deadline.get_or_init(|| {
            let above = std::iter::successors(self.0.parent.as_ref(), |token| token.0.parent.as_ref());
            above.filter_map(|token| token.0.deadline.get().copied()).fold(Instant::now() + grace, Instant::min)
        });
        if self.0.runs_programs { shared + grace } else { shared }
    }

    /// What recognizes this execution.
    pub(crate) fn key(&self) -> TokenKey {
        TokenKey(Arc::downgrade(&self.0))
    }

    /// How many executions are above it.
    pub(super) fn depth(&self) -> usize {
        self.0.depth
    }

    /// The outermost execution above it; itself where there is none.
    pub(super) fn root(&self) -> &Self {
        let mut token = self;
        while let Some(parent) = &token.0.parent {
            token = parent;
        }
        token
    }

    pub(super) fn caller(&self) -> Option<&Caller> {
        self.0.caller.as_ref()
    }

    fn is_live(&self) -> bool {
        self.state().live
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenKey {
    /// Whether the execution's dispatch is over.
    pub(crate) fn is_over(&self) -> bool {
        self.0.upgrade().is_none_or(|inner| !ExecutionToken(inner).is_live())
    }
}

impl PartialEq for TokenKey {
    fn eq(&self, other: &Self) -> bool {
        // The allocation stays reserved while there is a key, so no other execution gets its address.
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for TokenKey {}

impl Hash for TokenKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let adopted = self.parent.state().children.remove(&self.place);
        drop(adopted);
    }
}

impl PartialEq for ExecutionToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ExecutionToken {}

impl Hash for ExecutionToken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for ExecutionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExecutionToken")
    }
}
