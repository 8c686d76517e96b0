//! Registration, scopes and presentation, through the public interface.

mod agreement;
mod changes;
mod concurrent;
mod handles;
mod lives;
mod long;
mod masks;
mod names;
mod orders;
mod register;
mod scopes;
mod told;
mod typed;
mod wire;
mod woken;
