//! Files for programs: list, stat, read, search and write below granted directories.
//!
//! | tool | arguments | answer |
//! |---|---|---|
//! | `fs_list` | `path`, `recursive`? = false, `limit`? = 1000 | `{ entries: [{ path, kind, size }], skipped: [{ path, reason }], truncated }` |
//! | `fs_stat` | `path` | `{ path, kind, size, modified, writable }` |
//! | `fs_read` | `path`, `offset`? = 0, `length`? = 16 MiB, in bytes | the text itself |
//! | `fs_search` | `path`, `pattern`, `glob`?, `ignore_case`? = false, `limit`? = 200 | `{ matches: [{ path, line, column, text }], files_searched, files_skipped: [{ path, reason }], files_skipped_total, truncated }` |
//! | `fs_write` | `path`, `text`, `mode`? = "create", `parents`? = false | `{ path, bytes }` |
//!
//! A path is `NAME/relative/path`, where NAME is the name of a granted directory, and `NAME` alone is that directory.
//! Kinds are `file`, `directory`, `link` and `other`. A link is reported as a link, and followed only where a path
//! passes through it and it stays below the granted directory; walks follow none.
//!
//! # Security
//!
//! Paths, patterns and texts come from a program nobody has read. Invariant: whatever they say, no call opens, names
//! or changes anything outside the granted directories, no call holds more memory than the constants of this module
//! allow, no call waits on a pipe or a device, and no message contains a path of the host. `path.rs` is the one door
//! between a program's paths and open handles. What remains for whoever grants: a hard link is the file itself
//! wherever its other names are, a mount below a granted directory belongs to it, and `fs_write` can fill a disk.
//!
//! # Cancellation
//!
//! The work runs on tokio's blocking pool. A call that is cancelled stops at its next entry, line or chunk and is
//! joined before it fails with `cancelled`. A call whose future is dropped stops in the same way, unjoined.

mod arguments;
mod bounds;
mod definitions;
mod fault;
mod glob;
mod list;
mod path;
mod read;
mod search;
mod time;
mod walk;
mod work;
mod write;

use std::fmt;
use std::path::Path;

use cap_std::fs::Dir;

use crate::error::{Error, ErrorKind};
use crate::runtime::Bindings;
use crate::tool::Tool;
use bounds::Bounds;
use path::Roots;

pub use bounds::{
    CALLS_AT_ONCE, GLOB_BYTES_MAX, GRANT_NAME_BYTES_MAX, LIST_ENTRIES_DEFAULT, LIST_ENTRIES_MAX, PATH_BYTES_MAX,
    PATH_NAMES_MAX, PATTERN_BYTES_MAX, PATTERN_PROGRAM_BYTES_MAX, READ_BYTES_MAX, SEARCH_BYTES_MAX,
    SEARCH_FILE_BYTES_MAX, SEARCH_FILES_MAX, SEARCH_LINE_BYTES_MAX, SEARCH_MATCHES_DEFAULT, SEARCH_MATCHES_MAX,
    SEARCH_TEXT_CHARS_MAX, SKIPPED_MAX, WALK_ENTRIES_MAX, WALK_PENDING_BYTES_MAX, WRITE_BYTES_MAX,
};

/// What a program may do below a granted directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// List, stat, read and search.
    ReadOnly,
    /// The same, and write.
    ReadWrite,
}

impl Access {
    /// The access as programs see it: `read-only` or `read-write`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The directories a program may use, by the names it knows them by. It starts empty.
#[derive(Default)]
pub struct Grants {
    roots: Roots,
    bounds: Bounds,
}

impl Grants {
    /// No directories.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Grants one directory, opened now and by the process's own authority.
    ///
    /// The directory stays open: renaming or replacing its path later changes nothing. `path` may lead through links.
    ///
    /// # Errors
    /// [`Misuse`](ErrorKind::Misuse) when `name` is not made of `A`–`Z`, `a`–`z`, `0`–`9`, `.`, `_` and `-`, is `.`
    /// or `..`, is longer than [`GRANT_NAME_BYTES_MAX`] or is taken, and when `path` is missing or no directory;
    /// [`Host`](ErrorKind::Host) when the system does not open it for another reason.
    pub fn with_ambient(mut self, name: &str, path: impl AsRef<Path>, access: Access) -> Result<Self, Error> {
        if !is_name(name) {
            return Err(Error::misuse(format!(
                "`{}` cannot name a granted directory: a name here is 1 to {GRANT_NAME_BYTES_MAX} of the characters \
                 `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`, and neither `.` nor `..`",
                fault::shown(name)
            )));
        }
        let dir = open_ambient(path.as_ref()).map_err(|error| not_granted(name, path.as_ref(), error))?;
        if !self.roots.add(name, dir, access) {
            return Err(Error::misuse(format!("the name `{name}` is granted twice")));
        }
        Ok(self)
    }

    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether some directory is granted [`Access::ReadWrite`].
    #[must_use]
    pub fn any_writable(&self) -> bool {
        self.roots.any_writable()
    }

    /// The tools, for a registry: none when nothing is granted, `fs_write` only when something is writable. All of them but
    /// `fs_write` may overlap others.
    ///
    /// # Errors
    /// [`Host`](ErrorKind::Host) where the system gives no thread to compile a schema on.
    pub fn tools(self) -> Result<Vec<Tool>, Error> {
        definitions::tools(&work::Shared::new(self.roots, self.bounds))
    }

    /// Adds the tools to `bindings`: none when nothing is granted, `fs_write` only when something is writable.
    #[must_use]
    pub fn bind(self, bindings: Bindings) -> Bindings {
        work::bind(self.roots, self.bounds, bindings)
    }
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.roots.iter()).finish()
    }
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=GRANT_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain) && !matches!(name, "." | "..")
}

#[expect(clippy::disallowed_methods, reason = "the one place where directories enter, and its caller says so")]
fn open_ambient(path: &Path) -> std::io::Result<Dir> {
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

fn not_granted(name: &str, path: &Path, error: std::io::Error) -> Error {
    let (kind, why) = if error.kind() == std::io::ErrorKind::NotFound {
        (ErrorKind::Misuse, "does not exist".to_owned())
    } else if error.kind() == std::io::ErrorKind::NotADirectory {
        (ErrorKind::Misuse, "is not a directory".to_owned())
    } else {
        (ErrorKind::Host, format!("cannot be opened: {}", error.kind()))
    };
    Error::with_source(kind, format!("`{name}` cannot be granted: `{}` {why}", path.display()), error)
}

#[cfg(test)]
mod tests;
