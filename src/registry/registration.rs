//! The handles of what was registered.
//!
//! Invariant: a registration removes the tool it registered and no other, even one of the same name that came later.

use std::fmt;
use std::sync::Weak;

use super::Shared;
use super::layer::Layer;
use crate::execution::HookId;
use crate::tool::Tool;

/// Keeps a tool registered; dropping it unregisters the tool.
///
/// A body that runs then is not disturbed: it runs to its end, and its value is checked and shown by the definition it began
/// with. What comes after looks the name up again and finds nothing: calls that were not dispatched yet, further attempts of a
/// wrapper, and values that a wrapper or a post-execute listener makes up end as `UNKNOWN_TOOL`.
///
/// The definition itself is dropped when the last call of it is over and each scope that saw it was used again or dropped; see
/// [`Scope`](super::Scope).
#[must_use = "the tool is unregistered when its registration is dropped; `keep` leaves it registered"]
pub struct Registration(Option<Registered>);

struct Registered {
    layer: Weak<Layer>,
    shared: Weak<Shared>,
    tool: Tool,
}

impl Registration {
    pub(super) fn new(layer: Weak<Layer>, shared: Weak<Shared>, tool: Tool) -> Self {
        Self(Some(Registered { layer, shared, tool }))
    }

    /// Unregisters the tool now. Nothing happens where it is unregistered already.
    pub fn unregister(&mut self) {
        let Some(Registered { layer, shared, tool }) = self.0.take() else {
            return;
        };
        let Some(layer) = layer.upgrade() else {
            return;
        };
        let removed = layer.change(|state| {
            let same = state.tools.get(tool.name()).is_some_and(|other| other.is(&tool));
            if same { state.tools.remove(tool.name()).ok_or(()) } else { Err(()) }
        });
        if let (Ok(_), Some(shared)) = (&removed, shared.upgrade()) {
            shared.changed();
        }
    }

    /// Leaves the tool registered for as long as its scope lives.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.unregister();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.as_ref().map(|registered| registered.tool.name());
        f.debug_tuple("Registration").field(&name).finish()
    }
}

/// Removes a listener, guard, wrapper, observer or section. Dropping it changes nothing: the hook then stays for as long as its scope
/// lives, so that forgetting a handle opens no door.
pub struct HookHandle {
    layer: Weak<Layer>,
    shared: Weak<Shared>,
    id: HookId,
}

impl HookHandle {
    pub(super) fn new(layer: Weak<Layer>, shared: Weak<Shared>, id: HookId) -> Self {
        Self { layer, shared, id }
    }

    /// Removes the hook. Calls that are under way keep the policy they were created with.
    pub fn remove(self) {
        let Some(layer) = self.layer.upgrade() else {
            return;
        };
        let removed = layer.change(|state| state.policy.remove(self.id).ok_or(()));
        if let (Ok(_), Some(shared)) = (&removed, self.shared.upgrade()) {
            shared.changed();
        }
    }
}

impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HookHandle").field(&self.id).finish()
    }
}
