//! Text to values.
//!
//! Source: RFC 8259, stricter where it leaves a choice: duplicate keys and
//! lone surrogates are refused, depth and digits are bounded.
//!
//! Invariant: one loop with an explicit stack of open containers, never deeper
//! than [`DEPTH_MAX`]; every step either consumes text or ends. Memory is
//! charged before it is taken, in the sizes of `measure.rs`.

use std::str;

use super::container::{Array, Object};
use super::encode::quoted;
use super::error::{Error, ErrorKind, Step, path};
use super::measure::{OBJECT_BYTES, SLOT_BYTES, buckets, grown_buckets, grown_slots, slots, too_deep};
use super::tree::Open;
use super::{DEPTH_MAX, Value};

/// Reads one JSON value from text.
///
/// A number with `.`, `e` or `E` is a float, any other an integer. A float
/// becomes the nearest binary64 number, so more digits than that holds are
/// accepted and rounded, and a number too close to zero becomes zero of its
/// sign. `-0` is the float `-0.0`.
///
/// # Errors
///
/// With the path and the byte offset:
/// `Syntax` for text that is not JSON, including text after the value;
/// `DuplicateKey` for a key an object already has;
/// `Depth` beyond [`DEPTH_MAX`] levels;
/// `IntegerDigits` beyond [`INTEGER_DIGITS_MAX`](super::INTEGER_DIGITS_MAX)
/// digits;
/// `FloatRange` for a float beyond the range of binary64, or longer than
/// [`FLOAT_BYTES_MAX`](super::FLOAT_BYTES_MAX) bytes;
/// `Surrogate` for a `\u` escape that is half of a pair.
///
/// # Limits
///
/// Takes memory in proportion to the text, up to about 100 bytes per byte of
/// it. Use [`decode_bounded`] for text from someone who is not trusted with
/// that.
pub fn decode(text: &str) -> Result<Value, Error> {
    decode_bounded(text, usize::MAX).map(|(value, _)| value)
}

/// Reads one JSON value that costs at most `cost_max` bytes of memory, and
/// returns it with its cost, in bytes, as [`cost`](super::cost) counts.
///
/// The tree under construction never costs more than `cost_max`. Beside it, for
/// a moment, stand the old block of an array or object that grows and the
/// buffer of a string with escapes, which is never larger than the text.
///
/// # Errors
///
/// As [`decode`], and `Cost` when the value would cost more.
pub fn decode_bounded(text: &str, cost_max: usize) -> Result<(Value, usize), Error> {
    let mut decoder =
        Decoder { text, at: 0, stack: Vec::new(), place: Place::Child, scratch: String::new(), cost: 0, cost_max };
    let value = decoder.document()?;
    Ok((value, decoder.cost))
}

/// Reads one JSON value from bytes that should be UTF-8.
///
/// # Errors
///
/// As [`decode`], and `Utf8` with the offset of the first byte that is not
/// UTF-8 and the path of the value it is in.
pub fn decode_bytes(bytes: &[u8]) -> Result<Value, Error> {
    let error = match str::from_utf8(bytes) {
        Ok(text) => return decode(text),
        Err(error) => error,
    };
    let offset = error.valid_up_to();
    let valid = bytes.get(..offset).and_then(|valid| str::from_utf8(valid).ok());
    let path = match decode(valid.unwrap_or_default()) {
        // The text breaks off where the bad byte is, so that is where it fails.
        Err(error) if error.offset() == Some(offset) => error.path().to_owned(),
        Ok(_) | Err(_) => path([].into_iter()),
    };
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let message = format!("byte 0x{byte:02x} is not UTF-8");
    Err(Error::new(ErrorKind::Utf8, message, path, Some(offset)))
}

/// What the decoder is reading, for the path of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A child of the innermost open container, or the root.
    Child,
    /// A key, a comma or a bracket of the innermost open container.
    Container,
}

pub(super) struct Decoder<'a> {
    pub(super) text: &'a str,
    /// Bytes consumed, always on a character boundary when an error is made.
    pub(super) at: usize,
    /// Open containers. An object's last entry holds `null` until its value is
    /// read.
    stack: Vec<Open>,
    place: Place,
    /// The string being unescaped.
    pub(super) scratch: String,
    cost: usize,
    cost_max: usize,
}

impl<'a> Decoder<'a> {
    fn document(&mut self) -> Result<Value, Error> {
        self.charge(SLOT_BYTES)?;
        loop {
            self.skip_space();
            self.place = Place::Child;
            let Some(value) = self.value()? else { continue };
            self.place = Place::Container;
            let Some(root) = self.settle(value)? else {
                continue;
            };
            self.skip_space();
            return match self.peek() {
                None => Ok(root),
                Some(_) => Err(self.unexpected("the end of the text")),
            };
        }
    }

    /// Reads a scalar or an empty container; `None` after opening a container
    /// whose first child comes next.
    fn value(&mut self) -> Result<Option<Value>, Error> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(|text| Some(Value::String(text)))
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Some),
            Some(b'{') => self.open_object(),
            Some(b'[') => self.open_array(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(_) | None => Err(self.unexpected("a value")),
        }
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Option<Value>, Error> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(Some(value))
    }

    fn open_array(&mut self) -> Result<Option<Value>, Error> {
        self.check_depth()?;
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(Some(Value::Array(Array::new())));
        }
        self.stack.push(Open::Array(Array::new()));
        Ok(None)
    }

    fn open_object(&mut self) -> Result<Option<Value>, Error> {
        self.check_depth()?;
        self.charge(OBJECT_BYTES)?;
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(Some(Value::Object(Object::new())));
        }
        self.stack.push(Open::Object(Object::new()));
        self.key()?;
        Ok(None)
    }

    fn check_depth(&self) -> Result<(), Error> {
        if self.stack.len() < DEPTH_MAX {
            return Ok(());
        }
        Err(self.error(ErrorKind::Depth, self.at, too_deep()))
    }

    /// Gives a finished value to the container it belongs to and closes each
    /// container that ends there. `None` when another child follows, otherwise
    /// the root.
    fn settle(&mut self, mut value: Value) -> Result<Option<Value>, Error> {
        loop {
            if self.stack.is_empty() {
                return Ok(Some(value));
            }
            self.attach(value)?;
            self.skip_space();
            value = match (self.peek(), self.stack.last()) {
                (Some(b','), Some(Open::Array(_))) => {
                    self.at += 1;
                    return Ok(None);
                }
                (Some(b','), Some(Open::Object(_))) => {
                    self.at += 1;
                    self.skip_space();
                    self.key()?;
                    return Ok(None);
                }
                (Some(b']'), Some(Open::Array(_))) | (Some(b'}'), Some(Open::Object(_))) => {
                    self.at += 1;
                    self.stack.pop().map_or(Value::Null, Open::close)
                }
                (_, Some(Open::Array(_))) => return Err(self.unexpected("',' or ']'")),
                (_, Some(Open::Object(_)) | None) => return Err(self.unexpected("',' or '}'")),
            };
        }
    }

    fn attach(&mut self, value: Value) -> Result<(), Error> {
        if let Some(Open::Array(Array(items))) = self.stack.last()
            && items.len() == items.capacity()
        {
            let (old, new) = (items.capacity(), grown_slots(items.capacity()));
            self.charge(slots(new) - slots(old))?;
        }
        match self.stack.last_mut() {
            Some(Open::Array(Array(items))) => {
                if items.len() == items.capacity() {
                    items.reserve_exact(grown_slots(items.capacity()) - items.len());
                }
                items.push(value);
            }
            Some(Open::Object(Object(entries))) => {
                if let Some((_, slot)) = entries.last_mut() {
                    *slot = value;
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Reads a key and its colon and enters the key into the innermost object.
    fn key(&mut self) -> Result<(), Error> {
        self.place = Place::Container;
        let start = self.at;
        if !self.take(b'"') {
            return Err(self.unexpected("a key"));
        }
        let key = self.string()?;
        if let Some(Open::Object(Object(entries))) = self.stack.last()
            && entries.len() == entries.capacity()
        {
            let (old, new) = (entries.capacity(), grown_buckets(entries.capacity()));
            self.charge(buckets(new) - buckets(old))?;
        }
        if let Some(Open::Object(Object(entries))) = self.stack.last_mut() {
            if entries.len() == entries.capacity() {
                entries.reserve_exact(grown_buckets(entries.capacity()) - entries.len());
            }
            let (index, previous) = entries.insert_full(key, Value::Null);
            if previous.is_some() {
                return Err(self.duplicate(index, start));
            }
        }
        self.place = Place::Child;
        self.skip_space();
        if !self.take(b':') {
            return Err(self.unexpected("':'"));
        }
        Ok(())
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Counts memory that is about to be taken.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        let cost = self.cost.saturating_add(bytes);
        if cost > self.cost_max {
            let message = format!("value costs more than {} bytes of host memory", self.cost_max);
            return Err(self.error(ErrorKind::Cost, self.at, message));
        }
        self.cost = cost;
        Ok(())
    }

    pub(super) fn unexpected(&self, expected: &str) -> Error {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(
            || "the end of the text".to_owned(),
            |character| quoted(character.encode_utf8(&mut [0; 4])),
        );
        self.error(ErrorKind::Syntax, self.at, format!("expected {expected}, found {found}"))
    }

    /// The error for a second key equal to the innermost object's `index`th.
    fn duplicate(&self, index: usize, offset: usize) -> Error {
        let key = match self.stack.last() {
            Some(Open::Object(Object(entries))) => entries.get_index(index),
            Some(Open::Array(_)) | None => None,
        };
        let key = key.map(|(key, _)| Step::Key(key));
        let path = path(self.steps().chain(key));
        Error::new(ErrorKind::DuplicateKey, "duplicate key".to_owned(), path, Some(offset))
    }

    pub(super) fn error(&self, kind: ErrorKind, offset: usize, message: String) -> Error {
        Error::new(kind, message, path(self.steps()), Some(offset))
    }

    /// The way from the root to the place being read.
    fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let hidden = usize::from(self.place == Place::Container);
        let depth = self.stack.len().saturating_sub(hidden);
        self.stack.iter().take(depth).filter_map(|open| match open {
            Open::Array(array) => Some(Step::Index(array.len())),
            Open::Object(object) => object.0.last().map(|(key, _)| Step::Key(key)),
        })
    }
}
