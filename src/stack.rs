//! A large stack for libraries that recurse over text nobody has read.
//!
//! Invariant: this is the one place of the core that starts a thread, and the thread ends before the caller goes on. Only the
//! stack that is touched takes memory.

use std::thread;

/// How much stack there is, in bytes. A schema of 128 levels takes some megabytes to compile in a test build, a policy of 6,400
/// nested tables as many to read and to drop.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Does `work` on a large stack, drops included, and waits for it.
///
/// # Errors
/// A sentence, when the system has no thread to give or `work` panicked.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let builder = thread::Builder::new().name("hotcell-stack".to_owned()).stack_size(STACK_BYTES);
    #[expect(clippy::disallowed_methods, reason = "the one place of the core that starts a thread")]
    thread::scope(|scope| match builder.spawn_scoped(scope, work) {
        Ok(handle) => handle.join().map_err(|_| "it failed".to_owned()),
        Err(error) => Err(format!("there is no thread for it: {error}")),
    })
}
