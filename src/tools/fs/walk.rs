//! Directory trees in the order of their paths.
//!
//! Invariant: entries come sorted by path, code point by code point, links are reported and never entered, and what is
//! held while sorting is bounded: by the number of entries still wanted, and by bytes. One exception: a directory that
//! somebody replaces by a link after it was seen is entered where the link leads, if that is below the granted directory.

use std::collections::BTreeMap;

use cap_std::fs::DirEntry;
use tokio_util::sync::CancellationToken;

use super::bounds::{Bounds, PATH_BYTES_MAX, PATH_NAMES_MAX, SKIPPED_MAX};
use super::fault::{Fault, check};
use super::path::{Kind, Place, Roots};
use super::work::Shared;
use crate::json::{Array, Object, Value};

/// One entry of a directory.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) kind: Kind,
    /// Bytes of a file, 0 for everything else.
    pub(super) size: u64,
}

/// What waits for its turn, by its place in the order. An entry's key is its path. The contents of a directory have the
/// key `path/`, before which only paths can stand that sort before all of them.
enum Pending {
    Entry(Kind, u64),
    Contents,
}

/// A walk below one directory, or through all granted ones.
pub(super) struct Walk<'a> {
    roots: &'a Roots,
    bounds: Bounds,
    cancel: &'a CancellationToken,
    recursive: bool,
    /// How many more entries anyone will ask for.
    wanted: usize,
    pending: BTreeMap<String, Pending>,
    pending_entries: usize,
    pending_bytes: usize,
    seen: usize,
    /// What could not be looked at.
    pub(super) skipped: Skipped,
    /// Whether a bound ended the walk early.
    pub(super) cut: bool,
}

impl<'a> Walk<'a> {
    /// A walk that nobody asks for more than `wanted` entries.
    pub(super) fn new(shared: &'a Shared, cancel: &'a CancellationToken, recursive: bool, wanted: usize) -> Self {
        Self {
            roots: &shared.roots,
            bounds: shared.bounds,
            cancel,
            recursive,
            wanted,
            pending: BTreeMap::new(),
            pending_entries: 0,
            pending_bytes: 0,
            seen: 0,
            skipped: Skipped::default(),
            cut: false,
        }
    }

    /// Begins with the contents of a directory.
    pub(super) fn enter(&mut self, place: Place<'_>) -> Result<(), Fault> {
        self.expand(place)
    }

    /// Begins with the granted directories.
    pub(super) fn enter_all(&mut self) {
        let roots = self.roots;
        for (name, _) in roots.iter() {
            self.add(name.to_owned(), Kind::Directory, 0);
        }
    }

    /// The next entry.
    pub(super) fn next(&mut self) -> Result<Option<Found>, Fault> {
        loop {
            check(self.cancel)?;
            let Some((path, pending)) = self.pending.pop_first() else { return Ok(None) };
            self.forget(&path, &pending);
            match pending {
                Pending::Entry(kind, size) => {
                    self.wanted = self.wanted.saturating_sub(1);
                    return Ok(Some(Found { path, kind, size }));
                }
                Pending::Contents => {
                    let path = path.trim_end_matches('/');
                    let entered = self.roots.place(path).and_then(|place| self.expand(place));
                    entered.or_else(|fault| self.skipped.add(path, fault))?;
                }
            }
        }
    }

    fn expand(&mut self, place: Place<'_>) -> Result<(), Fault> {
        if self.cut {
            return Ok(());
        }
        for entry in place.entries()? {
            check(self.cancel)?;
            if self.seen >= self.bounds.walk_entries || self.pending_bytes >= self.bounds.walk_pending_bytes {
                self.cut = true;
                break;
            }
            self.seen += 1;
            let entry = entry.map_err(|error| Fault::system(&error))?;
            self.consider(place.path(), &entry)?;
        }
        Ok(())
    }

    fn consider(&mut self, above: &str, entry: &DirEntry) -> Result<(), Fault> {
        let name = entry.file_name();
        let path = format!("{above}/{}", name.to_string_lossy());
        if self.pending_entries >= self.wanted
            && self.pending.last_key_value().is_some_and(|(last, _)| *last < path)
        {
            return Ok(());
        }
        if name.to_str().is_none() {
            return self.skipped.add(&path, Fault::because("has a name that is not UTF-8"));
        }
        if path.len() > PATH_BYTES_MAX || path.split('/').count() > PATH_NAMES_MAX {
            return self.skipped.add(&path, Fault::because("is too deep to have a path"));
        }
        match entry.metadata() {
            Ok(found) => {
                let kind = Kind::of(found.file_type());
                let size = if kind == Kind::File { found.len() } else { 0 };
                self.add(path, kind, size);
                Ok(())
            }
            // It was removed meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => self.skipped.add(&path, Fault::system(&error)),
        }
    }

    fn add(&mut self, path: String, kind: Kind, size: u64) {
        if self.recursive && kind == Kind::Directory {
            self.hold(format!("{path}/"), Pending::Contents);
        }
        self.hold(path, Pending::Entry(kind, size));
        // With as many entries pending as are wanted, the last of what is pending will not be asked for.
        while self.pending_entries > self.wanted {
            let Some((path, pending)) = self.pending.pop_last() else { return };
            self.forget(&path, &pending);
        }
    }

    fn hold(&mut self, key: String, pending: Pending) {
        // A directory that changes while it is read may tell of an entry twice.
        if self.pending.contains_key(&key) {
            return;
        }
        self.pending_bytes += key.len();
        self.pending_entries += usize::from(matches!(pending, Pending::Entry(..)));
        self.pending.insert(key, pending);
    }

    fn forget(&mut self, key: &str, pending: &Pending) {
        self.pending_bytes = self.pending_bytes.saturating_sub(key.len());
        if matches!(pending, Pending::Entry(..)) {
            self.pending_entries = self.pending_entries.saturating_sub(1);
        }
    }
}

/// Files and directories that a walk passed by, and why.
#[derive(Default)]
pub(super) struct Skipped {
    named: Vec<(String, String)>,
    total: usize,
}

impl Skipped {
    /// Notes one, unless the call was cancelled.
    pub(super) fn add(&mut self, path: &str, fault: Fault) -> Result<(), Fault> {
        let Fault::Because(phrase) = fault else { return Err(Fault::Cancelled) };
        self.total += 1;
        if self.named.len() < SKIPPED_MAX {
            self.named.push((path.to_owned(), phrase.into_owned()));
        }
        Ok(())
    }

    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Whether more were passed by than are named.
    pub(super) fn is_cut(&self) -> bool {
        self.total > self.named.len()
    }

    /// The first ones, as `[{ path, reason }]`.
    pub(super) fn into_value(self) -> Value {
        let one = |(path, reason): (String, String)| {
            let mut skipped = Object::new();
            skipped.insert("path", path);
            skipped.insert("reason", reason);
            Value::from(skipped)
        };
        Value::from(self.named.into_iter().map(one).collect::<Array>())
    }
}
