//! Declarations in TypeScript, for programs in TypeScript and in JavaScript.
//!
//! Invariant: whatever is in a name, a description or a schema, the text parses, and every part stays what it is: a name in
//! quotes, a description in its comment.

use std::fmt::Write as _;

use super::docs::tool_docs;
use super::names::{Names, pascal};
use super::schema::types_of;
use super::types::{Declared, Field, ObjectType, Rest, Type};
use super::{Declarations, Flavor, Language, SdkTool};
use crate::json::{Value, encode};

/// How many characters an object or a union on one line may have.
const LINE_MAX: usize = 96;

pub(super) static TYPESCRIPT: Language = Language {
    id: "typescript",
    title: "TypeScript",
    fence: "typescript",
    extensions: &["ts"],
    flavor: Flavor {
        tool: "Runs a program in TypeScript that calls tools as `await tools.name({ … })`, and gives back what it prints and returns.",
        code: "The program: the body of an async function, in TypeScript whose types can be erased.",
        instructions: INSTRUCTIONS,
    },
    declare,
};

pub(super) static JAVASCRIPT: Language = Language {
    id: "javascript",
    title: "JavaScript",
    fence: "typescript",
    extensions: &["js", "mjs"],
    flavor: Flavor {
        tool: "Runs a program in JavaScript that calls tools as `await tools.name({ … })`, and gives back what it prints and returns.",
        code: "The program: the body of an async function, in JavaScript.",
        instructions: JAVASCRIPT_INSTRUCTIONS,
    },
    declare,
};

const INSTRUCTIONS: &str = include_str!("typescript.md");
const JAVASCRIPT_INSTRUCTIONS: &str = include_str!("javascript.md");

/// Writes the declarations.
fn declare(to: &mut Declarations<'_>) {
    to.text.push_str(
        "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };\n",
    );
    let mut writer = Writer { out: String::new(), names: Vec::new() };
    let mut taken = Names::without(&TAKEN);
    let (mut arguments, mut outputs) = (String::new(), String::new());
    let mut untyped = 0;
    for tool in to.tools.clone() {
        if to.is_over(arguments.len() + outputs.len()) {
            return;
        }
        let SdkTool { name, description, parameters, output } = tool;
        let base = pascal(name);
        let takes = types_of(parameters);
        let gives = types_of(output);
        for degradation in takes.degradations.iter().chain(&gives.degradations) {
            to.degradations.push((name.to_owned(), degradation.clone()));
        }
        let key = key(name);
        writer.name(&takes, &base, &mut taken);
        to.text.push_str(&writer.declared(&takes));
        comment(&tool_docs(description, parameters), 1, &mut arguments);
        let _infallible = writeln!(arguments, "  {key}: {};", writer.root(&takes));
        if gives.root == Type::Any {
            untyped += 1;
            continue;
        }
        writer.name(&gives, &format!("{base}Output"), &mut taken);
        to.text.push_str(&writer.declared(&gives));
        let _infallible = writeln!(outputs, "  {key}: {};", writer.root(&gives));
    }
    let map = |fields: &str| if fields.is_empty() { "{}".to_owned() } else { format!("{{\n{fields}}}") };
    let _infallible = writeln!(to.text, "interface ToolArgsMap {}", map(&arguments));
    to.text.push_str("type ToolName = keyof ToolArgsMap;\n");
    let outputs = match (outputs.is_empty(), untyped) {
        (true, _) => "type ToolOutputMap = { [N in ToolName]: JsonValue };\n".to_owned(),
        (false, 0) => format!("interface ToolOutputMap {}\n", map(&outputs)),
        (false, _) => format!(
            "interface TypedOutputs {}\ntype ToolOutputMap = {{ [N in ToolName]: N extends keyof TypedOutputs ? TypedOutputs[N] : \
             JsonValue }};\n",
            map(&outputs)
        ),
    };
    to.text.push_str(&outputs);
    to.text.push_str(
        "declare class ToolCallError extends Error { readonly toolName: string }\n\
         declare const tools: { readonly [N in ToolName]: (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> };\n",
    );
}

/// Names that declared types do not take.
const TAKEN: [&str; 14] = [
    "JsonValue", "ToolArgsMap", "ToolOutputMap", "TypedOutputs", "ToolName", "ToolCallError", "Promise", "Record",
    "Array", "Object", "Error", "Date", "Map", "Set",
];

struct Writer {
    out: String,
    /// What the named parts of the schema at hand are called.
    names: Vec<String>,
}

impl Writer {
    /// Gives names to the declared parts of a schema.
    fn name(&mut self, declared: &Declared, base: &str, taken: &mut Names) {
        self.names = vec![String::new(); declared.named.len()];
        for (index, named) in declared.declared() {
            let own = pascal(&named.name);
            let name = taken.unique(&format!("{base}{own}"));
            if let Some(place) = self.names.get_mut(index) {
                *place = name;
            }
        }
    }

    /// The declarations of the named parts.
    fn declared(&mut self, declared: &Declared) -> String {
        let mut text = String::new();
        for (index, named) in declared.declared() {
            comment(&named.docs.lines, 0, &mut text);
            let name = self.names.get(index).cloned().unwrap_or_default();
            self.out.clear();
            self.ty(&named.ty, declared, 0);
            let _infallible = writeln!(text, "type {name} = {};", self.out);
        }
        text
    }

    fn root(&mut self, declared: &Declared) -> &str {
        self.out.clear();
        self.ty(&declared.root, declared, 1);
        &self.out
    }

    /// Writes a type. `level` is how deep the line is that it begins in.
    fn ty(&mut self, ty: &Type, declared: &Declared, level: usize) {
        match ty {
            Type::Any => self.out.push_str("JsonValue"),
            Type::Never => self.out.push_str("never"),
            Type::Null => self.out.push_str("null"),
            Type::Boolean => self.out.push_str("boolean"),
            Type::Integer | Type::Number => self.out.push_str("number"),
            Type::String => self.out.push_str("string"),
            Type::Literal(value) => self.literal(value, 0),
            Type::Array(item) => self.array(item, declared, level),
            Type::Tuple { items, required, rest } => {
                self.out.push('[');
                for (place, item) in items.iter().enumerate() {
                    self.out.push_str(if place > 0 { ", " } else { "" });
                    self.bracketed(item, place >= *required, declared, level);
                }
                if let Some(rest) = rest {
                    self.out.push_str(if items.is_empty() { "..." } else { ", ..." });
                    self.array(rest, declared, level);
                }
                self.out.push(']');
            }
            Type::Object(object) => self.object(object, declared, level),
            Type::Union(types) => {
                for (place, one) in types.iter().enumerate() {
                    self.out.push_str(if place > 0 { " | " } else { "" });
                    self.ty(one, declared, level);
                }
            }
            Type::Named(index) => match (declared.is_inline(*index), declared.named.get(*index)) {
                (true, Some(named)) => self.ty(&named.ty, declared, level),
                _ => {
                    let name = self.names.get(*index).map_or("JsonValue", String::as_str);
                    self.out.push_str(name);
                }
            },
        }
    }

    /// An item of a tuple, which may be left out.
    fn bracketed(&mut self, item: &Type, is_optional: bool, declared: &Declared, level: usize) {
        if !is_optional {
            return self.ty(item, declared, level);
        }
        self.out.push('(');
        self.ty(item, declared, level);
        self.out.push_str(")?");
    }

    fn array(&mut self, item: &Type, declared: &Declared, level: usize) {
        let from = self.out.len();
        self.ty(item, declared, level);
        let is_union = matches!(seen_through(item, declared), Type::Union(_));
        if is_union {
            self.out.insert(from, '(');
            self.out.push(')');
        }
        self.out.push_str("[]");
    }

    fn object(&mut self, object: &ObjectType, declared: &Declared, level: usize) {
        let ObjectType { fields, rest } = object;
        if fields.is_empty() {
            match rest {
                Rest::Closed => self.out.push_str("Record<string, never>"),
                Rest::Unsaid => self.out.push_str("{ [key: string]: JsonValue }"),
                Rest::Of(ty) => {
                    self.out.push_str("Record<string, ");
                    self.ty(ty, declared, level);
                    self.out.push('>');
                }
            }
            return;
        }
        // Fields of other types must be allowed by it, so it says no more than that there are more.
        let more = if matches!(rest, Rest::Of(_)) { Some("[key: string]: unknown".to_owned()) } else { None };
        // Each is written once, as if it had a line of its own; those that stay on one line do not depend on that.
        let mut written: Vec<String> = fields.iter().map(|field| self.field(field, declared, level + 1)).collect();
        written.extend(more);
        let has_docs = fields.iter().any(|field| !field.docs.lines.is_empty());
        let length: usize = written.iter().map(|field| field.len() + 2).sum();
        if !has_docs && length <= LINE_MAX && !written.iter().any(|field| field.contains('\n')) {
            let _infallible = write!(self.out, "{{ {} }}", written.join("; "));
            return;
        }
        self.out.push_str("{\n");
        for (place, text) in written.iter().enumerate() {
            if let Some(field) = fields.get(place) {
                comment(&field.docs.lines, level + 1, &mut self.out);
            }
            indent(level + 1, &mut self.out);
            let _infallible = writeln!(self.out, "{text};");
        }
        indent(level, &mut self.out);
        self.out.push('}');
    }

    fn field(&mut self, field: &Field, declared: &Declared, level: usize) -> String {
        let mark = if field.is_optional { "?: " } else { ": " };
        let outside = std::mem::replace(&mut self.out, format!("{}{mark}", key(&field.name)));
        self.ty(&field.ty, declared, level);
        std::mem::replace(&mut self.out, outside)
    }

    /// The type of exactly one value. Deep ones become what they are.
    fn literal(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(_) | Value::Object(_) if depth > 8 => self.out.push_str("JsonValue"),
            Value::Null => self.out.push_str("null"),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            // A Number holds no more digits than these.
            Value::Integer(integer) if integer.as_i64().is_none_or(|n| n.unsigned_abs() >= 1 << 53) => {
                self.out.push_str("number");
            }
            Value::Integer(_) | Value::Float(_) => self.out.push_str(&encode(value)),
            Value::String(text) => self.out.push_str(&quoted(text)),
            Value::Array(items) => {
                self.out.push('[');
                for (place, item) in items.iter().enumerate() {
                    self.out.push_str(if place > 0 { ", " } else { "" });
                    self.literal(item, depth + 1);
                }
                self.out.push(']');
            }
            Value::Object(entries) if entries.is_empty() => self.out.push_str("Record<string, never>"),
            Value::Object(entries) => {
                self.out.push_str("{ ");
                for (place, (name, value)) in entries.iter().enumerate() {
                    self.out.push_str(if place > 0 { "; " } else { "" });
                    self.out.push_str(&key(name));
                    self.out.push_str(": ");
                    self.literal(value, depth + 1);
                }
                self.out.push_str(" }");
            }
        }
    }
}

/// A type, or what is written in its place.
fn seen_through<'a>(ty: &'a Type, declared: &'a Declared) -> &'a Type {
    let mut ty = ty;
    while let Type::Named(index) = ty {
        match declared.named.get(*index).filter(|_| declared.is_inline(*index)) {
            Some(named) => ty = &named.ty,
            None => break,
        }
    }
    ty
}

fn indent(level: usize, out: &mut String) {
    (0..level).for_each(|_| out.push_str("  "));
}

/// A comment of these lines, which nothing in them closes.
fn comment(lines: &[String], level: usize, out: &mut String) {
    let safe = |line: &String| line.replace("*/", "*\\/");
    match lines {
        [] => {}
        [line] => {
            indent(level, out);
            let _infallible = writeln!(out, "/** {} */", safe(line));
        }
        lines => {
            indent(level, out);
            out.push_str("/**\n");
            for line in lines {
                indent(level, out);
                out.push_str(" *");
                if !line.is_empty() {
                    let _infallible = write!(out, " {}", safe(line));
                }
                out.push('\n');
            }
            indent(level, out);
            out.push_str(" */\n");
        }
    }
}

/// A property's name: as it is where that can be, else in quotes.
fn key(name: &str) -> String {
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'));
    let is_plain = starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    let mut quoted = encode(&Value::from(text));
    for (character, escape) in [('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029"), ('\u{7f}', "\\u007f")] {
        if quoted.contains(character) {
            quoted = quoted.replace(character, escape);
        }
    }
    quoted
}
