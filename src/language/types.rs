//! Types as every language has them: what stands between a JSON Schema and its text.
//!
//! Invariant: a type admits whatever its schema admits, as far as a person would read the schema; where a schema says more
//! than a type can, the type is wider and a note or a [`Degradation`] says so.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::json::{Value, encode};

/// How many parts may come of saying a type again in each branch of a union. Beyond that the branches stay as they are.
const DISTRIBUTED_MAX: usize = 4096;

/// The types of one schema.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) root: Type,
    /// What references lead to, in the order in which they were met.
    pub(super) named: Vec<Named>,
    pub(super) degradations: Vec<Degradation>,
}

/// A part that references lead to.
#[derive(Debug)]
pub(super) struct Named {
    /// What it is called in the schema; anything may be in it.
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) docs: Docs,
    /// How many references lead to it.
    pub(super) uses: usize,
    /// Whether it contains a reference to itself.
    pub(super) is_recursive: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// Any JSON value.
    Any,
    /// No value at all.
    Never,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    /// Exactly this value.
    Literal(Value),
    Array(Box<Self>),
    /// These items, the first `required` of which must be there, and more of `rest` if there is one.
    Tuple {
        items: Vec<Self>,
        required: usize,
        rest: Option<Box<Self>>,
    },
    Object(ObjectType),
    /// At least two.
    Union(Vec<Self>),
    /// One of [`Declared::named`].
    Named(usize),
}

/// An object's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObjectType {
    pub(super) fields: Vec<Field>,
    pub(super) rest: Rest,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) is_optional: bool,
    pub(super) docs: Docs,
}

/// What else an object may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rest {
    /// Nothing.
    Closed,
    /// The schema does not say.
    Unsaid,
    /// Any other fields, of this type.
    Of(Box<Type>),
}

/// What a comment says: the schema's own words, and what no type can say. One line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Docs {
    pub(super) lines: Vec<String>,
}

/// A part of a schema whose type is wider than it could be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Degradation {
    /// Where, from `$` on.
    pub place: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl Type {
    /// The union of some types, each once. Literals of a kind go where all of the kind is there.
    pub(super) fn union(types: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Distinct::default();
        for ty in types {
            match ty {
                Self::Union(more) => more.into_iter().for_each(|one| all.add(one)),
                Self::Never => {}
                one => all.add(one),
            }
        }
        let Distinct { mut all, whole, .. } = all;
        if whole.contains(&Self::Any) {
            return Self::Any;
        }
        all.retain(|ty| !matches!(ty, Self::Literal(value) if whole.iter().any(|whole| whole.admits(value))));
        if all.contains(&Self::Number) {
            all.retain(|ty| *ty != Self::Integer);
        }
        match all.len() {
            0 => Self::Never,
            1 => all.pop().unwrap_or(Self::Never),
            _ => Self::Union(all),
        }
    }

    /// What is in both, or, where that is hard to say, what is in the first.
    pub(super) fn intersection(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, one) | (one, Self::Any) => one,
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Union(types), other) => Self::each(types, &other),
            (one, Self::Union(types)) => Self::each(types, &one),
            (Self::Object(one), Self::Object(other)) => Self::Object(one.merged(other)),
            (Self::Array(one), Self::Array(other)) => Self::Array(Box::new(one.intersection(*other))),
            (named @ Self::Named(_), _) | (_, named @ Self::Named(_)) => named,
            (Self::Integer, Self::Number) | (Self::Number, Self::Integer) => Self::Integer,
            (Self::Literal(value), ty) | (ty, Self::Literal(value)) => {
                let both = ty.admits(&value) || ty == Self::Literal(value.clone());
                if both { Self::Literal(value) } else { Self::Never }
            }
            (tuple @ Self::Tuple { .. }, Self::Array(_) | Self::Tuple { .. })
            | (Self::Array(_), tuple @ Self::Tuple { .. }) => tuple,
            (one, other) if one == other => one,
            _ => Self::Never,
        }
    }

    fn each(types: Vec<Self>, other: &Self) -> Self {
        if types.len().saturating_mul(other.size()) > DISTRIBUTED_MAX {
            return Self::Union(types);
        }
        Self::union(types.into_iter().map(|one| one.intersection(other.clone())))
    }

    /// How many parts it has, what references lead to aside.
    pub(super) fn size(&self) -> usize {
        1 + match self {
            Self::Array(item) => item.size(),
            Self::Tuple { items, rest, .. } => {
                items.iter().map(Self::size).sum::<usize>() + rest.as_ref().map_or(0, |rest| rest.size())
            }
            Self::Object(object) => {
                let rest = if let Rest::Of(ty) = &object.rest { ty.size() } else { 0 };
                object.fields.iter().map(|field| field.ty.size()).sum::<usize>() + rest
            }
            Self::Union(types) => types.iter().map(Self::size).sum(),
            Self::Any
            | Self::Never
            | Self::Null
            | Self::Boolean
            | Self::Integer
            | Self::Number
            | Self::String
            | Self::Literal(_)
            | Self::Named(_) => 0,
        }
    }

    /// Whether a literal is a value of this plain type.
    fn admits(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Null => value.is_null(),
            Self::Boolean => value.as_bool().is_some(),
            Self::String => value.as_str().is_some(),
            Self::Integer => matches!(value, Value::Integer(_)),
            Self::Number => matches!(value, Value::Integer(_) | Value::Float(_)),
            Self::Array(_) | Self::Tuple { .. } => value.as_array().is_some(),
            Self::Object(_) => value.as_object().is_some(),
            Self::Never | Self::Literal(_) | Self::Union(_) | Self::Named(_) => false,
        }
    }
}

/// Types, each once, in the order in which they came.
#[derive(Default)]
struct Distinct {
    all: Vec<Type>,
    /// Those that are no literals.
    whole: Vec<Type>,
    /// The literals, as JSON.
    literals: HashSet<String>,
}

impl Distinct {
    fn add(&mut self, ty: Type) {
        let is_new = match &ty {
            Type::Literal(value) => self.literals.insert(encode(value)),
            other if self.whole.contains(other) => false,
            other => {
                self.whole.push(other.clone());
                true
            }
        };
        if is_new {
            self.all.push(ty);
        }
    }
}

impl ObjectType {
    /// The fields of both.
    fn merged(mut self, other: Self) -> Self {
        let own: HashMap<String, usize> =
            self.fields.iter().enumerate().map(|(place, field)| (field.name.clone(), place)).collect();
        for field in other.fields {
            match own.get(&field.name).and_then(|place| self.fields.get_mut(*place)) {
                Some(own) => {
                    own.is_optional &= field.is_optional;
                    own.ty = std::mem::replace(&mut own.ty, Type::Any).intersection(field.ty);
                    if own.docs.lines.is_empty() {
                        own.docs = field.docs;
                    }
                }
                None => self.fields.push(field),
            }
        }
        self.rest = match (self.rest, other.rest) {
            (Rest::Closed, _) | (_, Rest::Closed) => Rest::Closed,
            (Rest::Unsaid, rest) | (rest, Rest::Unsaid) => rest,
            (Rest::Of(one), Rest::Of(other)) => Rest::Of(Box::new(one.intersection(*other))),
        };
        self
    }
}

impl Declared {
    /// Whether a named part is written where it is used, instead of being declared: it is used once, or as short as its name.
    pub(super) fn is_inline(&self, index: usize) -> bool {
        self.named.get(index).is_none_or(|named| {
            let is_plain = match &named.ty {
                Type::Array(_) | Type::Tuple { .. } | Type::Object(_) | Type::Union(_) | Type::Named(_) => false,
                Type::Any
                | Type::Never
                | Type::Null
                | Type::Boolean
                | Type::Integer
                | Type::Number
                | Type::String
                | Type::Literal(_) => true,
            };
            !named.is_recursive && (is_plain || named.uses == 1)
        })
    }

    /// The named parts that are declared.
    pub(super) fn declared(&self) -> impl Iterator<Item = (usize, &Named)> {
        self.named.iter().enumerate().filter(|(index, _)| !self.is_inline(*index))
    }
}
