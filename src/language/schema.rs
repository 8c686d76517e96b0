//! From a JSON Schema to types.
//!
//! Invariant: total. Whatever is given as a schema has a type; a part that no type can say, or that is beyond a bound, has a
//! wider one, and the reason is kept. Time and size are linear in the schema: references are followed once, and depth,
//! parts and branches are bounded.

use std::collections::HashMap;

use super::docs::{docs_of, has_sentence};
use super::types::{Declared, Degradation, Docs, Field, Named, ObjectType, Rest, Type};
use crate::json::{Object, Value, clip, follow};

/// How deep a type may be. A person reads less; the parts below become any value.
const DEPTH_MAX: usize = 48;

/// How many parts of one schema are looked at. Those after them become any value.
const PARTS_MAX: usize = 20_000;

/// How many values of an `enum`, or branches of a union, are written. One with more becomes what all of them are.
const BRANCHES_MAX: usize = 256;

/// How many degradations of one schema are kept.
const DEGRADATIONS_MAX: usize = 100;

/// The types of a schema.
pub(super) fn types_of(document: &Value) -> Declared {
    let mut converter = Converter {
        document,
        named: Vec::new(),
        known: HashMap::new(),
        open: Vec::new(),
        degradations: Vec::new(),
        place: Vec::new(),
        parts: 0,
    };
    let root = converter.convert(document);
    let root = converter.known.get("#").map_or(root, |index| Type::Named(*index));
    Declared { root, named: converter.named, degradations: converter.degradations }
}

struct Converter<'a> {
    document: &'a Value,
    named: Vec<Named>,
    /// By reference.
    known: HashMap<&'a str, usize>,
    /// The named parts that are being converted.
    open: Vec<usize>,
    degradations: Vec<Degradation>,
    place: Vec<&'a str>,
    parts: usize,
}

impl<'a> Converter<'a> {
    fn convert(&mut self, schema: &'a Value) -> Type {
        self.parts += 1;
        match schema {
            Value::Bool(true) => Type::Any,
            Value::Bool(false) => Type::Never,
            Value::Object(_) if self.place.len() > DEPTH_MAX => {
                self.degrade(format!("deeper than {DEPTH_MAX} levels"))
            }
            Value::Object(_) if self.parts > PARTS_MAX => {
                self.degrade(format!("the schema has more than {PARTS_MAX} parts"))
            }
            Value::Object(schema) => self.object(schema),
            other => self.degrade(format!("{} is no schema", other.kind())),
        }
    }

    /// Converts a part that is reached by a step.
    fn step(&mut self, step: &'a str, schema: &'a Value) -> Type {
        self.place.push(step);
        let ty = self.convert(schema);
        self.place.pop();
        ty
    }

    fn degrade(&mut self, reason: String) -> Type {
        if self.degradations.len() < DEGRADATIONS_MAX {
            let steps = self.place.iter().map(|step| format!(".{}", clip(step, 40)));
            self.degradations.push(Degradation { place: format!("${}", steps.collect::<String>()), reason });
        }
        Type::Any
    }

    /// All that a schema says, each part an intersection with the ones before it.
    fn object(&mut self, schema: &'a Object) -> Type {
        let mut ty = self.own(schema);
        if let Some(reference) = schema.get("$ref") {
            let target = match reference.as_str() {
                Some(reference) => self.reference(reference),
                None => self.degrade("`$ref` is no text".to_owned()),
            };
            ty = target.intersection(ty);
        }
        for branch in self.list(schema, "allOf") {
            let branch = self.step("allOf", branch);
            let branch = self.resolved(branch);
            ty = self.resolved(ty).intersection(branch);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(union) = self.union(schema, keyword) {
                ty = union.intersection(ty);
            }
        }
        if schema.get("not").is_some_and(excludes_all) {
            return Type::Never;
        }
        for keyword in schema.keys().filter(|keyword| BEYOND_TYPES.contains(keyword)) {
            // Names that may be anything, and what excludes nothing, say nothing.
            let says = schema.get(keyword).is_some_and(|value| value.as_bool() != Some(keyword != "not"));
            if says && !has_sentence(schema, keyword) {
                self.degrade(format!("no type says `{keyword}`"));
            }
        }
        ty
    }

    /// What the schema says beside its references and combinations.
    fn own(&mut self, schema: &'a Object) -> Type {
        let typed = self.typed(schema);
        let typed = match (schema.get("const"), schema.get("enum")) {
            (Some(value), _) => Type::Literal(value.clone()).intersection(typed),
            (None, Some(Value::Array(values))) => self.enumeration(values).intersection(typed),
            (None, Some(_)) => self.degrade("`enum` is no list".to_owned()).intersection(typed),
            (None, None) => typed,
        };
        let is_nullable = schema.get("nullable").and_then(Value::as_bool) == Some(true) && typed != Type::Any;
        if is_nullable { Type::union([typed, Type::Null]) } else { typed }
    }

    fn enumeration(&mut self, values: &crate::json::Array) -> Type {
        if values.iter().len() > BRANCHES_MAX {
            self.degrade(format!(
                "an `enum` of {} values; at most {BRANCHES_MAX} are written",
                values.iter().len()
            ));
            return Type::union(values.iter().map(kind_of));
        }
        Type::union(values.iter().map(|value| match value {
            Value::Null => Type::Null,
            other => Type::Literal(other.clone()),
        }))
    }

    /// What `type` says, with the keywords of each type; what the keywords imply where there is none.
    fn typed(&mut self, schema: &'a Object) -> Type {
        match schema.get("type") {
            Some(Value::String(name)) => self.of_type(name, schema),
            Some(Value::Array(names)) => {
                let types: Vec<Type> = names
                    .iter()
                    .take(BRANCHES_MAX)
                    .map(|name| match name.as_str() {
                        Some(name) => self.of_type(name, schema),
                        None => self.degrade("`type` lists something that is no text".to_owned()),
                    })
                    .collect();
                Type::union(types)
            }
            Some(other) => self.degrade(format!("`type` is {}", other.kind())),
            None if OBJECT_KEYWORDS.iter().any(|keyword| schema.contains_key(keyword)) => {
                self.of_type("object", schema)
            }
            None if ARRAY_KEYWORDS.iter().any(|keyword| schema.contains_key(keyword)) => {
                self.of_type("array", schema)
            }
            None => Type::Any,
        }
    }

    fn of_type(&mut self, name: &str, schema: &'a Object) -> Type {
        match name {
            "object" => self.fields(schema),
            "array" => self.items(schema),
            "string" => Type::String,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "null" => Type::Null,
            "any" => Type::Any,
            unknown => self.degrade(format!("the type `{}` is unknown", clip(unknown, 40))),
        }
    }

    fn fields(&mut self, schema: &'a Object) -> Type {
        let required: Vec<&str> = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_required: std::collections::HashSet<&str> = required.iter().copied().collect();
        let mut fields = Vec::new();
        match schema.get("properties") {
            Some(Value::Object(properties)) => {
                for (name, property) in properties {
                    let ty = self.step(name, property);
                    let docs = docs_of(property, name);
                    fields.push(Field {
                        name: name.to_owned(),
                        ty,
                        is_optional: !is_required.contains(name),
                        docs,
                    });
                }
            }
            Some(_) => drop(self.degrade("`properties` is no object".to_owned())),
            None => {}
        }
        let known: std::collections::HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
        let mut missing: Vec<&str> = required.into_iter().filter(|name| !known.contains(*name)).collect();
        let mut seen = std::collections::HashSet::new();
        missing.retain(|name| seen.insert(*name));
        let missing = missing.into_iter().map(|name| Field {
            name: name.to_owned(),
            ty: Type::Any,
            is_optional: false,
            docs: Docs::default(),
        });
        fields.extend(missing);
        let rest = self.rest(schema);
        Type::Object(ObjectType { fields, rest })
    }

    fn rest(&mut self, schema: &'a Object) -> Rest {
        let mut patterns = Vec::new();
        if let Some(Value::Object(by_pattern)) = schema.get("patternProperties") {
            for (pattern, property) in by_pattern {
                patterns.push(self.step(pattern, property));
            }
        }
        let others = match schema.get("additionalProperties") {
            None => Rest::Unsaid,
            Some(Value::Bool(false)) => Rest::Closed,
            Some(others) => Rest::Of(Box::new(self.step("additionalProperties", others))),
        };
        if patterns.is_empty() {
            return others;
        }
        let others = match others {
            Rest::Closed => Type::Never,
            Rest::Unsaid => Type::Any,
            Rest::Of(ty) => *ty,
        };
        Rest::Of(Box::new(Type::union(patterns.into_iter().chain([others]))))
    }

    fn items(&mut self, schema: &'a Object) -> Type {
        // Earlier drafts have the items of a tuple in `items`, and its rest in `additionalItems`.
        let (prefix, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(prefix)), rest) => (Some(prefix), rest),
            (None, Some(Value::Array(prefix))) => (Some(prefix), schema.get("additionalItems")),
            (_, rest) => (None, rest),
        };
        let rest_type = rest.map(|rest| self.step("items", rest));
        let Some(prefix) = prefix else {
            return Type::Array(Box::new(rest_type.unwrap_or(Type::Any)));
        };
        if prefix.iter().len() > BRANCHES_MAX {
            self.degrade(format!("a tuple of {} items; at most {BRANCHES_MAX} are written", prefix.iter().len()));
            return Type::Array(Box::new(Type::Any));
        }
        let items: Vec<Type> = prefix.iter().map(|item| self.step("prefixItems", item)).collect();
        let most = schema.get("maxItems").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let least = schema.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
        let rest = match rest_type {
            Some(Type::Never) => None,
            _ if most.is_some_and(|most| most <= items.len()) => None,
            rest => Some(Box::new(rest.unwrap_or(Type::Any))),
        };
        let required = least.unwrap_or(0).min(items.len());
        Type::Tuple { items, required, rest }
    }

    /// The list under a keyword.
    fn list(&mut self, schema: &'a Object, keyword: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        let items = match schema.get(keyword) {
            Some(Value::Array(items)) => Some(items),
            Some(_) => {
                self.degrade(format!("`{keyword}` is no list"));
                None
            }
            None => None,
        };
        items.into_iter().flatten()
    }

    /// What `anyOf` or `oneOf` says. `None` where it says nothing that is not said elsewhere.
    fn union(&mut self, schema: &'a Object, keyword: &'a str) -> Option<Type> {
        if has_sentence(schema, keyword) {
            return None;
        }
        let branches: Vec<&Value> = self.list(schema, keyword).collect();
        if branches.is_empty() {
            return None;
        }
        if branches.len() > BRANCHES_MAX {
            return Some(
                self.degrade(format!(
                    "a union of {} branches; at most {BRANCHES_MAX} are written",
                    branches.len()
                )),
            );
        }
        let types: Vec<Type> = branches.into_iter().map(|branch| self.step(keyword, branch)).collect();
        Some(Type::union(types))
    }

    fn reference(&mut self, reference: &'a str) -> Type {
        if let Some(&index) = self.known.get(reference) {
            if let Some(named) = self.named.get_mut(index) {
                named.uses += 1;
                named.is_recursive |= self.open.contains(&index);
            }
            // Whatever is open inside of it leads back to it.
            let inside = self.open.iter().position(|open| *open == index);
            for open in inside.into_iter().flat_map(|from| self.open.get(from..).unwrap_or_default().to_vec()) {
                if let Some(named) = self.named.get_mut(open) {
                    named.is_recursive = true;
                }
            }
            return Type::Named(index);
        }
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let Some(target) = pointer.and_then(|pointer| follow(self.document, pointer).1) else {
            return self.degrade(format!("`{}` leads to no part of the schema", clip(reference, 80)));
        };
        let index = self.named.len();
        self.known.insert(reference, index);
        let name = reference.rsplit('/').next().filter(|name| *name != "#").unwrap_or("Root").to_owned();
        let docs = docs_of(target, &name);
        self.named.push(Named { name, ty: Type::Any, docs, uses: 1, is_recursive: false });
        self.open.push(index);
        let ty = self.step("$ref", target);
        self.open.pop();
        if let Some(named) = self.named.get_mut(index) {
            // A reference to nothing but itself admits anything.
            named.ty = if ty == Type::Named(index) { Type::Any } else { ty };
        }
        Type::Named(index)
    }

    /// A reference's target, where it is known already and there is room for a copy: what is merged must be there.
    fn resolved(&mut self, ty: Type) -> Type {
        let target = match ty {
            Type::Named(index) if !self.open.contains(&index) => self.named.get(index),
            _ => None,
        };
        let Some(target) = target else { return ty };
        self.parts = self.parts.saturating_add(target.ty.size());
        if self.parts > PARTS_MAX { ty } else { target.ty.clone() }
    }
}

/// Whether a schema that is excluded admits everything.
fn excludes_all(schema: &Value) -> bool {
    schema.as_bool() == Some(true) || schema.as_object().is_some_and(Object::is_empty)
}

/// Keywords that say what no type does.
const BEYOND_TYPES: [&str; 6] =
    ["not", "if", "dependentSchemas", "unevaluatedProperties", "propertyNames", "contains"];

const OBJECT_KEYWORDS: [&str; 4] = ["properties", "required", "additionalProperties", "patternProperties"];
const ARRAY_KEYWORDS: [&str; 2] = ["items", "prefixItems"];

/// The type that a value has, whichever value it is.
fn kind_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Integer(_) => Type::Integer,
        Value::Float(_) => Type::Number,
        Value::String(_) => Type::String,
        Value::Array(_) => Type::Array(Box::new(Type::Any)),
        Value::Object(_) => Type::Object(ObjectType { fields: Vec::new(), rest: Rest::Unsaid }),
    }
}
