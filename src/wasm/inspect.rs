//! What a component can reach, import by import.
//!
//! Invariant: the list is complete, and whatever has no row in [`METHODS`] is outside the contract. The loader refuses by
//! the same list that people are shown.

use std::fmt;
use std::sync::Arc;

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use super::engine::Engine;
use super::guest::{compile, refused};
use super::host::{CONTRACT, HOST, PACKAGE, TYPES};
use crate::error::Error;

/// Every function a guest may import, and what it gives.
const METHODS: &[(&str, &str)] = &[
    ("[method]execution.submit", "starts a call of a bound tool; held to outstanding-calls and host-memory"),
    ("[method]execution.next", "waits for a call of this run or a timeout; costs no compute"),
    ("[method]execution.cancel", "gives up a call of this run"),
    ("[method]execution.log", "adds to this run's log; held to output, log-lines and host-memory"),
    ("[method]execution.unhandled", "tells of at most 50 failures that the program did not look at"),
    ("[method]execution.wall-clock", "reads the time of day in coarse steps"),
    ("[method]execution.monotonic-clock", "reads the time since this run began in coarse steps"),
    ("[method]execution.sleep", "waits; costs no compute, held to wall"),
    ("[method]execution.entropy", "gets at most 65536 random bytes a call, or the run's seeded stream"),
    ("[method]execution.members", "reads the names of the bound tools"),
    ("[method]execution.complete", "ends the program with its result; held to output and host-memory"),
    ("[method]execution.fail", "ends the program without one; held to output and host-memory"),
];

/// The functions a guest must export.
const EXPORTS: &[(&str, &str)] = &[
    ("announce", "says who the guest is; called once, without an execution"),
    ("run", "runs one program; called once per instance"),
];

/// The most characters of a name that are shown. A component's names may have 100,000 bytes.
const NAME_CHARACTERS_MAX: usize = 200;

/// What an import or export means for the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Authority {
    /// Part of the contract; the text says what it gives.
    Contract(&'static str),
    /// A type, or an interface of types alone: it gives nothing.
    Nothing,
    /// Imported and not offered: the loader refuses the component.
    Outside,
    /// Exported and never called.
    Unused,
}

/// One import or export.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// Whether the component imports it.
    pub import: bool,
    /// Its name; of an interface's item, `interface#item`. What a terminal would act on is escaped, and a name over 200
    /// characters is cut.
    pub name: String,
    /// What it means.
    pub authority: Authority,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.import { "import" } else { "export" };
        let meaning = match self.authority {
            Authority::Contract(text) => text,
            Authority::Nothing => "a type; gives nothing",
            Authority::Outside => "OUTSIDE THE CONTRACT",
            Authority::Unused => "never called",
        };
        write!(f, "{direction} {}: {meaning}", self.name)
    }
}

/// Everything a component imports and exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    items: Vec<Item>,
}

/// Lists what a component, plain or compressed with zstd, imports and exports. Nothing of it is run.
///
/// # Errors
/// [`Refused`](crate::ErrorKind::Refused) when the bytes are no component or do not compile.
pub async fn inspect(engine: &Engine, bytes: Arc<[u8]>) -> Result<Surface, Error> {
    let (component, _) = compile(engine, bytes).await?;
    Ok(Surface::of(engine.wasmtime(), &component))
}

impl Surface {
    /// Imports first, then exports, each in the component's order.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether every import is one the sealed profile offers.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.outside().next().is_none()
    }

    fn outside(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| item.authority == Authority::Outside).map(|item| item.name.as_str())
    }

    pub(super) fn of(engine: &wasmtime::Engine, component: &Component) -> Self {
        let ty = component.component_type();
        let mut items = Vec::new();
        for (name, import) in ty.imports(engine) {
            match import.ty {
                ComponentItem::ComponentInstance(instance) => {
                    let before = items.len();
                    for (member, item) in instance.exports(engine) {
                        let is_type = matches!(item.ty, ComponentItem::Type(_) | ComponentItem::Resource(_));
                        let authority = imported(name, member, is_type);
                        items.push(Item {
                            import: true,
                            name: shown(&format!("{name}#{member}"), NAME_CHARACTERS_MAX),
                            authority,
                        });
                    }
                    if items.len() == before {
                        let authority = if offered(name) { Authority::Nothing } else { Authority::Outside };
                        items.push(Item { import: true, name: shown(name, NAME_CHARACTERS_MAX), authority });
                    }
                }
                // A resource at this level is another name for one of an interface, or the linker has none to give.
                ComponentItem::Type(_) | ComponentItem::Resource(_) => {
                    items.push(Item {
                        import: true,
                        name: shown(name, NAME_CHARACTERS_MAX),
                        authority: Authority::Nothing,
                    });
                }
                _ => items.push(Item {
                    import: true,
                    name: shown(name, NAME_CHARACTERS_MAX),
                    authority: Authority::Outside,
                }),
            }
        }
        for (name, export) in ty.exports(engine) {
            let known = EXPORTS.iter().find(|(known, _)| *known == name);
            let authority = match (known, &export.ty) {
                (Some((_, text)), ComponentItem::ComponentFunc(_)) => Authority::Contract(text),
                (_, ComponentItem::Type(_)) => Authority::Nothing,
                _ => Authority::Unused,
            };
            items.push(Item { import: false, name: shown(name, NAME_CHARACTERS_MAX), authority });
        }
        Self { items }
    }

    /// Refuses what imports more than is offered, by name.
    pub(super) fn check(&self) -> Result<(), Error> {
        let outside: Vec<&str> = self.outside().take(10).collect();
        let Some(first) = outside.first() else { return Ok(()) };
        if let Some(version) = foreign_version(first) {
            return Err(refused(format!(
                "the component is built for version {version} of the package `{PACKAGE}…` and this host offers \
                 {CONTRACT}; build it against this host's wit/"
            )));
        }
        Err(refused(format!(
            "the component imports what a sealed guest may not: {}; a guest reaches the host only through `{HOST}`",
            outside.join(", ")
        )))
    }
}

/// A text as it may be shown to people: it comes from the component or quotes it, and there it can be anything.
pub(super) fn shown(text: &str, characters_max: usize) -> String {
    let mut shown = String::new();
    for (place, character) in text.chars().enumerate() {
        if place == characters_max {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\'' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

fn offered(interface: &str) -> bool {
    interface == HOST || interface == TYPES
}

fn imported(interface: &str, member: &str, is_type: bool) -> Authority {
    let method = METHODS.iter().find(|(name, _)| *name == member && interface == HOST);
    match method {
        Some((_, text)) => Authority::Contract(text),
        None if is_type && offered(interface) => Authority::Nothing,
        None => Authority::Outside,
    }
}

/// The version of an item of our own package that is not the one offered.
fn foreign_version(name: &str) -> Option<&str> {
    let interface = name.split('#').next()?;
    let version = interface.strip_prefix(PACKAGE)?.split_once('@')?.1;
    (!offered(interface)).then_some(version)
}
