//! The pipeline, through the public interface.

mod approved;
mod arguments;
mod around;
mod cancel;
mod collapse;
mod dropped;
mod held;
pub mod log;
mod lookups;
mod messages;
mod nesting;
mod outcomes;
mod panics;
mod parity;
pub mod platform;
mod policy;
mod post;
mod scheduler;
mod spanned;
mod stacks;
mod tokens;
