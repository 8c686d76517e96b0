//! `hotcell inspect`: every line of it, and its exit codes.

use super::{directory, run, run_in, seen};
use crate::support::golden;

#[test]
fn os_08_the_built_in_guest_is_sealed() {
    for language in ["javascript", "typescript"] {
        let shown = run(&["inspect", "--guest", language]);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
        golden::check("tests/data/cli/inspect-javascript.txt", &shown.stdout);
    }
    let python = "error: the python guest is not built in yet; typescript and javascript are\n";
    assert_eq!(run(&["inspect", "--guest", "python"]), seen(2, "", python));
}

#[test]
fn os_08_a_component_file_plain_or_compressed_is_inspected() {
    let repository = env!("CARGO_MANIFEST_DIR");
    let shown = run_in(repository.as_ref(), &["inspect", "assets/javascript.wasm.zst"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    golden::check("tests/data/cli/inspect-javascript.txt", &shown.stdout);
}

#[test]
fn os_08_an_import_outside_the_contract_is_shown_and_exits_with_3() {
    let component = wat::parse_str(
        r#"(component
            (import "wasi:clocks/monotonic-clock@0.2.0" (instance (export "now" (func (result u64)))))
            (import "plain" (func)))"#,
    );
    let directory = directory(&[("a.wasm", &component.expect("the text is a component"))]);
    let stdout = "\
import wasi:clocks/monotonic-clock@0.2.0#now: OUTSIDE THE CONTRACT
import plain: OUTSIDE THE CONTRACT
not sealed: 2 imports are outside the contract, so Hotcell refuses to load it
";
    assert_eq!(run_in(directory.path(), &["inspect", "a.wasm"]), seen(3, stdout, ""));
}

#[test]
fn os_08_what_is_no_component_exits_with_3_and_a_missing_file_with_2() {
    let directory = directory(&[("text", b"hello"), ("module.wasm", b"\0asm\x01\0\0\0")]);
    let run = |arguments: &[&str]| run_in(directory.path(), arguments);
    for file in ["text", "module.wasm"] {
        assert_eq!(run(&["inspect", file]), seen(3, "", "error: the file is not a WebAssembly component\n"));
    }
    let missing = "error: cannot read `none.wasm`: No such file or directory (os error 2)\n";
    assert_eq!(run(&["inspect", "none.wasm"]), seen(2, "", missing));
    let neither = "error: the following required arguments were not provided:\n  <COMPONENT>\n\n\
                   Usage: hotcell inspect <COMPONENT | --guest LANGUAGE>\n\nFor more information, try '--help'.\n";
    assert_eq!(run(&["inspect"]), seen(2, "", neither));
}
