//! Loading: files that are no guests, guests that take too long to say who they are, and what a guest is known by.

use std::sync::Arc;

use hotcell::runtime::CodeRuntime as _;
use hotcell::wasm::{Authority, COMPONENT_BYTES_MAX, Guest, Item, WasmRuntime, inspect};
use hotcell::{Error, ErrorKind};
use sha2::{Digest as _, Sha256};

use super::rig::{ENGINE, Seen, completed, load, request, run, runtime, soon, still_polite};
use crate::support::component::hostile;

async fn load_bytes(bytes: &[u8]) -> Result<Guest, Error> {
    soon(Guest::load(&ENGINE, Arc::from(bytes))).await
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("bytes can be compressed")
}

/// A component in a component, this many levels deep.
fn nested(levels: usize) -> Vec<u8> {
    let low = |bits: usize| u8::try_from(bits).expect("seven bits");
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    for _ in 0..levels {
        let mut outer = b"\0asm\x0d\0\x01\0\x04".to_vec();
        let mut len = component.len();
        while len > 0x7f {
            outer.push(0x80 | low(len & 0x7f));
            len >>= 7;
        }
        outer.push(low(len));
        outer.extend(component);
        component = outer;
    }
    component
}

/// A component that instantiates itself twice at each of this many levels, without being any larger for it.
fn doubling(levels: usize) -> Vec<u8> {
    let mut text = "(component (component $level0)".to_owned();
    for level in 1..=levels {
        let below = level - 1;
        text += &format!(
            "(component $level{level} (alias outer 1 $level{below} (component $below))
               (instance (instantiate $below)) (instance (instantiate $below)))"
        );
    }
    text += &format!("(instance (instantiate $level{levels})))");
    wat::parse_str(text).expect("the text is a component")
}

#[tokio::test]
async fn wb_12_files_that_are_no_components_are_refused() {
    const NONE: &str = "the file is not a WebAssembly component";
    const LARGE: &str = "the component has more than 67108864 bytes";
    const DAMAGED: &str = "the compressed component is damaged";
    const SHORT: &str = "the component does not compile: failed to parse WebAssembly module: wasm component contains an \
                         invalid module section: section range 10..137 is out of bounds (bound = 10)";
    let polite = hostile("polite");
    let mut cut = compressed(&polite);
    cut.truncate(cut.len() / 2);
    let mut reserved = compressed(&polite);
    reserved[4] |= 0x08;
    let too_large = vec![0; COMPONENT_BYTES_MAX + 1];
    let files: [(&str, &[u8], &str); 13] = [
        ("nothing", b"", NONE),
        ("text", b"(component)", NONE),
        ("half a header", b"\0asm\x0d", NONE),
        ("a core module", b"\0asm\x01\0\0\0", NONE),
        ("a component and no more", b"\0asm\x0d\0\x01\0", "the component does not export `announce`"),
        ("a section that ends early", b"\0asm\x0d\0\x01\0\x01\x7f", SHORT),
        ("zeros, exactly as many as are read", &too_large[1..], NONE),
        ("one byte too many", &too_large, LARGE),
        ("one byte too many, compressed", &compressed(&too_large), LARGE),
        ("a compressed core module", &compressed(b"\0asm\x01\0\0\0"), NONE),
        ("half a compressed component", &cut, DAMAGED),
        ("a compressed component with a bit that may not be set", &reserved, DAMAGED),
        ("the start of a compressed file", &[0x28, 0xb5, 0x2f, 0xfd], DAMAGED),
    ];
    let mut wrong = Vec::new();
    for (what, bytes, message) in files {
        let error = load_bytes(bytes).await.expect_err(what);
        let (must, is) = ((ErrorKind::Refused, message.to_owned()), (error.kind(), error.to_string()));
        if is != must {
            wrong.push(format!("{what}\n  must: {must:?}\n  is:   {is:?}"));
        }
        still_polite().await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn wb_12_a_small_component_does_not_become_a_large_one() {
    // Compiling takes memory in the square of the depth, and in 2 to the power of the levels.
    for component in [nested(1000), doubling(22)] {
        let error = load_bytes(&component).await.expect_err("it is refused");
        let message = "the component has 17 or more nested components; a guest may have 16";
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Refused, message.to_owned()));
        still_polite().await;
    }
}

#[tokio::test]
async fn wb_12_guests_that_do_not_announce_themselves_in_time_are_refused() {
    let slow = ["start-endless", "announce-endless"];
    let (start, announce) = tokio::join!(load(slow[0]), load(slow[1]));
    for error in [start.expect_err("it never starts"), announce.expect_err("it never announces itself")] {
        let message = "the guest did not announce itself within 5 s";
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Refused, message.to_owned()));
    }
    still_polite().await;
}

#[tokio::test]
async fn a_guest_is_known_by_what_it_says_and_by_its_plain_bytes() {
    let plain = hostile("polite");
    let digest: String = Sha256::digest(&plain).iter().map(|byte| format!("{byte:02x}")).collect();
    for bytes in [plain.clone(), compressed(&plain)] {
        let runtime = WasmRuntime::new(load_bytes(&bytes).await.expect("a guest"));
        let identity = runtime.guest();
        let says = [&identity.language, &identity.name, &identity.version, &identity.digest];
        assert_eq!(says, ["wat", "none", "1", &digest]);
        assert_eq!(runtime.isolation(), "wasm");
        assert_eq!(Seen::from(run(&runtime, request("x")).await), completed("1"));
    }
}

/// What `inspect` prints for a file of `guest/hostile`.
async fn printed(name: &str) -> Vec<String> {
    let surface = soon(inspect(&ENGINE, Arc::from(hostile(name)))).await.expect("it compiles");
    surface.items().iter().map(Item::to_string).collect()
}

const TYPES: [&str; 4] = [
    "import hotcell:guest/types@0.1.0#error-class: a type; gives nothing",
    "import hotcell:guest/types@0.1.0#namespace: a type; gives nothing",
    "import hotcell:guest/types@0.1.0#announcement: a type; gives nothing",
    "import hotcell:guest/host@0.1.0#execution: a type; gives nothing",
];
const LOG: &str = "import hotcell:guest/host@0.1.0#[method]execution.log: adds to this run's log; held to output, log-lines and host-memory";
const COMPLETE: &str = "import hotcell:guest/host@0.1.0#[method]execution.complete: ends the program with its result; held \
                        to output and host-memory";
const ANNOUNCE: &str = "export announce: says who the guest is; called once, without an execution";
const RUN: &str = "export run: runs one program; called once per instance";

#[tokio::test]
async fn os_08_inspect_names_every_import_and_export() {
    let again = "export again: never called";
    assert_eq!(printed("export-second").await, [&TYPES[..], &[LOG, COMPLETE, again, ANNOUNCE, RUN]].concat());
    let wasi = "import wasi:cli/environment@0.2.0#get-environment: OUTSIDE THE CONTRACT";
    assert_eq!(printed("import-wasi").await, [&TYPES[..], &[LOG, COMPLETE, wasi, ANNOUNCE, RUN]].concat());
    let escape = "import url=<https://example.test/\\u{1b}[2J>: OUTSIDE THE CONTRACT";
    assert_eq!(printed("import-escape").await, [&TYPES[..], &[LOG, COMPLETE, escape, ANNOUNCE, RUN]].concat());
}

#[tokio::test]
async fn wb_02_an_export_beside_run_is_not_called_whatever_it_saved() {
    // `again` would log with the execution that `run` saved.
    let runtime = runtime("export-second").await;
    for _ in 0..2 {
        assert_eq!(Seen::from(run(&runtime, request("x")).await), completed("1"));
    }
    let surface = soon(inspect(&ENGINE, Arc::from(hostile("export-second")))).await.expect("it compiles");
    assert!(surface.is_sealed());
    let unused: Vec<&str> = surface
        .items()
        .iter()
        .filter(|item| item.authority == Authority::Unused)
        .map(|item| &*item.name)
        .collect();
    assert_eq!(unused, ["again"]);
}

/// The message with which a component's text is refused.
async fn refusal(text: &str) -> String {
    let component = wat::parse_str(text).expect("the text is a component");
    let error = load_bytes(&component).await.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Refused);
    error.to_string()
}

#[tokio::test]
async fn a_refusal_shows_names_escaped_and_cut() {
    let name = format!("url=<https://example.test/{}>", "x".repeat(50_000));
    assert_eq!(
        refusal(&format!("(component (import \"{name}\" (func)))")).await,
        format!(
            "the component imports what a sealed guest may not: {}…; a guest reaches the host only through \
             `hotcell:guest/host@0.1.0`",
            &name[..200]
        )
    );
    // The engine's own words quote names too.
    let twice = |name: &str| format!("(component (import \"{name}\" (func)) (import \"{name}\" (func)))");
    let compile = "the component does not compile: ";
    let words = "failed to parse WebAssembly module: import name `";
    let escaped = "url=<https://example.test/\\u{1b}[2J>";
    assert_eq!(
        refusal(&twice("url=<https://example.test/\\1b[2J>")).await,
        format!("{compile}{words}{escaped}` conflicts with previous name `{escaped}` (at offset 0x3f)")
    );
    assert_eq!(refusal(&twice(&name)).await, format!("{compile}{words}{}…", &name[..1000 - words.len()]));
}
