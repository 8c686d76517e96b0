//! What a model was told, in so far as it decides whether its programs can still be run.
//!
//! Invariant: a stamp is made by a scope, of what the scope presents at that moment. It cannot be made otherwise.

use std::sync::Arc;

use super::{Mode, RUN_CODE, Scope, ScopeKey, View};
use crate::error::Error;
use crate::runtime::GuestIdentity;

/// Recognizes a presentation: the scope, its mode, and the language and guest of its programs.
///
/// Taken when the model is told its tools, passed with each of its calls
/// ([`CallRequest::with_stamp`](crate::execution::CallRequest::with_stamp)). It keeps nothing alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentationStamp {
    scope: ScopeKey,
    mode: Mode,
    language: Option<Arc<str>>,
    guest: Option<Arc<GuestIdentity>>,
}

impl PresentationStamp {
    /// The mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The language that programs are written in, where the mode presents `run_code`.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// Who runs the programs, where the mode presents `run_code`.
    #[must_use]
    pub fn guest(&self) -> Option<&GuestIdentity> {
        self.guest.as_deref()
    }
}

impl Scope {
    /// The stamp of what this scope presents now.
    ///
    /// # Errors
    /// As [`Scope::wire`].
    pub fn stamp(&self) -> Result<PresentationStamp, Error> {
        self.stamp_of(&self.view())
    }

    /// The stamp of one reading of the scope.
    pub(crate) fn stamp_of(&self, view: &View) -> Result<PresentationStamp, Error> {
        self.presentable(view)?;
        let transport = view.get(RUN_CODE);
        Ok(PresentationStamp {
            scope: self.key(),
            mode: view.mode(),
            language: transport.and_then(|_| view.language().cloned()),
            guest: transport.and_then(|tool| tool.guest().cloned()),
        })
    }
}
