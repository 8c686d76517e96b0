//! Tools: what a program may call, and the schemas that say with which arguments.

mod schema;

pub use schema::{SCHEMA_BYTES_MAX, Schema, SchemaError, VALIDATION_STEPS_MAX, VIOLATIONS_MAX, Violation, Violations};
