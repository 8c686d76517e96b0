//! Registration, scopes and presentation, through the public interface.

mod agreement;
mod changes;
mod register;
mod scopes;
mod wire;
