//! Numbers: exact integers and finite floats.
//!
//! Invariant: an [`Integer`] has one representation per number. It is inline
//! when it fits `i64`, and otherwise canonical digits (no leading zero, no
//! plus sign), at most [`INTEGER_DIGITS_MAX`] of them, so that equality of
//! representations is equality of numbers. A [`Float`] is never infinite and
//! never NaN.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::error::{Error, ErrorKind, clip};
use super::{FLOAT_BYTES_MAX, INTEGER_DIGITS_MAX, Value};

/// The longest piece of a number's text that a message quotes, in bytes.
pub(super) const QUOTED_BYTES_MAX: usize = 40;

/// An exact integer of at most [`INTEGER_DIGITS_MAX`] digits.
///
/// There is no negative zero among the integers: the JSON text `-0` decodes to
/// the float `-0.0`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// Canonical digits of a number outside the range of `i64`.
    Big(Box<str>),
}

impl Integer {
    /// Reads decimal digits with an optional minus sign, as JSON writes them.
    ///
    /// # Errors
    ///
    /// `Syntax` for anything else: a plus sign, a leading zero, spaces, a
    /// fraction, an exponent, no digit, or `-0`, which no integer represents.
    /// `IntegerDigits` for more than [`INTEGER_DIGITS_MAX`] digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let padded = digits.len() > 1 && digits.starts_with('0');
        if !plain || padded || text == "-0" {
            let quoted = super::encode::quoted(&clip(text, QUOTED_BYTES_MAX));
            let message = format!("expected an integer, found {quoted}");
            return Err(Error::at_root(ErrorKind::Syntax, message));
        }
        if digits.len() > INTEGER_DIGITS_MAX {
            let message = too_many_digits(digits.len());
            return Err(Error::at_root(ErrorKind::IntegerDigits, message));
        }
        Ok(Self::from_canonical(text))
    }

    /// Takes text that is known to be canonical and within the digit limit.
    pub(super) fn from_canonical(text: &str) -> Self {
        Self(match text.parse() {
            Ok(small) => Repr::Small(small),
            Err(_) => Repr::Big(text.into()),
        })
    }

    /// The number, if it fits `i64`.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(small) => Some(*small),
            Repr::Big(_) => None,
        }
    }

    /// The number, if it fits `u64`.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small(small) => u64::try_from(*small).ok(),
            Repr::Big(digits) => digits.parse().ok(),
        }
    }

    /// The number, if it fits `i128`.
    pub(super) fn as_i128(&self) -> Option<i128> {
        match &self.0 {
            Repr::Small(small) => Some((*small).into()),
            Repr::Big(digits) => digits.parse().ok(),
        }
    }

    /// The number, if it fits `u128`.
    pub(super) fn as_u128(&self) -> Option<u128> {
        match &self.0 {
            Repr::Small(small) => u128::try_from(*small).ok(),
            Repr::Big(digits) => digits.parse().ok(),
        }
    }

    /// The float that is exactly this number, if there is one.
    pub(super) fn to_exact_f64(&self) -> Option<f64> {
        let float = self.to_f64();
        match &self.0 {
            Repr::Small(small) if small.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS => Some(float),
            // Without a fraction, all digits of a float are written and none is rounded.
            Repr::Small(_) | Repr::Big(_) => (format!("{float:.0}") == self.to_string()).then_some(float),
        }
    }

    /// The nearest float, ties to even; infinite beyond the range of binary64.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            // `as` rounds an integer to the nearest float.
            Repr::Small(small) => *small as f64,
            // Digits always parse; the other arm only keeps this total.
            Repr::Big(digits) => digits.parse().unwrap_or(f64::INFINITY),
        }
    }

    /// About how many digits the number has: none that are worth counting if it fits `i64`.
    pub(crate) fn digits(&self) -> usize {
        self.heap_bytes()
    }

    /// Heap bytes in use: none for an inline number.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Small(_) => 0,
            Repr::Big(digits) => digits.len(),
        }
    }
}

/// The message for an integer of `count` digits where fewer are allowed.
pub(super) fn too_many_digits(count: usize) -> String {
    format!("integer of {count} digits is longer than {INTEGER_DIGITS_MAX} digits")
}

/// The message for a float text of `bytes` bytes where fewer are allowed.
pub(super) fn too_long(bytes: usize) -> String {
    format!("float of {bytes} bytes is longer than {FLOAT_BYTES_MAX} bytes")
}

/// The message for a float whose text reads as an infinity.
pub(super) fn beyond_range(text: &str) -> String {
    let quoted = clip(text, QUOTED_BYTES_MAX);
    format!("float {quoted} is beyond {:?}, the largest binary64", f64::MAX)
}

impl fmt::Display for Integer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(small) => fmt::Display::fmt(small, formatter),
            Repr::Big(digits) => formatter.write_str(digits),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(left), Repr::Small(right)) => left.cmp(right),
            // A big number lies outside `i64`, on the side its sign says.
            (Repr::Small(_), Repr::Big(right)) if is_negative(right) => Ordering::Greater,
            (Repr::Small(_), Repr::Big(_)) => Ordering::Less,
            (Repr::Big(left), Repr::Small(_)) if is_negative(left) => Ordering::Less,
            (Repr::Big(_), Repr::Small(_)) => Ordering::Greater,
            (Repr::Big(left), Repr::Big(right)) => compare_digits(left, right),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn is_negative(digits: &str) -> bool {
    digits.starts_with('-')
}

fn compare_digits(left: &str, right: &str) -> Ordering {
    let magnitude = left.len().cmp(&right.len()).then_with(|| left.cmp(right));
    match (is_negative(left), is_negative(right)) {
        (false, false) => magnitude,
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (true, true) => magnitude.reverse(),
    }
}

impl From<i128> for Integer {
    fn from(number: i128) -> Self {
        Self(match i64::try_from(number) {
            Ok(small) => Repr::Small(small),
            Err(_) => Repr::Big(number.to_string().into()),
        })
    }
}

impl From<u128> for Integer {
    fn from(number: u128) -> Self {
        Self(match i64::try_from(number) {
            Ok(small) => Repr::Small(small),
            Err(_) => Repr::Big(number.to_string().into()),
        })
    }
}

impl From<u64> for Integer {
    fn from(number: u64) -> Self {
        Self::from(u128::from(number))
    }
}

impl From<usize> for Integer {
    fn from(number: usize) -> Self {
        Self(match i64::try_from(number) {
            Ok(small) => Repr::Small(small),
            Err(_) => Repr::Big(number.to_string().into()),
        })
    }
}

impl From<i64> for Integer {
    fn from(number: i64) -> Self {
        Self(Repr::Small(number))
    }
}

impl From<i32> for Integer {
    fn from(number: i32) -> Self {
        Self(Repr::Small(number.into()))
    }
}

impl From<u32> for Integer {
    fn from(number: u32) -> Self {
        Self(Repr::Small(number.into()))
    }
}

macro_rules! value_from_integer {
    ($($number:ty),*) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Self::Integer(Integer::from(number))
            }
        }
    )*};
}

value_from_integer!(i32, i64, i128, u32, u64, u128, usize);

/// A finite binary64 number.
///
/// Its text is the shortest that reads back as the same number and still reads
/// as a float: `1.0`, `-0.0`, `0.1`, `1e300`. Floats are equal when their texts
/// are, so `0.0` and `-0.0` differ.
#[derive(Clone, Copy)]
pub struct Float(f64);

impl Float {
    /// Wraps a finite number; `None` for an infinity or NaN, which JSON has no
    /// text for.
    #[must_use]
    pub fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number))
    }

    /// Negative zero, which the JSON text `-0` means.
    pub(super) const NEGATIVE_ZERO: Self = Self(-0.0);

    /// The number, always finite.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// The integer that is exactly this number, if it has no fraction. `-0.0` is the integer zero.
    pub(super) fn to_exact_integer(self) -> Option<Integer> {
        if self.0 == 0.0 {
            return Some(Integer::from(0));
        }
        if self.0.fract() != 0.0 {
            return None;
        }
        Integer::parse(&format!("{:.0}", self.0)).ok()
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        // Without NaN, the same bits and the same text are the same thing.
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Display for Float {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Source: `Debug` of `f64` writes the shortest digits that read back
        // the same, always with a fraction or an exponent, and switches to an
        // exponent below 1e-5 and from 1e16. Tested in `tests/all/json.rs`.
        write!(formatter, "{:?}", self.0)
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl TryFrom<f64> for Value {
    type Error = Error;

    /// # Errors
    ///
    /// `FloatRange` for an infinity or NaN.
    fn try_from(number: f64) -> Result<Self, Error> {
        Float::new(number)
            .map(Self::Float)
            .ok_or_else(|| Error::at_root(ErrorKind::FloatRange, format!("float {number} is not finite")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_a_float_only_when_it_is_exactly_one() {
        let exact = |text: &str| Integer::parse(text).expect("an integer").to_exact_f64();
        for (text, float) in [
            ("0", 0.0),
            ("-9007199254740992", -9_007_199_254_740_992.0),
            ("9007199254740994", 9_007_199_254_740_994.0),
            ("-9223372036854775808", -9_223_372_036_854_775_808.0),
            ("340282366920938463463374607431768211456", 2_f64.powi(128)),
        ] {
            assert_eq!(exact(text), Some(float), "{text}");
        }
        assert_eq!(exact(&format!("{:.0}", f64::MAX)), Some(f64::MAX));
        for text in ["9007199254740993", "-9007199254740993", "9223372036854775807", "18446744073709551615"] {
            assert_eq!(exact(text), None, "{text}");
        }
        assert_eq!(exact(&"9".repeat(400)), None);
    }

    #[test]
    fn a_float_is_an_integer_only_without_a_fraction() {
        let exact = |number: f64| Float(number).to_exact_integer().map(|integer| integer.to_string());
        assert_eq!(exact(-0.0).as_deref(), Some("0"));
        assert_eq!(exact(-3.0).as_deref(), Some("-3"));
        assert_eq!(exact(1e23).as_deref(), Some("99999999999999991611392"));
        assert_eq!(exact(f64::MAX).map(|text| text.len()), Some(309));
        for number in [0.5, -1.5, 5e-324, 4_503_599_627_370_495.5] {
            assert_eq!(exact(number), None, "{number}");
        }
    }
}
