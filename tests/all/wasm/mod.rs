//! The sealed runtime against guests that are written by hand.
//!
//! `rig` is what the tests stand on; `hostile` is the table of all hostile guests. The others each take one promise: limits,
//! calls, stopping, freshness, fairness, footprint, loading, the cache.

mod cache;
mod calls;
mod fairness;
mod footprint;
mod fresh;
mod hostile;
mod limits;
mod load;
mod rig;
mod stopping;
mod unhandled;

use hotcell::runtime::CallState;
use rig::{Seen, completed, request, run, runtime};

#[tokio::test]
async fn a_polite_guest_completes() {
    assert_eq!(Seen::from(run(&runtime("polite").await, request("x")).await), completed("1"));
    let nothing = Seen { result: Ok(None), logs: vec![], calls: vec![] };
    assert_eq!(Seen::from(run(&runtime("nothing").await, request("x")).await), nothing);
}

#[tokio::test]
async fn a_thousand_calls_are_answered() {
    let seen = Seen::from(run(&runtime("echo").await, request("[1]")).await);
    assert_eq!(seen, completed("[1]").calls("echo", 1000, CallState::Done));
}
