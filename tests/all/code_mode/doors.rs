//! What happened in which order, and doors behind which bodies and hooks wait for a test to let them on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

/// Lines in the order in which they were noted.
#[derive(Clone)]
pub struct Log(Arc<watch::Sender<Vec<String>>>);

impl Default for Log {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(Vec::new())))
    }
}

impl Log {
    pub fn note(&self, line: impl Into<String>) {
        let line = line.into();
        self.0.send_modify(|lines| lines.push(line));
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Waits for a line.
    pub async fn until(&self, line: &str) {
        let mut lines = self.0.subscribe();
        let there = lines.wait_for(|lines| lines.iter().any(|one| one == line));
        let there = tokio::time::timeout(Duration::from_secs(60), there).await;
        let there = there.unwrap_or_else(|_| panic!("`{line}` does not come: {:?}", self.lines()));
        drop(there.expect("the log is there"));
    }

    /// Waits for a line and for everything that follows from it; gives the lines noted since the last time.
    pub async fn step(&self, line: &str) -> Vec<String> {
        self.until(line).await;
        settle().await;
        self.0.send_replace(Vec::new())
    }
}

/// Lets everything happen that can happen without a door being opened. There is one thread, so this is exact.
pub async fn settle() {
    for _ in 0..400 {
        tokio::task::yield_now().await;
    }
}

/// Doors by name, closed at first.
#[derive(Clone, Default)]
pub struct Doors(Arc<Mutex<HashMap<String, Arc<Semaphore>>>>);

impl Doors {
    fn door(&self, name: &str) -> Arc<Semaphore> {
        let mut doors = self.0.lock().expect("not poisoned");
        Arc::clone(doors.entry(name.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(0))))
    }

    /// Lets one through.
    pub fn open(&self, name: &str) {
        self.door(name).add_permits(1);
    }

    /// Waits until the door is opened.
    pub async fn pass(&self, name: &str) {
        self.door(name).acquire_owned().await.expect("doors are never taken away").forget();
    }
}
