//! What a value costs, and whether a hand-built value may cross.
//!
//! Invariant: [`cost`] of a decoded value is what the decoder charged for it,
//! to the byte. Both use the sizes in this file, which model the allocations
//! the containers really make and round up.

use super::error::{Error, ErrorKind, Step, path};
use super::tree::Walk;
use super::{DEPTH_MAX, Value};

/// A value where it stands: the root, or one slot of an array.
pub(super) const SLOT_BYTES: usize = size_of::<Value>();

/// What an allocator may add to one block: its header, rounding, smallest size.
const BLOCK_BYTES: usize = 32;

/// The map header an object keeps on the heap.
pub(super) const OBJECT_BYTES: usize = 72 + BLOCK_BYTES;

/// One bucket of an object: key, value, hash, index and control byte.
const BUCKET_BYTES: usize = size_of::<String>() + SLOT_BYTES + 8 + 8 + 1;

/// An estimate, in bytes, of the memory a value holds.
///
/// Counts the value itself, each array by its capacity in slots of
/// `size_of::<Value>()`, each object by the buckets of its map, strings, keys
/// and long integers by capacity, and for every heap block what an allocator
/// adds. Rounded up rather than down. Equal to what
/// [`decode_bounded`](super::decode_bounded) reported for a decoded value; a
/// clone has no spare capacity and may cost less.
#[must_use]
pub fn cost(value: &Value) -> usize {
    let mut total = SLOT_BYTES.saturating_add(heap(value));
    let mut stack: Vec<Walk<'_>> = Walk::of(value).into_iter().collect();
    while let Some(walk) = stack.last_mut() {
        let Some((_, child)) = walk.next() else {
            stack.pop();
            continue;
        };
        total = total.saturating_add(heap(child));
        stack.extend(Walk::of(child));
    }
    total
}

/// Whether [`cost`] is more than `cost_max`, in time proportional to `cost_max` at most.
pub(crate) fn costs_more(value: &Value, cost_max: usize) -> bool {
    let Some(mut left) = cost_max.checked_sub(SLOT_BYTES) else {
        return true;
    };
    let mut fits = |value: &Value| {
        // The keys after the buckets they are in, which bound their number.
        let rest = left.checked_sub(shell(value)).and_then(|rest| rest.checked_sub(keys(value)));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    if !fits(value) {
        return true;
    }
    let mut stack: Vec<Walk<'_>> = Walk::of(value).into_iter().collect();
    while let Some(walk) = stack.last_mut() {
        let Some((_, child)) = walk.next() else {
            stack.pop();
            continue;
        };
        if !fits(child) {
            return true;
        }
        stack.extend(Walk::of(child));
    }
    false
}

/// The heap bytes of one value without its children's.
fn heap(value: &Value) -> usize {
    shell(value).saturating_add(keys(value))
}

/// The same without an object's keys.
fn shell(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Float(_) => 0,
        Value::Integer(integer) => block(integer.heap_bytes()),
        Value::String(text) => block(text.capacity()),
        Value::Array(array) => slots(array.0.capacity()),
        Value::Object(object) => OBJECT_BYTES + buckets(object.0.capacity()),
    }
}

/// The heap bytes of an object's keys; of nothing else.
fn keys(value: &Value) -> usize {
    match value {
        Value::Object(object) => object.0.keys().map(|key| block(key.capacity())).fold(0, usize::saturating_add),
        _ => 0,
    }
}

/// One heap block of the given capacity; nothing is allocated for none.
pub(super) fn block(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes.saturating_add(BLOCK_BYTES) }
}

/// The heap block behind an array of the given capacity.
pub(super) fn slots(capacity: usize) -> usize {
    block(capacity.saturating_mul(SLOT_BYTES))
}

/// The heap blocks behind an object's map of the given capacity.
pub(super) fn buckets(capacity: usize) -> usize {
    if capacity == 0 {
        return 0;
    }
    let bytes = bucket_count(capacity).saturating_mul(BUCKET_BYTES);
    bytes.saturating_add(2 * BLOCK_BYTES)
}

/// How many buckets hash tables use for a capacity: a power of two, of which
/// an eighth stays free.
fn bucket_count(capacity: usize) -> usize {
    if capacity < 4 {
        return 4;
    }
    capacity.saturating_mul(8).div_ceil(7).checked_next_power_of_two().unwrap_or(usize::MAX)
}

/// The capacity a decoder gives an array that is full.
pub(super) fn grown_slots(capacity: usize) -> usize {
    capacity.saturating_mul(2).max(4)
}

/// The capacity a decoder gives an object's map that is full.
pub(super) fn grown_buckets(capacity: usize) -> usize {
    let count = bucket_count(capacity.saturating_add(1));
    if count < 8 { 3 } else { count / 8 * 7 }
}

/// Checks a value that was built by hand for what the decoder would refuse.
///
/// Everything else holds by construction: integers within their digits,
/// floats finite, keys unique, strings Unicode.
///
/// # Errors
///
/// `Depth` for nesting beyond [`DEPTH_MAX`] levels, with the path of the first
/// container that is too deep.
pub fn check(value: &Value) -> Result<(), Error> {
    let mut stack: Vec<Level<'_>> = Vec::new();
    stack.extend(Walk::of(value).map(Level::new));
    while let Some(level) = stack.last_mut() {
        let Some((key, child)) = level.walk.next() else {
            stack.pop();
            continue;
        };
        level.step = match (key, level.step) {
            (Some(key), _) => Some(Step::Key(key)),
            (None, Some(Step::Index(index))) => Some(Step::Index(index + 1)),
            (None, Some(Step::Key(_)) | None) => Some(Step::Index(0)),
        };
        let Some(walk) = Walk::of(child) else {
            continue;
        };
        if stack.len() == DEPTH_MAX {
            let path = path(stack.iter().filter_map(|level| level.step));
            return Err(Error::new(ErrorKind::Depth, too_deep(), path, None));
        }
        stack.push(Level::new(walk));
    }
    Ok(())
}

/// The message for nesting beyond the limit.
pub(super) fn too_deep() -> String {
    format!("nesting deeper than {DEPTH_MAX} levels")
}

/// A container being walked, and the step to the child reached last.
struct Level<'a> {
    walk: Walk<'a>,
    step: Option<Step<'a>>,
}

impl<'a> Level<'a> {
    fn new(walk: Walk<'a>) -> Self {
        Self { walk, step: None }
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::super::decode;
    use super::*;

    #[test]
    fn what_costs_more_is_known_to_the_byte() {
        let long = format!(r#"{{"{}":[1,{{"b":"c"}},{}]}}"#, "k".repeat(1000), "7".repeat(1000));
        for text in ["null", "[]", r#""text""#, r#"{"a":[{},[],"b"],"c":{"d":null}}"#, &long] {
            let value = decode(text).unwrap();
            let exact = cost(&value);
            let found = [exact - 1, exact, exact + 1].map(|most| costs_more(&value, most));
            assert_eq!(found, [true, false, false], "{text}");
            assert!(costs_more(&value, 0) && !costs_more(&value, usize::MAX));
        }
    }

    #[test]
    fn a_value_takes_four_words() {
        assert_eq!(size_of::<Value>(), 4 * size_of::<usize>());
        assert!(size_of::<IndexMap<String, Value>>() + BLOCK_BYTES <= OBJECT_BYTES);
    }

    #[test]
    fn planned_capacities_are_the_ones_the_containers_take() {
        let mut items: Vec<Value> = Vec::new();
        let mut entries: IndexMap<String, Value> = IndexMap::new();
        for _ in 0..16 {
            let planned = grown_slots(items.capacity());
            items.reserve_exact(planned - items.len());
            assert_eq!(items.capacity(), planned);
            items.resize(planned, Value::Null);

            let planned = grown_buckets(entries.capacity());
            entries.reserve_exact(planned - entries.len());
            assert_eq!(entries.capacity(), planned);
            entries.extend((0..planned).map(|index| (index.to_string(), Value::Null)));
            assert_eq!(entries.capacity(), planned);
        }
    }
}
