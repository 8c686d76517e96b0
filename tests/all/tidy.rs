//! Taste that a machine can check: direction of dependencies, sizes, headers, documents that must agree with the code.

use std::fs;
use std::path::{Path, PathBuf};

use hotcell::limits::Limit;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files with this ending below a directory, as paths inside the repository.
fn files(directory: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![repository().join(directory)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("the directory exists") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path.strip_prefix(repository()).expect("below the root").to_owned());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no .{ending} file in {directory}");
    found
}

#[test]
fn every_file_says_its_purpose_and_stays_small() {
    for directory in ["src", "tests", "xtask", "benches", "examples"] {
        for path in files(directory, "rs") {
            let text = read(&path);
            let begins =
                text.starts_with("//!") || text.starts_with("#![cfg_attr(feature = \"wasm\", doc = include_str!");
            assert!(begins, "{} has no header", path.display());
            let lines = text.lines().count();
            assert!(lines <= 500, "{} has {lines} lines; split it", path.display());
        }
    }
}

#[test]
fn the_engine_is_known_to_one_module_only() {
    for path in files("src", "rs") {
        let inside = ["src/wasm", "src/cli"].iter().any(|place| path.starts_with(place));
        if inside || path == Path::new("src/lib.rs") {
            continue;
        }
        let text = read(&path);
        for name in ["wasmtime::", "crate::wasm", "crate::cli"] {
            assert!(!text.contains(name), "{} names {name}", path.display());
        }
    }
}

#[test]
fn modules_name_only_what_is_below_them() {
    const ABOVE_RUNTIME: [&str; 6] = [
        "crate::tools", "crate::tool::", "crate::registry", "crate::execution", "crate::policy_file",
        "crate::code_mode",
    ];
    let rules: [(&str, &[&str]); 11] = [
        (
            "src/language",
            &["crate::tool::", "crate::registry", "crate::execution", "crate::prompt", "crate::runtime"],
        ),
        ("src/prompt", &["crate::code_mode", "crate::tools", "crate::policy_file"]),
        ("src/registry", &["crate::code_mode", "crate::tools", "crate::policy_file"]),
        ("src/json", &["crate::"]),
        ("src/contain.rs", &["crate::"]),
        (
            "src/content.rs",
            &["crate::json", "crate::runtime", "crate::tool", "crate::registry", "crate::execution"],
        ),
        ("src/limits.rs", &["crate::runtime", "crate::tools", "crate::json"]),
        ("src/runtime", &ABOVE_RUNTIME),
        ("src/wasm", &ABOVE_RUNTIME),
        ("src/tool", &["crate::registry", "crate::tools"]),
        ("src/execution", &["crate::code_mode", "crate::tools", "crate::policy_file"]),
    ];
    for (place, forbidden) in rules {
        for path in files("src", "rs").into_iter().filter(|path| path.starts_with(place)) {
            let text = read(&path);
            for name in forbidden {
                assert!(!text.contains(name), "{} names {name}", path.display());
            }
        }
    }
}

#[test]
fn the_collapse_is_decided_in_one_place() {
    let deciding: Vec<_> =
        files("src", "rs").into_iter().filter(|path| read(path).contains("== Mode::Code")).collect();
    assert_eq!(deciding, [PathBuf::from("src/registry/mode.rs")]);
}

#[test]
fn native_code_is_loaded_in_one_place() {
    let unsafe_files: Vec<_> =
        files("src", "rs").into_iter().filter(|path| read(path).contains("unsafe {")).collect();
    assert_eq!(unsafe_files, [PathBuf::from("src/wasm/cache.rs")]);
}

#[test]
fn limits_md_is_the_table_in_the_code() {
    let text = read("LIMITS.md");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).skip(1).take(4).collect())
        .take(Limit::ALL.len())
        .collect();
    let expected: Vec<Vec<String>> = Limit::ALL
        .iter()
        .map(|limit| {
            let (min, max) = limit.bounds();
            let shown = |value| limit.display(value);
            vec![format!("`{limit}`"), shown(limit.default_value()), shown(min), shown(max)]
        })
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_readme_has_exactly_two_set_up_commands() {
    let text = read("README.md");
    let mut commands = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```sh" {
            commands
                .extend(lines.by_ref().take_while(|line| *line != "```").filter(|line| line.starts_with("cargo")));
        }
    }
    assert_eq!(commands, ["cargo run -- run examples/join-report.js --dir data=examples/data", "cargo test"]);
}
