//! Fetches the pinned compiler and the pinned sources; afterwards nothing touches the network.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Layout, inputs, pins};

/// The unpacked compiler.
pub(crate) struct Toolchain {
    zig: PathBuf,
    cache: PathBuf,
}

impl Toolchain {
    /// Checks the digest of the downloaded compiler and unpacks it.
    pub(crate) fn unpack(layout: &Layout) -> Result<Self> {
        let directory = directory(layout);
        let wheel = directory.join(pins::COMPILER_WHEEL);
        let digest = inputs::sha256(&std::fs::read(&wheel)?);
        if digest != pins::COMPILER_SHA256 {
            bail!("{} has digest {digest}, not {}", wheel.display(), pins::COMPILER_SHA256);
        }
        let zig = directory.join("ziglang").join("zig");
        if !zig.exists() {
            run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&directory))?;
            run(Command::new("chmod").arg("+x").arg(&zig))?;
        }
        Ok(Self { zig, cache: layout.work.join("cache") })
    }

    /// The compiler's own headers: `stddef.h` and the like.
    pub(crate) fn headers(&self) -> PathBuf {
        self.zig.with_file_name("lib").join("include")
    }

    /// A compiler command that keeps its caches to itself.
    pub(crate) fn command(&self, tool: &str) -> Command {
        let mut command = Command::new(&self.zig);
        command.arg(tool);
        command.env("ZIG_GLOBAL_CACHE_DIR", &self.cache).env("ZIG_LOCAL_CACHE_DIR", &self.cache);
        command
    }
}

fn directory(layout: &Layout) -> PathBuf {
    layout.work.join("compiler")
}

/// Downloads the compiler unless it is here already.
pub(crate) fn download(layout: &Layout) -> Result<()> {
    let directory = directory(layout);
    if directory.join(pins::COMPILER_WHEEL).exists() {
        return Ok(());
    }
    std::fs::create_dir_all(&directory)?;
    let requirements = directory.join("requirements.txt");
    std::fs::write(&requirements, format!("{} --hash=sha256:{}\n", pins::COMPILER, pins::COMPILER_SHA256))?;
    run(Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"])
        .arg("--dest")
        .arg(&directory)
        .arg("--requirement")
        .arg(&requirements))
}

/// The directory of the interpreter's crate, verified by Cargo against the lock file.
pub(crate) fn interpreter_sources(layout: &Layout) -> Result<PathBuf> {
    let vendor = layout.work.join("sources");
    run(Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["vendor", "--quiet", "--locked", "--versioned-dirs", "--manifest-path"])
        .arg(layout.guest.join("sources").join("Cargo.toml"))
        .arg(&vendor)
        .stdout(std::process::Stdio::null()))?;
    Ok(vendor.join(pins::INTERPRETER_CRATE))
}

/// Runs a command and reports it in full when it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{status}: {command:?}");
    }
    Ok(())
}
