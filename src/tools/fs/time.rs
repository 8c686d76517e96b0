//! Times as text.
//!
//! Invariant: the text is always 24 characters, UTC, with milliseconds, rounded down; what does not fit has no text.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY_SECONDS: i64 = 24 * 3600;

/// `time` as RFC 3339, for example `2024-02-29T12:00:00.000Z`; `None` outside of the years 0 to 9999.
pub(super) fn rfc3339(time: SystemTime) -> Option<String> {
    let milliseconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).ok()?,
        Err(before) => {
            let before = before.duration();
            let partial = i64::from(before.subsec_nanos() % 1_000_000 != 0);
            -i64::try_from(before.as_millis()).ok()? - partial
        }
    };
    let seconds = milliseconds.div_euclid(1000);
    let (year, month, day) = date(seconds.div_euclid(DAY_SECONDS));
    let of_day = seconds.rem_euclid(DAY_SECONDS);
    (0..=9999).contains(&year).then(|| {
        format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            of_day / 3600,
            of_day / 60 % 60,
            of_day % 60,
            milliseconds.rem_euclid(1000)
        )
    })
}

/// Year, month and day, given days since the first of January 1970.
///
/// It counts in eras of 400 years, which all have the same length, and in years that begin in March, so that the day
/// which comes and goes is the last.
fn date(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    /// From the first of March of the year 0 to 1970.
    const OFFSET: i64 = 719_468;
    let days = days + OFFSET;
    let in_era = days.rem_euclid(ERA);
    let year_in_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year_in_era + year_in_era / 4 - year_in_era / 100);
    let from_march = (5 * in_year + 2) / 153;
    let day = in_year - (153 * from_march + 2) / 5 + 1;
    let (month, next) = if from_march < 10 { (from_march + 3, 0) } else { (from_march - 9, 1) };
    (days.div_euclid(ERA) * 400 + year_in_era + next, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn known_times_have_known_texts() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_709_210_096, "2024-02-29T12:34:56.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)).as_deref(), Some(text));
        }
        assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(253_402_300_800)), None);
    }

    #[test]
    fn parts_of_a_second_are_rounded_down_on_both_sides_of_1970() {
        let text = |time: SystemTime| rfc3339(time).expect("a year with four digits");
        assert_eq!(text(UNIX_EPOCH + Duration::from_nanos(1_999_999)), "1970-01-01T00:00:00.001Z");
        assert_eq!(text(UNIX_EPOCH - Duration::from_nanos(1)), "1969-12-31T23:59:59.999Z");
        assert_eq!(text(UNIX_EPOCH - Duration::from_secs(86_400)), "1969-12-31T00:00:00.000Z");
    }
}
