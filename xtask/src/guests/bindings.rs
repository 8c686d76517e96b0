//! The C side of the published boundary, generated from `wit/`.

use std::path::PathBuf;

use anyhow::Result;
use wit_bindgen_core::{Files, wit_parser::Resolve};

use super::Layout;

/// The world a guest is written for.
const WORLD: &str = "guest";

/// The directory above `bindings/`, which holds `guest.h`, `guest.c` and the object with the world's type.
pub(crate) fn generate(layout: &Layout) -> Result<PathBuf> {
    let parent = layout.work.join("generated");
    let directory = parent.join("bindings");
    std::fs::create_dir_all(&directory)?;
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(&layout.wit)?;
    let world = resolve.select_world(&[package], Some(WORLD))?;
    let mut files = Files::default();
    wit_bindgen_c::Opts::default().build().generate(&mut resolve, world, &mut files)?;
    for (name, contents) in files.iter() {
        std::fs::write(directory.join(name), contents)?;
    }
    Ok(parent)
}
