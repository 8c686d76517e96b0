//! Tools that come with the crate, ready to be bound.
//!
//! Invariant: a tool reaches only what its grants were built with. Nothing here looks authority up; every door is an
//! argument, and the function that takes it from the process has `ambient` in its name.

#[cfg(feature = "fs")]
pub mod fs;
