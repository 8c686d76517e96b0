//! Arrays and objects.
//!
//! Invariant: dropping, copying or comparing a container never recurses in
//! proportion to depth. `Drop` sits on the two containers rather than on
//! [`Value`], so that a value can still be taken apart by pattern; `Clone` and
//! `PartialEq` sit on `Value`, so that the containers can derive theirs and
//! reach the loops of `tree.rs` through their elements.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Deref;
use std::{mem, slice, vec};

use indexmap::{IndexMap, map};

use super::Value;
use super::tree::{Taken, dismantle, is_container};

/// A sequence of values. It dereferences to a slice.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Array(pub(super) Vec<Value>);

impl Array {
    /// An empty array.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value.
    pub fn push(&mut self, value: Value) {
        self.0.push(value);
    }

    /// The elements as a vector, without copying them.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<Value> {
        mem::take(&mut self.0)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.0).finish()
    }
}

impl Deref for Array {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl From<Vec<Value>> for Array {
    fn from(items: Vec<Value>) -> Self {
        Self(items)
    }
}

impl FromIterator<Value> for Array {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl IntoIterator for Array {
    type Item = Value;
    type IntoIter = vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Value;
    type IntoIter = slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.0.iter().any(is_container) {
            dismantle(Taken::Array(mem::take(&mut self.0).into_iter()));
        }
    }
}

/// Values by unique key, in insertion order.
///
/// Objects with the same entries are equal in whatever order they are.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Object(pub(super) Box<IndexMap<String, Value>>);

impl Object {
    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value under a key and returns the one it replaces, if any. A new
    /// key goes last; a replaced one keeps its place.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(key.into(), value.into())
    }

    /// The value under a key, if there is one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Whether there is a value under a key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Takes out the value under a key, if there is one. The other entries
    /// keep their order, which takes time in proportion to their number.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key)
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> Entries<'_> {
        Entries(self.0.iter())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

impl FromIterator<(String, Value)> for Object {
    /// Of several values with the same key, the last one stays.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self(Box::new(entries.into_iter().collect()))
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = IntoEntries;

    fn into_iter(mut self) -> IntoEntries {
        IntoEntries(mem::take(&mut *self.0).into_iter())
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Value);
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.0.values().any(is_container) {
            dismantle(Taken::Object(mem::take(&mut *self.0).into_values()));
        }
    }
}

/// The entries of an [`Object`], borrowed, in order.
#[derive(Clone, Debug)]
pub struct Entries<'a>(map::Iter<'a, String, Value>);

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Entries<'_> {}
impl FusedIterator for Entries<'_> {}

/// The entries of an [`Object`], owned, in order.
#[derive(Debug)]
pub struct IntoEntries(map::IntoIter<String, Value>);

impl Iterator for IntoEntries {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoEntries {}
impl FusedIterator for IntoEntries {}
