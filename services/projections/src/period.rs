//! Days, weeks and months of a moment, in UTC.

use domain::Moment;

/// A stretch of time with a board of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All time.
    All,
    /// A day.
    Day,
    /// A week, from Monday on, as ISO 8601 counts them.
    Week,
    /// A month.
    Month,
}

impl Span {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::All, Self::Day, Self::Week, Self::Month];

    /// The name of the span that a moment is in: `all`, `2026-11-16`, `2026-W47`, `2026-11`.
    pub fn of(self, moment: Moment) -> String {
        let days = i64::try_from(moment.0 / 86_400_000).unwrap_or(0);
        let (year, month, day) = date(days);
        match self {
            Self::All => "all".to_owned(),
            Self::Day => format!("{year:04}-{month:02}-{day:02}"),
            Self::Month => format!("{year:04}-{month:02}"),
            Self::Week => {
                // The week belongs to the year of its Thursday; 1970-01-01 was one.
                let thursday = days - (days + 3).rem_euclid(7) + 3;
                let (year, _, _) = date(thursday);
                let first = days_before(year);
                format!("{year:04}-W{:02}", (thursday - first) / 7 + 1)
            }
        }
    }
}

impl Span {
    /// A moment of the span so many before.
    pub fn before(self, moment: Moment, spans: u32) -> Moment {
        const DAY: u64 = 86_400_000;
        let back = |days: u64| Moment(moment.0.saturating_sub(days * DAY));
        match self {
            Self::All => moment,
            Self::Day => back(spans.into()),
            Self::Week => back(u64::from(spans) * 7),
            Self::Month => (0..spans).fold(moment, |moment, _| {
                // The day before the first of the month.
                let (_, _, day) = date(i64::try_from(moment.0 / DAY).unwrap_or(0));
                Moment(moment.0.saturating_sub(u64::try_from(day).unwrap_or(1) * DAY))
            }),
        }
    }
}

/// Days from 1970-01-01 to the first day of a year.
fn days_before(year: i64) -> i64 {
    let before = year - 1;
    365 * (year - 1970) + (before / 4 - before / 100 + before / 400)
        - (1969 / 4 - 1969 / 100 + 1969 / 400)
}

/// The date of a day counted from 1970-01-01: year, month, day.
fn date(days: i64) -> (i64, i64, i64) {
    let mut year = 1970 + days / 366;
    while days_before(year + 1) <= days {
        year += 1;
    }
    let leap = i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let mut left = days - days_before(year);
    for (month, length) in (1..).zip([31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
        if left < length {
            return (year, month, left + 1);
        }
        left -= length;
    }
    (year, 12, 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_weeks_and_months() {
        let known = [
            (0, "1970-01-01", "1970-W01", "1970-01"),
            (951_782_400, "2000-02-29", "2000-W09", "2000-02"),
            (1_230_768_000, "2009-01-01", "2009-W01", "2009-01"),
            (1_262_304_000, "2010-01-01", "2009-W53", "2010-01"),
            (1_735_603_199, "2024-12-30", "2025-W01", "2024-12"),
            (1_794_787_200, "2026-11-16", "2026-W47", "2026-11"),
            (4_102_444_799, "2099-12-31", "2099-W53", "2099-12"),
        ];
        for (seconds, day, week, month) in known {
            let moment = Moment(seconds * 1000);
            let found = [Span::Day, Span::Week, Span::Month].map(|span| span.of(moment));
            assert_eq!(found, [day, week, month]);
        }
    }

    #[test]
    fn earlier_spans() {
        let today = Moment(1_794_787_200_000);
        let back = |span: Span, spans| span.of(span.before(today, spans));
        assert_eq!(back(Span::Day, 16), "2026-10-31");
        assert_eq!(back(Span::Week, 47), "2025-W52");
        assert_eq!([back(Span::Month, 0), back(Span::Month, 9)], ["2026-11", "2026-02"]);
        assert_eq!(back(Span::Month, 12), "2025-11");
    }
}
