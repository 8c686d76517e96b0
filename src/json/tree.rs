//! The loops that walk, copy, compare and drop values.
//!
//! Invariant: nothing here uses the native stack in proportion to depth. Each
//! loop keeps one entry per open container on the heap.

use std::{mem, slice, vec};

use indexmap::{IndexMap, map};

use super::Value;
use super::container::{Array, Object};

/// A walk over the children of one container.
pub(super) enum Walk<'a> {
    Array(slice::Iter<'a, Value>),
    Object(map::Iter<'a, String, Value>),
}

impl<'a> Walk<'a> {
    /// The children of a container, `None` for a scalar.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Array(array) => Some(Self::array(array)),
            Value::Object(object) => Some(Self::object(object)),
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::String(_) => None,
        }
    }

    pub(super) fn array(array: &'a Array) -> Self {
        Self::Array(array.0.iter())
    }

    pub(super) fn object(object: &'a Object) -> Self {
        Self::Object(object.0.iter())
    }

    /// The bracket that ends the container.
    pub(super) fn closer(&self) -> &'static str {
        match self {
            Self::Array(_) => "]",
            Self::Object(_) => "}",
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = (Option<&'a str>, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Array(items) => items.next().map(|value| (None, value)),
            Self::Object(entries) => entries.next().map(|(key, value)| (Some(key.as_str()), value)),
        }
    }
}

pub(super) fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// A container under construction.
pub(super) enum Open {
    Array(Array),
    Object(Object),
}

impl Open {
    pub(super) fn close(self) -> Value {
        match self {
            Self::Array(array) => Value::Array(array),
            Self::Object(object) => Value::Object(object),
        }
    }
}

/// A container being copied, and the key its copy goes under.
struct Copying<'a> {
    walk: Walk<'a>,
    copy: Open,
    key: Option<&'a str>,
}

impl<'a> Copying<'a> {
    fn put(&mut self, key: Option<&'a str>, value: Value) {
        match &mut self.copy {
            Open::Array(array) => array.0.push(value),
            Open::Object(object) => {
                object.0.insert(key.unwrap_or_default().to_owned(), value);
            }
        }
    }
}

/// Copies a value.
pub(super) fn copy(value: &Value) -> Value {
    let mut stack: Vec<Copying<'_>> = Vec::new();
    let (mut key, mut source) = (None, value);
    loop {
        let mut made = match source {
            Value::Null => Some(Value::Null),
            Value::Bool(truth) => Some(Value::Bool(*truth)),
            Value::Integer(integer) => Some(Value::Integer(integer.clone())),
            Value::Float(float) => Some(Value::Float(*float)),
            Value::String(text) => Some(Value::String(text.clone())),
            Value::Array(array) => {
                let copy = Open::Array(Array(Vec::with_capacity(array.len())));
                stack.push(Copying { walk: Walk::array(array), copy, key });
                None
            }
            Value::Object(object) => {
                let copy = Open::Object(Object(Box::new(IndexMap::with_capacity(object.len()))));
                stack.push(Copying { walk: Walk::object(object), copy, key });
                None
            }
        };
        // Hand what is made to its container, and close each that ends there.
        (key, source) = loop {
            let Some(top) = stack.last_mut() else {
                return made.unwrap_or(Value::Null);
            };
            if let Some(value) = made.take() {
                top.put(key, value);
            }
            if let Some(next) = top.walk.next() {
                break next;
            }
            if let Some(done) = stack.pop() {
                (key, made) = (done.key, Some(done.copy.close()));
            }
        };
    }
}

/// A pair of containers being compared.
enum Pair<'a> {
    Arrays(slice::Iter<'a, Value>, slice::Iter<'a, Value>),
    Objects(map::Iter<'a, String, Value>, &'a Object),
}

impl<'a> Pair<'a> {
    /// The next two children; `None` at the end. A key the other object lacks
    /// pairs with nothing.
    fn next(&mut self) -> Option<(&'a Value, Option<&'a Value>)> {
        match self {
            Self::Arrays(left, right) => left.next().map(|value| (value, right.next())),
            Self::Objects(left, right) => left.next().map(|(key, value)| (value, right.get(key))),
        }
    }
}

/// Whether two values are the same tree.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    let mut stack: Vec<Pair<'_>> = Vec::new();
    if !agree(left, right, &mut stack) {
        return false;
    }
    while let Some(pair) = stack.last_mut() {
        match pair.next() {
            None => {
                stack.pop();
            }
            Some((_, None)) => return false,
            Some((left, Some(right))) => {
                if !agree(left, right, &mut stack) {
                    return false;
                }
            }
        }
    }
    true
}

/// Compares scalars, and containers by length only; their children are left on
/// the stack.
fn agree<'a>(left: &'a Value, right: &'a Value, stack: &mut Vec<Pair<'a>>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Array(left), Value::Array(right)) => {
            stack.push(Pair::Arrays(left.0.iter(), right.0.iter()));
            left.len() == right.len()
        }
        (Value::Object(left), Value::Object(right)) => {
            stack.push(Pair::Objects(left.0.iter(), right));
            left.len() == right.len()
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => false,
    }
}

/// A container being dropped.
pub(super) enum Taken {
    Array(vec::IntoIter<Value>),
    Object(map::IntoValues<String, Value>),
}

impl Taken {
    fn next(&mut self) -> Option<Value> {
        match self {
            Self::Array(items) => items.next(),
            Self::Object(values) => values.next(),
        }
    }
}

/// Drops a container's children without recursion. A container that holds
/// others is emptied onto the stack first, so that its own `Drop` finds
/// nothing; one that holds only scalars drops as it is.
pub(super) fn dismantle(outermost: Taken) {
    let mut stack = vec![outermost];
    while let Some(taken) = stack.last_mut() {
        match taken.next() {
            None => {
                stack.pop();
            }
            Some(Value::Array(mut array)) if array.0.iter().any(is_container) => {
                stack.push(Taken::Array(mem::take(&mut array.0).into_iter()));
            }
            Some(Value::Object(mut object)) if object.0.values().any(is_container) => {
                stack.push(Taken::Object(mem::take(&mut *object.0).into_values()));
            }
            Some(
                Value::Null
                | Value::Bool(_)
                | Value::Integer(_)
                | Value::Float(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_),
            ) => {}
        }
    }
}
