//! The loop around a guest: polls it, lets its calls progress, and judges the budgets.
//!
//! Budgets are judged here, outside the guest, and there is one way to stop it: this function returns and the caller
//! drops the guest's future. Invariant: only time spent inside the guest's own `poll` is compute time, so a tool's body
//! never is, and a hot loop cannot hide behind a pending call.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::session::{Session, Stop};
use super::{Failure, FailureKind};
use crate::clock;
use crate::limits::Limit;

/// How long guest and calls may take turns before the task yields to its neighbours: one tick of the epoch.
const TURN: Duration = Duration::from_millis(1);

/// How the drive ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    /// The guest's future is done.
    Guest(T),
    /// It has to be dropped.
    Stopped(Stop),
}

/// Drives `guest` to its end or to the first reason to stop it, and says how much compute time it took.
pub(crate) async fn drive<F: Future>(
    session: &Session,
    guest: F,
    cancel: &CancellationToken,
    shutdown: &CancellationToken,
) -> (Ended<F::Output>, Duration) {
    let limits = session.limits();
    let compute_max = limits.duration(Limit::Compute);
    let mut compute = Duration::ZERO;
    let mut guest = pin!(guest);
    let mut cancelled = pin!(cancel.cancelled());
    let mut shut_down = pin!(shutdown.cancelled());
    let wall_max = limits.duration(Limit::Wall);
    let started = clock::timer_now();
    let mut wall = pin!(tokio::time::sleep(wall_max));
    let ended = poll_fn(|cx| {
        let stop = |kind, message: String| Poll::Ready(Ended::Stopped(Failure::new(kind, message)));
        let began = clock::now();
        loop {
            if cancelled.as_mut().poll(cx).is_ready() {
                return stop(FailureKind::Abort, "the caller cancelled the run".to_owned());
            }
            if shut_down.as_mut().poll(cx).is_ready() {
                return stop(FailureKind::Abort, "the runtime was shut down".to_owned());
            }
            while wall.as_mut().poll(cx).is_ready() {
                // The pauses are given back. While one lasts, as much is left as when it began.
                let now = clock::timer_now();
                let left = (wall_max + session.pauses().used()).saturating_sub(now - started);
                if left.is_zero() {
                    return stop(FailureKind::Timeout, limits.reached(Limit::Wall));
                }
                wall.as_mut().reset(now + left.max(TURN));
            }
            let entered = clock::now();
            let polled = guest.as_mut().poll(cx);
            let left = clock::now();
            compute += left.duration_since(entered);
            if compute >= compute_max {
                return stop(FailureKind::Timeout, limits.reached(Limit::Compute));
            }
            if let Poll::Ready(output) = polled {
                return Poll::Ready(Ended::Guest(output));
            }
            if !session.poll_calls(cx) {
                return Poll::Pending;
            }
            if left.duration_since(began) >= TURN {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    })
    .await;
    (ended, compute)
}
