//! Everything from outside that decides an artefact's bytes, besides `Cargo.lock` and the lock file of the sources.

/// The C compiler: a wheel that needs nothing but itself.
pub(crate) const COMPILER: &str = "ziglang==0.17.1";
/// What `--version` of the clang in it says.
pub(crate) const COMPILER_NAME: &str = "clang 22.1.8 of ziglang 0.17.1";
/// The wheel's name, without the ending, and its digest.
pub(crate) const COMPILER_WHEEL: &str =
    "ziglang-0.17.1-py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64.whl";
pub(crate) const COMPILER_SHA256: &str = "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54";
/// The crate that carries the interpreter, as its lock file has it.
pub(crate) const INTERPRETER_CRATE: &str = "rquickjs-sys-0.14.0";
/// The interpreter in it.
pub(crate) const INTERPRETER: &str = "quickjs-ng 0.16.2";
/// The level of compression; the component is read rarely and shipped often.
pub(crate) const COMPRESSION_LEVEL: i32 = 19;
