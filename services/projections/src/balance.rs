//! Balance: how often dice, characters and seats win.
//!
//! Every seat of a finished game is a fact. Daily sums are kept by trait of the seats
//! ([`Dimension`]), by table, and by the band of the rating the player started the day with, so a
//! query over a year adds up a few thousand rows, however many games were played. Ratings of past
//! days are computed here as well: bands must not depend on the progress of another read model.

mod answer;
mod cells;
mod strength;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use skillratings::glicko2::Glicko2Rating;
use sqlx::{PgConnection, Row};
use store::{
    StoreError,
    processor::{HandlerError, Target},
};
use uuid::Uuid;

pub use answer::{Answer, AsOf, By, Line, Question, Week, ask};
use cells::{add, delete_cells};

use crate::{
    GameRecord, Histogram, Model, SeatRecord,
    due::{Due, WHOLE},
    glicko::PROVISIONAL,
    period::day_of,
    records::Records,
};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "balance",
    version: 1,
    tables: &["balance_seat", "balance_cell", "balance_due", "balance_strength", "balance_closed"],
    rows: "SELECT concat_ws('/', 'seat', kind, day, game, seat), (s.*)::balance_seat::text
             FROM (SELECT 0 AS generation, kind, day, game, seat, player, preset, ruleset_version, catalogue_version, seats, position, ended_at,
                          won, gave_up, score, turns, turn_time, rolls, farkles, money, dice, character, turn_lengths
                     FROM balance_seat WHERE generation = $1) AS s
           UNION ALL
           SELECT concat_ws('/', 'cell', kind, dimension, day, preset, ruleset_version, catalogue_version, seats, band, trait),
                  concat_ws(' ', games, wins, score, turns, turn_time, rolls, farkles, histograms) FROM balance_cell WHERE generation = $1",
    write,
    forget,
    derive: Some(derive),
};

const DUE: Due = Due {
    note: "
INSERT INTO balance_due (generation, kind, day, game)
SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[]) AS w
    ON CONFLICT DO NOTHING",
    take: "DELETE FROM balance_due WHERE generation = $1 RETURNING kind, day, game",
};

fn write<'a>(
    Target { connection, generation, building }: Target<'a>,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), HandlerError>> {
    async move {
        insert_seats(connection, generation, records).await?;
        let due = records.iter().map(|record| {
            (record.kind, day_of(record.ended_at), if building { WHOLE } else { record.game })
        });
        Ok(DUE.note(connection, generation, &due.collect()).await?)
    }
    .boxed()
}

/// Without these games the sums of their day change, and possibly the bands of all later days.
fn forget<'a>(
    Target { connection, generation, .. }: Target<'a>,
    records: &'a [Arc<GameRecord>],
    _: &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>> {
    async move {
        let mut due = BTreeSet::new();
        for record in records {
            if delete_seats(connection, generation, record).await? {
                due.insert((record.kind, day_of(record.ended_at), WHOLE));
            }
        }
        Ok(DUE.note(connection, generation, &due).await?)
    }
    .boxed()
}

/// Updates all sums that are due.
fn derive(
    Target { connection, generation, .. }: Target<'_>,
) -> BoxFuture<'_, Result<(), HandlerError>> {
    async move {
        for (kind, (first, games)) in DUE.take(connection, generation).await? {
            let of_kind = strength::Strengths { generation, kind: &kind };
            add_up(connection, of_kind, first, &games).await?;
        }
        Ok(())
    }
    .boxed()
}

/// Adds games of a day to its sums, or recomputes them, and recomputes all later days if their
/// bands may have changed.
async fn add_up(
    connection: &mut PgConnection,
    of_kind: strength::Strengths<'_>,
    first: i32,
    games: &BTreeSet<Uuid>,
) -> Result<(), StoreError> {
    const LATER: &str = "
SELECT DISTINCT day FROM balance_seat WHERE generation = $1 AND kind = $2 AND day > $3 ORDER BY day";
    let strength::Strengths { generation, kind } = of_kind;
    let whole = games.contains(&WHOLE);
    // A day has sums only if all earlier days are closed.
    of_kind.open_from(connection, first).await?;
    delete_cells(connection, generation, kind, if whole { first } else { first + 1 }).await?;
    of_kind.close_before(connection, first).await?;
    let games: Vec<Uuid> = games.iter().copied().collect();
    let some = (!whole).then_some(games.as_slice());
    add_day(connection, of_kind, first, some).await?;
    let query = sqlx::query(LATER).bind(generation).bind(kind).bind(first);
    for row in query.fetch_all(&mut *connection).await? {
        let day = row.try_get(0)?;
        of_kind.close_before(connection, day).await?;
        add_day(connection, of_kind, day, None).await?;
    }
    Ok(())
}

/// Adds these games of a day to its sums, or all games if the day has no sums yet.
async fn add_day(
    connection: &mut PgConnection,
    of_kind: strength::Strengths<'_>,
    day: i32,
    games: Option<&[Uuid]>,
) -> Result<(), StoreError> {
    let strength::Strengths { generation, kind } = of_kind;
    let facts = seats(connection, generation, kind, day, games).await?;
    let mut players: Vec<Uuid> = facts.iter().map(|fact| fact.player).collect();
    players.sort_unstable();
    players.dedup();
    let began = of_kind.began_with(connection, day, &players).await?;
    let band = |player| Band::of(&began.get(&player).copied().unwrap_or_default());
    add(connection, generation, kind, day, &facts, games.is_none(), band).await
}

/// What seats are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// All seats.
    All,
    /// A special die, whatever the number of copies.
    Die,
    /// Two special dice, possibly of the same kind.
    Pair,
    /// The number of special dice.
    Loadout,
    /// The character.
    Character,
    /// The position in the turn order, from 1.
    Position,
}

impl Dimension {
    /// All dimensions.
    const ALL: [Self; 6] =
        [Self::All, Self::Die, Self::Pair, Self::Loadout, Self::Character, Self::Position];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Die => "die",
            Self::Pair => "pair",
            Self::Loadout => "loadout",
            Self::Character => "character",
            Self::Position => "position",
        }
    }
}

/// A player's strength, by the rating at the start of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Band {
    /// The rating is too uncertain.
    Provisional,
    /// Below 1300.
    Below1300,
    /// From 1300 to below 1500.
    From1300,
    /// From 1500 to below 1700.
    From1500,
    /// From 1700 to below 1900.
    From1700,
    /// 1900 and above.
    From1900,
}

impl Band {
    /// All bands.
    pub const ALL: [Self; 6] = [
        Self::Provisional,
        Self::Below1300,
        Self::From1300,
        Self::From1500,
        Self::From1700,
        Self::From1900,
    ];

    pub(crate) fn of(rating: &Glicko2Rating) -> Self {
        match rating.rating {
            _ if rating.deviation > PROVISIONAL => Self::Provisional,
            ..1300.0 => Self::Below1300,
            ..1500.0 => Self::From1300,
            ..1700.0 => Self::From1500,
            ..1900.0 => Self::From1700,
            _ => Self::From1900,
        }
    }

    /// Display name.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Provisional => "provisional",
            Self::Below1300 => "below 1300",
            Self::From1300 => "1300 to 1499",
            Self::From1500 => "1500 to 1699",
            Self::From1700 => "1700 to 1899",
            Self::From1900 => "1900 and more",
        }
    }

    /// Its number in the tables.
    pub(crate) const fn number(self) -> i16 {
        self as i16
    }

    pub(crate) fn numbered(number: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|band| band.number() == number)
    }
}

/// What a seat did, as far as it matters for balance.
#[derive(Clone, Debug)]
pub(crate) struct SeatFact {
    pub(crate) game: Uuid,
    pub(crate) player: Uuid,
    preset: String,
    ruleset_version: i32,
    catalogue_version: i32,
    seats: i16,
    position: i16,
    won: bool,
    gave_up: bool,
    score: i64,
    turns: i64,
    turn_time: i64,
    rolls: i64,
    farkles: i64,
    dice: Vec<String>,
    character: Option<String>,
    turn_seconds: Histogram,
    turn_rolls: Histogram,
}

impl SeatFact {
    /// All its traits. A new dimension is a line here.
    fn traits(&self) -> Vec<(Dimension, String)> {
        let mut traits = vec![(Dimension::All, String::new())];
        if self.catalogue_version > 0 {
            traits.push((Dimension::Loadout, self.dice.len().to_string()));
        }
        let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
        for code in &self.dice {
            *copies.entry(code).or_default() += 1;
        }
        for (&code, &count) in &copies {
            traits.push((Dimension::Die, code.to_owned()));
            let others =
                copies.keys().filter(|other| **other > code || (count > 1 && **other == code));
            traits.extend(others.map(|other| (Dimension::Pair, format!("{code}+{other}"))));
        }
        traits.extend(self.character.iter().map(|code| (Dimension::Character, code.clone())));
        if self.seats > 1 {
            traits.push((Dimension::Position, self.position.to_string()));
        }
        traits
    }
}

/// Values are clamped to this: made-up custom rules must not overflow the sums.
const LARGEST: i64 = 1_000_000_000_000;

/// Inserts the facts of seats.
async fn insert_seats(
    connection: &mut PgConnection,
    generation: i32,
    records: &[Arc<GameRecord>],
) -> Result<(), StoreError> {
    const INSERT: &str = "
INSERT INTO balance_seat (generation, kind, day, game, seat, player, preset, ruleset_version, catalogue_version, seats, position, ended_at,
                          won, gave_up, score, turns, turn_time, rolls, farkles, money, dice, character, turn_lengths)
SELECT $1, w.kind, w.day, w.game, w.seat, w.player, w.preset, w.ruleset, w.catalogue, w.seats, w.position, w.ended_at, w.won, w.gave_up, w.score,
       w.turns, w.turn_time, w.rolls, w.farkles, w.money, string_to_array(w.dice, ' '), w.character, w.lengths::json
  FROM unnest($2::text[], $3::integer[], $4::uuid[], $5::smallint[], $6::uuid[], $7::text[], $8::integer[], $9::integer[], $10::smallint[],
              $11::smallint[], $12::bigint[], $13::boolean[], $14::boolean[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
              $19::bigint[], $20::bigint[], $21::text[], $22::text[], $23::text[])
       AS w (kind, day, game, seat, player, preset, ruleset, catalogue, seats, position, ended_at, won, gave_up, score, turns, turn_time, rolls,
             farkles, money, dice, character, lengths)
    ON CONFLICT DO NOTHING";
    let seats: Vec<(&GameRecord, i16, &SeatRecord)> = records
        .iter()
        .flat_map(|record| (1..).zip(&record.seats).map(|(place, seat)| (&**record, place, seat)))
        .collect();
    let games = |value: fn(&GameRecord) -> i64| -> Vec<i64> {
        seats.iter().map(|(record, ..)| value(record)).collect()
    };
    let version = |value: fn(&GameRecord) -> u32| -> Vec<i32> {
        seats.iter().map(|(r, ..)| i32::try_from(value(r)).unwrap_or(i32::MAX)).collect()
    };
    let longs = |value: fn(&SeatRecord) -> i64| -> Vec<i64> {
        seats.iter().map(|(.., seat)| value(seat)).collect()
    };
    let table = |record: &GameRecord| i16::try_from(record.seats.len()).unwrap_or(i16::MAX);
    let query = sqlx::query(INSERT)
        .bind(generation)
        .bind(seats.iter().map(|(record, ..)| record.kind).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, ..)| day_of(record.ended_at)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, ..)| record.game).collect::<Vec<_>>())
        .bind(seats.iter().map(|(.., seat)| i16::from(seat.seat)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(.., seat)| seat.player).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, ..)| record.preset.as_str()).collect::<Vec<_>>())
        .bind(version(|record| record.ruleset_version))
        .bind(version(|record| record.catalogue_version))
        .bind(seats.iter().map(|(record, ..)| table(record)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, place, _)| *place).collect::<Vec<_>>())
        .bind(games(|record| i64::try_from(record.ended_at.0).unwrap_or(i64::MAX)))
        .bind(seats.iter().map(|(.., seat)| seat.won).collect::<Vec<_>>())
        .bind(seats.iter().map(|(.., seat)| seat.left).collect::<Vec<_>>())
        .bind(longs(|seat| seat.score.clamp(-LARGEST, LARGEST)))
        .bind(longs(|seat| seat.turns.into()))
        .bind(longs(|seat| i64::try_from(seat.turn_time).unwrap_or(LARGEST).min(LARGEST)))
        .bind(longs(|seat| seat.rolls.into()))
        .bind(longs(|seat| seat.farkles.into()))
        .bind(longs(|seat| i64::try_from(seat.money).unwrap_or(LARGEST).min(LARGEST)))
        .bind(seats.iter().map(|(.., seat)| special_dice(seat)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(.., seat)| seat.character.as_deref()).collect::<Vec<_>>())
        .bind(seats.iter().map(|(.., seat)| lengths(seat)).collect::<Vec<_>>());
    query.execute(connection).await?;
    Ok(())
}

/// The special dice of a seat, each repeated by its number of copies.
fn special_dice(seat: &SeatRecord) -> String {
    let special = seat.dice.iter();
    let each = special.flat_map(|(code, die)| (0..die.copies).map(|_| code.as_str()));
    each.collect::<Vec<_>>().join(" ")
}

fn lengths(seat: &SeatRecord) -> String {
    serde_json::to_string(&(&seat.turn_seconds, &seat.turn_rolls)).unwrap_or_default()
}

/// Deletes the facts of a game; returns whether there were any.
async fn delete_seats(
    connection: &mut PgConnection,
    generation: i32,
    record: &GameRecord,
) -> Result<bool, StoreError> {
    const DELETE: &str =
        "DELETE FROM balance_seat WHERE generation = $1 AND kind = $2 AND day = $3 AND game = $4";
    let query = sqlx::query(DELETE).bind(generation).bind(record.kind);
    let query = query.bind(day_of(record.ended_at)).bind(record.game);
    Ok(query.execute(connection).await?.rows_affected() > 0)
}

/// The facts of these games of a day, or of all games.
async fn seats(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    day: i32,
    games: Option<&[Uuid]>,
) -> Result<Vec<SeatFact>, StoreError> {
    const SEATS: &str = "
SELECT player, preset, ruleset_version, catalogue_version, seats, position, won, score, turns, turn_time, rolls, farkles, dice, character,
       turn_lengths::text, game, gave_up
  FROM balance_seat WHERE generation = $1 AND kind = $2 AND day = $3";
    // Two statements: the plan of a combined one would read the whole day for a single game.
    let rows = match games {
        None => {
            sqlx::query(SEATS).bind(generation).bind(kind).bind(day).fetch_all(connection).await?
        }
        Some(games) => {
            let of_games = format!("{SEATS} AND game = ANY ($4)");
            let query = sqlx::query(sqlx::AssertSqlSafe(of_games)).bind(generation).bind(kind);
            query.bind(day).bind(games).fetch_all(connection).await?
        }
    };
    let mut found = Vec::new();
    for row in rows {
        let lengths: String = row.try_get(14)?;
        let (turn_seconds, turn_rolls) = serde_json::from_str(&lengths).map_err(broken)?;
        found.push(SeatFact {
            game: row.try_get(15)?,
            player: row.try_get(0)?,
            preset: row.try_get(1)?,
            ruleset_version: row.try_get(2)?,
            catalogue_version: row.try_get(3)?,
            seats: row.try_get(4)?,
            position: row.try_get(5)?,
            won: row.try_get(6)?,
            gave_up: row.try_get(16)?,
            score: row.try_get(7)?,
            turns: row.try_get(8)?,
            turn_time: row.try_get(9)?,
            rolls: row.try_get(10)?,
            farkles: row.try_get(11)?,
            dice: row.try_get(12)?,
            character: row.try_get(13)?,
            turn_seconds,
            turn_rolls,
        });
    }
    Ok(found)
}

fn broken(error: serde_json::Error) -> StoreError {
    StoreError::Fault(format!("balance: {error}"))
}
