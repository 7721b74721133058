//! The clock of the server, and the formatting of times.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Moment;
use jiff::Timestamp;

pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Converts a time to a column value.
pub(crate) fn to_sql(moment: Moment) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

/// Converts a column value to a time.
pub(crate) fn from_sql(milliseconds: i64) -> Moment {
    Moment(u64::try_from(milliseconds).unwrap_or(0))
}

/// Formats a time as RFC 3339 in UTC: `2026-11-16T05:44:54.120Z`.
pub(crate) fn rfc3339(moment: Moment) -> String {
    let at = i64::try_from(moment.0).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    format!("{:.3}", at.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_as_rfc_3339() {
        let check =
            |milliseconds, expected: &str| assert_eq!(rfc3339(Moment(milliseconds)), expected);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_709_251_199_999, "2024-02-29T23:59:59.999Z");
        check(1_794_807_894_120, "2026-11-16T05:44:54.120Z");
        check(4_102_444_800_000, "2100-01-01T00:00:00.000Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }
}
