//! What is refused when it is loaded, and with which words.

use super::{Case, breaks, check_all, completes, refused};

const NOT_ANNOUNCED: &str = "the guest could not announce itself: ";

fn outside(guest: &'static str, names: &str) -> Case {
    refused(
        guest,
        format!(
            "the component imports what a sealed guest may not: {names}; a guest reaches the host only through \
             `hotcell:guest/host@0.1.0`"
        ),
    )
}

pub(super) fn imports() -> Vec<Case> {
    let units: Vec<String> = ('a'..='j').map(|unit| format!("wasi:test/unit{unit}@0.2.0#f")).collect();
    vec![
        outside("import-wasi", "wasi:cli/environment@0.2.0#get-environment"),
        outside("import-many", &units.join(", ")),
        outside("import-method", "hotcell:guest/host@0.1.0#[method]execution.open-file"),
        outside("import-types", "own:thing/types@1.0.0#t"),
        refused(
            "import-resource",
            "the component does not fit the boundary: component imports resource `file`, but a matching implementation was \
             not found in the linker: resource implementation is missing",
        ),
        outside("import-escape", "url=<https://example.test/\\u{1b}[2J>"),
        refused(
            "import-version",
            "the component is built for version 0.9.0 of the package `hotcell:guest/…` and this host offers 0.1; build \
             it against this host's wit/",
        ),
        refused(
            "import-wrong-type",
            "the component does not fit the boundary: component imports instance `hotcell:guest/host@0.1.0`, but a \
             matching implementation was not found in the linker: instance export `[method]execution.log` has the wrong \
             type: type mismatch with parameters: expected 2-tuple, found 3-tuple",
        ),
    ]
}

pub(super) fn exports() -> Vec<Case> {
    let wrong = |guest, how: &str| {
        refused(guest, format!("{NOT_ANNOUNCED}the guest broke the boundary's contract: {how}"))
    };
    vec![
        refused("export-run-missing", "the component does not export `run`"),
        refused("export-announce-missing", "the component does not export `announce`"),
        wrong("export-instance", "failed to find function export"),
        wrong("export-run-wrong", "expected 3-tuple, found 2-tuple"),
        // Its type is found out when it runs.
        breaks("export-run-owns", "cannot lower a `borrow` resource into an `own`"),
        wrong("export-announce-wrong", "expected 0-tuple, found 1-tuple"),
        completes("export-second", "1"),
    ]
}

pub(super) fn announcements() -> Vec<Case> {
    let broke = |guest, how: &str| {
        refused(guest, format!("{NOT_ANNOUNCED}the guest broke the boundary's contract: {how}"))
    };
    vec![
        refused(
            "announce-foreign",
            "the guest speaks version \"9.9\" of the contract and this host speaks \"0.1\"; build the guest against \
             this host's wit/, or use the Hotcell version it was built for",
        ),
        refused("announce-empty", "the interpreter that the guest announces has 0 bytes; it must have 1 to 256"),
        completes("announce-longest", "1"),
        refused("announce-long", "the language that the guest announces has 257 bytes; it must have 1 to 256"),
        broke(
            "announce-huge",
            "too much data is being copied between the host and the guest: fuel allocated for hostcalls has been exhausted",
        ),
        broke("announce-gigabyte", "string pointer/length out of bounds of memory"),
        broke("announce-not-unicode", "invalid utf-8 sequence of 1 bytes from index 0"),
        broke("announce-outside", "pointer out of bounds of memory"),
        refused("announce-trap", format!("{NOT_ANNOUNCED}the guest aborted itself")),
        refused("start-trap", format!("{NOT_ANNOUNCED}the guest aborted itself")),
    ]
}

/// The engine's words; offsets are into the component, where the feature stands first.
pub(super) fn features() -> Vec<Case> {
    let compile = "the component does not compile: failed to";
    let parse = |guest, what: &str| refused(guest, format!("{compile} parse WebAssembly module: {what})"));
    let translate = |guest, place: &str, what: &str| {
        let error = "WebAssembly translation error: Invalid input WebAssembly code at offset";
        refused(
            guest,
            format!("{compile} compile: wasm[0]::function[0]{place}: {error} {what} support is not enabled"),
        )
    };
    let simd = "SIMD support is not enabled (at offset 0x15";
    vec![
        parse(
            "feature-async",
            "async component functions require the component model async feature (at offset 0x55",
        ),
        translate("feature-atomics", "", "40: threads"),
        parse("feature-exceptions", "exceptions proposal not enabled (at offset 0x1e"),
        parse("feature-externref", "gc types are disallowed but found type which requires gc (at offset 0x15"),
        parse(
            "feature-function-references",
            "function references required for index reference types (at offset 0x18",
        ),
        parse("feature-gc", "struct indexed types not supported without the gc feature (at offset 0x15"),
        parse("feature-memory64", "memory64 must be enabled for 64-bit memories (at offset 0x15"),
        parse("feature-multi-memory", "multiple memories (at offset 0x14"),
        parse(
            "feature-page-size",
            "the custom page sizes proposal must be enabled to customize a memory's page size (at offset 0x15",
        ),
        parse("feature-relaxed-simd", simd),
        parse("feature-simd", simd),
        translate("feature-tail-call", "::f", "33: tail calls"),
        parse("feature-threads", "threads must be enabled for shared memories (at offset 0x15"),
        parse("feature-values", "support for component model `value`s is not enabled (at offset 0xb"),
        translate("feature-wide-arithmetic", "", "47: wide arithmetic"),
    ]
}

pub(super) fn sizes() -> Vec<Case> {
    let off = |guest, what: &str| refused(guest, format!("the component does not compile: {what}"));
    vec![
        completes("instances-most", "1"),
        off(
            "instances-many",
            "The component transitively contains 33 core module instances, which exceeds the configured maximum of 32 in \
             the pooling allocator",
        ),
        completes("memories-most", "1"),
        off(
            "memories-many",
            "The component transitively contains 5 Wasm linear memories, which exceeds the configured maximum of 4 in the \
             pooling allocator",
        ),
        completes("tables-most", "1"),
        off(
            "tables-many",
            "The component transitively contains 17 tables, which exceeds the configured maximum of 16 in the pooling \
             allocator",
        ),
        off(
            "table-bomb",
            "module table does not fit in pooling allocator requirements: table index 0 has a minimum element size of \
             4000000000 which exceeds the limit of 20000",
        ),
    ]
}

#[tokio::test]
async fn wb_01_imports_outside_the_contract_are_refused_by_name() {
    check_all(imports()).await;
}

#[tokio::test]
async fn wb_01_exports_have_the_types_of_the_world() {
    check_all(exports()).await;
}

#[tokio::test]
async fn wb_04_announcements_are_checked() {
    check_all(announcements()).await;
}

#[tokio::test]
async fn wasm_features_that_are_not_named_are_refused() {
    check_all(features()).await;
}

#[tokio::test]
async fn wb_12_what_a_component_consists_of_is_bounded() {
    check_all(sizes()).await;
}
