//! A finished component and the note that says where it comes from.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::{inputs, pins};

const COMPONENT: &str = "javascript.wasm.zst";
const PROVENANCE: &str = "javascript.toml";

pub(crate) struct Artefact {
    compressed: Vec<u8>,
    /// What `assets/javascript.toml` says about it.
    pub(crate) provenance: String,
}

impl Artefact {
    pub(crate) fn new(component: &[u8], inputs: &str) -> Result<Self> {
        let compressed = zstd::bulk::compress(component, pins::COMPRESSION_LEVEL)?;
        let provenance = format!(
            "# Written by `cargo xtask guests`.\n\
             language = \"javascript\"\n\
             interpreter = \"{}\"\n\
             sources = \"{}\"\n\
             compiler = \"{}\"\n\
             inputs = \"{inputs}\"\n\
             component-bytes = {}\n\
             component-sha256 = \"{}\"\n\
             compressed-bytes = {}\n\
             compressed-sha256 = \"{}\"\n",
            pins::INTERPRETER,
            pins::INTERPRETER_CRATE,
            pins::COMPILER_NAME,
            component.len(),
            inputs::sha256(component),
            compressed.len(),
            inputs::sha256(&compressed),
        );
        Ok(Self { compressed, provenance })
    }

    pub(crate) fn write(&self, assets: &Path) -> Result<()> {
        std::fs::create_dir_all(assets)?;
        std::fs::write(assets.join(COMPONENT), &self.compressed)?;
        std::fs::write(assets.join(PROVENANCE), &self.provenance)?;
        Ok(())
    }

    /// Says every line of the provenance that differs, and fails if one does.
    pub(crate) fn compare(&self, assets: &Path) -> Result<()> {
        let shipped = read_provenance(assets)?;
        let mut differences = Vec::new();
        for line in self.provenance.lines() {
            if !shipped.lines().any(|other| other == line) {
                differences.push(line);
            }
        }
        if !differences.is_empty() {
            bail!("the rebuilt guest is not the one in {}; it has\n{}", assets.display(), differences.join("\n"));
        }
        if std::fs::read(assets.join(COMPONENT))? != self.compressed {
            bail!("{COMPONENT} has other bytes than the rebuilt guest");
        }
        Ok(())
    }
}

pub(crate) fn read_provenance(assets: &Path) -> Result<String> {
    let path = assets.join(PROVENANCE);
    std::fs::read_to_string(&path)
        .with_context(|| format!("{} is missing: run `cargo xtask guests`", path.display()))
}

/// Proves that the shipped component is the one its provenance describes.
pub(crate) fn verify_shipped(assets: &Path, provenance: &str) -> Result<()> {
    let digest = inputs::sha256(&std::fs::read(assets.join(COMPONENT))?);
    if !provenance.contains(&format!("compressed-sha256 = \"{digest}\"")) {
        bail!("{COMPONENT} has digest {digest}, which {PROVENANCE} does not name");
    }
    Ok(())
}
