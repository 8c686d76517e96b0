//! The only door between a program's paths and open handles.
//!
//! Invariant: text of a program becomes a handle in [`Roots::place`] and the methods of [`Place`], and nowhere else. A
//! path is first taken apart by rules that know no file system: it begins with a granted name, and none of its names
//! is empty, `.` or `..`. What is left is resolved by cap-std below the granted directory's handle, which refuses
//! whatever leads out of it: absolute links, links upwards, directories that are replaced meanwhile. Other files of
//! this module get an open regular file, a directory to read, or a directory and one name in it that they must not
//! follow. A file is opened only after it was seen to be regular, never so that the opening can wait, and is looked at
//! again once it is open.

use std::collections::BTreeMap;

use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions, ReadDir};
use tokio_util::sync::CancellationToken;

use super::Access;
use super::bounds::{PATH_BYTES_MAX, PATH_NAMES_MAX};
use super::fault::{Fault, check, named};

/// The granted directories by name.
#[derive(Default)]
pub(super) struct Roots(BTreeMap<String, Root>);

struct Root {
    dir: Dir,
    access: Access,
}

impl Roots {
    /// Adds a directory; false when the name is taken.
    pub(super) fn add(&mut self, name: &str, dir: Dir, access: Access) -> bool {
        let free = !self.0.contains_key(name);
        if free {
            self.0.insert(name.to_owned(), Root { dir, access });
        }
        free
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn any_writable(&self) -> bool {
        self.iter().any(|(_, access)| access == Access::ReadWrite)
    }

    /// Names and access, sorted by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Access)> {
        self.0.iter().map(|(name, root)| (name.as_str(), root.access))
    }

    /// The place that `written` names, whether or not something is there.
    pub(super) fn place<'a>(&'a self, written: &'a str) -> Result<Place<'a>, Fault> {
        if written.len() > PATH_BYTES_MAX {
            let size = written.len();
            return Err(Fault::because(format!("has {size} bytes; a path has at most {PATH_BYTES_MAX}")));
        }
        if written.is_empty() {
            return Err(self.unrooted("is empty"));
        }
        if written.contains('\0') {
            return Err(Fault::because("has a NUL character in it"));
        }
        if written.starts_with('/') {
            return Err(self.unrooted("is absolute"));
        }
        let path = written.strip_suffix('/').unwrap_or(written);
        for name in path.split('/') {
            match name {
                "" => return Err(Fault::because("has an empty name in it")),
                "." => return Err(Fault::because("has the name `.` in it; leave it out")),
                ".." => return Err(Fault::because("has the name `..` in it; paths only lead down")),
                _ => {}
            }
        }
        let names = path.split('/').count();
        if names > PATH_NAMES_MAX {
            return Err(Fault::because(format!("has {names} names; a path has at most {PATH_NAMES_MAX}")));
        }
        let (name, inner) = path.split_once('/').unwrap_or((path, ""));
        let root = self.0.get(name).ok_or_else(|| self.unrooted("begins with no granted directory"))?;
        Ok(Place { roots: self, root, path, inner, slash: path.len() < written.len() })
    }

    fn unrooted(&self, how: &str) -> Fault {
        let names = named(self.0.keys().map(String::as_str));
        Fault::because(format!("{how}; a path begins with the name of a granted directory: {names}"))
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

impl Kind {
    pub(super) fn of(found: FileType) -> Self {
        if found.is_file() {
            Self::File
        } else if found.is_dir() {
            Self::Directory
        } else if found.is_symlink() {
            Self::Link
        } else {
            Self::Other
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Link => "link",
            Self::Other => "other",
        }
    }

    fn regular(self) -> Result<(), Fault> {
        match self {
            Self::File => Ok(()),
            Self::Directory => Err(Fault::because("is a directory, not a file")),
            Self::Link | Self::Other => Err(Fault::because("is not a regular file")),
        }
    }
}

/// A path below a granted directory.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    roots: &'a Roots,
    root: &'a Root,
    path: &'a str,
    /// The path within the granted directory; empty for the directory itself.
    inner: &'a str,
    /// Whether it was written with a `/` at its end, and so names a directory.
    slash: bool,
}

impl<'a> Place<'a> {
    /// The path without a `/` at its end.
    pub(super) fn path(self) -> &'a str {
        self.path
    }

    /// Whether `fs_write` is offered here.
    pub(super) fn writable(self) -> bool {
        self.root.access == Access::ReadWrite
    }

    /// What is here, links not followed, unless the path says that it is a directory.
    pub(super) fn stat(self) -> Result<Metadata, Fault> {
        if self.slash || self.inner.is_empty() {
            let found = self.target()?;
            return if found.is_dir() { Ok(found) } else { Err(Fault::because("is not a directory")) };
        }
        self.root.dir.symlink_metadata(self.inner).map_err(|error| Fault::system(&error))
    }

    /// What is here, or at the end of the link that is here.
    pub(super) fn target(self) -> Result<Metadata, Fault> {
        let found = match self.inner {
            "" => self.root.dir.dir_metadata(),
            inner => self.root.dir.metadata(inner),
        };
        found.map_err(|error| Fault::system(&error))
    }

    /// The entries of this directory.
    pub(super) fn entries(self) -> Result<ReadDir, Fault> {
        if !self.target()?.is_dir() {
            return Err(Fault::because("is not a directory"));
        }
        let entries = match self.inner {
            "" => self.root.dir.entries(),
            inner => self.root.dir.read_dir(inner),
        };
        entries.map_err(|error| Fault::system(&error))
    }

    /// This regular file, and its size.
    pub(super) fn open_to_read(self) -> Result<(File, u64), Fault> {
        self.file_name()?;
        Kind::of(self.target()?.file_type()).regular()?;
        self.open(OpenOptions::new().read(true))
    }

    /// This regular file, made if there is none, with what is written going to its end; and its size.
    pub(super) fn open_to_append(self) -> Result<(File, u64), Fault> {
        // An error here is for a missing file, which is made, or comes again from the opening.
        if let Ok(found) = self.target() {
            overwritable(&found)?;
        }
        self.open(OpenOptions::new().append(true).create(true))
    }

    /// The directory that this file is in, and the file's name, for those who make or replace it.
    pub(super) fn parent(self, make: bool, cancel: &CancellationToken) -> Result<(Dir, &'a str), Fault> {
        let name = self.file_name()?;
        if !self.writable() {
            let writable =
                self.roots.iter().filter_map(|(name, access)| (access == Access::ReadWrite).then_some(name));
            let writable = named(writable);
            return Err(Fault::because(format!("is in a directory granted read-only; writable are {writable}")));
        }
        let above = self.inner.strip_suffix(name).and_then(|above| above.strip_suffix('/')).unwrap_or_default();
        if make {
            self.make_directories(above, cancel)?;
        }
        let above = if above.is_empty() { "." } else { above };
        match self.root.dir.open_dir(above) {
            Ok(dir) => Ok((dir, name)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Fault::because("is in a directory that does not exist; with `parents` true it is made"))
            }
            Err(error) => Err(Fault::system(&error)),
        }
    }

    fn make_directories(self, path: &str, cancel: &CancellationToken) -> Result<(), Fault> {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for one in ends.filter_map(|end| path.get(..end)).filter(|one| !one.is_empty()) {
            check(cancel)?;
            match self.root.dir.create_dir(one) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Fault::system(&error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// The last name of the path, if it can be a file's.
    fn file_name(self) -> Result<&'a str, Fault> {
        if self.inner.is_empty() {
            return Err(Fault::because("is a granted directory, not a file"));
        }
        if self.slash {
            return Err(Fault::because("names a directory, because it ends in `/`"));
        }
        Ok(self.inner.rsplit_once('/').map_or(self.inner, |(_, name)| name))
    }

    fn open(self, options: &mut OpenOptions) -> Result<(File, u64), Fault> {
        let file = self
            .root
            .dir
            .open_with(self.inner, without_waiting(options))
            .map_err(|error| Fault::system(&error))?;
        let found = file.metadata().map_err(|error| Fault::system(&error))?;
        Kind::of(found.file_type()).regular()?;
        Ok((file, found.len()))
    }
}

/// Whether what was found may be replaced or added to.
pub(super) fn overwritable(found: &Metadata) -> Result<(), Fault> {
    Kind::of(found.file_type()).regular()?;
    if found.permissions().readonly() {
        return Err(Fault::because("is marked read-only"));
    }
    Ok(())
}

/// Opening a pipe that was put there a moment ago must not wait for its other end.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) -> &OpenOptions {
    use cap_std::fs::OpenOptionsExt as _;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
}

#[cfg(not(unix))]
fn without_waiting(options: &mut OpenOptions) -> &OpenOptions {
    options
}
