//! `fs_search`: the lines that a pattern matches.
//!
//! Invariant: one line is held at a time. A file is either searched to its end, or reported as skipped with none of its
//! matches, or the answer says that it is truncated.

use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;

use regex::{Regex, RegexBuilder};
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::bounds::{
    Bounds, PATTERN_BYTES_MAX, PATTERN_PROGRAM_BYTES_MAX, SEARCH_MATCHES_DEFAULT, SEARCH_MATCHES_MAX,
    SEARCH_TEXT_CHARS_MAX,
};
use super::fault::{Fault, check};
use super::glob::Glob;
use super::path::{Kind, Place};
use super::read::not_text;
use super::walk::{Skipped, Walk};
use super::work::Shared;
use crate::json::{Object, Value};
use crate::runtime::CallError;

/// How deep a pattern nests. The default of the library is higher than any honest pattern.
const NEST_MAX: u32 = 100;

/// How many characters stand before the match in a line that is cut.
const BEFORE_CHARS: usize = 100;

pub(super) fn search(shared: &Shared, arguments: &Value, cancel: &CancellationToken) -> Result<Value, CallError> {
    let arguments = Arguments::new(arguments, &["path", "pattern", "glob", "ignore_case", "limit"])?;
    let path = arguments.text("path")?;
    let pattern = pattern(arguments.text("pattern")?, arguments.flag("ignore_case")?)?;
    let glob = arguments.optional_text("glob")?.map(Glob::new).transpose()?;
    let limit = arguments.size("limit", 1, SEARCH_MATCHES_MAX)?.unwrap_or(SEARCH_MATCHES_DEFAULT);
    let mut search = Search {
        bounds: shared.bounds,
        cancel,
        pattern,
        glob,
        limit,
        matches: Vec::new(),
        opened: 0,
        searched: 0,
        bytes: 0,
        truncated: false,
    };
    let skipped = search.run(shared, path).map_err(|fault| fault.about(path))?;
    Ok(search.into_value(skipped))
}

fn pattern(text: &str, ignore_case: bool) -> Result<Regex, CallError> {
    if text.len() > PATTERN_BYTES_MAX {
        return Err(CallError::new(format!(
            "the argument `pattern` has {} bytes; at most {PATTERN_BYTES_MAX} are taken",
            text.len()
        )));
    }
    let built = RegexBuilder::new(text)
        .case_insensitive(ignore_case)
        .nest_limit(NEST_MAX)
        .size_limit(PATTERN_PROGRAM_BYTES_MAX)
        .build();
    built.map_err(|error| {
        if matches!(error, regex::Error::CompiledTooBig(_)) {
            return CallError::new(format!(
                "the argument `pattern` needs more than {PATTERN_PROGRAM_BYTES_MAX} bytes when compiled; use fewer or \
                 smaller repetitions"
            ));
        }
        // The last line says what is wrong; those before it repeat the pattern.
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default();
        let why = last.strip_prefix("error: ").unwrap_or(last);
        CallError::new(format!("the argument `pattern` is not a regular expression: {why}"))
    })
}

struct Search<'a> {
    bounds: Bounds,
    cancel: &'a CancellationToken,
    pattern: Regex,
    glob: Option<Glob>,
    limit: usize,
    matches: Vec<Value>,
    /// Files opened, whether or not they could be searched.
    opened: usize,
    /// Files searched.
    searched: usize,
    bytes: usize,
    truncated: bool,
}

impl Search<'_> {
    fn run(&mut self, shared: &Shared, path: &str) -> Result<Skipped, Fault> {
        let place = shared.roots.place(path)?;
        if !place.target()?.is_dir() {
            // What cannot be opened fails the call when it was asked for, and is skipped when a walk comes by.
            place.open_to_read()?;
            let mut skipped = Skipped::default();
            if self.is_wanted(place.path()) {
                self.file(place, &mut skipped).map(drop)?;
            }
            return Ok(skipped);
        }
        let mut walk = Walk::new(shared, self.cancel, true, usize::MAX);
        walk.enter(place)?;
        while let Some(found) = walk.next()? {
            if found.kind == Kind::Directory || !self.is_wanted(&found.path) {
                continue;
            }
            if found.kind == Kind::Link {
                walk.skipped.add(&found.path, Fault::because("is a link, which no walk follows"))?;
                continue;
            }
            let place = shared.roots.place(&found.path)?;
            if self.file(place, &mut walk.skipped)?.is_break() {
                break;
            }
        }
        self.truncated |= walk.cut;
        Ok(walk.skipped)
    }

    fn is_wanted(&self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        self.glob.as_ref().is_none_or(|glob| glob.matches(name))
    }

    fn file(&mut self, place: Place<'_>, skipped: &mut Skipped) -> Result<ControlFlow<()>, Fault> {
        if self.opened >= self.bounds.search_files {
            self.truncated = true;
            return Ok(ControlFlow::Break(()));
        }
        self.opened += 1;
        let before = self.matches.len();
        match self.lines(place) {
            Ok(flow) => {
                self.searched += 1;
                Ok(flow)
            }
            Err(fault) => {
                self.matches.truncate(before);
                skipped.add(place.path(), fault)?;
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    fn lines(&mut self, place: Place<'_>) -> Result<ControlFlow<()>, Fault> {
        let (file, size) = place.open_to_read()?;
        let file_max = self.bounds.search_file_bytes;
        let too_large = || Fault::because(format!("has more than {file_max} bytes, the most that is searched"));
        if usize::try_from(size).map_or(true, |size| size > file_max) {
            return Err(too_large());
        }
        // Room for the longest line and its end.
        let line_max = u64::try_from(self.bounds.search_line_bytes).unwrap_or(u64::MAX).saturating_add(2);
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        let mut number = 0_u64;
        let mut offset = 0;
        loop {
            check(self.cancel)?;
            line.clear();
            let got = (&mut reader).take(line_max).read_until(b'\n', &mut line);
            let got = got.map_err(|error| Fault::system(&error))?;
            if got == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            self.bytes += got;
            if self.bytes > self.bounds.search_bytes {
                self.truncated = true;
                return Ok(ControlFlow::Break(()));
            }
            if offset + got > file_max {
                return Err(too_large());
            }
            number += 1;
            if self.line(place.path(), number, self.text(&line, number, offset)?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            offset += got;
        }
    }

    /// The text of a line that begins at `offset`, without its end.
    fn text<'l>(&self, line: &'l [u8], number: u64, offset: usize) -> Result<&'l str, Fault> {
        let line = match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        };
        let at = |place: usize| u64::try_from(offset + place).unwrap_or(u64::MAX);
        if let Some(nul) = line.iter().position(|byte| *byte == 0) {
            return Err(Fault::because(format!("is not text: byte {} is NUL", at(nul))));
        }
        let max = self.bounds.search_line_bytes;
        if line.len() > max {
            return Err(Fault::because(format!("has more than {max} bytes in line {number}")));
        }
        std::str::from_utf8(line).map_err(|error| not_text(at(error.valid_up_to())))
    }

    fn line(&mut self, path: &str, number: u64, text: &str) -> ControlFlow<()> {
        let Some(found) = self.pattern.find(text) else { return ControlFlow::Continue(()) };
        if self.matches.len() >= self.limit {
            self.truncated = true;
            return ControlFlow::Break(());
        }
        let (before, _) = text.split_at(found.start());
        let before = before.chars().count();
        let mut one = Object::new();
        one.insert("path", path);
        one.insert("line", number);
        one.insert("column", before + 1);
        one.insert("text", excerpt(text, before));
        self.matches.push(one.into());
        ControlFlow::Continue(())
    }

    fn into_value(self, skipped: Skipped) -> Value {
        let mut answer = Object::new();
        answer.insert("matches", self.matches);
        answer.insert("files_searched", self.searched);
        let total = skipped.total();
        answer.insert("files_skipped", skipped.into_value());
        answer.insert("files_skipped_total", total);
        answer.insert("truncated", self.truncated);
        answer.into()
    }
}

/// As much of a line as an answer holds, with the match that begins after `before` characters.
fn excerpt(line: &str, before: usize) -> String {
    let total = line.chars().count();
    let Some(spare) = total.checked_sub(SEARCH_TEXT_CHARS_MAX).filter(|spare| *spare > 0) else {
        return line.to_owned();
    };
    let first = before.saturating_sub(BEFORE_CHARS).min(spare);
    let mut text = String::new();
    if first > 0 {
        text.push('…');
    }
    text.extend(line.chars().skip(first).take(SEARCH_TEXT_CHARS_MAX));
    if first < spare {
        text.push('…');
    }
    text
}
