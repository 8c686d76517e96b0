//! What bounds a validation: steps, stack, and memory for what is found wrong.
//!
//! The validator is a library that knows no bounds, but it reads the instance through our nodes
//! only. Every reading is charged here, and a charge beyond the bound unwinds to [`bounded`]
//! without calling the panic hook. The meter is a handful of thread-local cells: a validation
//! never leaves its thread.
//!
//! Invariant: outside of [`bounded`] the meter is as it was before, however the work ended.
//! Unwinding is what stops a validation, so a process built to abort on panics aborts here.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::from_ref;

/// How much native stack the validator may use, in bytes.
///
/// Threads have two mebibytes by default. The rest is for whoever called, and for the library's
/// frames between two readings of the instance.
pub(super) const STACK_BYTES_MAX: usize = 1280 * 1024;

/// How much it may use where many others stand on the stack already, in bytes.
pub(super) const INLINE_STACK_BYTES: usize = 128 * 1024;

/// Steps that describing an error takes at least.
const ERROR_STEPS: u64 = 64;

/// Bytes of stack in use when an error is described for each step that this takes.
const STACK_BYTES_PER_STEP: usize = 256;

/// Bounds on one pass over an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Readings of the instance.
    pub(super) steps: u64,
    /// Bytes of native stack below the caller.
    pub(super) stack: usize,
    /// Bytes that descriptions of errors may take.
    pub(super) room: u64,
    /// Steps that looking at a text takes besides: its pattern may backtrack.
    pub(super) text_steps: u64,
    /// Bytes that one error takes at most.
    pub(super) error_bytes: u64,
}

/// Why a pass ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It took too many steps.
    Steps,
    /// It went too deep.
    Stack,
    /// The library panicked.
    Panic,
}

#[derive(Clone, Copy)]
struct Meter {
    bounds: Bounds,
    /// The lowest address the stack may reach.
    floor: usize,
    /// How many errors were described.
    errors: u64,
}

const IDLE: Meter = Meter {
    bounds: Bounds { steps: u64::MAX, stack: 0, room: u64::MAX, text_steps: 0, error_bytes: 0 },
    floor: 0,
    errors: 0,
};

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(u64::MAX) };
    static FULL: Cell<bool> = const { Cell::new(false) };
    static METER: Cell<Meter> = const { Cell::new(IDLE) };
}

/// Puts a meter back when the work it stood aside for is over.
struct Restore(Meter, u64, bool);

impl Drop for Restore {
    fn drop(&mut self) {
        METER.set(self.0);
        STEPS.set(self.1);
        FULL.set(self.2);
    }
}

/// How a pass went that came to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// When there was no more room for errors: how many were described before.
    pub(super) full_at: Option<u64>,
}

/// Runs one pass within bounds.
pub(super) fn bounded<T>(bounds: Bounds, pass: impl FnOnce() -> T) -> Result<(T, Used), Stop> {
    let _restore = Restore(METER.get(), STEPS.get(), FULL.get());
    let floor = stack_address().saturating_sub(bounds.stack);
    METER.set(Meter { bounds, floor, errors: 0 });
    STEPS.set(bounds.steps);
    FULL.set(false);
    // What the pass touches is read-only or thrown away with its stack.
    match catch_unwind(AssertUnwindSafe(pass)) {
        Ok(result) => {
            let full_at = FULL.get().then(|| METER.get().errors);
            Ok((result, Used { full_at }))
        }
        Err(payload) => Err(payload.downcast_ref::<Stop>().copied().unwrap_or(Stop::Panic)),
    }
}

/// Roughly where the stack ends now.
fn stack_address() -> usize {
    let here = 0_u8;
    from_ref(black_box(&here)).addr()
}

/// Charges the steps of one reading.
pub(super) fn charge(steps: u64) {
    let Some(left) = STEPS.get().checked_sub(steps) else {
        stop(Stop::Steps);
    };
    STEPS.set(left);
    if stack_address() < METER.with(|meter| meter.get().floor) {
        stop(Stop::Stack);
    }
}

/// Charges a reading whose work grows with a text.
pub(super) fn charge_text(bytes: usize, bytes_per_step: usize) {
    charge(1_u64.saturating_add(whole(bytes / bytes_per_step.max(1))));
}

/// Charges a text that a pattern may be matched against.
pub(super) fn charge_match(bytes: usize, bytes_per_step: usize) {
    charge_text(bytes, bytes_per_step);
    charge(METER.get().bounds.text_steps);
}

/// A size as the meter counts.
pub(super) fn whole(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

#[cold]
fn stop(why: Stop) -> ! {
    resume_unwind(Box::new(why))
}

/// Whether there is no more room for errors. Nodes then end their iterations, so that the pass
/// comes to an end; what it says from then on does not count.
pub(super) fn is_full() -> bool {
    FULL.get()
}

/// Charges one error and tells its number.
///
/// Writing down where an error is takes time in proportion to how deep the library is.
pub(super) fn charge_error() -> u64 {
    let mut meter = METER.get();
    let depth = meter.floor.saturating_add(meter.bounds.stack).saturating_sub(stack_address());
    charge(ERROR_STEPS.saturating_add(whole(depth / STACK_BYTES_PER_STEP)));
    let number = meter.errors;
    if !FULL.get() {
        meter.errors = number.saturating_add(1);
        METER.set(meter);
        charge_room(meter.bounds.error_bytes);
    }
    number
}

/// Charges memory that an error may take with it.
pub(super) fn charge_room(bytes: u64) {
    let mut meter = METER.get();
    match meter.bounds.room.checked_sub(bytes) {
        Some(left) => {
            meter.bounds.room = left;
            METER.set(meter);
        }
        None => FULL.set(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(steps: u64, room: u64) -> Bounds {
        Bounds { steps, stack: STACK_BYTES_MAX, room, text_steps: 0, error_bytes: 10 }
    }

    #[test]
    fn the_last_step_is_allowed_and_the_next_one_stops() {
        let run = |count: u64| bounded(bounds(3, 0), || (0..count).for_each(|_| charge(1))).map(|_| ());
        assert_eq!(run(3), Ok(()));
        assert_eq!(run(4), Err(Stop::Steps));
        assert_eq!(STEPS.get(), u64::MAX);
    }

    #[test]
    fn a_pass_inside_of_another_leaves_it_its_steps() {
        let outer = bounded(bounds(2, 0), || {
            charge(1);
            let inner = bounded(bounds(1, 0), || charge(2));
            charge(1);
            inner.map(|_| ())
        });
        assert_eq!(outer.map(|(inner, _)| inner), Ok(Err(Stop::Steps)));
    }

    #[test]
    fn room_ends_with_the_error_that_does_not_fit() {
        let (numbers, used) =
            bounded(bounds(10_000, 20), || [charge_error(), charge_error(), charge_error()]).unwrap();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(used.full_at, Some(3));
        let (_, used) = bounded(bounds(10_000, 20), || [charge_error(), charge_error()]).unwrap();
        assert_eq!(used.full_at, None);
    }

    #[test]
    fn depth_stops_before_the_stack_ends() {
        fn descend(level: u64) -> u64 {
            charge(1);
            if level == u64::MAX { level } else { black_box(descend(level + 1)) + 1 }
        }
        assert_eq!(bounded(bounds(u64::MAX, 0), || descend(0)).map(|_| ()), Err(Stop::Stack));
    }
}
