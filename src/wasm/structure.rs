//! What a component may consist of, judged before it is compiled.
//!
//! A component of a few kilobytes can nest and instantiate others so that compiling it takes gigabytes, and the pool's own
//! bounds are checked only afterwards. Invariant: the walk is one pass without recursion, and what it lets through compiles
//! in memory and time proportional to its bytes.

use wasmparser::{Parser, Payload};

use super::engine::CORE_INSTANCES_MAX;
use super::guest::refused;
use crate::error::Error;

/// How many components may lie inside the outermost one, nested or side by side. wit-component makes one per exported
/// interface.
const COMPONENTS_MAX: u32 = 16;

/// How many component instances may be made. Each of them compiles what it instantiates once more.
const COMPONENT_INSTANCES_MAX: u32 = 32;

/// How many functions all modules together may have. CPython with its library has about 25,000; each costs the compiler
/// about 6 kB of memory.
const FUNCTIONS_MAX: u32 = 100_000;

/// Refuses a component that is made of more than a guest needs. Of bytes that are no component, the compiler says why.
pub(super) fn check(bytes: &[u8]) -> Result<(), Error> {
    let (mut components, mut modules, mut component_instances, mut functions) = (0u32, 0u32, 0u32, 0u32);
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(payload) = payload else { return Ok(()) };
        match payload {
            Payload::ComponentSection { .. } => components += 1,
            Payload::ModuleSection { .. } => modules += 1,
            Payload::ComponentInstanceSection(section) => {
                component_instances = component_instances.saturating_add(section.count());
            }
            Payload::FunctionSection(section) => functions = functions.saturating_add(section.count()),
            _ => continue,
        }
        for (what, count, max) in [
            ("nested components", components, COMPONENTS_MAX),
            ("core modules", modules, CORE_INSTANCES_MAX),
            ("component instances", component_instances, COMPONENT_INSTANCES_MAX),
            ("functions", functions, FUNCTIONS_MAX),
        ] {
            if count > max {
                return Err(refused(format!("the component has {count} or more {what}; a guest may have {max}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(inside: &str) -> Result<(), String> {
        let bytes = wat::parse_str(format!("(component {inside})")).expect("the text is a component");
        check(&bytes).map_err(|error| error.to_string())
    }

    fn times(count: u32, text: &str) -> String {
        text.repeat(count as usize)
    }

    #[test]
    fn every_bound_holds_up_to_its_value_and_not_beyond() {
        let functions = |count| format!("(core module {})", times(count, "(func)"));
        let instances = |count| format!("(component $c) {}", times(count, "(instance (instantiate $c))"));
        for (what, max, text) in [
            (
                "nested components",
                COMPONENTS_MAX,
                &(|count| times(count, "(component)")) as &dyn Fn(u32) -> String,
            ),
            ("core modules", CORE_INSTANCES_MAX, &|count| times(count, "(core module)")),
            ("component instances", COMPONENT_INSTANCES_MAX, &instances),
            ("functions", FUNCTIONS_MAX, &functions),
        ] {
            assert_eq!(checked(&text(max - 1)), Ok(()), "{what}");
            assert_eq!(checked(&text(max)), Ok(()), "{what}");
            let count = max + 1;
            let message = format!("the component has {count} or more {what}; a guest may have {max}");
            assert_eq!(checked(&text(count)), Err(message));
        }
    }

    #[test]
    fn nesting_counts_like_standing_side_by_side() {
        let nested = |levels| format!("{}{}", times(levels, "(component "), times(levels, ")"));
        assert_eq!(checked(&nested(COMPONENTS_MAX)), Ok(()));
        let message = "the component has 17 or more nested components; a guest may have 16";
        assert_eq!(checked(&nested(COMPONENTS_MAX + 1)), Err(message.to_owned()));
    }

    #[test]
    fn what_cannot_be_parsed_is_left_to_the_compiler() {
        assert_eq!(check(b"\0asm\x0d\0\x01\0\x04\x7f").map_err(|error| error.to_string()), Ok(()));
    }
}
