//! The registry: which tools exist, who sees them, how they are presented.
//!
//! A [`Registry`] has one global layer and any number of chains of [`Scope`]s below it, for example preset, then agent. A
//! scope sees the global tools, its ancestors' and its own; the nearer one shadows the farther one of the same name. Calls are
//! made in a scope, and a call reaches exactly what its scope sees.
//!
//! Invariant: a model can do what it was told it can do, and everything it does passes the same policy. The list a model is
//! told ([`Scope::wire`]) and the executor ask the same predicate, [`collapses`].
//!
//! This module knows nothing of programs, guests or prompts. The life of a call is in [`execution`](crate::execution).

mod changes;
mod layer;
mod mode;
mod order;
mod registration;
mod restrict;
mod scope;
mod stamp;
mod view;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use crate::contain::Quiet;
use crate::error::{Error, ErrorKind};
use crate::execution::ApprovalService;
use crate::json::clip;
use crate::language::Language;
use crate::limits::Limits;
use crate::tool::Tool;

pub use changes::Changes;
pub use mode::{DESCRIBE_TOOLS, Mode, Nesting, RESERVED_NAMES, RUN_CODE, SEARCH_TOOLS, collapses};
pub use order::ToolOrder;
pub use registration::{HookHandle, Registration};
pub use scope::{SCOPE_DEPTH_MAX, Scope};
pub use stamp::PresentationStamp;

pub(crate) use mode::Resolved;
pub(crate) use scope::ScopeKey;
pub(crate) use view::View;

const NEEDS_UNWINDING: &str =
    "a registry contains the panics of tools and policies, which needs a build with `panic = \"unwind\"`";

/// All tools of a deployment. Cloning it clones a pointer.
///
/// It is used through its global scope: every method of [`Scope`] is one of `Registry` too.
#[derive(Clone)]
pub struct Registry {
    global: Scope,
}

/// What all scopes of a registry share.
pub(crate) struct Shared {
    mode: Mode,
    language: Option<Arc<str>>,
    transports: BTreeMap<Arc<str>, Tool>,
    pub(crate) limits: Limits,
    pub(crate) approval: Option<Quiet<Arc<dyn ApprovalService>>>,
    version: watch::Sender<u64>,
    /// How many calls were made that brought no id.
    calls: AtomicU64,
}

impl Shared {
    /// An id for a call that brought none.
    pub(crate) fn next_call_id(&self) -> Arc<str> {
        format!("call-{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1).into()
    }

    fn transport(&self, language: &str) -> Option<Tool> {
        self.transports.get(language).cloned()
    }

    /// Whether all programs of this registry are run by one guest.
    pub(crate) fn has_one_guest(&self) -> bool {
        let mut guests = self.transports.values().map(Tool::guest);
        let first = guests.next();
        guests.all(|guest| Some(guest) == first)
    }

    /// Tells those who wait that something changed.
    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

impl Registry {
    /// A registry of native tools, with default limits and nobody to ask for approval.
    ///
    /// # Panics
    /// In a build with `panic = "abort"`, in which a panicking tool would end the process.
    #[must_use]
    pub fn new() -> Self {
        #[expect(clippy::assertions_on_constants, reason = "constant in each build, and not the same in all")]
        {
            assert!(cfg!(panic = "unwind"), "{NEEDS_UNWINDING}");
        }
        Self::builder().build_with(BTreeMap::new(), None)
    }

    /// A registry with other choices.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder {
            mode: Mode::Native,
            language: None,
            transports: Vec::new(),
            limits: Limits::default(),
            approval: None,
        }
    }

    /// The global scope: what is registered there is seen everywhere.
    #[must_use]
    pub fn global(&self) -> &Scope {
        &self.global
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Registry {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.global
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("global", &self.global).finish()
    }
}

/// The choices of a deployment.
#[must_use = "a registry exists once it is built"]
pub struct RegistryBuilder {
    mode: Mode,
    language: Option<Arc<str>>,
    transports: Vec<(Arc<str>, Tool)>,
    limits: Limits,
    approval: Option<Quiet<Arc<dyn ApprovalService>>>,
}

impl RegistryBuilder {
    /// How tools are presented where no scope says otherwise. [`Mode::Native`] by default.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The language of programs where no scope says otherwise. The first transport's by default.
    pub fn language(mut self, language: &str) -> Self {
        self.language = Some(language.into());
        self
    }

    /// The tool that runs programs of one language. It is called `run_code`, whatever the language, and exists in every
    /// scope whose mode presents it and whose effective language is this one.
    pub fn transport(mut self, language: &str, tool: Tool) -> Self {
        self.transports.push((language.into(), tool));
        self
    }

    /// Who is asked where a listener wants approval. Without a service, such calls are denied.
    pub fn approval(mut self, service: Arc<dyn ApprovalService>) -> Self {
        self.approval = Some(Quiet::new(service));
        self
    }

    /// The limits of calls: `grace`, `approval`, and `host-memory` for the arguments of one call; those of programs; and `sdk` for
    /// the declarations of tools.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes the registry.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when a transport is not named `run_code`, is for a language that is not in
    /// [`Language::ALL`], or is the second for its language, and when the default language has none; [`Host`](crate::ErrorKind::Host) in a build with `panic = "abort"`.
    pub fn build(mut self) -> Result<Registry, Error> {
        if !cfg!(panic = "unwind") {
            return Err(Error::new(ErrorKind::Host, NEEDS_UNWINDING));
        }
        let mut transports = BTreeMap::new();
        let mut first = None;
        for (language, tool) in std::mem::take(&mut self.transports) {
            if tool.name() != RUN_CODE {
                return Err(Error::misuse(format!(
                    "the transport for `{}` is named `{}`; it must be `{RUN_CODE}`",
                    clip(&language, 80),
                    clip(tool.name(), 80)
                )));
            }
            Language::find(&language)?;
            if transports.insert(Arc::clone(&language), tool).is_some() {
                return Err(Error::misuse(format!("there are two transports for `{language}`")));
            }
            first.get_or_insert(language);
        }
        if let Some(language) = self.language.as_ref().filter(|language| !transports.contains_key(*language)) {
            let known: Vec<&str> = transports.keys().map(AsRef::as_ref).collect();
            return Err(scope::unknown_language(language, &known));
        }
        Ok(self.build_with(transports, first))
    }

    fn build_with(self, transports: BTreeMap<Arc<str>, Tool>, first: Option<Arc<str>>) -> Registry {
        let shared = Shared {
            mode: self.mode,
            language: self.language.or(first),
            transports,
            limits: self.limits,
            approval: self.approval,
            version: watch::Sender::new(0),
            calls: AtomicU64::new(0),
        };
        Registry { global: Scope::global(Arc::new(shared)) }
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryBuilder")
            .field("mode", &self.mode)
            .field("language", &self.language)
            .field("transports", &self.transports)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
