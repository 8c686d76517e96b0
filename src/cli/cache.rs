//! Where compiled guests are kept between processes.
//!
//! Invariant: a directory that cannot be used costs time and one line on stderr, never the run.

use std::env;
use std::path::PathBuf;

use super::terminal;
use crate::wasm::Cache;

/// The user's cache, if there is one that can be used.
pub(super) fn open() -> Option<Cache> {
    let opened = match place() {
        Some(path) => Cache::open_ambient(path).map_err(anyhow::Error::from),
        None => Err(anyhow::anyhow!("neither HOTCELL_CACHE, XDG_CACHE_HOME nor HOME names a directory")),
    };
    opened
        .map_err(|error| {
            terminal::stderr(&format!("warning: compiled guests are not kept: {error:#}\n"));
        })
        .ok()
}

fn place() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    choose(set("HOTCELL_CACHE"), set("XDG_CACHE_HOME"), set("HOME"))
}

/// Source: the XDG base directory specification, by which a relative `XDG_CACHE_HOME` counts as not set.
fn choose(own: Option<PathBuf>, xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let below = |base: PathBuf| base.join("hotcell");
    own.or_else(|| xdg.filter(|path| path.is_absolute()).map(below))
        .or_else(|| home.map(|home| below(home.join(".cache"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_setting_wins() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(choose(path("own"), path("/x"), path("/home/u")), path("own"));
        assert_eq!(choose(None, path("/x"), path("/home/u")), path("/x/hotcell"));
        assert_eq!(choose(None, path("relative"), path("/home/u")), path("/home/u/.cache/hotcell"));
        assert_eq!(choose(None, None, path("/home/u")), path("/home/u/.cache/hotcell"));
        assert_eq!(choose(None, None, None), None);
    }
}
