//! The memory limit of one run.
//!
//! Invariant: all memories and tables of an instance together stay under the limit, however many there are, and a refused
//! growth is remembered, so that the run's end can name the limit.

use wasmtime::ResourceLimiter;

use super::engine::{CORE_INSTANCES_MAX, MEMORIES_MAX, TABLES_MAX};

/// What one table element takes on the host.
const TABLE_ELEMENT_BYTES: usize = size_of::<usize>();

/// Sums up what an instance's memories and tables take.
#[derive(Debug)]
pub(super) struct Limiter {
    bytes: usize,
    bytes_max: usize,
    /// What the last granted growth took, to be given back should it fail after all.
    last: usize,
    refused: bool,
}

impl Limiter {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: 0, bytes_max, last: 0, refused: false }
    }

    /// Whether the guest ever asked for more than the limit.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// What the instance's memories and tables take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn grow(&mut self, bytes: usize, possible: bool) -> bool {
        let granted = possible && bytes <= self.bytes_max - self.bytes;
        // Growing past the type's own maximum fails whatever the limit is.
        self.refused |= possible && !granted;
        self.last = if granted { bytes } else { 0 };
        self.bytes += self.last;
        granted
    }

    fn give_back(&mut self) {
        self.bytes -= std::mem::take(&mut self.last);
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(desired.saturating_sub(current), maximum.is_none_or(|maximum| desired <= maximum)))
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.give_back();
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let bytes = desired.saturating_sub(current).saturating_mul(TABLE_ELEMENT_BYTES);
        Ok(self.grow(bytes, maximum.is_none_or(|maximum| desired <= maximum)))
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.give_back();
        Ok(())
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES_MAX as usize
    }

    fn tables(&self) -> usize {
        TABLES_MAX as usize
    }

    fn memories(&self) -> usize {
        MEMORIES_MAX as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_and_tables_share_one_limit() {
        let mut limiter = Limiter::new(1000);
        assert!(limiter.memory_growing(0, 400, None).expect("no error"));
        assert!(limiter.memory_growing(0, 400, None).expect("no error"));
        assert!(limiter.table_growing(0, 25, None).expect("no error"));
        assert!(!limiter.refused());
        assert!(!limiter.memory_growing(400, 401, None).expect("no error"));
        assert!(limiter.refused());
    }

    #[test]
    fn a_failed_growth_is_given_back_once() {
        let mut limiter = Limiter::new(1000);
        assert!(limiter.memory_growing(0, 600, None).expect("no error"));
        limiter.memory_grow_failed(wasmtime::Error::msg("no memory")).expect("no error");
        limiter.memory_grow_failed(wasmtime::Error::msg("no memory")).expect("no error");
        assert!(limiter.memory_growing(0, 1000, None).expect("no error"));
        assert!(!limiter.memory_growing(1000, 1001, None).expect("no error"));
        limiter.memory_grow_failed(wasmtime::Error::msg("refused")).expect("no error");
        assert!(!limiter.memory_growing(1000, 1001, None).expect("no error"));
    }

    #[test]
    fn growth_past_a_memory_s_own_maximum_is_not_the_limit_s_doing() {
        let mut limiter = Limiter::new(1000);
        assert!(!limiter.memory_growing(0, 500, Some(400)).expect("no error"));
        assert!(!limiter.refused());
    }
}
