//! `run_code` over every runtime there is: the scripted one, and each guest.
//!
//! The section CM of the contract, with RT-05, PL-03, PL-18 and PR-09 as far as programs are concerned.

mod approvals;
mod beside;
mod bridge;
mod endings;
mod events;
mod faults;
#[cfg(feature = "wasm")]
mod hostile;
mod left;
mod order;
mod parity;
pub mod plan;
pub mod rig;
mod stamps;
