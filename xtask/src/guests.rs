//! Builds the guest components that `assets/` ships, or proves that it ships what the sources say.
//!
//! Invariant: an artefact depends on nothing but the repository and the pinned inputs. Two builds, in whatever
//! directory, give the same bytes.

mod artefact;
mod bindings;
mod compile;
mod inputs;
mod pins;
mod snapshot;
mod toolchain;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use artefact::Artefact;
use toolchain::Toolchain;

/// The directories one build reads and writes.
pub(crate) struct Layout {
    /// The repository.
    root: PathBuf,
    /// The C and JavaScript of the guest.
    guest: PathBuf,
    /// The published boundary.
    wit: PathBuf,
    /// Downloads and intermediate files.
    work: PathBuf,
}

impl Layout {
    fn new() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask is not inside the repository")?.to_owned();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let work = root.join(target).join("guests").join("javascript");
        std::fs::create_dir_all(&work)?;
        Ok(Self { guest: root.join("guest").join("javascript"), wit: root.join("wit"), work, root })
    }

    fn assets(&self) -> PathBuf {
        self.root.join("assets")
    }
}

/// Rebuilds every guest into `assets/`.
pub(crate) fn build() -> Result<()> {
    let layout = Layout::new()?;
    toolchain::download(&layout)?;
    let artefact = javascript(&layout)?;
    artefact.write(&layout.assets())?;
    println!("{}", artefact.provenance);
    Ok(())
}

/// Rebuilds every guest and compares it with `assets/`.
pub(crate) fn check() -> Result<()> {
    let layout = Layout::new()?;
    let shipped = artefact::read_provenance(&layout.assets())?;
    let inputs = inputs::digest(&layout)?;
    if !shipped.contains(&format!("inputs = \"{inputs}\"")) {
        bail!(
            "the inputs of assets/javascript.wasm.zst changed: run `cargo xtask guests` and commit what it writes"
        );
    }
    artefact::verify_shipped(&layout.assets(), &shipped)?;
    if let Err(unavailable) = toolchain::download(&layout) {
        println!("NOT REBUILT: javascript: the pinned compiler is not available: {unavailable:#}");
        return Ok(());
    }
    javascript(&layout)?.compare(&layout.assets())?;
    println!("assets/javascript.wasm.zst is what its sources say");
    Ok(())
}

fn javascript(layout: &Layout) -> Result<Artefact> {
    let toolchain = Toolchain::unpack(layout)?;
    let sources = toolchain::interpreter_sources(layout)?;
    let bindings = bindings::generate(layout)?;
    let module = compile::link(layout, &toolchain, &sources, &bindings)?;
    let module =
        snapshot::take(&module).map_err(|error| anyhow!("the set-up of the interpreter failed: {error:?}"))?;
    let component = wit_component::ComponentEncoder::default().validate(true).module(&module)?.encode()?;
    Artefact::new(&component, &inputs::digest(layout)?)
}
