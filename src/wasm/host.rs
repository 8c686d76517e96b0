//! The host's side of `wit/host.wit`: one function per method, each a thin adapter over [`Session`].
//!
//! Invariant: UTF-8 strings are read in the guest's memory and handed to the session as borrowed text, which decides before
//! anything is copied; a string in another encoding is copied for as long as that takes, at most three bytes for two of the
//! guest's memory. No list is ever lifted, and no host function recurses, so none can exhaust the native stack.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, Lift, Linker, Lower, Resource, ResourceType, WasmStr};

use super::limiter::Limiter;
use super::trap::Stopped;
use crate::clock;
use crate::error::{Error, ErrorKind};
use crate::limits::{ENTROPY_BYTES_MAX, Limit, Limits};
use crate::runtime::{ErrorClass, Failure, FailureKind, RunRequest, Session, Settlement, Stop, Waited};

/// The interface a guest may import.
pub(super) const HOST: &str = "hotcell:guest/host@0.1.0";

/// The interface of shared types. It holds no function.
pub(super) const TYPES: &str = "hotcell:guest/types@0.1.0";

/// The package of both, without a version.
pub(super) const PACKAGE: &str = "hotcell:guest/";

/// The contract version that this host speaks.
pub(super) const CONTRACT: &str = "0.1";

/// Stands for the WIT resource. It has no content: the run is the store's data, and the handle is only ever lent.
pub(super) struct Execution;

/// What a store holds for its instance.
pub(super) struct State {
    /// `None` while a guest announces itself.
    session: Option<Arc<Session>>,
    pub(super) limiter: Limiter,
    entropy: Option<ChaCha12Rng>,
}

impl State {
    /// The state of an instance that runs a program.
    pub(super) fn of_run(request: &RunRequest, session: Arc<Session>) -> Result<Self, Error> {
        let entropy = match request.seed {
            Some(seed) => ChaCha12Rng::seed_from_u64(seed),
            None => {
                let mut seed = [0; 32];
                rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty()).map_err(|error| {
                    Error::with_source(ErrorKind::Host, "the system gives no random bytes", error)
                })?;
                ChaCha12Rng::from_seed(seed)
            }
        };
        let limiter = Limiter::new(request.limits.size(Limit::Memory));
        Ok(Self { session: Some(session), limiter, entropy: Some(entropy) })
    }

    /// The state of an instance that only announces itself.
    pub(super) fn of_announcement() -> Self {
        let limiter = Limiter::new(Limits::default().size(Limit::Memory));
        Self { session: None, limiter, entropy: None }
    }

    fn session(&self) -> wasmtime::Result<&Arc<Session>> {
        self.session.as_ref().ok_or_else(|| guest_exit("the guest used an execution outside a run"))
    }
}

/// A namespace as `run` receives it.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct NamespaceRecord<'a> {
    global: &'a str,
    #[component(name = "error-class")]
    error_class: Option<ErrorClassRecord<'a>>,
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct ErrorClassRecord<'a> {
    name: &'a str,
    #[component(name = "member-property")]
    member_property: &'a str,
}

impl<'a> NamespaceRecord<'a> {
    pub(super) fn all(session: &'a Session) -> Vec<Self> {
        let record = |class: &'a ErrorClass| ErrorClassRecord {
            name: &class.name,
            member_property: &class.member_property,
        };
        let globals = session.globals();
        globals.map(|(global, class)| Self { global, error_class: class.map(record) }).collect()
    }
}

/// Who a guest says it is.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(super) struct Announcement {
    pub(super) language: String,
    pub(super) interpreter: String,
    pub(super) version: String,
    pub(super) contract: String,
}

#[derive(ComponentType, Lower)]
#[component(variant)]
enum EventVariant {
    #[component(name = "settled")]
    Settled(SettlementRecord),
    #[component(name = "elapsed")]
    Elapsed,
    #[component(name = "idle")]
    Idle,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct SettlementRecord {
    call: u64,
    outcome: OutcomeVariant,
}

#[derive(ComponentType, Lower)]
#[component(variant)]
enum OutcomeVariant {
    #[component(name = "success")]
    Success(String),
    #[component(name = "failure")]
    Failure(String),
    #[component(name = "cancelled")]
    Cancelled,
}

impl From<Waited> for EventVariant {
    fn from(waited: Waited) -> Self {
        match waited {
            Waited::Elapsed => Self::Elapsed,
            Waited::Idle => Self::Idle,
            Waited::Settled(call, settlement) => {
                let outcome = match settlement {
                    Settlement::Success(text) => OutcomeVariant::Success(text),
                    Settlement::Failure(text) => OutcomeVariant::Failure(text),
                    Settlement::Cancelled => OutcomeVariant::Cancelled,
                };
                Self::Settled(SettlementRecord { call, outcome })
            }
        }
    }
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct FailureRecord {
    kind: FailureKindEnum,
    message: WasmStr,
}

#[derive(Clone, Copy, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "made by the derived `Lift` from a discriminant")]
enum FailureKindEnum {
    #[component(name = "exception")]
    Exception,
    #[component(name = "invalid-output")]
    InvalidOutput,
}

type Borrowed = Resource<Execution>;
type Cx<'a> = StoreContextMut<'a, State>;

/// A linker that offers a guest everything it may import.
pub(super) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    linker.instance(TYPES)?;
    let mut host = linker.instance(HOST)?;
    host.resource("execution", ResourceType::host::<Execution>(), |_, _| Ok(()))?;
    host.func_wrap("[method]execution.submit", submit)?;
    host.func_wrap_async("[method]execution.next", |cx: Cx<'_>, (_, timeout): (Borrowed, Option<u64>)| {
        let session = cx.data().session().cloned();
        Box::new(async move { Ok((EventVariant::from(session?.next(timeout.map(Duration::from_nanos)).await),)) })
    })?;
    host.func_wrap("[method]execution.cancel", |cx: Cx<'_>, (_, call): (Borrowed, u64)| {
        cx.data().session()?.cancel(call);
        Ok(())
    })?;
    host.func_wrap("[method]execution.log", |cx: Cx<'_>, (_, entry): (Borrowed, WasmStr)| {
        cx.data().session()?.log(&text(&entry, &cx)?).map_err(stopped)
    })?;
    type Unseen = (Borrowed, Option<u64>, WasmStr);
    host.func_wrap("[method]execution.unhandled", |cx: Cx<'_>, (_, call, message): Unseen| {
        cx.data().session()?.unhandled(call, &text(&message, &cx)?).map_err(stopped)
    })?;
    host.func_wrap("[method]execution.wall-clock", |_: Cx<'_>, _: (Borrowed,)| Ok((clock::wall_nanoseconds(),)))?;
    host.func_wrap("[method]execution.monotonic-clock", |cx: Cx<'_>, _: (Borrowed,)| {
        Ok((clock::nanoseconds_since(cx.data().session()?.started()),))
    })?;
    host.func_wrap_async("[method]execution.sleep", |_: Cx<'_>, (_, duration): (Borrowed, u64)| {
        Box::new(async move {
            tokio::time::sleep(Duration::from_nanos(duration)).await;
            Ok(())
        })
    })?;
    host.func_wrap("[method]execution.entropy", entropy)?;
    host.func_wrap("[method]execution.members", |cx: Cx<'_>, (_, namespace): (Borrowed, u32)| {
        let members = cx.data().session()?.members(namespace);
        let members = members.ok_or_else(|| guest_exit(format!("the guest asked for namespace {namespace}")))?;
        Ok((members,))
    })?;
    host.func_wrap("[method]execution.complete", |cx: Cx<'_>, (_, value): (Borrowed, Option<WasmStr>)| {
        let value = value.map(|value| text(&value, &cx)).transpose()?;
        cx.data().session()?.complete(value.as_deref()).map_err(stopped)
    })?;
    host.func_wrap("[method]execution.fail", |cx: Cx<'_>, (_, failure): (Borrowed, FailureRecord)| {
        let kind = match failure.kind {
            FailureKindEnum::Exception => FailureKind::Exception,
            FailureKindEnum::InvalidOutput => FailureKind::InvalidOutput,
        };
        cx.data().session()?.fail(kind, &text(&failure.message, &cx)?).map_err(stopped)
    })?;
    Ok(linker)
}

type Submission = (Borrowed, u32, WasmStr, WasmStr);

fn submit(cx: Cx<'_>, (_, namespace, name, arguments): Submission) -> wasmtime::Result<(Result<u64, String>,)> {
    let (name, arguments) = (text(&name, &cx)?, text(&arguments, &cx)?);
    Ok((cx.data().session()?.submit(namespace, &name, &arguments).map_err(stopped)?,))
}

fn entropy(mut cx: Cx<'_>, (_, length): (Borrowed, u32)) -> wasmtime::Result<(Vec<u8>,)> {
    if length > ENTROPY_BYTES_MAX {
        return Err(guest_exit(format!(
            "the guest asked for {length} random bytes; at most {ENTROPY_BYTES_MAX} are given at once"
        )));
    }
    let mut bytes = vec![0; length as usize];
    if let Some(entropy) = &mut cx.data_mut().entropy {
        entropy.fill_bytes(&mut bytes);
    }
    Ok((bytes,))
}

/// A guest's string: borrowed from its memory where it is UTF-8, and refused where it is not what it says.
fn text<'a>(string: &WasmStr, cx: &'a Cx<'_>) -> wasmtime::Result<Cow<'a, str>> {
    string.to_str(cx).map_err(|_| guest_exit("the guest sent a string that is not valid Unicode"))
}

fn guest_exit(message: impl Into<String>) -> wasmtime::Error {
    stopped(Failure::new(FailureKind::GuestExit, message))
}

fn stopped(stop: Stop) -> wasmtime::Error {
    wasmtime::Error::new(Stopped(stop))
}
