#![cfg_attr(feature = "wasm", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "wasm", feature = "fs")),
    expect(rustdoc::broken_intra_doc_links, reason = "the page links to modules that are off")
)]
//!
//! # The life of one run
//!
//! 1. An [`Engine`](wasm::Engine) is made once per process: compiler, instance pool, clock.
//! 2. A [`Guest`](wasm::Guest) is loaded once: compiled or found in the cache, checked against the boundary, asked who it
//!    is. This is the slow step: about a second without a cache, milliseconds with one.
//! 3. A [`RunRequest`](runtime::RunRequest) brings a program, the [`Namespace`](runtime::Namespace)s it may call, its
//!    [`Limits`](limits::Limits), a cancellation token and a log sink.
//! 4. [`CodeRuntime::run`](runtime::CodeRuntime::run) instantiates the guest afresh, lends it the execution, and lets it run
//!    until it ends or a limit ends it. This is the fast step.
//! 5. The [`RunOutcome`](runtime::RunOutcome) says how it ended, whatever happened: result or failure, logs, calls, times.
//!
//! # The life of one call
//!
//! 1. Tools are registered once in a [`Registry`](registry::Registry); an agent gets a [`Scope`](registry::Scope).
//! 2. The model is told what [`Scope::wire`](registry::Scope::wire) gives, and names one of it in a
//!    [`CallRequest`](execution::CallRequest).
//! 3. [`Scope::call`](registry::Scope::call) takes it through the whole pipeline, policy included, to its one
//!    [`ToolResult`](execution::ToolResult). So does a call made from inside another one, which lends its token.
//! 4. Where the model is told `run_code`, a [`CodeMode`](code_mode::CodeMode) is its body: it runs the program, and each call the
//!    program makes is such a call from inside.
//!
//! # Where to look
//!
//! [`registry`], [`tool`] and [`execution`] are one half: who may call what. [`runtime`] is the seam to the other half and knows
//! no engine; [`wasm`] is the sealed runtime behind it. [`code_mode`] joins the halves; [`prompt`] and [`language`] say
//! what a model is told of them. [`tools`] holds tools that come with the crate. [`json`] is the value that
//! crosses, [`limits`] the table of everything a program can run into.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod clock;
pub mod code_mode;
mod contain;
mod content;
mod error;
pub mod execution;
pub mod json;
pub mod language;
pub mod limits;
pub mod policy_file;
pub mod prompt;
pub mod registry;
pub mod runtime;
mod shown;
mod stack;
pub mod tool;
#[cfg(feature = "fs")]
pub mod tools;
#[cfg(feature = "wasm")]
pub mod wasm;

pub use content::{Content, Image, ResourceLink};
pub use error::{Error, ErrorKind};
