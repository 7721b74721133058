//! Periods with a board: days, weeks, months and seasons, in UTC.

use domain::Moment;
use jiff::civil::Date;

use crate::Season;

/// A kind of period with its own board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All time.
    All,
    /// A day.
    Day,
    /// An ISO 8601 week, starting on Monday.
    Week,
    /// A month.
    Month,
}

/// A range of days, by the name of its board; days are counted from 1970-01-01.
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

/// The periods that contain a day: one of every span, and those of these seasons that contain it.
pub(crate) fn stretches(day: i32, seasons: &[Season]) -> Vec<Stretch> {
    let spans = Span::ALL.iter().map(|span| span.stretch(day));
    let seasons = seasons.iter().filter(|season| (season.first..=season.last).contains(&day));
    spans.chain(seasons.map(Season::stretch)).collect()
}

const DAY: u64 = 86_400_000;

/// Day 0.
const FIRST: Date = Date::constant(1970, 1, 1);

impl Span {
    /// All spans.
    pub const ALL: [Self; 4] = [Self::All, Self::Day, Self::Week, Self::Month];

    /// The period that contains a day.
    fn stretch(self, day: i32) -> Stretch {
        let date = date(day);
        let (first, last) = match self {
            Self::All => (i32::MIN, i32::MAX),
            Self::Day => (day, day),
            Self::Week => {
                let monday = day - i32::from(date.weekday().to_monday_zero_offset());
                (monday, monday + 6)
            }
            Self::Month => (number(date.first_of_month()), number(date.last_of_month())),
        };
        Stretch { name: self.name(date), first, last }
    }

    /// The name of the period that contains a moment: `all`, `2026-11-16`, `2026-W47`, `2026-11`.
    pub fn of(self, moment: Moment) -> String {
        self.name(date(day_of(moment)))
    }

    fn name(self, date: Date) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Day => date.to_string(),
            Self::Month => date.strftime("%Y-%m").to_string(),
            Self::Week => date.strftime("%G-W%V").to_string(),
        }
    }

    /// A moment in the period that is `spans` periods earlier.
    pub fn before(self, moment: Moment, spans: u32) -> Moment {
        let spans = i64::from(spans);
        let back = match self {
            Self::All => return moment,
            Self::Day => jiff::Span::new().try_days(spans),
            Self::Week => jiff::Span::new().try_weeks(spans),
            Self::Month => jiff::Span::new().try_months(spans),
        };
        let date = date(day_of(moment));
        let earlier = back.and_then(|back| date.checked_sub(back)).unwrap_or(FIRST);
        Moment(u64::try_from(number(earlier)).unwrap_or(0) * DAY)
    }
}

/// The date of a day counted from 1970-01-01.
fn date(day: i32) -> Date {
    FIRST.checked_add(jiff::Span::new().days(day.clamp(0, MOST_DAYS))).unwrap_or(FIRST)
}

/// The last day of the year 9999.
const MOST_DAYS: i32 = 2_932_896;

/// The day of a date, counted from 1970-01-01.
fn number(date: Date) -> i32 {
    FIRST.until(date).map_or(0, |span| span.get_days())
}

/// Parses a date: `2026-11-16`.
pub fn parse_day(written: &str) -> Option<i32> {
    let date: Date = written.parse().ok()?;
    (date >= FIRST && date.to_string() == written).then(|| number(date))
}

/// Formats a day as a date.
pub fn write_day(day: i32) -> String {
    date(day).to_string()
}

/// The ISO 8601 week of a day, and its Monday.
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
    fn periods_contain_exactly_their_days() {
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
