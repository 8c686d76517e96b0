//! Times, sizes and counts as people write them: `60s`, `1.5GiB`, `16384`.
//!
//! Invariant: a number is taken exactly or not at all, and every refusal shows the accepted form.

use crate::limits::{Limit, Limits, Unit};

/// Units and how many base units each has.
const TIME: &[(&str, u64)] = &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
const SIZE: &[(&str, u64)] = &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
const COUNT: &[(&str, u64)] = &[("", 1)];

/// Fractions of more digits than this are taken for a slip.
const FRACTION_DIGITS_MAX: usize = 18;

/// The word for a value of this kind in help texts.
pub(super) fn value_name(limit: Limit) -> &'static str {
    match limit.unit() {
        Unit::Milliseconds => "TIME",
        Unit::Bytes => "SIZE",
        Unit::Count => "COUNT",
    }
}

/// Reads `text` as a value of `limit`, within its bounds.
pub(super) fn parse(limit: Limit, text: &str) -> Result<u64, String> {
    let value = match read(limit, text) {
        Ok(Some(value)) => value,
        Ok(None) => return Err(too_large(limit)),
        Err(what) => return Err(format!("{what}; write {}", form(limit))),
    };
    // The table of limits has the last word, and words the refusal.
    Limits::default().with(limit, value).map(|_| value).map_err(|error| error.to_string())
}

/// The value, or `None` where it is larger than any limit.
fn read(limit: Limit, text: &str) -> Result<Option<u64>, String> {
    if text.starts_with('-') {
        return Err("a limit is never negative".to_owned());
    }
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err("that is not a number".to_owned());
    }
    let unit = units(limit).iter().find(|(name, _)| *name == suffix);
    let (_, factor) = unit.ok_or_else(|| match (suffix, limit.unit()) {
        ("", _) => "the unit is missing".to_owned(),
        (_, Unit::Count) => "a count has no unit".to_owned(),
        _ => "that unit is not known here".to_owned(),
    })?;
    let Some(rest) = part(fraction, *factor) else { return Err(not_whole(limit)) };
    let value = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(*factor)?.checked_add(rest));
    Ok(value)
}

/// `0.fraction` of `factor`, if that is a whole number.
fn part(fraction: &str, factor: u64) -> Option<u64> {
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Some(0);
    }
    if fraction.len() > FRACTION_DIGITS_MAX {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = fraction.parse::<u128>().ok()? * u128::from(factor);
    if scaled % scale == 0 { u64::try_from(scaled / scale).ok() } else { None }
}

fn units(limit: Limit) -> &'static [(&'static str, u64)] {
    match limit.unit() {
        Unit::Milliseconds => TIME,
        Unit::Bytes => SIZE,
        Unit::Count => COUNT,
    }
}

/// The accepted form, with the default as the example.
fn form(limit: Limit) -> String {
    let example = limit.display(limit.default_value());
    match limit.unit() {
        Unit::Milliseconds => format!("a time with its unit, such as {example} (ms, s, m or h)"),
        Unit::Bytes => format!("a size with its unit, such as {example} (B, KiB, MiB or GiB)"),
        Unit::Count => format!("a plain number, such as {example}"),
    }
}

fn not_whole(limit: Limit) -> String {
    match limit.unit() {
        Unit::Milliseconds => "that is not a whole number of milliseconds".to_owned(),
        Unit::Bytes => "that is not a whole number of bytes".to_owned(),
        Unit::Count => "that is not a whole number".to_owned(),
    }
}

fn too_large(limit: Limit) -> String {
    let (min, max) = limit.bounds();
    format!("limit `{limit}` is too large; it must be between {} and {}", limit.display(min), limit.display(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(limit: Limit, text: &str) -> String {
        parse(limit, text).expect_err(text)
    }

    #[test]
    fn values_are_read_exactly() {
        for (limit, text, value) in [
            (Limit::Compute, "60s", 60_000),
            (Limit::Compute, "1.5s", 1_500),
            (Limit::Compute, "1.50s", 1_500),
            (Limit::Compute, "0.001s", 1),
            (Limit::Compute, "250ms", 250),
            (Limit::Compute, "2m", 120_000),
            (Limit::Wall, "1.25h", 4_500_000),
            (Limit::Grace, "0s", 0),
            (Limit::Memory, "256MiB", 256 << 20),
            (Limit::Memory, "0.5GiB", 512 << 20),
            (Limit::Output, "2048B", 2048),
            (Limit::LogLines, "10", 10),
            (Limit::LogLines, "10.0", 10),
        ] {
            assert_eq!(parse(limit, text), Ok(value), "{text}");
        }
    }

    #[test]
    fn every_default_reads_back_as_itself() {
        for limit in Limit::ALL {
            let text = limit.display(limit.default_value());
            assert_eq!(parse(limit, &text), Ok(limit.default_value()), "{limit}");
        }
    }

    #[test]
    fn a_time_or_size_without_unit_is_refused_with_the_form() {
        let time = "write a time with its unit, such as 60s (ms, s, m or h)";
        let size = "write a size with its unit, such as 256MiB (B, KiB, MiB or GiB)";
        assert_eq!(refused(Limit::Compute, "60"), format!("the unit is missing; {time}"));
        assert_eq!(refused(Limit::Memory, "1024"), format!("the unit is missing; {size}"));
        assert_eq!(refused(Limit::Memory, "256MB"), format!("that unit is not known here; {size}"));
        assert_eq!(refused(Limit::Compute, "60S"), format!("that unit is not known here; {time}"));
        assert_eq!(refused(Limit::Compute, "60 s"), format!("that unit is not known here; {time}"));
        assert_eq!(
            refused(Limit::Compute, "0.5ms"),
            format!("that is not a whole number of milliseconds; {time}")
        );
        assert_eq!(refused(Limit::Memory, "0.1B"), format!("that is not a whole number of bytes; {size}"));
        for text in ["", "s", ".5s", "1.s", "1.2.3s", "abc", "+5s"] {
            assert_eq!(refused(Limit::Compute, text), format!("that is not a number; {time}"), "{text}");
        }
    }

    #[test]
    fn a_count_has_no_unit() {
        let form = "write a plain number, such as 16384";
        assert_eq!(refused(Limit::OutstandingCalls, "16k"), format!("a count has no unit; {form}"));
        assert_eq!(refused(Limit::OutstandingCalls, "1.5"), format!("that is not a whole number; {form}"));
        assert_eq!(refused(Limit::OutstandingCalls, "-1"), format!("a limit is never negative; {form}"));
    }

    #[test]
    fn values_out_of_bounds_are_refused_with_the_bounds() {
        let bounds = "it must be between 1ms and 86400s";
        assert_eq!(refused(Limit::Compute, "0s"), format!("limit `compute` is 0ms; {bounds}"));
        assert_eq!(refused(Limit::Compute, "25h"), format!("limit `compute` is 90000s; {bounds}"));
        for text in ["99999999999999999h", "99999999999999999999999999999999999ms"] {
            assert_eq!(refused(Limit::Compute, text), format!("limit `compute` is too large; {bounds}"));
        }
    }

    #[test]
    fn fractions_never_round() {
        assert_eq!(part("5", 1000), Some(500));
        assert_eq!(part("000", 1), Some(0));
        assert_eq!(part("0005", 1000), None);
        assert_eq!(part(&"3".repeat(40), 1000), None);
        assert_eq!(part(&format!("5{}", "0".repeat(60)), 1000), Some(500));
    }
}
