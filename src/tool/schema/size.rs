//! How large a value is: what its check may take is in proportion to that.
//!
//! Invariant: one look at each value inside, without recursion, since others may stand on the stack.

use crate::json::Value;

use super::meter::whole;
use super::{STEPS_PER_VALUE, VALIDATION_STEPS_MAX};

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Values and keys.
    values: u64,
    /// Bytes of texts and keys.
    pub(super) bytes: u64,
    /// Bytes of the longest path as the library writes it.
    pub(super) path: u64,
}

impl Size {
    pub(super) fn of(value: &Value) -> Self {
        let mut size = Self::default();
        // Containers to look into, with the bytes of the paths to them. Nothing is allocated for a value without any inside.
        let mut open = Vec::new();
        let mut next = size.add(value, 0);
        while let Some((container, path)) = next.or_else(|| open.pop()) {
            size.look_into(container, path, &mut open);
            next = None;
        }
        size
    }

    /// Adds one value without what is inside; gives it back where there is something inside.
    fn add<'a>(&mut self, value: &'a Value, path: u64) -> Option<(&'a Value, u64)> {
        self.values += 1;
        self.path = self.path.max(path);
        match value {
            Value::Null | Value::Bool(_) | Value::Float(_) => {}
            Value::Integer(integer) => self.bytes += whole(integer.digits()),
            Value::String(text) => self.bytes += whole(text.len()),
            Value::Array(_) | Value::Object(_) => return Some((value, path)),
        }
        None
    }

    fn look_into<'a>(&mut self, container: &'a Value, path: u64, open: &mut Vec<(&'a Value, u64)>) {
        match container {
            Value::Array(items) => {
                // A slash and an index.
                let path = path + 2 + u64::from(whole(items.len()).checked_ilog10().unwrap_or(0));
                open.extend(items.iter().filter_map(|item| self.add(item, path)));
            }
            Value::Object(entries) => {
                for (key, value) in entries {
                    self.values += 1;
                    self.bytes += whole(key.len());
                    // A slash, and some characters are escaped with two.
                    open.extend(self.add(value, path + 1 + 2 * whole(key.len())));
                }
            }
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::String(_) => {}
        }
    }

    /// How many steps checking it may take.
    pub(super) fn steps(self) -> u64 {
        VALIDATION_STEPS_MAX.saturating_add(self.values.saturating_mul(STEPS_PER_VALUE)).saturating_add(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

    #[test]
    fn values_keys_bytes_and_the_longest_path_are_counted() {
        let size = |text: &str| {
            let Size { values, bytes, path } = Size::of(&decode(text).unwrap());
            (values, bytes, path)
        };
        assert_eq!(size("null"), (1, 0, 0));
        assert_eq!(size("-12345678901234567890"), (1, 21, 0));
        assert_eq!(size(r#"{"ab":"cde"}"#), (3, 5, 5));
        assert_eq!(size(r#"[[],[1,[2]],"x"]"#), (7, 1, 6));
        assert_eq!(size(r#"{"a":{"b":[true]},"long":0.5}"#), (8, 6, 9));
    }
}
