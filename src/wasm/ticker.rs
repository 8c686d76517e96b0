//! The clock that interrupts guests: a thread of its own that moves the engine's epoch on.
//!
//! A thread and not a task, because a task could be starved by the very guests it has to interrupt. Invariant: while a
//! [`Ticking`] exists, the epoch moves about every [`TICK`]; with none for a while, the thread sleeps.

#![expect(clippy::disallowed_methods, reason = "the clock has a thread of its own")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::error::{Error, ErrorKind};

/// How often guests are interrupted, and so how far a compute budget can be overrun.
pub(super) const TICK: Duration = Duration::from_millis(1);

/// After this many ticks without a run the thread sleeps until the next one.
const IDLE_TICKS: u32 = 100;

/// Starts and wakes the thread.
#[derive(Debug)]
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

#[derive(Debug, Default)]
struct Shared {
    active: AtomicUsize,
    asleep: AtomicBool,
}

impl Ticker {
    /// Starts the thread. It ends by itself when the engine is gone.
    pub(super) fn start(engine: &wasmtime::Engine) -> Result<Self, Error> {
        let shared = Arc::<Shared>::default();
        let (weak, inner) = (engine.weak(), Arc::clone(&shared));
        let thread = thread::Builder::new()
            .name("hotcell-epoch".to_owned())
            .spawn(move || {
                while let Some(engine) = weak.upgrade() {
                    engine.increment_epoch();
                    drop(engine);
                    inner.pause();
                }
            })
            .map_err(|error| Error::with_source(ErrorKind::Host, "cannot start the epoch thread", error))?;
        Ok(Self { shared, thread: thread.thread().clone() })
    }

    /// Keeps the epoch moving for as long as the guard lives.
    pub(super) fn tick(&self) -> Ticking {
        self.shared.active.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        Ticking(Arc::clone(&self.shared))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.thread.unpark();
    }
}

impl Shared {
    fn pause(&self) {
        for _ in 0..IDLE_TICKS {
            thread::sleep(TICK);
            if self.active.load(Ordering::SeqCst) > 0 {
                return;
            }
        }
        self.asleep.store(true, Ordering::SeqCst);
        // Checked after `asleep` is set: a run that starts in between either sees it and unparks, or is seen here.
        if self.active.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}

/// One reason for the epoch to move.
#[derive(Debug)]
pub(super) struct Ticking(Arc<Shared>);

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
    }
}
