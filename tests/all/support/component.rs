//! Components from `guest/hostile/*.wat`, without a toolchain.
//!
//! The first line says what a file is, and which files of `parts/` belong to it:
//!
//! - `;; parts: …`: the inside of a core module, after those parts. The module is lifted into a component of the world `guest`
//!   by wit-component, against the published `wit/`.
//! - `;; component: …`: the inside of a component. It stands where the list has `…`, or else at the end.

use std::path::{Path, PathBuf};

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of `guest/hostile`.
pub(crate) fn hostile_directory() -> PathBuf {
    repository().join("guest/hostile")
}

/// The component of one file of `guest/hostile`, named without its ending.
pub(crate) fn hostile(name: &str) -> Vec<u8> {
    let path = hostile_directory().join(format!("{name}.wat"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    from_text(&text)
}

/// The component of a file's text.
pub(crate) fn from_text(text: &str) -> Vec<u8> {
    let first = text.lines().next().expect("the text is not empty");
    if let Some(parts) = first.strip_prefix(";; component:") {
        return parse(&assemble("component", parts, text));
    }
    let parts = first.strip_prefix(";; parts:").expect("the first line names the parts");
    let mut module = parse(&assemble("module", parts, text));
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(repository().join("wit")).expect("wit/ parses");
    let world = resolve.select_world(&[package], Some("guest")).expect("wit/ has the world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .expect("the module takes metadata");
    ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .unwrap_or_else(|error| panic!("{error:#}"))
}

/// The named parts and the text, in order.
fn assemble(kind: &str, parts: &str, text: &str) -> String {
    const HERE: &str = "…";
    let mut whole = format!("({kind}\n");
    for part in parts.split_whitespace() {
        if part == HERE {
            whole += text;
            continue;
        }
        let path = hostile_directory().join(format!("parts/{part}.wat"));
        whole += &std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    if !parts.contains(HERE) {
        whole += text;
    }
    whole + "\n)"
}

fn parse(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"))
}
