//! `fs_read`: the text of a file, or of a range of its bytes.
//!
//! Invariant: at most one bound's worth of bytes is read whatever size the file claims, and the answer is exactly the
//! bytes asked for: a range that would cut a character is refused, never rounded.

use std::io::{Read as _, Seek as _, SeekFrom};

use cap_std::fs::File;
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::fault::{Fault, check};
use super::path::Place;
use super::work::Shared;
use crate::json::Value;
use crate::runtime::CallError;

/// How much is read between two looks at the cancellation, in bytes.
const CHUNK_BYTES: usize = 1024 * 1024;

/// The most bytes by which a character reaches beyond any of its bytes.
const REACH: usize = 3;

/// The largest offset that files have.
const OFFSET_MAX: u64 = i64::MAX.unsigned_abs();

pub(super) fn read(shared: &Shared, arguments: &Value, cancel: &CancellationToken) -> Result<Value, CallError> {
    let arguments = Arguments::new(arguments, &["path", "offset", "length"])?;
    let path = arguments.text("path")?;
    let max = shared.bounds.read_bytes;
    let offset = arguments.count("offset", 0, OFFSET_MAX)?;
    let length = arguments.size("length", 0, max)?;
    let text = shared.roots.place(path).and_then(|place| match (offset, length) {
        (None, None) => whole(place, max, cancel),
        (offset, length) => {
            let range = Range { offset: offset.unwrap_or(0), length: length.unwrap_or(max), max };
            range.read(place, cancel)
        }
    });
    text.map(Value::from).map_err(|fault| fault.about(path))
}

fn whole(place: Place<'_>, max: usize, cancel: &CancellationToken) -> Result<String, Fault> {
    let (file, size) = place.open_to_read()?;
    let too_large = |size: &str| {
        Fault::because(format!(
            "has {size} bytes; one call reads at most {max}, so read it in parts with `offset` and `length`"
        ))
    };
    if usize::try_from(size).map_or(true, |size| size > max) {
        return Err(too_large(&size.to_string()));
    }
    // Some files have more in them than their size says.
    let bytes = fill(file, size, max + 1, cancel)?;
    if bytes.len() > max {
        return Err(too_large(&format!("more than {max}")));
    }
    text(bytes, 0)
}

/// The bytes from `offset` on, at most `length` of them.
struct Range {
    offset: u64,
    length: usize,
    max: usize,
}

impl Range {
    fn read(&self, place: Place<'_>, cancel: &CancellationToken) -> Result<String, Fault> {
        let (mut file, size) = place.open_to_read()?;
        if self.offset > size {
            let offset = self.offset;
            return Err(Fault::because(format!("has {size} bytes; the offset {offset} is behind its end")));
        }
        let before = usize::try_from(self.offset).map_or(REACH, |offset| offset.min(REACH));
        let from = self.offset - u64::try_from(before).unwrap_or(0);
        file.seek(SeekFrom::Start(from)).map_err(|error| Fault::system(&error))?;
        let mut bytes = fill(file, size - from, before + self.length + REACH, cancel)?;
        let start = before.min(bytes.len());
        let end = (before + self.length).min(bytes.len());
        if start < end {
            if let Some((first, last)) = character_across(&bytes, start) {
                return Err(self.cut_at_start(first, last, before));
            }
            if let Some((first, last)) = character_across(&bytes, end) {
                return Err(self.cut_at_end(first, last, before));
            }
        }
        bytes.truncate(end);
        bytes.drain(..start);
        text(bytes, self.offset)
    }

    fn cut_at_start(&self, first: usize, last: usize, before: usize) -> Fault {
        let at = |place: usize| self.offset + to_u64(place) - to_u64(before);
        inside(self.offset, "offset", &[at(first), at(last)])
    }

    fn cut_at_end(&self, first: usize, last: usize, before: usize) -> Fault {
        let mut lengths = vec![first.saturating_sub(before), last.saturating_sub(before)];
        lengths.retain(|length| (1..=self.max).contains(length));
        let lengths: Vec<u64> = lengths.into_iter().map(to_u64).collect();
        inside(self.offset + to_u64(self.length), "length", &lengths)
    }
}

fn inside(cut: u64, argument: &str, better: &[u64]) -> Fault {
    let better: Vec<String> = better.iter().map(u64::to_string).collect();
    let better = better.join(" or ");
    Fault::because(format!("would be cut at byte {cut}, inside a character; use the {argument} {better}"))
}

fn to_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// The first byte of the character that `cut` would cut, and the first byte after it.
fn character_across(bytes: &[u8], cut: usize) -> Option<(usize, usize)> {
    (1..=REACH.min(cut)).map(|back| cut - back).find_map(|first| {
        let length = match bytes.get(first)? {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return None,
        };
        let last = first + length;
        let whole = std::str::from_utf8(bytes.get(first..last)?).is_ok();
        (whole && cut < last).then_some((first, last))
    })
}

/// At most `bytes_max` bytes of a file that claims to have `claimed` more.
fn fill(mut file: File, claimed: u64, bytes_max: usize, cancel: &CancellationToken) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(usize::try_from(claimed).map_or(bytes_max, |size| size.min(bytes_max)));
    loop {
        check(cancel)?;
        let room = (bytes_max - bytes.len()).min(CHUNK_BYTES);
        let chunk = (&mut file).take(to_u64(room)).read_to_end(&mut bytes);
        if chunk.map_err(|error| Fault::system(&error))? == 0 {
            return Ok(bytes);
        }
    }
}

/// The text of bytes that begin at `offset` of their file.
fn text(bytes: Vec<u8>, offset: u64) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|error| not_text(offset + to_u64(error.utf8_error().valid_up_to())))
}

/// The fault of a file in which no character begins at `offset`.
pub(super) fn not_text(offset: u64) -> Fault {
    Fault::because(format!("is not UTF-8 text: no character begins at byte {offset}"))
}
