//! C to one core module, with the pinned compiler.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Layout, toolchain, toolchain::Toolchain};

/// Plain clang, not the compiler's own driver: that one forces frame pointers and a freestanding library, which made
/// loops of the interpreter half as fast.
const CLANG: [&str; 11] = [
    "--target=wasm32-unknown-unknown",
    "-O3",
    "-std=gnu11",
    "-fno-exceptions",
    "-fno-ident",
    "-nostdlibinc",
    "-nobuiltininc",
    "-mbulk-memory",
    "-mnontrapping-fptoint",
    "-msign-ext",
    "-mmutable-globals",
];
/// The same target for the compiler's runtime library.
const RUNTIME_TARGET: &str = "wasm32-freestanding";

/// Our own sources.
const GUEST: [&str; 14] = [
    "interpreter.c", "text.c", "json_read.c", "json_write.c", "inspect.c", "errors.c", "console.c", "timers.c",
    "clone.c", "tools.c", "unhandled.c", "web.c", "platform.c", "main.c",
];
/// The interpreter's other units; `interpreter.c` includes the first.
const INTERPRETER: [&str; 3] = ["libregexp.c", "libunicode.c", "dtoa.c"];

/// QuickJS takes its settings for a bare WebAssembly from these.
const DEFINITIONS: [&str; 5] = ["-D_GNU_SOURCE", "-DEMSCRIPTEN=1", "-DFE_DOWNWARD=0", "-DFE_UPWARD=0", "-DNDEBUG"];

/// `--stack-first`: an overflow of the C stack traps instead of overwriting data.
const LINK: [&str; 6] =
    ["--no-entry", "--stack-first", "-z", "stack-size=1048576", "--strip-all", "--no-merge-data-segments"];

/// Compiles and links everything; `bindings` is the directory above `bindings/`.
pub(crate) fn link(layout: &Layout, toolchain: &Toolchain, crate_: &Path, bindings: &Path) -> Result<Vec<u8>> {
    let build = layout.work.join("objects");
    std::fs::create_dir_all(&build)?;
    embed(layout, bindings, "prelude.js", "prelude")?;
    embed(layout, bindings, "web.js", "web_source")?;
    let mut objects = Vec::new();
    for name in GUEST {
        objects.push(compile(layout, toolchain, crate_, bindings, &layout.guest.join(name), &OWN_WARNINGS)?);
    }
    for name in INTERPRETER {
        objects.push(compile(layout, toolchain, crate_, bindings, &crate_.join("quickjs").join(name), &["-w"])?);
    }
    objects.push(compile(
        layout,
        toolchain,
        crate_,
        bindings,
        &bindings.join("bindings").join("guest.c"),
        &["-w"],
    )?);
    objects.push(bindings.join("bindings").join("guest_component_type.o"));

    let module = build.join("guest.wasm");
    let mut command = toolchain.command("wasm-ld");
    command.args(LINK).args(&objects);
    command.arg(crate_.join("vendor").join("wasi-libc").join("lib").join("libc.a"));
    command.arg(compiler_runtime(toolchain, &build)?).arg("-o").arg(&module);
    toolchain::run(&mut command)?;
    Ok(std::fs::read(module)?)
}

const OWN_WARNINGS: [&str; 3] = ["-Wall", "-Wextra", "-Werror"];

fn compile(
    layout: &Layout,
    toolchain: &Toolchain,
    crate_: &Path,
    bindings: &Path,
    source: &Path,
    warnings: &[&str],
) -> Result<PathBuf> {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let object = layout.work.join("objects").join(format!("{name}.o"));
    let mut command = toolchain.command("clang");
    command.args(CLANG).args(DEFINITIONS).args(warnings);
    command.arg("-isystem").arg(toolchain.headers());
    command.arg("-isystem").arg(crate_.join("vendor").join("wasi-libc").join("include"));
    command.arg("-isystem").arg(crate_.join("quickjs"));
    command.arg("-I").arg(bindings).arg("-I").arg(&layout.guest);
    for (path, name) in [(crate_, "interpreter"), (layout.guest.as_path(), "guest"), (bindings, "generated")] {
        command.arg(format!("-ffile-prefix-map={}={name}", path.display()));
    }
    command.arg("-c").arg(source).arg("-o").arg(&object);
    toolchain::run(&mut command)?;
    Ok(object)
}

/// The compiler's own helpers: 128-bit arithmetic and the like.
fn compiler_runtime(toolchain: &Toolchain, build: &Path) -> Result<PathBuf> {
    let anchor = build.join("runtime.zig");
    std::fs::write(&anchor, "export fn hotcell_runtime_anchor() void {}\n")?;
    let library = build.join("libruntime.a");
    let mut command = toolchain.command("build-lib");
    command.args(["-target", RUNTIME_TARGET, "-fcompiler-rt", "-O", "ReleaseFast", "-fstrip"]).arg(&anchor);
    command.arg(format!("-femit-bin={}", library.display()));
    toolchain::run(&mut command)?;
    Ok(library)
}

/// Writes a file of JavaScript as a C array beside the bindings.
fn embed(layout: &Layout, bindings: &Path, file: &str, name: &str) -> Result<()> {
    let mut header = format!("static const char {name}[] = {{");
    for byte in std::fs::read(layout.guest.join(file))? {
        header.push_str(&format!("{byte},"));
    }
    header.push_str("0};\n");
    Ok(std::fs::write(bindings.join(format!("{name}.h")), header)?)
}
