//! Stretches of days with a board of their own: days, weeks, months and seasons, in UTC.

use domain::Moment;

use crate::Season;

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

/// A stretch of days, by the name of its board; days are counted from 1970-01-01.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) name: String,
    pub(crate) first: i32,
    pub(crate) last: i32,
}

/// The day of a moment, counted from 1970-01-01.
pub fn day_of(moment: Moment) -> i32 {
    i32::try_from(moment.0 / DAY).unwrap_or(i32::MAX)
}

/// The stretches that a day belongs to: those of every span, and these seasons as far as the day is in them.
pub(crate) fn stretches(day: i32, seasons: &[Season]) -> Vec<Stretch> {
    let spans = Span::ALL.iter().map(|span| span.stretch(day));
    let seasons = seasons.iter().filter(|season| (season.first..=season.last).contains(&day));
    spans.chain(seasons.map(Season::stretch)).collect()
}

const DAY: u64 = 86_400_000;

impl Span {
    /// The stretch that a day is in.
    fn stretch(self, day: i32) -> Stretch {
        let name = self.of(Moment(u64::try_from(day).unwrap_or(0) * DAY));
        let (first, last) = match self {
            Self::All => (i32::MIN, i32::MAX),
            Self::Day => (day, day),
            Self::Week => (day - monday(day), day - monday(day) + 6),
            Self::Month => {
                let (year, month, of_month) = date(day.into());
                let first = day - i32::try_from(of_month - 1).unwrap_or(0);
                (first, first + i32::try_from(days_in(year, month)).unwrap_or(31) - 1)
            }
        };
        Stretch { name, first, last }
    }

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
    let mut left = days - days_before(year);
    for month in 1..=12 {
        let length = days_in(year, month);
        if left < length {
            return (year, month, left + 1);
        }
        left -= length;
    }
    (year, 12, 31)
}

/// How many days a month has.
fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// How many days ago Monday was.
fn monday(day: i32) -> i32 {
    // 1970-01-01 was a Thursday.
    (day + 3).rem_euclid(7)
}

/// The day of a date as people write it: `2026-11-16`.
pub fn parse_day(written: &str) -> Option<i32> {
    let mut parts = written.split('-');
    let mut next = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i64>().ok())?
    };
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    let lawful =
        year >= 1970 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    if !lawful || parts.next().is_some() {
        return None;
    }
    let before: i64 = (1..month).map(|month| days_in(year, month)).sum();
    i32::try_from(days_before(year) + before + day - 1).ok()
}

/// A day as people write it.
pub fn write_day(day: i32) -> String {
    Span::Day.stretch(day).name
}

/// The week of a day, as ISO 8601 writes it, and its Monday.
pub fn week_of(day: i32) -> (String, i32) {
    let week = Span::Week.stretch(day);
    (week.name, week.first)
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
    fn stretches_hold_their_days_and_no_others() {
        for day in (0..40_000).step_by(13) {
            for span in Span::ALL {
                let Stretch { name, first, last } = span.stretch(day);
                assert!((first..=last).contains(&day), "{name}");
                if span != Span::All {
                    assert_eq!([first, last].map(|day| span.stretch(day).name), [&*name, &*name]);
                    assert_ne!(span.stretch(last + 1).name, name);
                    assert_ne!(
                        span.stretch(first.max(1) - 1).name,
                        if first > 0 { name } else { String::new() }
                    );
                }
            }
            assert_eq!(parse_day(&write_day(day)), Some(day));
        }
        let wrong = [
            "",
            "2026",
            "2026-02-29",
            "2026-13-01",
            "2026-1-01",
            "1969-12-31",
            "2026-11-16-1",
            "+026-11-16",
            "a026-11-16",
        ];
        for written in wrong {
            assert_eq!(parse_day(written), None, "{written}");
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
