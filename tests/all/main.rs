//! All integration tests, in one binary: every further one would link the engine again.
#![expect(
    clippy::disallowed_methods,
    reason = "tests read files, clocks and the environment, and start processes"
)]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails; clippy sees only functions marked as tests"
)]
#![expect(unreachable_pub, reason = "modules of a test binary have no outside")]

mod code_mode;
mod execution;
mod json;
mod language;
mod policy_file;
mod prompt;
mod registry;
mod schema;
mod scripted;
mod tidy;
mod tools;

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod examples;
#[cfg(feature = "fs")]
mod fs;
#[cfg(feature = "wasm")]
mod javascript;
#[cfg(feature = "wasm")]
mod platform;
mod support;
#[cfg(feature = "wasm")]
mod wasm;
