//! An explicit order of the wire list.
//!
//! Invariant: an order has exactly one rest marker, and names nothing twice. Without an order, tools are sorted by name.

use std::collections::{HashMap, HashSet};

use super::view::View;
use crate::error::Error;
use crate::json::clip;
use crate::tool::Tool;

/// Names in the order in which a model shall see them, and one place for all others.
///
/// A tool that is itself called `*` has no place of its own: it is always among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOrder {
    before: Vec<String>,
    after: Vec<String>,
}

impl ToolOrder {
    /// The marker for all tools that are not named.
    pub const REST: &'static str = "*";

    /// An order: names, and [`ToolOrder::REST`] once.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) when the marker is missing or there twice, and for a name that is there twice.
    pub fn new<I>(names: I) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let markers = names.iter().filter(|name| *name == Self::REST).count();
        if markers != 1 {
            let rest = Self::REST;
            let hint = if markers > 1 { format!(", one called `{rest}` included") } else { String::new() };
            return Err(Error::misuse(format!(
                "a tool order has {markers} rest markers `{rest}`; it needs exactly one, for the tools it does not name{hint}"
            )));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::misuse(format!("a tool order names `{}` twice", clip(twice, 80))));
        }
        let (before, after) = names.split_at(names.iter().position(|name| name == Self::REST).unwrap_or(0));
        Ok(Self { before: before.to_vec(), after: after.iter().skip(1).cloned().collect() })
    }

    /// The presented tools of a view in this order. `exists` tells whether a name is registered anywhere in the chain,
    /// restrictions aside.
    ///
    /// # Errors
    /// [`Misuse`](crate::ErrorKind::Misuse) for a name that is not registered, and for one that the mode does not present.
    pub(super) fn apply(&self, view: &View, exists: impl Fn(&str) -> bool) -> Result<Vec<Tool>, Error> {
        let mut rest: Vec<Option<&Tool>> = view.presented().map(Some).collect();
        let places: HashMap<&str, usize> =
            view.presented().enumerate().map(|(place, tool)| (tool.name(), place)).collect();
        let mut take = |name: &String| {
            if let Some(place) = places.get(name.as_str()) {
                return Ok(rest.get_mut(*place).and_then(Option::take).cloned());
            }
            let shown = clip(name, 80);
            if view.get(name).is_some() || name == super::RUN_CODE {
                let mode = view.mode().as_str();
                return Err(Error::misuse(format!("the tool order names `{shown}`, which mode `{mode}` removes")));
            }
            if !exists(name) {
                return Err(Error::misuse(format!("the tool order names `{shown}`, and there is no such tool")));
            }
            Ok(None)
        };
        let before: Vec<Option<Tool>> = self.before.iter().map(&mut take).collect::<Result<_, _>>()?;
        let after: Vec<Option<Tool>> = self.after.iter().map(&mut take).collect::<Result<_, _>>()?;
        let rest = rest.into_iter().map(Option::<&Tool>::cloned);
        Ok(before.into_iter().chain(rest).chain(after).flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pr_07_an_order_has_one_marker_and_no_name_twice() {
        let error = |names: &[&str]| ToolOrder::new(names.iter().copied()).expect_err("wrong").to_string();
        let needs = "it needs exactly one, for the tools it does not name";
        assert_eq!(error(&["a"]), format!("a tool order has 0 rest markers `*`; {needs}"));
        assert_eq!(
            error(&["*", "a", "*"]),
            format!("a tool order has 2 rest markers `*`; {needs}, one called `*` included")
        );
        assert_eq!(error(&["a", "*", "a"]), "a tool order names `a` twice");
        let order = ToolOrder::new(["a", "*", "b", "c"]).expect("right");
        assert_eq!((order.before, order.after), (vec!["a".into()], vec!["b".into(), "c".into()]));
    }
}
