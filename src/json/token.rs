//! Strings and numbers of the text.
//!
//! Invariant: a string is copied in whole runs, never character by character,
//! and a number is delimited by the grammar before anything converts it.

use super::decode::Decoder;
use super::encode::plain_run;
use super::error::{Error, ErrorKind};
use super::measure::block;
use super::number::{Float, Integer, beyond_range, too_long, too_many_digits};
use super::{FLOAT_BYTES_MAX, INTEGER_DIGITS_MAX, Value};

impl<'a> Decoder<'a> {
    /// Reads the rest of a string whose opening quote is consumed.
    pub(super) fn string(&mut self) -> Result<String, Error> {
        let run = self.run();
        if self.take(b'"') {
            self.charge(block(run.len()))?;
            return Ok(run.to_owned());
        }
        self.scratch.clear();
        self.scratch.push_str(run);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let character = self.escape()?;
                    self.scratch.push(character);
                }
                Some(control) => {
                    let message = format!("control character U+{control:04X} is not escaped");
                    return Err(self.error(ErrorKind::Syntax, self.at, message));
                }
                None => return Err(self.unexpected("the end of the string")),
            }
            let run = self.run();
            self.scratch.push_str(run);
        }
        self.at += 1;
        self.charge(block(self.scratch.len()))?;
        Ok(self.scratch.as_str().to_owned())
    }

    /// Takes characters up to one that does not stand for itself.
    fn run(&mut self) -> &'a str {
        let start = self.at;
        self.at += plain_run(self.rest());
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads an escape, both halves of it for a surrogate pair.
    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(b'u') => return self.unicode_escape(start),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(_) | None => return Err(self.unexpected("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Error> {
        self.at += 1;
        let first = self.hex()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        if first < 0xdc00 && self.rest().starts_with(b"\\u") {
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let joined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        let message = format!("lone surrogate \\u{first:04x}");
        Err(self.error(ErrorKind::Surrogate, start, message))
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("a hexadecimal digit"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    pub(super) fn number(&mut self) -> Result<Value, Error> {
        let start = self.at;
        self.take(b'-');
        let digits_start = self.at;
        if !self.take(b'0') {
            self.digits()?;
        }
        let digits = self.at - digits_start;
        let mut is_float = false;
        if self.take(b'.') {
            is_float = true;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            is_float = true;
            if !self.take(b'-') {
                self.take(b'+');
            }
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if is_float { self.float(text, start) } else { self.integer(text, digits, start) }
    }

    fn float(&self, text: &str, start: usize) -> Result<Value, Error> {
        if text.len() > FLOAT_BYTES_MAX {
            return Err(self.error(ErrorKind::FloatRange, start, too_long(text.len())));
        }
        text.parse()
            .ok()
            .and_then(Float::new)
            .map(Value::Float)
            .ok_or_else(|| self.error(ErrorKind::FloatRange, start, beyond_range(text)))
    }

    fn integer(&mut self, text: &str, digits: usize, start: usize) -> Result<Value, Error> {
        if digits > INTEGER_DIGITS_MAX {
            return Err(self.error(ErrorKind::IntegerDigits, start, too_many_digits(digits)));
        }
        if text == "-0" {
            return Ok(Value::Float(Float::NEGATIVE_ZERO));
        }
        let integer = Integer::from_canonical(text);
        self.charge(block(integer.heap_bytes()))?;
        Ok(Value::Integer(integer))
    }

    /// Takes one digit or more.
    fn digits(&mut self) -> Result<(), Error> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.unexpected("a digit"));
        }
        self.at += count;
        Ok(())
    }
}
