//! What runs do, for those who follow them: event logs and live views.
//!
//! Invariant: nobody who follows holds a run up, fails it or sees it wait. A follower that is too slow misses events, and is
//! told how many; what waits for it is bounded in number and in bytes.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::contain::{contain, quietly};
use crate::content::Content;
use crate::execution::{ApprovalAnswer, BoxError};
use crate::json::{self, Value};
use crate::runtime::{FailureKind, GuestIdentity, Timings};

/// How many events wait for one follower.
pub const FOLLOWED_EVENTS_MAX: usize = 1024;

/// How many bytes the events hold that wait for one follower.
pub const FOLLOWED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Something that happened in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunEvent {
    /// The id of the call of `run_code`.
    pub run: Arc<str>,
    /// What happened.
    pub what: RunEventKind,
}

/// What can happen in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunEventKind {
    /// The program is about to start.
    Started {
        /// What the model says it does.
        description: Arc<str>,
        /// Who runs it.
        guest: Arc<GuestIdentity>,
    },
    /// The program logged this.
    Log(Arc<str>),
    /// A call of the program has started: its turn has come, and policy is asked.
    CallStarted(StartedCall),
    /// A call that had started has its final result.
    CallSettled(Arc<SettledCall>),
    /// A person is asked for approval of a call, the program's own or one below it.
    ApprovalAsked {
        /// The id of the call.
        call: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// Why a listener wants approval, where it said so.
        reason: Option<Arc<str>>,
    },
    /// The question has been answered, or withdrawn because the call was cancelled.
    ApprovalAnswered {
        /// The id of the call.
        call: Arc<str>,
        /// The tool.
        name: Arc<str>,
        /// The answer.
        answer: ApprovalAnswer,
    },
    /// The program has ended, and so have its calls.
    Ended {
        /// How it failed, if it did.
        failure: Option<FailureKind>,
        /// Where the time went.
        timings: Timings,
    },
}

/// A call of a program that has started.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StartedCall {
    /// Its id: the run's, `:code:`, and its number.
    pub id: Arc<str>,
    /// The name the program called.
    pub name: Arc<str>,
    /// What it passed.
    pub arguments: Arc<Value>,
}

/// A call of a program that has its final result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SettledCall {
    /// The call.
    pub call: StartedCall,
    /// Whether it failed.
    pub is_error: bool,
    /// What a model would see of the result.
    pub content: Vec<Content>,
    /// How long it took.
    pub elapsed: Duration,
}

impl RunEvent {
    /// About how many bytes it holds.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match &self.what {
                RunEventKind::Started { description, .. } => description.len(),
                RunEventKind::Log(entry) => entry.len(),
                RunEventKind::CallStarted(call) => call.bytes(),
                RunEventKind::CallSettled(settled) => {
                    settled.call.bytes() + settled.content.iter().map(Content::bytes).sum::<usize>()
                }
                RunEventKind::ApprovalAsked { name, reason, .. } => {
                    name.len() + reason.as_ref().map_or(0, |r| r.len())
                }
                RunEventKind::ApprovalAnswered { name, .. } => name.len(),
                RunEventKind::Ended { .. } => 0,
            }
    }
}

impl StartedCall {
    fn bytes(&self) -> usize {
        self.id.len() + self.name.len() + json::cost(&self.arguments)
    }
}

type Observer = Arc<dyn Fn(&RunEvent) + Send + Sync>;
type Shape = Arc<dyn Fn(SettledCall) -> Result<SettledCall, BoxError> + Send + Sync>;

/// Where the runs of a [`CodeMode`](super::CodeMode) are followed. Cloning it clones a pointer.
#[derive(Clone, Default)]
pub struct RunEvents(Arc<Inner>);

#[derive(Default)]
struct Inner {
    listeners: RwLock<Listeners>,
}

#[derive(Clone, Default)]
struct Listeners {
    observers: Vec<Observer>,
    shapes: Vec<Shape>,
    followers: Vec<Queue>,
}

impl RunEvents {
    /// Nobody follows yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows every event of every run to `observer`, in order, for as long as there are runs. It is called where the event
    /// happens and must return at once; a panic in it is contained.
    pub fn observe(&self, observer: impl Fn(&RunEvent) + Send + Sync + 'static) {
        self.change(|listeners| listeners.observers.push(Arc::new(observer)));
    }

    /// Shapes what is shown of settled calls, for example to keep secrets out of a log. It changes nothing but the events;
    /// where it fails or panics, the call is shown as it was.
    pub fn shape(&self, shape: impl Fn(SettledCall) -> Result<SettledCall, BoxError> + Send + Sync + 'static) {
        self.change(|listeners| listeners.shapes.push(Arc::new(shape)));
    }

    /// Follows all runs from now on, at the follower's own pace.
    #[must_use]
    pub fn follow(&self) -> Follower {
        let (events, queue) = mpsc::channel(FOLLOWED_EVENTS_MAX);
        let room = Arc::new(Semaphore::new(FOLLOWED_BYTES_MAX));
        let missed = Arc::<AtomicU64>::default();
        self.change(|listeners| {
            listeners.followers.retain(|queue| !queue.events.is_closed());
            listeners.followers.push(Queue { events, room, missed: Arc::clone(&missed) });
        });
        Follower { queue, missed, next: None }
    }

    fn change(&self, change: impl FnOnce(&mut Listeners)) {
        change(&mut self.0.listeners.write().unwrap_or_else(PoisonError::into_inner));
    }

    fn listeners(&self) -> Option<Listeners> {
        let listeners = self.0.listeners.read().unwrap_or_else(PoisonError::into_inner);
        let any = !(listeners.observers.is_empty() && listeners.followers.is_empty());
        // Nobody's code runs under the lock.
        any.then(|| listeners.clone())
    }

    /// Whether anybody sees what happens now.
    pub(super) fn are_followed(&self) -> bool {
        let listeners = self.0.listeners.read().unwrap_or_else(PoisonError::into_inner);
        !(listeners.observers.is_empty() && listeners.followers.is_empty())
    }

    /// Shows an event, made only where somebody sees it.
    pub(super) fn emit(&self, run: &Arc<str>, what: impl FnOnce() -> RunEventKind) {
        let Some(listeners) = self.listeners() else { return };
        let mut what = what();
        if let RunEventKind::CallSettled(settled) = &mut what {
            for shape in &listeners.shapes {
                if let Ok(Ok(shaped)) = contain(|| shape(SettledCall::clone(settled))) {
                    *settled = Arc::new(shaped);
                }
            }
        }
        let event = RunEvent { run: Arc::clone(run), what };
        for observer in &listeners.observers {
            quietly(|| observer(&event));
        }
        for follower in &listeners.followers {
            follower.push(&event);
        }
    }
}

impl fmt::Debug for RunEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunEvents").field("followed", &self.are_followed()).finish_non_exhaustive()
    }
}

/// What waits for one follower.
#[derive(Clone)]
struct Queue {
    events: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
    missed: Arc<AtomicU64>,
}

struct Waiting {
    /// How many were missed before it.
    missed: u64,
    /// `None` where it was missed itself: it alone has more bytes than there is room for.
    event: Option<(RunEvent, OwnedSemaphorePermit)>,
}

impl Queue {
    fn push(&self, event: &RunEvent) {
        let Ok(place) = self.events.try_reserve() else {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let bytes = u32::try_from(event.bytes()).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).try_acquire_many_owned(bytes).ok();
        let missed = self.missed.swap(0, Ordering::Relaxed) + u64::from(room.is_none());
        place.send(Waiting { missed, event: room.map(|room| (event.clone(), room)) });
    }
}

/// Follows runs. At most [`FOLLOWED_EVENTS_MAX`] events of [`FOLLOWED_BYTES_MAX`] bytes wait for it; those beyond are missed.
#[derive(Debug)]
pub struct Follower {
    queue: mpsc::Receiver<Waiting>,
    missed: Arc<AtomicU64>,
    /// Came with a gap before it, which has been told.
    next: Option<RunEvent>,
}

/// What a follower is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Followed {
    /// The next event.
    Event(RunEvent),
    /// As many events were missed here.
    Missed(u64),
}

impl Follower {
    /// What comes next; `None` once there can be no run any more.
    ///
    /// # Cancellation
    /// Nothing is lost where the future is dropped.
    pub async fn next(&mut self) -> Option<Followed> {
        if let Some(event) = self.next.take() {
            return Some(Followed::Event(event));
        }
        let waiting = match self.queue.try_recv() {
            Ok(waiting) => Some(waiting),
            // Those that found no place are told when all before them have been.
            Err(_) => match self.missed.swap(0, Ordering::Relaxed) {
                0 => self.queue.recv().await,
                missed => return Some(Followed::Missed(missed)),
            },
        };
        let Waiting { missed, event } = waiting?;
        let event = event.map(|(event, _room)| event);
        if missed == 0 {
            return event.map(Followed::Event);
        }
        self.next = event;
        Some(Followed::Missed(missed))
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("missed", &self.missed).finish_non_exhaustive()
    }
}
