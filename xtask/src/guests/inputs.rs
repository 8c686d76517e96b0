//! One digest over everything that decides an artefact's bytes.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use super::Layout;

/// The packages whose version changes what they generate.
const GENERATORS: [&str; 6] =
    ["wasmtime-wizer", "wit-bindgen-c", "wit-component", "wasm-encoder", "zstd", "zstd-sys"];

/// The digest of the guest's sources, the boundary, this recipe and the versions of the generators.
pub(crate) fn digest(layout: &Layout) -> Result<String> {
    let mut hash = Sha256::new();
    let recipe = layout.root.join("xtask").join("src");
    for directory in [&layout.guest, &layout.wit, &recipe] {
        let mut files = Vec::new();
        collect(directory, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(&layout.root)?.to_str().context("a file name that is not Unicode")?;
            let contents = std::fs::read(&file)?;
            hash.update(format!("{name}\n{}\n", contents.len()));
            hash.update(contents);
        }
    }
    let lock = std::fs::read_to_string(layout.root.join("Cargo.lock"))?;
    for package in lock.split("[[package]]\n").filter(|package| generates(package)) {
        hash.update(package.lines().take(4).collect::<Vec<_>>().join("\n"));
    }
    Ok(hex(&hash.finalize()))
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn generates(package: &str) -> bool {
    GENERATORS.iter().any(|name| package.starts_with(&format!("name = \"{name}\"\n")))
}

/// Every file below `directory` but the prose.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_none_or(|extension| extension != "md") {
            files.push(path);
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
