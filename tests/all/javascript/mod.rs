//! The JavaScript guest through the real host.
//!
//! `cases` runs the programs of `tests/data/javascript`, whose files are the bulk of what is promised; the other modules
//! hold what needs other tools, limits or texts than those have. `rig` is what all stand on.

mod boundary;
mod calls;
mod cases;
mod fairness;
mod fresh;
mod memory;
mod names;
mod recursion;
mod rig;
mod stopping;
