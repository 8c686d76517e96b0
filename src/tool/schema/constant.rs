//! The keyword `const`, as a keyword of our own.
//!
//! The library's own one is as good, but it takes part in an analysis of `anyOf` and `oneOf` that follows every reference of
//! every branch again and again: a few hundred bytes would take hours to compile. The library leaves the analysis out where one
//! of its keywords is somebody else's.
//!
//! Invariant: a value matches exactly where it is equal as JSON Schema says, integers of any length included.

use jsonschema::json::Node as _;
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

use super::node::{Exact, Reader};
use super::violation::excerpt;

struct Constant {
    expected: Value,
    /// The value as a message shows it.
    shown: String,
}

/// Makes the keyword.
#[expect(clippy::unnecessary_wraps, reason = "a factory of the library may fail")]
pub(super) fn compile<'a>(
    _parent: &'a Map<String, Value>,
    expected: &'a Value,
    _place: Location,
) -> Result<Box<dyn for<'i> Keyword<'i, Exact>>, ValidationError<'a>> {
    Ok(Box::new(Constant { expected: expected.clone(), shown: excerpt(expected) }))
}

impl<'i> Keyword<'i, Exact> for Constant {
    fn validate(&self, instance: Reader<'i>) -> Result<(), ValidationError<'i>> {
        if instance.equals_value(&self.expected) {
            Ok(())
        } else {
            Err(ValidationError::custom(self.shown.as_str()))
        }
    }

    fn is_valid(&self, instance: Reader<'i>) -> bool {
        instance.equals_value(&self.expected)
    }
}
