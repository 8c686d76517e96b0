//! What a caller says: a name, arguments, a cancellation token, and on whose behalf.
//!
//! Invariant: arguments are decoded once, before anything looks at them, and never change afterwards.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::ExecutionToken;
use super::heavy::{self, BLOCKING_BYTES};
use crate::contain::Quiet;
use crate::json::{self, Value};
use crate::limits::{Limit, Limits};
use crate::registry::PresentationStamp;

/// Arguments as they arrive: JSON text, or a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Arguments {
    /// JSON text, as a model wrote it.
    Text(String),
    /// A value.
    Value(Value),
    /// A value that is shared.
    Shared(Arc<Value>),
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<Arc<Value>> for Arguments {
    fn from(value: Arc<Value>) -> Self {
        Self::Shared(value)
    }
}

/// The decoded arguments, or why they cannot be taken.
pub(super) type Decoded = Result<Arc<Value>, String>;

fn lossy(error: &json::Error, limits: &Limits) -> String {
    if error.kind() == json::ErrorKind::Cost {
        return too_large(limits);
    }
    format!("the arguments are not JSON that can be taken without loss: {error}")
}

fn too_large(limits: &Limits) -> String {
    let most = Limit::HostMemory.display(limits.get(Limit::HostMemory));
    format!("the arguments need more than the {most} of host memory that the limit `host-memory` allows")
}

/// Takes a value as it is, if it is not too much. A large one is looked through on the blocking pool.
async fn taken(value: &Arc<Value>, limits: &Limits) -> Decoded {
    if heavy::is_slight(value) {
        return Ok(Arc::clone(value));
    }
    let room = limits.size(Limit::HostMemory);
    let is_heavy = json::costs_more(value, BLOCKING_BYTES);
    let may_be_too_large = is_heavy || room < BLOCKING_BYTES;
    let look = move |value: &Value| {
        let too_large = may_be_too_large && json::costs_more(value, room);
        if too_large { None } else { Some(json::check(value)) }
    };
    match heavy::with(value, is_heavy, look).await {
        None => Err(too_large(limits)),
        Some(Ok(())) => Ok(Arc::clone(value)),
        Some(Err(error)) => Err(lossy(&error, limits)),
    }
}

/// The route to whoever makes the calls of a session, for an approval service that wants to ask them.
///
/// The registry only carries it. Nested calls inherit their parent's.
#[derive(Clone)]
pub struct Caller {
    label: Arc<str>,
    /// A `Quiet` of it.
    route: Arc<dyn Any + Send + Sync>,
}

impl Caller {
    /// A caller: a label for people and logs, and whatever the approval service needs to reach them.
    pub fn new<T: Send + Sync + 'static>(label: &str, route: T) -> Self {
        Self { label: label.into(), route: Arc::new(Quiet::new(route)) }
    }

    /// The label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The route, if it is a `T`.
    #[must_use]
    pub fn route<T: 'static>(&self) -> Option<&T> {
        self.route.downcast_ref::<Quiet<T>>().map(|route| &**route)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller({:?})", self.label)
    }
}

/// Arguments before and after they are decoded.
#[derive(Clone, Debug)]
enum Pending {
    Text(Arc<String>),
    Value(Arc<Value>),
    Decoded(Decoded),
}

impl From<Arguments> for Pending {
    fn from(arguments: Arguments) -> Self {
        match arguments {
            Arguments::Text(text) => Self::Text(Arc::new(text)),
            Arguments::Value(value) => Self::Value(Arc::new(value)),
            Arguments::Shared(value) => Self::Value(value),
        }
    }
}

impl Pending {
    /// Decodes the arguments; what is large, on the blocking pool.
    async fn decode(&self, limits: &Limits) -> Decoded {
        let room = limits.size(Limit::HostMemory);
        let decoded = match self {
            Self::Decoded(decoded) => return decoded.clone(),
            Self::Value(value) => return taken(value, limits).await,
            Self::Text(text) if text.len() > BLOCKING_BYTES => {
                let text = Arc::clone(text);
                let work = move || json::decode_bounded(&text, room);
                let decoded = tokio::task::spawn_blocking(work).await;
                decoded.map_err(|error| format!("internal error: {error}"))?.map(|(value, _)| Arc::new(value))
            }
            Self::Text(text) => json::decode_bounded(text, room).map(|(value, _)| Arc::new(value)),
        };
        decoded.map_err(|error| lossy(&error, limits))
    }
}

/// One call, before it is made.
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is called"]
pub struct CallRequest {
    pub(super) name: Arc<str>,
    arguments: Pending,
    pub(super) cancel: CancellationToken,
    pub(super) id: Option<Arc<str>>,
    pub(super) parent: Option<ExecutionToken>,
    pub(super) caller: Option<Caller>,
    pub(super) stamp: Option<PresentationStamp>,
    pub(super) idempotency_key: Option<Arc<str>>,
}

impl CallRequest {
    /// A direct call. Cancelling `cancel` cancels it; it is never cancelled by the registry.
    pub fn new(name: impl Into<Arc<str>>, arguments: impl Into<Arguments>, cancel: CancellationToken) -> Self {
        Self {
            name: name.into(),
            arguments: arguments.into().into(),
            cancel,
            id: None,
            parent: None,
            caller: None,
            stamp: None,
            idempotency_key: None,
        }
    }

    /// The platform's id of the call, for logs and audits. Without it the registry counts.
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Makes it a nested call, if `parent` is alive when the call is created and may be lent to its scope.
    pub fn with_parent(mut self, parent: &ExecutionToken) -> Self {
        self.parent = Some(parent.clone());
        self
    }

    /// Who can be asked for approval.
    pub fn with_caller(mut self, caller: Caller) -> Self {
        self.caller = Some(caller);
        self
    }

    /// What the model was told when it wrote the call: [`Scope::stamp`](crate::registry::Scope::stamp) of that moment. A program
    /// is then refused where it would run in another language or guest.
    pub fn with_stamp(mut self, stamp: &PresentationStamp) -> Self {
        self.stamp = Some(stamp.clone());
        self
    }

    /// The call's [idempotency key](super::CallInfo::idempotency_key), where the id is not unique enough: it should differ
    /// between conversations, and be the same when one call is tried again.
    pub fn with_idempotency_key(mut self, key: impl Into<Arc<str>>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Decodes the arguments in place, once. Nothing is lost where the future is dropped.
    pub(super) async fn decode(&mut self, limits: &Limits) -> Decoded {
        let decoded = self.arguments.decode(limits).await;
        self.arguments = Pending::Decoded(decoded.clone());
        decoded
    }
}
