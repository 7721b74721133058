//! The time, asked for in one place, and written as people read it.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Moment;

/// Now.
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A moment as a column of a table.
pub(crate) fn to_sql(moment: Moment) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

/// A moment from a column of a table.
pub(crate) fn from_sql(milliseconds: i64) -> Moment {
    Moment(u64::try_from(milliseconds).unwrap_or(0))
}

/// A moment as RFC 3339 writes it, in UTC: `2026-11-16T05:44:54.120Z`.
pub(crate) fn written(moment: Moment) -> String {
    let (days, rest) = (moment.0 / 86_400_000, moment.0 % 86_400_000);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, milliseconds) = (rest / 1000 % 60, rest % 1000);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{milliseconds:03}Z")
}

/// The date so many days after the first of January 1970. Years are counted from March, so that the
/// day that comes and goes is the last one; 400 years have 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        let check =
            |milliseconds, expected: &str| assert_eq!(written(Moment(milliseconds)), expected);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_709_251_199_999, "2024-02-29T23:59:59.999Z");
        check(1_794_807_894_120, "2026-11-16T05:44:54.120Z");
        check(4_102_444_800_000, "2100-01-01T00:00:00.000Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }
}
