//! `run_code` over every runtime there is: the scripted one, and each guest.
//!
//! The section CM of the contract, with RT-05, PL-03, PL-18 and PR-09 as far as programs are concerned.

mod approvals;
mod bridge;
mod deferred;
mod doors;
mod endings;
mod events;
mod faults;
mod followers;
mod given_up;
#[cfg(feature = "wasm")]
mod hostile;
mod ids;
mod left;
mod order;
mod overlap;
mod parity;
pub mod plan;
mod report;
pub mod rig;
mod settled;
mod stamps;
