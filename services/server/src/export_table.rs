//! `croupier export TABLE`: a read model as a table, for spreadsheets and notebooks.

use std::io::Write;

use clap::ValueEnum;
use futures_util::TryStreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use projections::{parse_day, write_day};
use sqlx::{Connection, Executor, PgConnection, Row};

use crate::terminal::GOOD;

/// A table to export: a view of the schema `analytics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// Finished games, one line each.
    Games,
    /// All seats of finished games, one line each.
    Seats,
    /// Daily totals by die, pair, character, position, band ...
    Balance,
    /// Totals of every player, by game and preset.
    Statistics,
    /// All leaderboards except those by rating.
    Leaderboards,
    /// The rating of every player after each day on which they played.
    Ratings,
}

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With a header line.
    Csv,
    /// One JSON object per line.
    Ndjson,
}

impl Table {
    const fn view(self) -> &'static str {
        match self {
            Self::Games => "game",
            Self::Seats => "seat",
            Self::Balance => "balance",
            Self::Statistics => "player_statistics",
            Self::Leaderboards => "leaderboard",
            Self::Ratings => "rating",
        }
    }

    /// The processor that builds it.
    const fn model(self) -> &'static str {
        match self {
            Self::Games | Self::Seats | Self::Balance | Self::Ratings => "ratings",
            Self::Statistics => "player_statistics",
            Self::Leaderboards => "leaderboards",
        }
    }

    const fn has_days(self) -> bool {
        matches!(self, Self::Games | Self::Seats | Self::Balance | Self::Ratings)
    }
}

/// Parses a day of the command line.
pub(crate) fn day(text: &str) -> Result<i32, String> {
    parse_day(text).ok_or_else(|| "a day must have the form 2026-11-16".to_owned())
}

/// Writes a table from one consistent snapshot.
pub(crate) async fn write(
    url: &str,
    table: Table,
    format: Format,
    days: (Option<i32>, Option<i32>),
    out: &mut impl Write,
) -> Result<(), String> {
    const SNAPSHOT: &str =
        "SET ROLE croupier_analyst; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
    let copy = statement(table, format, days)?;
    let failed = |error: sqlx::Error| store::StoreError::from(error).to_string();
    let mut connection = PgConnection::connect(url).await.map_err(failed)?;
    let mut transaction = connection.begin().await.map_err(failed)?;
    transaction.execute(SNAPSHOT).await.map_err(failed)?;
    let position = "SELECT events, behind FROM analytics.position WHERE name = $1";
    let position = sqlx::query(position).bind(table.model()).fetch_optional(&mut *transaction);
    let position = position.await.map_err(failed)?;
    let position = position.ok_or("the read model does not exist yet: run croupier serve once")?;
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {bytes} written, {bytes_per_sec}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let mut rows = transaction.copy_out_raw(&copy).await.map_err(failed)?;
    let mut lines = 0;
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        out.write_all(&row).map_err(|error| error.to_string())?;
        lines += row.split(|byte| *byte == b'\n').count() - 1;
        bar.inc(u64::try_from(row.len()).unwrap_or(0));
    }
    drop(rows);
    out.flush().map_err(|error| error.to_string())?;
    bar.finish_and_clear();
    let (events, behind): (i64, i64) =
        (position.try_get(0).map_err(failed)?, position.try_get(1).map_err(failed)?);
    let note = format!(
        "{GOOD}✓{GOOD:#} {lines} lines, up to event {events} of the log; {behind} events are not processed yet"
    );
    writeln!(anstream::stderr(), "{note}").map_err(|error| error.to_string())
}

fn statement(
    table: Table,
    format: Format,
    (from, to): (Option<i32>, Option<i32>),
) -> Result<String, String> {
    if !table.has_days() && (from.is_some() || to.is_some()) {
        return Err("--from and --to are only for games, seats, balance and ratings".to_owned());
    }
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err("--from must not be after --to".to_owned());
    }
    let bound = |compare: &str, day: Option<i32>| {
        day.map(|day| format!(" AND day {compare} '{}'", write_day(day))).unwrap_or_default()
    };
    let (view, from, to) = (table.view(), bound(">=", from), bound("<=", to));
    let rows = format!("SELECT * FROM analytics.{view} WHERE true{from}{to}");
    Ok(match format {
        Format::Csv => format!("COPY ({rows}) TO STDOUT WITH (FORMAT csv, HEADER)"),
        // Quote and delimiter are characters that JSON never contains, so lines are unchanged.
        Format::Ndjson => format!(
            "COPY (SELECT row_to_json(r) FROM ({rows}) AS r) TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
        ),
    })
}
