//! Declarations in Python, for programs in Python.
//!
//! Invariant: whatever is in a name, a description or a schema, the text is valid Python 3, and every part stays what it is: a
//! name in quotes, a description in its comment or docstring. Classes are declared before they are used; one that contains itself
//! is named in quotes inside of itself.

use std::fmt::{self, Write as _};

use super::docs::tool_docs;
use super::names::{Names, pascal};
use super::schema::types_of;
use super::types::{Declared, ObjectType, Rest, Type};
use super::{Declarations, Flavor, Language, SdkTool};
use crate::json::{Value, encode};

pub(super) static PYTHON: Language = Language {
    id: "python",
    title: "Python",
    fence: "python",
    extensions: &["py"],
    flavor: Flavor {
        tool: "Runs a program in Python that calls tools as `await tools.name({…})`, and gives back what it prints and returns.",
        code: "The program: a script in Python that may also `await` and `return` at its top level.",
        instructions: include_str!("python.md"),
    },
    declare,
};

/// Names that classes do not take.
const TAKEN: [&str; 12] = [
    "Any", "Literal", "Never", "NotRequired", "Protocol", "TypedDict", "Tools", "ToolCallError", "Exception",
    "True", "False", "None",
];

/// Words that are no names.
const KEYWORDS: [&str; 33] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
    "raise", "return", "try", "while", "with", "yield", "__debug__",
];

/// Names that stand for types in the text: a field or method of such a name would hide the type from those after it.
const BUILTINS: [&str; 6] = ["bool", "dict", "float", "int", "list", "str"];

/// Writes the declarations.
fn declare(to: &mut Declarations<'_>) {
    to.text.push_str("from typing import Any, Literal, Never, NotRequired, Protocol, TypedDict\n\n");
    let mut taken = Names::without(&TAKEN);
    let mut methods = String::new();
    let mut is_empty = true;
    for tool in to.tools.clone() {
        if to.is_over(methods.len()) {
            return;
        }
        let SdkTool { name, description, parameters, output } = tool;
        let base = pascal(name);
        let mut write = |schema: &Value, suffix: &str| {
            let declared = types_of(schema);
            for degradation in &declared.degradations {
                to.degradations.push((name.to_owned(), degradation.clone()));
            }
            let mut writer = Writer::new(&declared, &base, &mut taken);
            let written = writer.expression(&declared.root, &Path::Root(&base, suffix));
            let classes = writer.classes;
            to.text.push_str(&classes);
            written
        };
        let takes = write(parameters, "Args");
        let gives = write(output, "Output");
        let lines = tool_docs(description, parameters);
        if is_attribute(name) {
            is_empty = false;
            let _infallible = writeln!(methods, "    async def {name}(self, args: {takes}, /) -> {gives}:");
            docstring(&lines, &mut methods);
            // What has no value to give must show that it is a stub.
            if lines.is_empty() || gives != "Any" {
                methods.push_str("        ...\n");
            }
        } else {
            comment(&lines, 1, &mut methods);
            let _infallible = writeln!(methods, "    # tools[{}]: async (args: {takes}) -> {gives}", quoted(name));
        }
    }
    to.text.push_str("class ToolCallError(Exception):\n    toolName: str\n\nclass Tools(Protocol):\n");
    to.text.push_str(&methods);
    if is_empty {
        to.text.push_str("    pass\n");
    }
    to.text.push_str("\ntools: Tools\n");
}

/// What a class is called after. Written only where there is a class.
enum Path<'a> {
    Root(&'a str, &'a str),
    /// A class, and one of its fields.
    Field(&'a str, &'a str),
    Item(&'a Self),
    Value(&'a Self),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name, suffix) => write!(f, "{name}{suffix}"),
            Self::Field(class, field) => write!(f, "{class}{}", pascal(field)),
            Self::Item(list) => write!(f, "{list}Item"),
            Self::Value(map) => write!(f, "{map}Value"),
        }
    }
}

struct Writer<'a> {
    declared: &'a Declared,
    taken: &'a mut Names,
    /// What the names of classes for named parts begin with.
    base: &'a str,
    /// The classes so far.
    classes: String,
    /// What the named parts that were met are called, and whether each is written already.
    names: Vec<Option<(String, bool)>>,
    /// Whether the expression at hand names something that is not written yet.
    is_forward: bool,
}

impl<'a> Writer<'a> {
    fn new(declared: &'a Declared, base: &'a str, taken: &'a mut Names) -> Self {
        let names = vec![None; declared.named.len()];
        Self { declared, taken, base, classes: String::new(), names, is_forward: false }
    }

    /// A type as an expression. Objects in it become classes, called after `path`.
    fn expression(&mut self, ty: &Type, path: &Path<'_>) -> String {
        match ty {
            Type::Any => "Any".to_owned(),
            Type::Never => "Never".to_owned(),
            Type::Null => "None".to_owned(),
            Type::Boolean => "bool".to_owned(),
            Type::Integer => "int".to_owned(),
            Type::Number => "float".to_owned(),
            Type::String => "str".to_owned(),
            Type::Literal(value) => match literal(value) {
                Ok(text) => format!("Literal[{text}]"),
                Err(kind) => kind.to_owned(),
            },
            Type::Array(item) => format!("list[{}]", self.expression(item, &Path::Item(path))),
            Type::Tuple { items, rest, .. } => {
                // What crosses is a list, and a list has one type for all of its items.
                let all = Type::union(items.iter().cloned().chain(rest.as_deref().cloned()));
                format!("list[{}]", self.expression(&all, &Path::Item(path)))
            }
            Type::Object(object) => self.object(object, path),
            Type::Union(types) => self.union(types, path),
            Type::Named(index) => self.named(*index, path),
        }
    }

    fn union(&mut self, types: &[Type], path: &Path<'_>) -> String {
        let mut literals: Vec<String> = Vec::new();
        let mut parts: Vec<String> = Vec::new();
        for ty in types {
            let part = match ty {
                Type::Null => continue,
                Type::Literal(value) => match literal(value) {
                    Ok(text) => {
                        literals.push(text);
                        continue;
                    }
                    Err(kind) => kind.to_owned(),
                },
                other => self.expression(other, path),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if !literals.is_empty() {
            parts.insert(0, format!("Literal[{}]", literals.join(", ")));
        }
        if types.contains(&Type::Null) {
            parts.push("None".to_owned());
        }
        if parts.iter().any(|part| part == "Any") { "Any".to_owned() } else { parts.join(" | ") }
    }

    fn named(&mut self, index: usize, path: &Path<'_>) -> String {
        let Some(named) = self.declared.named.get(index) else { return "Any".to_owned() };
        if self.declared.is_inline(index) {
            return self.expression(&named.ty, path);
        }
        if let Some(Some((name, is_written))) = self.names.get(index) {
            self.is_forward |= !is_written;
            return name.clone();
        }
        let name = self.taken.unique(&format!("{}{}", self.base, pascal(&named.name)));
        self.set(index, &name, false);
        // What it is made of may name it; that says nothing about who uses it.
        let outside = self.is_forward;
        match &named.ty {
            Type::Object(object) if is_declarable(object) => self.class(&name, object),
            other => {
                let written = self.expression(other, &Path::Root(&name, ""));
                comment(&named.docs.lines, 0, &mut self.classes);
                let _infallible = writeln!(self.classes, "type {name} = {written}\n");
            }
        }
        self.is_forward = outside;
        self.set(index, &name, true);
        name
    }

    fn set(&mut self, index: usize, name: &str, is_written: bool) {
        if let Some(place) = self.names.get_mut(index) {
            *place = Some((name.to_owned(), is_written));
        }
    }

    fn object(&mut self, object: &ObjectType, path: &Path<'_>) -> String {
        let is_map = object.fields.is_empty();
        match &object.rest {
            _ if !is_map && !is_declarable(object) => "dict[str, Any]".to_owned(),
            Rest::Unsaid if is_map => "dict[str, Any]".to_owned(),
            Rest::Of(ty) if is_map => format!("dict[str, {}]", self.expression(ty, &Path::Value(path))),
            _ => {
                let name = self.taken.unique(&path.to_string());
                self.class(&name, object);
                name
            }
        }
    }

    /// Declares a class. Those of its fields come before it.
    fn class(&mut self, name: &str, object: &ObjectType) {
        let is_class = object.fields.iter().all(|field| is_field(&field.name));
        let mut body = String::new();
        for field in &object.fields {
            let outside = std::mem::take(&mut self.is_forward);
            let written = self.expression(&field.ty, &Path::Field(name, &field.name));
            let is_forward = std::mem::replace(&mut self.is_forward, outside);
            self.is_forward |= is_forward;
            let written = if field.is_optional { format!("NotRequired[{written}]") } else { written };
            let lines = field.docs.lines.as_slice();
            // Annotations of a class are not evaluated; the values of a dict are.
            let (key, written, end) = match (is_class, is_forward) {
                (true, _) => (field.name.clone(), written, ""),
                (false, false) => (quoted(&field.name), written, ","),
                (false, true) => (quoted(&field.name), quoted(&written), ","),
            };
            let beside = if let [line] = lines { format!("  # {line}") } else { String::new() };
            if lines.len() > 1 {
                comment(lines, 1, &mut body);
            }
            let _infallible = writeln!(body, "    {key}: {written}{end}{beside}");
        }
        let _infallible = match (is_class, object.fields.is_empty()) {
            (_, true) => writeln!(self.classes, "class {name}(TypedDict):\n    pass\n"),
            (true, false) => writeln!(self.classes, "class {name}(TypedDict):\n{body}"),
            (false, false) => writeln!(self.classes, "{name} = TypedDict(\"{name}\", {{\n{body}}})\n"),
        };
    }
}

/// Whether an object's fields can be declared: there are some, and each has a name.
fn is_declarable(object: &ObjectType) -> bool {
    !object.fields.is_empty() && object.fields.iter().all(|field| !field.name.is_empty())
}

/// A value as a literal, or the type of one that has no literal.
fn literal(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::Null => Err("None"),
        Value::Bool(truth) => Ok(if *truth { "True" } else { "False" }.to_owned()),
        Value::Integer(_) => Ok(encode(value)),
        Value::Float(_) => Err("float"),
        Value::String(text) => Ok(quoted(text)),
        Value::Array(_) => Err("list[Any]"),
        Value::Object(_) => Err("dict[str, Any]"),
    }
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    // Python reads all escapes of JSON as JSON does.
    encode(&Value::from(text))
        .replace('\u{7f}', "\\u007f")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn is_identifier(name: &str) -> bool {
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_plain = starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // No word among them is longer.
    let is_word = || [&KEYWORDS[..], &TAKEN, &BUILTINS].iter().any(|words| words.contains(&name));
    is_plain && (name.len() > 13 || !is_word())
}

/// Whether a tool can be reached as an attribute.
fn is_attribute(name: &str) -> bool {
    is_identifier(name) && !name.starts_with('_')
}

/// Whether a field can be declared in a class: names that begin with two underscores are changed there.
fn is_field(name: &str) -> bool {
    is_identifier(name) && (!name.starts_with("__") || name.ends_with("__"))
}

fn comment(lines: &[String], level: usize, out: &mut String) {
    for line in lines {
        (0..level).for_each(|_| out.push_str("    "));
        let _infallible = if line.is_empty() { writeln!(out, "#") } else { writeln!(out, "# {line}") };
    }
}

/// The docstring of a method, which nothing in it closes.
fn docstring(lines: &[String], out: &mut String) {
    if lines.is_empty() {
        return;
    }
    let mut text = lines.join("\n        ").replace("\n        \n", "\n\n").replace('\\', "\\\\");
    if text.contains("\"\"\"") || text.ends_with('"') {
        text = text.replace('"', "\\\"");
    }
    let end = if lines.len() > 1 { "\n        " } else { "" };
    let _infallible = writeln!(out, "        \"\"\"{text}{end}\"\"\"");
}
