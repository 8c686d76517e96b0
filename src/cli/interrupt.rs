//! Ctrl-C: the first one cancels the run, so that its logs and calls can still be shown; the next one ends the process.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;

/// Cancels `cancel` at the first interrupt from now on. One that finds it cancelled ends the process.
///
/// # Errors
/// When the operating system refuses to tell of interrupts.
pub(super) fn watch(cancel: CancellationToken) -> io::Result<()> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        while interrupts.recv().await.is_some() {
            if cancel.is_cancelled() {
                #[expect(clippy::exit, reason = "the user asks twice: whatever still runs is not waited for")]
                std::process::exit(Exit::Interrupted.code().into());
            }
            cancel.cancel();
        }
    });
    Ok(())
}
