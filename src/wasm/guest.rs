//! A guest component: compiled, checked against the boundary, and asked who it is. Done once, shared by all runs.
//!
//! Invariant: a [`Guest`] that exists imports nothing beyond `wit/host.wit`, exports what the world asks for, and speaks a
//! contract version this host speaks. Its code has run once, in an instance of its own, under the load budgets.

use std::fmt;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmtime::component::{Component, ComponentExportIndex, Instance, InstancePre, Resource, TypedFunc};
use wasmtime::{Store, UpdateDeadline};

use super::cache::DIGEST_BYTES;
use super::engine::Engine;
use super::host::{self, Announcement, Execution, NamespaceRecord, State};
use super::inspect::{Surface, shown};
use super::{structure, trap};
use crate::error::{Error, ErrorKind};
use crate::runtime::{GuestIdentity, Session};

/// The largest component that is loaded, in bytes and decompressed. CPython with its library has 26 MB.
pub const COMPONENT_BYTES_MAX: usize = 64 << 20;

/// How long compiling a component may take before its load is given up. 26 MB take 7 s on two cores.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(120);

/// How long a guest may take to announce itself, start functions included.
const ANNOUNCE_TIME_MAX: Duration = Duration::from_secs(5);

/// The longest text of an announcement, in bytes.
const ANNOUNCEMENT_BYTES_MAX: usize = 256;

/// What a guest's announcement may hold on the host while it is read: its four texts and their framing.
const ANNOUNCEMENT_FUEL: usize = 4096;

/// The most characters of the engine's words that go into a refusal.
const ERROR_CHARACTERS_MAX: usize = 1000;

/// Starts every file that zstd wrote.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Starts every binary component: the magic number, version 13, layer 1.
const COMPONENT_HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

type Run = TypedFunc<(Resource<Execution>, &'static str, &'static [NamespaceRecord<'static>]), ()>;

/// A loaded guest. Cheap to clone.
#[derive(Clone)]
pub struct Guest(Arc<Loaded>);

struct Loaded {
    engine: Engine,
    pre: InstancePre<State>,
    announce: ComponentExportIndex,
    run: ComponentExportIndex,
    identity: GuestIdentity,
}

impl Guest {
    /// Loads a component from its bytes, plain or compressed with zstd.
    ///
    /// # Errors
    /// [`Refused`](ErrorKind::Refused) when the bytes are no component, are too large, import what is not offered (each
    /// import is named), lack an export, or announce a contract this host does not speak.
    ///
    /// # Cancellation
    /// Dropping the future stops the announcement; a compilation that has begun goes on in the background.
    pub async fn load(engine: &Engine, bytes: Arc<[u8]>) -> Result<Self, Error> {
        let (component, digest) = compile(engine, bytes).await?;
        Surface::of(engine.wasmtime(), &component).check()?;
        let linker = host::linker(engine.wasmtime())
            .map_err(|error| Error::with_source(ErrorKind::Host, "cannot link the host interface", error))?;
        let pre = linker
            .instantiate_pre(&component)
            .map_err(|error| refused(format!("the component does not fit the boundary: {}", chain(&error))))?;
        let export = |name: &str| {
            component
                .get_export_index(None, name)
                .ok_or_else(|| refused(format!("the component does not export `{name}`")))
        };
        let (announce, run) = (export("announce")?, export("run")?);
        let identity = GuestIdentity {
            language: String::new(),
            name: String::new(),
            version: String::new(),
            digest: hex(&digest),
        };
        let mut loaded = Loaded { engine: engine.clone(), pre, announce, run, identity };
        loaded.announce().await?;
        Ok(Self(Arc::new(loaded)))
    }

    /// Who the guest says it is.
    #[must_use]
    pub fn identity(&self) -> &GuestIdentity {
        &self.0.identity
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(super) fn store(&self, state: State) -> Store<State> {
        self.0.store(state)
    }

    /// Instantiates the guest and lets it run one program.
    pub(super) async fn run(
        &self,
        store: &mut Store<State>,
        session: &Session,
        program: &str,
    ) -> wasmtime::Result<()> {
        let instance = self.0.pre.instantiate_async(&mut *store).await?;
        let run: TypedFunc<(Resource<Execution>, &str, &[NamespaceRecord<'_>]), ()> =
            instance.get_typed_func(&mut *store, self.0.run)?;
        let namespaces = NamespaceRecord::all(session);
        run.call_async(store, (Resource::new_borrow(0), program, &namespaces)).await
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guest").field(&self.0.identity).finish()
    }
}

impl Loaded {
    fn store(&self, state: State) -> Store<State> {
        let mut store = Store::new(self.engine.wasmtime(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_epoch_deadline(1);
        // tokio's own yield lets timers and other tasks run first; wasmtime's plain one wakes itself and starves them.
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now()))));
        store.set_hostcall_fuel(usize::MAX);
        store
    }

    /// Asks the guest who it is, and checks both exports' types.
    async fn announce(&mut self) -> Result<(), Error> {
        let place = Arc::clone(self.engine.places()).acquire_owned().await;
        let _place = place.map_err(|error| Error::with_source(ErrorKind::Host, "the pool is closed", error))?;
        let _ticking = self.engine.ticker().tick();
        let mut store = self.store(State::of_announcement());
        store.set_hostcall_fuel(ANNOUNCEMENT_FUEL);
        let announced = tokio::time::timeout(ANNOUNCE_TIME_MAX, async {
            let instance = self.pre.instantiate_async(&mut store).await?;
            let announce = self.typed_exports(&mut store, &instance)?;
            announce.call_async(&mut store, ()).await
        });
        let announced = announced.await.map_err(|_| {
            refused(format!("the guest did not announce itself within {} s", ANNOUNCE_TIME_MAX.as_secs()))
        })?;
        let (announcement,) = announced.map_err(|error| {
            refused(format!("the guest could not announce itself: {}", trap::failure(&error).message))
        })?;
        self.identify(announcement)
    }

    fn typed_exports(
        &self,
        store: &mut Store<State>,
        instance: &Instance,
    ) -> wasmtime::Result<TypedFunc<(), (Announcement,)>> {
        let _: Run = instance.get_typed_func(&mut *store, self.run)?;
        instance.get_typed_func(store, self.announce)
    }

    fn identify(&mut self, announcement: Announcement) -> Result<(), Error> {
        let Announcement { language, interpreter, version, contract } = announcement;
        for (what, text) in [
            ("language", &language),
            ("interpreter", &interpreter),
            ("version", &version),
            ("contract", &contract),
        ] {
            if text.is_empty() || text.len() > ANNOUNCEMENT_BYTES_MAX {
                return Err(refused(format!(
                    "the {what} that the guest announces has {} bytes; it must have 1 to {ANNOUNCEMENT_BYTES_MAX}",
                    text.len()
                )));
            }
        }
        if contract != host::CONTRACT {
            return Err(refused(format!(
                "the guest speaks version {contract:?} of the contract and this host speaks {:?}; build the guest \
                 against this host's wit/, or use the Hotcell version it was built for",
                host::CONTRACT
            )));
        }
        self.identity.language = language;
        self.identity.name = interpreter;
        self.identity.version = version;
        Ok(())
    }
}

/// Compiles a component, or finds it in the engine's cache. Also returns the digest of its plain bytes.
pub(super) async fn compile(engine: &Engine, bytes: Arc<[u8]>) -> Result<(Component, [u8; DIGEST_BYTES]), Error> {
    let engine = engine.clone();
    let work = tokio::task::spawn_blocking(move || {
        let key = sha256(&bytes);
        if let Some(found) = engine.cache().and_then(|cache| cache.load(engine.wasmtime(), &key)) {
            return Ok(found);
        }
        let bytes = decompress(&bytes)?;
        if !bytes.starts_with(COMPONENT_HEADER) {
            return Err(refused("the file is not a WebAssembly component"));
        }
        structure::check(&bytes)?;
        let component = Component::from_binary(engine.wasmtime(), &bytes)
            .map_err(|error| refused(format!("the component does not compile: {}", chain(&error))))?;
        let digest = sha256(&bytes);
        if let Some(cache) = engine.cache() {
            cache.store(engine.wasmtime(), &key, &digest, &component);
        }
        Ok((component, digest))
    });
    let work = tokio::time::timeout(COMPILE_TIME_MAX, work)
        .await
        .map_err(|_| refused(format!("the component did not compile within {} s", COMPILE_TIME_MAX.as_secs())))?;
    work.map_err(|error| Error::with_source(ErrorKind::Host, "compiling the component failed", error))?
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let too_large = || refused(format!("the component has more than {COMPONENT_BYTES_MAX} bytes"));
    if !bytes.starts_with(&ZSTD_MAGIC) {
        return if bytes.len() > COMPONENT_BYTES_MAX { Err(too_large()) } else { Ok(bytes.to_vec()) };
    }
    let damaged = |error| Error::with_source(ErrorKind::Refused, "the compressed component is damaged", error);
    let decoder = zstd::Decoder::with_buffer(bytes).map_err(damaged)?;
    let mut plain = Vec::new();
    decoder.take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut plain).map_err(damaged)?;
    if plain.len() > COMPONENT_BYTES_MAX { Err(too_large()) } else { Ok(plain) }
}

/// What the engine says, cause by cause. It can quote names of the component.
fn chain(error: &wasmtime::Error) -> String {
    shown(&format!("{error:#}"), ERROR_CHARACTERS_MAX)
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    Sha256::digest(bytes).into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Refused, message)
}
