//! Which names a program's globals may have. One table for all languages.
//!
//! Invariant: a binding list that is valid for one guest is valid for every guest, so a platform can change the
//! language without renaming anything.

/// Words no global may have: reserved in JavaScript (strict, module and future), TypeScript or Python, or names
/// that some guest owns. Sorted, so that it can be searched.
const TAKEN: &[&str] = &[
    "False", "Infinity", "NaN", "None", "NotImplemented", "True", "abstract", "and", "any", "arguments", "as",
    "assert", "async", "asyncio", "await", "boolean", "break", "case", "catch", "class", "const", "continue",
    "console", "debugger", "declare", "def", "default", "del", "delete", "do", "elif", "else", "enum", "eval",
    "except", "exec", "export", "extends", "false", "finally", "for", "from", "function", "global", "globalThis",
    "if", "implements", "import", "in", "instanceof", "interface", "is", "lambda", "let", "match", "module",
    "namespace", "never", "new", "nonlocal", "not", "null", "number", "object", "of", "or", "package", "pass",
    "print", "private", "protected", "public", "raise", "require", "return", "self", "static", "string", "super",
    "switch", "symbol", "this", "throw", "true", "try", "type", "typeof", "undefined", "unknown", "var", "void",
    "while", "window", "with", "yield",
];

/// Properties every exception object has already, in one language or another.
const ERROR_PROPERTIES: &[&str] =
    &["add_note", "args", "cause", "constructor", "message", "name", "stack", "toString", "with_traceback"];

/// Whether `name` can be a global of a program in every language.
///
/// That is `[A-Za-z_][A-Za-z0-9_]*`, at most 255 bytes, reserved in no language, owned by no guest, and neither
/// beginning nor ending in two underscores.
#[must_use]
pub fn is_portable(name: &str) -> bool {
    is_identifier(name) && !is_dunder(name) && !TAKEN.contains(&name) && !is_builtin_class(name)
}

/// Whether `name` can be a property of an error class in every language.
#[must_use]
pub fn is_portable_property(name: &str) -> bool {
    is_portable(name) && !ERROR_PROPERTIES.contains(&name)
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 255
        && bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_dunder(name: &str) -> bool {
    name.starts_with("__") || name.ends_with("__")
}

/// The standard classes and functions of the languages, which a binding would hide from programs.
fn is_builtin_class(name: &str) -> bool {
    const BUILTIN: &[&str] = &[
        "Array", "ArrayBuffer", "BigInt", "Boolean", "DataView", "Date", "Error", "Exception", "Function", "Intl",
        "JSON", "Map", "Math", "Number", "Object", "Promise", "Proxy", "RangeError", "Reflect", "RegExp", "Set",
        "String", "Symbol", "SyntaxError", "TypeError", "URL", "ValueError", "WeakMap", "WeakSet", "bool", "dict",
        "float", "input", "int", "len", "list", "map", "open", "range", "set", "setInterval", "setTimeout",
        "structuredClone", "str", "tuple", "clearInterval", "clearTimeout", "performance", "queueMicrotask",
    ];
    BUILTIN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_04_ordinary_names_are_portable() {
        for name in ["tools", "ToolCallError", "_x", "a1", "toolName", &"a".repeat(255)] {
            assert!(is_portable(name), "{name}");
        }
    }

    #[test]
    fn rt_04_other_names_are_not() {
        for name in [
            "",
            "1a",
            "my-tool",
            "a b",
            "é",
            "class",
            "lambda",
            "None",
            "console",
            "__builtins__",
            "__name__",
            "__debug__",
            "x__",
            "Promise",
            "print",
            "await",
            &"a".repeat(256),
        ] {
            assert!(!is_portable(name), "{name}");
        }
    }

    #[test]
    fn rt_04_error_properties_exclude_what_errors_have() {
        assert!(is_portable_property("toolName"));
        for name in ["name", "message", "stack", "args", "with_traceback", "add_note", "__cause__"] {
            assert!(!is_portable_property(name), "{name}");
        }
    }
}
