//! How many calls each limit has let through.
//!
//! Invariant: whether a call has room in all limits it counts for is asked and noted under one lock: a count never passes its
//! limit, and a call that one limit refuses is noted by none. A count keeps neither its run nor its scope alive; it goes when
//! the run's result is published, and otherwise when a later count finds that its run or scope is over.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::rules::{Limit, Per, Rules};
use crate::execution::{CallInfo, TokenKey};
use crate::registry::ScopeKey;

/// How many counts there may be before those that are over are looked for.
const SWEEP_AT: usize = 64;

/// The counts of one installed policy.
#[derive(Debug)]
pub(super) struct Counts(Mutex<Tables>);

#[derive(Debug)]
struct Tables {
    runs: Table<TokenKey>,
    scopes: Table<ScopeKey>,
}

/// Why a call has no room.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Where the limit begins.
    pub(super) line: usize,
    pub(super) reason: String,
}

/// Counts by limit and by what the limit counts per.
#[derive(Debug)]
struct Table<K> {
    counts: HashMap<(K, usize), u64>,
    sweep_at: usize,
}

impl Counts {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Tables { runs: Table::new(), scopes: Table::new() }))
    }

    /// Says why the call has no room. Notes nothing.
    pub(super) fn refusal(&self, rules: &Rules, call: &CallInfo) -> Option<Refusal> {
        let limits = concerned(rules, call);
        if limits.is_empty() { None } else { self.lock().refusal(&limits, call) }
    }

    /// Notes the call, or says why it has no room.
    pub(super) fn take(&self, rules: &Rules, call: &CallInfo) -> Result<(), Refusal> {
        let limits = concerned(rules, call);
        if limits.is_empty() {
            return Ok(());
        }
        let mut tables = self.lock();
        if let Some(refusal) = tables.refusal(&limits, call) {
            return Err(refusal);
        }
        for (index, limit) in limits {
            match limit.per {
                Per::Run => tables.runs.add((call.root().key(), index), TokenKey::is_over),
                Per::Scope => tables.scopes.add((call.scope().key(), index), ScopeKey::is_gone),
            }
        }
        Ok(())
    }

    /// Forgets the run whose outermost call this is.
    pub(super) fn forget(&self, rules: &Rules, call: &CallInfo) {
        let mut tables = self.lock();
        for (index, limit) in rules.limits.iter().enumerate() {
            if limit.per == Per::Run {
                tables.runs.counts.remove(&(call.token().key(), index));
            }
        }
    }

    /// How many counts there are, per run and per scope.
    #[cfg(test)]
    pub(super) fn len(&self) -> (usize, usize) {
        let tables = self.lock();
        (tables.runs.counts.len(), tables.scopes.counts.len())
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limits that the call counts for.
fn concerned<'r>(rules: &'r Rules, call: &CallInfo) -> Vec<(usize, &'r Limit)> {
    rules.limits.iter().enumerate().filter(|(_, limit)| limit.counts(call)).collect()
}

impl Tables {
    fn refusal(&self, limits: &[(usize, &Limit)], call: &CallInfo) -> Option<Refusal> {
        let full = limits.iter().find(|(index, limit)| {
            let count = match limit.per {
                Per::Run => self.runs.counts.get(&(call.root().key(), *index)),
                Per::Scope => self.scopes.counts.get(&(call.scope().key(), *index)),
            };
            count.is_some_and(|count| *count >= limit.max_calls)
        });
        full.map(|(_, limit)| Refusal { line: limit.line, reason: limit.denial() })
    }
}

impl<K: Hash + Eq> Table<K> {
    fn new() -> Self {
        Self { counts: HashMap::new(), sweep_at: SWEEP_AT }
    }

    fn add(&mut self, key: (K, usize), is_over: impl Fn(&K) -> bool) {
        *self.counts.entry(key).or_insert(0) += 1;
        if self.counts.len() >= self.sweep_at {
            self.counts.retain(|(key, _), _| !is_over(key));
            self.sweep_at = SWEEP_AT.max(self.counts.len() * 2);
        }
    }
}
