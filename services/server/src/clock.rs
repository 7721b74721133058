//! The time, asked for in one place, and written as people read it.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Moment;
use jiff::Timestamp;

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
    let at = i64::try_from(moment.0).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    format!("{:.3}", at.unwrap_or(Timestamp::MAX))
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
