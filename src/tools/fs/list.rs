//! `fs_list` and `fs_stat`: what is there.
//!
//! Invariant: neither opens a file, and a link is described, not followed.

use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::bounds::{LIST_ENTRIES_DEFAULT, LIST_ENTRIES_MAX};
use super::fault::Fault;
use super::path::{Kind, Place};
use super::time::rfc3339;
use super::walk::{Found, Walk};
use super::work::Shared;
use crate::json::{Array, Object, Value};
use crate::runtime::CallError;

pub(super) fn list(shared: &Shared, arguments: &Value, cancel: &CancellationToken) -> Result<Value, CallError> {
    let arguments = Arguments::new(arguments, &["path", "recursive", "limit"])?;
    let path = arguments.text("path")?;
    let recursive = arguments.flag("recursive")?;
    let limit = arguments.size("limit", 1, LIST_ENTRIES_MAX)?.unwrap_or(LIST_ENTRIES_DEFAULT);
    // One more than is answered tells whether there is more.
    let walk = Walk::new(shared, cancel, recursive, limit + 1);
    listing(shared, walk, path, limit).map_err(|fault| fault.about(path))
}

fn listing(shared: &Shared, mut walk: Walk<'_>, path: &str, limit: usize) -> Result<Value, Fault> {
    if matches!(path, "" | "/") {
        walk.enter_all();
    } else {
        walk.enter(shared.roots.place(path)?)?;
    }
    let mut entries = Array::new();
    let mut more = false;
    while let Some(found) = walk.next()? {
        if entries.len() == limit {
            more = true;
            break;
        }
        entries.push(entry(shared, found));
    }
    let truncated = more || walk.cut || walk.skipped.is_cut();
    let mut answer = Object::new();
    answer.insert("entries", entries);
    answer.insert("skipped", walk.skipped.into_value());
    answer.insert("truncated", truncated);
    Ok(answer.into())
}

fn entry(shared: &Shared, found: Found) -> Value {
    let granted = shared.roots.iter().find(|(name, _)| *name == found.path);
    let mut entry = Object::new();
    entry.insert("path", found.path.as_str());
    entry.insert("kind", found.kind.as_str());
    entry.insert("size", found.size);
    if let Some((_, access)) = granted {
        entry.insert("access", access.as_str());
    }
    entry.into()
}

pub(super) fn stat(shared: &Shared, arguments: &Value, _: &CancellationToken) -> Result<Value, CallError> {
    let arguments = Arguments::new(arguments, &["path"])?;
    let path = arguments.text("path")?;
    shared.roots.place(path).and_then(description).map_err(|fault| fault.about(path))
}

fn description(place: Place<'_>) -> Result<Value, Fault> {
    let found = place.stat()?;
    let kind = Kind::of(found.file_type());
    let modified = found.modified().ok().and_then(|time| rfc3339(time.into_std()));
    let mut answer = Object::new();
    answer.insert("path", place.path());
    answer.insert("kind", kind.as_str());
    answer.insert("size", if kind == Kind::File { found.len() } else { 0 });
    answer.insert("modified", modified);
    answer.insert("writable", place.writable() && !found.permissions().readonly());
    Ok(answer.into())
}
