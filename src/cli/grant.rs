//! `--dir NAME=PATH[:ro|:rw]`: which directories the file tools may touch.
//!
//! Invariant: nothing is granted that was not asked for, and nothing is writable that does not end in `:rw`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

use super::exit::Problem;
use crate::tools::fs::{Access, Grants};

const FORM: &str = "write NAME=PATH for reading or NAME=PATH:rw for writing too, such as data=./data";

const COLON_HINT: &str = " (a mode is `:ro` or `:rw` at the very end; every other `:` belongs to the path)";

/// One `--dir`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directory {
    name: String,
    path: PathBuf,
    access: Access,
}

/// Reads the flag's value.
pub(super) fn parser() -> impl TypedValueParser<Value = Directory> {
    OsStringValueParser::new().try_map(|text| parse(&text))
}

/// Splits at the first `=`. Only a `:ro` or `:rw` at the very end is a mode; any other `:` belongs to the path.
fn parse(text: &OsStr) -> Result<Directory, String> {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').ok_or_else(|| format!("there is no `=`; {FORM}"))?;
    let (name, path) = (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default());
    let (path, access) = match (path.strip_suffix(b":rw"), path.strip_suffix(b":ro")) {
        (Some(path), _) => (path, Access::ReadWrite),
        (_, Some(path)) => (path, Access::ReadOnly),
        _ => (path, Access::ReadOnly),
    };
    let Ok(name) = str::from_utf8(name) else { return Err(format!("the name is not UTF-8; {FORM}")) };
    if name.is_empty() || path.is_empty() {
        let what = if name.is_empty() { "name" } else { "path" };
        return Err(format!("the {what} is empty; {FORM}"));
    }
    Ok(Directory { name: name.to_owned(), path: PathBuf::from(OsString::from_vec(path.to_vec())), access })
}

/// Opens the directories.
pub(super) fn open(directories: Vec<Directory>) -> Result<Grants, Problem> {
    let mut grants = Grants::new();
    for Directory { name, path, access } in directories {
        let has_colon = path.as_os_str().as_bytes().contains(&b':');
        grants = grants.with_ambient(&name, &path, access).map_err(|error| {
            let hint = if has_colon { COLON_HINT } else { "" };
            // The error's own sentence says it all; its source would say it again.
            Problem::misuse(anyhow::anyhow!("{error}{hint}"))
        })?;
    }
    Ok(grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String, Access) {
        let Directory { name, path, access } = parse(OsStr::new(text)).expect(text);
        (name, path.display().to_string(), access)
    }

    #[test]
    fn reading_is_the_default_and_the_mode_is_the_end() {
        for (text, name, path, access) in [
            ("data=./data", "data", "./data", Access::ReadOnly),
            ("data=./data:ro", "data", "./data", Access::ReadOnly),
            ("data=./data:rw", "data", "./data", Access::ReadWrite),
            ("a=/x:y", "a", "/x:y", Access::ReadOnly),
            ("a=/x:rw:ro", "a", "/x:rw", Access::ReadOnly),
            ("a=/x:ro:rw", "a", "/x:ro", Access::ReadWrite),
            ("a=b=c:rw", "a", "b=c", Access::ReadWrite),
            ("a=rw", "a", "rw", Access::ReadOnly),
        ] {
            assert_eq!(parsed(text), (name.to_owned(), path.to_owned(), access), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, what) in [
            ("data", "there is no `=`"),
            ("=x", "the name is empty"),
            ("x=", "the path is empty"),
            ("x=:rw", "the path is empty"),
        ] {
            assert_eq!(parse(OsStr::new(text)), Err(format!("{what}; {FORM}")), "{text}");
        }
    }

    #[test]
    fn a_path_may_be_any_bytes_and_a_name_may_not() {
        let path = parse(OsStr::from_bytes(b"a=\xff")).expect("any path").path;
        assert_eq!(path.as_os_str().as_bytes(), b"\xff");
        assert_eq!(parse(OsStr::from_bytes(b"\xff=a")), Err(format!("the name is not UTF-8; {FORM}")));
    }
}
