//! Compiled guests, kept between processes.
//!
//! An entry holds native code that this process will execute, so who can write one can run code here. Invariant: the
//! directory and every entry that is read belong to this user and nobody else can write them; they are checked through
//! the descriptor that is then used, and links are not followed. An entry that is damaged, foreign or of another
//! engine is ignored and written anew. Processes of the *same* user are trusted: they could do worse.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat, renameat, unlinkat};
use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use crate::error::{Error, ErrorKind};

/// Bytes of a SHA-256.
pub(super) const DIGEST_BYTES: usize = 32;

/// The largest entry that is read. A guest of 26 MB compiles to 43 MB.
const ENTRY_BYTES_MAX: u64 = 512 << 20;

/// Mode bits that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// A directory for compiled guests.
///
/// Entries are never removed by Hotcell: one is written per guest, engine version and processor. Removing the directory is
/// safe at any time.
#[derive(Debug)]
pub struct Cache {
    directory: OwnedFd,
    path: PathBuf,
}

impl Cache {
    /// Opens the directory at `path`, by the process's own authority, and creates it for this user alone if it is not
    /// there.
    ///
    /// # Errors
    /// [`Host`](ErrorKind::Host) when it cannot be made or opened, is a link, belongs to another user, or can be written
    /// by others.
    #[expect(clippy::disallowed_methods, reason = "ambient authority enters here, as the name says")]
    pub fn open_ambient(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let failed = |what: &str, error: std::io::Error| {
            let text = format!("cannot {what} the cache directory `{}`", path.display());
            Error::with_source(ErrorKind::Host, text, error)
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| failed("create", error))?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let directory = openat(CWD, path, flags, Mode::empty()).map_err(|error| failed("open", error.into()))?;
        let directory = File::from(directory);
        if !is_ours_alone(&directory).map_err(|error| failed("check", error))? {
            return Err(Error::new(
                ErrorKind::Host,
                format!(
                    "the cache directory `{}` belongs to another user or can be written by others; use one that is \
                     yours alone (mode 700)",
                    path.display()
                ),
            ));
        }
        Ok(Self { directory: directory.into(), path: path.to_owned() })
    }

    /// Where the directory was when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The compiled form of the guest whose file has the digest `key`, and its component's own digest. `None` where
    /// there is no good entry.
    pub(super) fn load(
        &self,
        engine: &wasmtime::Engine,
        key: &[u8; DIGEST_BYTES],
    ) -> Option<(Component, [u8; DIGEST_BYTES])> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
        let entry = openat(&self.directory, entry_name(engine, key), flags, Mode::empty()).ok()?;
        let entry = File::from(entry);
        let size = entry.metadata().ok()?.len();
        if size > ENTRY_BYTES_MAX || !is_ours_alone(&entry).ok()? {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
        (&entry).take(ENTRY_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let (digest, content) = bytes.split_first_chunk::<DIGEST_BYTES>()?;
        let (component, image) = content.split_first_chunk::<DIGEST_BYTES>()?;
        if seal(key, component, image) != *digest {
            return None;
        }
        // SAFETY: `image` was written by `store` from `Component::serialize`: the file is in a directory and has a mode
        // that only this user can write, both checked through the open descriptor, and its digest matches, so it is
        // whole and of this guest. wasmtime itself refuses an image of another version or of other settings.
        #[expect(unsafe_code, reason = "native code is loaded here and nowhere else; see SAFETY")]
        let loaded = unsafe { Component::deserialize(engine, image) };
        Some((loaded.ok()?, *component))
    }

    /// Keeps a compiled guest. A cache that cannot be written is no reason to fail a run.
    pub(super) fn store(
        &self,
        engine: &wasmtime::Engine,
        key: &[u8; DIGEST_BYTES],
        component_digest: &[u8; DIGEST_BYTES],
        component: &Component,
    ) {
        let Ok(image) = component.serialize() else { return };
        let name = entry_name(engine, key);
        // The name is this process's own, so that two processes never write into one file.
        let draft = format!("{name}.{}", rustix::process::getpid().as_raw_nonzero());
        if self.write(&draft, key, component_digest, &image).is_ok()
            && renameat(&self.directory, &draft, &self.directory, &name).is_ok()
        {
            return;
        }
        // The draft may not exist; there is nobody to tell either way.
        unlinkat(&self.directory, &draft, rustix::fs::AtFlags::empty()).ok();
    }

    fn write(
        &self,
        name: &str,
        key: &[u8; DIGEST_BYTES],
        component_digest: &[u8; DIGEST_BYTES],
        image: &[u8],
    ) -> std::io::Result<()> {
        let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
        let mut file = File::from(openat(&self.directory, name, flags, Mode::from_raw_mode(0o600))?);
        file.write_all(&seal(key, component_digest, image))?;
        file.write_all(component_digest)?;
        file.write_all(image)
    }
}

/// The digest that stands at the start of an entry. It covers the entry's key, so that no entry passes for another.
fn seal(key: &[u8; DIGEST_BYTES], component_digest: &[u8; DIGEST_BYTES], image: &[u8]) -> [u8; DIGEST_BYTES] {
    let mut digest = Sha256::new();
    digest.update(key);
    digest.update(component_digest);
    digest.update(image);
    digest.finalize().into()
}

/// Whether an open file or directory belongs to this user and nobody else can write it.
fn is_ours_alone(file: &File) -> std::io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & OTHERS_WRITE == 0)
}

/// An entry's name: which guest, for which engine.
fn entry_name(engine: &wasmtime::Engine, key: &[u8; DIGEST_BYTES]) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{}-{:016x}.cwasm", super::guest::hex(key), hasher.finish())
}
