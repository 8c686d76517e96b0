//! `fs_write`: make, replace or extend a file.
//!
//! Invariant: making and replacing never follow a link at the place: it is an obstacle for the one and is itself
//! replaced by the other. A call that fails leaves no new file, and of a file that is being replaced everybody sees the
//! old text or the new one, whole. Nothing is promised about a power failure.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::fault::{Fault, check, shown};
use super::path::{Kind, Place, overwritable};
use super::work::Shared;
use crate::json::{Object, Value};
use crate::runtime::CallError;

/// How much is written between two looks at the cancellation, in bytes.
const CHUNK_BYTES: usize = 1024 * 1024;

/// How many names are tried for a temporary file. They are random, so that the second is hardly ever needed.
const TEMPORARY_TRIES: u32 = 8;

#[derive(Clone, Copy)]
enum Mode {
    Create,
    Replace,
    Append,
}

pub(super) fn write(shared: &Shared, arguments: &Value, cancel: &CancellationToken) -> Result<Value, CallError> {
    let arguments = Arguments::new(arguments, &["path", "text", "mode", "parents"])?;
    let path = arguments.text("path")?;
    let text = arguments.text("text")?;
    let mode = mode(arguments.optional_text("mode")?)?;
    let parents = arguments.flag("parents")?;
    let max = shared.bounds.write_bytes;
    if text.len() > max {
        return Err(CallError::new(format!(
            "the argument `text` has {} bytes; one call writes at most {max}",
            text.len()
        )));
    }
    let place = shared.roots.place(path).map_err(|fault| fault.about(path))?;
    put(place, text.as_bytes(), mode, parents, cancel).map_err(|fault| fault.about(path))?;
    let mut answer = Object::new();
    answer.insert("path", place.path());
    answer.insert("bytes", text.len());
    Ok(answer.into())
}

fn mode(text: Option<&str>) -> Result<Mode, CallError> {
    match text {
        None | Some("create") => Ok(Mode::Create),
        Some("replace") => Ok(Mode::Replace),
        Some("append") => Ok(Mode::Append),
        Some(other) => Err(CallError::new(format!(
            "the argument `mode` must be `create`, `replace` or `append`, got `{}`",
            shown(other)
        ))),
    }
}

fn put(
    place: Place<'_>,
    bytes: &[u8],
    mode: Mode,
    parents: bool,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    check(cancel)?;
    let (dir, name) = place.parent(parents, cancel)?;
    match mode {
        Mode::Create => create(&dir, name, bytes, cancel),
        Mode::Replace => replace(&dir, name, bytes, cancel),
        Mode::Append => append(place, bytes),
    }
}

fn create(dir: &Dir, name: &str, bytes: &[u8], cancel: &CancellationToken) -> Result<(), Fault> {
    let file = match dir.open_with(name, OpenOptions::new().write(true).create_new(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Fault::because(
                "exists already; the mode `replace` writes it anew and `append` adds to it",
            ));
        }
        Err(error) => return Err(Fault::system(&error)),
    };
    or_remove(dir, name, pour(file, bytes, cancel))
}

fn replace(dir: &Dir, name: &str, bytes: &[u8], cancel: &CancellationToken) -> Result<(), Fault> {
    let found = match dir.symlink_metadata(name) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Fault::system(&error)),
    };
    // A link is replaced like a file, but the permissions of a link mean nothing.
    let old = found.filter(|found| Kind::of(found.file_type()) != Kind::Link);
    if let Some(old) = &old {
        overwritable(old)?;
    }
    let (temporary, file) = temporary(dir, old.is_some())?;
    let written = keep_permissions(&file, old.as_ref()).and_then(|()| pour(file, bytes, cancel)).and_then(|()| {
        check(cancel)?;
        dir.rename(&temporary, dir, name).map_err(|error| Fault::system(&error))
    });
    or_remove(dir, &temporary, written)
}

fn append(place: Place<'_>, bytes: &[u8]) -> Result<(), Fault> {
    let (mut file, _) = place.open_to_append()?;
    // Not interrupted: half of an addition is worse than a late cancellation.
    let mut left = bytes;
    while !left.is_empty() {
        match file.write(left) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => left = left.get(count..).unwrap_or_default(),
            stopped => {
                let why = stopped.map_or_else(|error| error.kind(), |_| io::ErrorKind::WriteZero);
                let (done, all) = (bytes.len() - left.len(), bytes.len());
                return Err(Fault::because(format!("took {done} of {all} bytes, then failed: {why}")));
            }
        }
    }
    Ok(())
}

fn pour(mut file: File, bytes: &[u8], cancel: &CancellationToken) -> Result<(), Fault> {
    for chunk in bytes.chunks(CHUNK_BYTES) {
        check(cancel)?;
        file.write_all(chunk).map_err(|error| Fault::system(&error))?;
    }
    Ok(())
}

/// Removes a file that was not finished. If that fails too, the first fault is the one to tell.
fn or_remove(dir: &Dir, name: &str, written: Result<(), Fault>) -> Result<(), Fault> {
    if written.is_err() {
        dir.remove_file(name).ok();
    }
    written
}

/// A new file beside the one to replace; its name is short, because the other may have the longest one possible.
fn temporary(dir: &Dir, private: bool) -> Result<(String, File), Fault> {
    let random = RandomState::new();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if private {
        only_for_owner(&mut options);
    }
    for one in 0..TEMPORARY_TRIES {
        let name = format!(".{:016x}.tmp", random.hash_one(one));
        match dir.open_with(&name, &options) {
            Ok(file) => return Ok((name, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Fault::system(&error)),
        }
    }
    Err(Fault::because("cannot be replaced: no name is free for a temporary file"))
}

/// The text of a private file must not be readable under its temporary name.
#[cfg(unix)]
fn only_for_owner(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt as _;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn only_for_owner(_: &mut OpenOptions) {}

/// Gives a new file the permissions of the old one, but nobody's identity (the set-user and set-group bits).
#[cfg(unix)]
fn keep_permissions(file: &File, old: Option<&Metadata>) -> Result<(), Fault> {
    use cap_std::fs::{MetadataExt as _, Permissions, PermissionsExt as _};
    let Some(old) = old else { return Ok(()) };
    let kept = Permissions::from_mode(old.mode() & 0o777);
    file.set_permissions(kept).map_err(|error| Fault::system(&error))
}

#[cfg(not(unix))]
fn keep_permissions(_: &File, _: Option<&Metadata>) -> Result<(), Fault> {
    Ok(())
}
