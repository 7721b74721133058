//! Leaderboards: who did best in a game and preset, of all time and by day, week and month.
//!
//! Equal values have the same rank; among them who got there first stands first. A rank is read off counts of players per bucket
//! of values, so a page and the place of one player cost the same with a thousand players and with a million.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};
use uuid::Uuid;

use crate::{GameRecord, Model, ProjectionError, SeatRecord, Span, model::one_at_a_time};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "leaderboards",
    version: 1,
    tables: &["leaderboard", "leaderboard_count"],
    rows: "SELECT concat_ws('/', kind, preset, period, player),
                  concat_ws(' ', games, total, wins, wins_at, best, best_at, coalesce(average, -1), average_at)
             FROM leaderboard WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', kind, preset, period, measure, level, bucket), players::text
             FROM leaderboard_count WHERE generation = $1 AND players <> 0",
    write,
    settle: None,
};

/// An average counts from so many games on.
pub const GAMES_FOR_AVERAGE: i64 = 10;
/// Buckets are 1, 128 and 128² wide: a rank adds up at most 127 of the first two kinds, and of the widest as many as the values
/// of a game need, which does not depend on the number of players.
const BITS: u32 = 7;
const LEVELS: u32 = 3;

/// What a board is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Games won.
    Wins,
    /// The best final score.
    Best,
    /// The final score on average, from ten games on; in thousandths.
    Average,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Wins, Self::Best, Self::Average];

    const fn name(self) -> &'static str {
        match self {
            Self::Wins => "wins",
            Self::Best => "best",
            Self::Average => "average",
        }
    }
}

/// A board.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board {
    /// What is played.
    pub kind: String,
    /// Under which preset.
    pub preset: String,
    /// In which period, as [`Span`] names it.
    pub period: String,
}

/// What a player has on a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    games: i64,
    total: i64,
    wins: i64,
    wins_at: i64,
    best: i64,
    best_at: i64,
    average: Option<i64>,
    average_at: i64,
}

impl Entry {
    fn absorb(&mut self, seat: &SeatRecord, at: i64) {
        let first = self.games == 0;
        self.games += 1;
        self.total = self.total.saturating_add(seat.score);
        if seat.won {
            (self.wins, self.wins_at) = (self.wins + 1, self.wins_at.max(at));
        }
        if first || seat.score > self.best {
            (self.best, self.best_at) = (seat.score, at);
        } else if seat.score == self.best {
            self.best_at = self.best_at.min(at);
        }
        self.average_at = self.average_at.max(at);
        let enough = self.games >= GAMES_FOR_AVERAGE;
        self.average = enough.then(|| self.total.saturating_mul(1000).div_euclid(self.games));
    }

    /// Its value on the board of a measure; nothing if it does not stand there.
    fn value(&self, measure: Measure) -> Option<i64> {
        match measure {
            Measure::Wins => (self.wins > 0).then_some(self.wins),
            Measure::Best => (self.games > 0).then_some(self.best),
            Measure::Average => self.average,
        }
    }
}

/// Whether a game counts: under a preset, and against somebody, unless nobody plays it against anybody.
fn counts(record: &GameRecord) -> bool {
    record.preset != "custom" && (record.most_seats == 1 || record.seats.len() > 1)
}

type Key = (Board, Uuid);

fn write<'a>(
    connection: &'a mut PgConnection,
    generation: i32,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), ProjectionError>> {
    async move {
        let mut of_key: BTreeMap<Key, Vec<(&SeatRecord, i64)>> = BTreeMap::new();
        for record in records.iter().filter(|record| counts(record)) {
            let at = i64::try_from(record.ended_at.0).unwrap_or(i64::MAX);
            for span in Span::ALL {
                let board = Board {
                    kind: record.kind.to_owned(),
                    preset: record.preset.clone(),
                    period: span.of(record.ended_at),
                };
                for seat in &record.seats {
                    of_key.entry((board.clone(), seat.player)).or_default().push((seat, at));
                }
            }
        }
        if of_key.is_empty() {
            return Ok(());
        }
        one_at_a_time(connection, MODEL.name, generation).await?;
        let keys: Vec<Key> = of_key.keys().cloned().collect();
        let mut known = find(connection, generation, &keys).await?;
        let mut changed: BTreeMap<(Board, Measure, u32, i64), i64> = BTreeMap::new();
        for (key, games) in &of_key {
            let entry = known.entry(key.clone()).or_default();
            let before = entry.clone();
            for (seat, at) in games {
                entry.absorb(seat, *at);
            }
            for measure in Measure::ALL {
                let (old, new) = (before.value(measure), entry.value(measure));
                if old != new {
                    for (value, by) in [(old, -1), (new, 1)] {
                        let buckets = value.into_iter().flat_map(buckets);
                        for (level, bucket) in buckets {
                            *changed.entry((key.0.clone(), measure, level, bucket)).or_default() +=
                                by;
                        }
                    }
                }
            }
        }
        update(connection, generation, &keys, &known).await?;
        changed.retain(|_, by| *by != 0);
        count(connection, generation, &changed).await
    }
    .boxed()
}

/// The bucket of a value on each level.
fn buckets(value: i64) -> impl Iterator<Item = (u32, i64)> {
    (0..LEVELS).map(move |level| (level, value >> (BITS * level)))
}

struct Columns<'a> {
    kinds: Vec<&'a str>,
    presets: Vec<&'a str>,
    periods: Vec<&'a str>,
    players: Vec<Uuid>,
}

fn columns(keys: &[Key]) -> Columns<'_> {
    Columns {
        kinds: keys.iter().map(|(board, _)| board.kind.as_str()).collect(),
        presets: keys.iter().map(|(board, _)| board.preset.as_str()).collect(),
        periods: keys.iter().map(|(board, _)| board.period.as_str()).collect(),
        players: keys.iter().map(|(_, player)| *player).collect(),
    }
}

/// The entries of these keys, as far as there are any.
async fn find(
    connection: &mut PgConnection,
    generation: i32,
    keys: &[Key],
) -> Result<HashMap<Key, Entry>, ProjectionError> {
    const FIND: &str = "
SELECT w.place, l.games, l.total, l.wins, l.wins_at, l.best, l.best_at, l.average, l.average_at
  FROM unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) WITH ORDINALITY AS w (kind, preset, period, player, place)
 CROSS JOIN LATERAL (
        SELECT * FROM leaderboard l
         WHERE l.generation = $1 AND l.kind = w.kind AND l.preset = w.preset AND l.period = w.period AND l.player = w.player
         LIMIT 1) l"; // each by its key, whatever the planner thinks of the table
    let Columns { kinds, presets, periods, players } = columns(keys);
    let query = sqlx::query(FIND).bind(generation).bind(&kinds).bind(&presets);
    let mut known = HashMap::with_capacity(keys.len());
    for row in query.bind(&periods).bind(&players).fetch_all(connection).await? {
        let place: i64 = row.try_get(0)?;
        let key = usize::try_from(place - 1).ok().and_then(|place| keys.get(place));
        let entry = Entry {
            games: row.try_get(1)?,
            total: row.try_get(2)?,
            wins: row.try_get(3)?,
            wins_at: row.try_get(4)?,
            best: row.try_get(5)?,
            best_at: row.try_get(6)?,
            average: row.try_get(7)?,
            average_at: row.try_get(8)?,
        };
        known.extend(key.map(|key| (key.clone(), entry)));
    }
    Ok(known)
}

async fn update(
    connection: &mut PgConnection,
    generation: i32,
    keys: &[Key],
    known: &HashMap<Key, Entry>,
) -> Result<(), ProjectionError> {
    const WRITE: &str = "
INSERT INTO leaderboard (generation, kind, preset, period, player, games, total, wins, wins_at, best, best_at, average, average_at)
SELECT $1, w.* FROM unnest($2::text[], $3::text[], $4::text[], $5::uuid[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                           $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[]) AS w
    ON CONFLICT (generation, kind, preset, period, player) DO UPDATE
   SET games = excluded.games, total = excluded.total, wins = excluded.wins, wins_at = excluded.wins_at, best = excluded.best,
       best_at = excluded.best_at, average = excluded.average, average_at = excluded.average_at";
    let Columns { kinds, presets, periods, players } = columns(keys);
    let entries: Vec<&Entry> = keys.iter().filter_map(|key| known.get(key)).collect();
    let column = |value: fn(&Entry) -> i64| entries.iter().map(|e| value(e)).collect::<Vec<_>>();
    let query = sqlx::query(WRITE).bind(generation).bind(kinds).bind(presets);
    let query = query.bind(periods).bind(players);
    let query = query.bind(column(|e| e.games)).bind(column(|e| e.total)).bind(column(|e| e.wins));
    let query = query.bind(column(|e| e.wins_at)).bind(column(|e| e.best));
    let query = query.bind(column(|e| e.best_at));
    let averages: Vec<Option<i64>> = entries.iter().map(|entry| entry.average).collect();
    query.bind(averages).bind(column(|e| e.average_at)).execute(connection).await?;
    Ok(())
}

/// Changes how many players there are in buckets, in the order of their keys.
async fn count(
    connection: &mut PgConnection,
    generation: i32,
    changed: &BTreeMap<(Board, Measure, u32, i64), i64>,
) -> Result<(), ProjectionError> {
    const COUNT: &str = "
INSERT INTO leaderboard_count AS c (generation, kind, preset, period, measure, level, bucket, players)
SELECT $1, w.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::bigint[]) AS w
    ON CONFLICT (generation, kind, preset, period, measure, level, bucket) DO UPDATE SET players = c.players + excluded.players";
    let keys = || changed.keys();
    let query = sqlx::query(COUNT)
        .bind(generation)
        .bind(keys().map(|(board, ..)| board.kind.as_str()).collect::<Vec<_>>())
        .bind(keys().map(|(board, ..)| board.preset.as_str()).collect::<Vec<_>>())
        .bind(keys().map(|(board, ..)| board.period.as_str()).collect::<Vec<_>>())
        .bind(keys().map(|(_, measure, ..)| measure.name()).collect::<Vec<_>>())
        .bind(keys().map(|(_, _, level, _)| i16::try_from(*level).unwrap_or(0)).collect::<Vec<_>>())
        .bind(keys().map(|(.., bucket)| *bucket).collect::<Vec<_>>())
        .bind(changed.values().copied().collect::<Vec<_>>());
    query.execute(connection).await?;
    Ok(())
}

/// A player's place on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Who.
    pub player: Uuid,
    /// The rank, from 1; equal values have the same.
    pub rank: i64,
    /// The value the board is sorted by.
    pub value: i64,
    /// When it was reached: milliseconds since 1970.
    pub at: i64,
    /// Games played.
    pub games: i64,
}

/// Where to go on: behind this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The value there.
    pub value: i64,
    /// When it was reached.
    pub at: i64,
    /// Who stands there.
    pub player: Uuid,
}

impl From<Standing> for Place {
    fn from(standing: Standing) -> Self {
        Self { value: standing.value, at: standing.at, player: standing.player }
    }
}

/// Which way to read a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Down,
    Up,
}

/// The next players of a board, the best first, behind a place or from the top.
pub async fn page(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    after: Option<Place>,
    most: i64,
) -> Result<Vec<Standing>, ProjectionError> {
    let rows = read(pool, board, measure, after, Way::Down, most).await?;
    ranked_in_a_row(pool, board, measure, rows).await
}

/// A player and those around: so many above and below.
pub async fn around(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    player: Uuid,
    each: i64,
) -> Result<Vec<Standing>, ProjectionError> {
    let Some(own) = of_players(pool, board, measure, &[player]).await?.pop() else {
        return Ok(Vec::new());
    };
    let place = Some(Place::from(own));
    let mut rows = read(pool, board, measure, place, Way::Up, each).await?;
    rows.reverse();
    rows.push(own);
    rows.extend(read(pool, board, measure, place, Way::Down, each).await?);
    ranked_in_a_row(pool, board, measure, rows).await
}

/// These players, the best first.
pub async fn among(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    players: &[Uuid],
) -> Result<Vec<Standing>, ProjectionError> {
    let mut rows = of_players(pool, board, measure, players).await?;
    rows.sort_by_key(|row| (std::cmp::Reverse(row.value), row.at, row.player));
    ranked(pool, board, measure, rows).await
}

/// The generation that reads see, as part of a query.
const LIVE: &str =
    "(SELECT generation FROM projection WHERE name = 'leaderboards' AND state = 'live')";

async fn read(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    from: Option<Place>,
    way: Way,
    most: i64,
) -> Result<Vec<Standing>, ProjectionError> {
    let (value, at, stands) = names(measure);
    // (value DESC, at, player) is the order; a value is compared the other way round.
    let (behind, order) = match way {
        Way::Down => (
            format!("({value} < $4 OR ({value} = $4 AND ({at}, player) > ($5, $6)))"),
            format!("{value} DESC, {at}, player"),
        ),
        Way::Up => (
            format!("({value} > $4 OR ({value} = $4 AND ({at}, player) < ($5, $6)))"),
            format!("{value}, {at} DESC, player DESC"),
        ),
    };
    // A bound on the value alone lets the index begin at the place.
    let bound = if way == Way::Down { "<=" } else { ">=" };
    let condition =
        if from.is_some() { format!("AND {value} {bound} $4 AND {behind}") } else { String::new() };
    let select = format!(
        "SELECT player, {value}, {at}, games FROM leaderboard
          WHERE generation = {LIVE} AND kind = $1 AND preset = $2 AND period = $3 AND {stands} {condition}
          ORDER BY {order} LIMIT {most}"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(select));
    let mut query = query.bind(&board.kind).bind(&board.preset).bind(&board.period);
    if let Some(place) = from {
        query = query.bind(place.value).bind(place.at).bind(place.player);
    }
    query.fetch_all(pool).await?.iter().map(standing).collect()
}

async fn of_players(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    players: &[Uuid],
) -> Result<Vec<Standing>, ProjectionError> {
    let (value, at, stands) = names(measure);
    let select = format!(
        "SELECT player, {value}, {at}, games FROM leaderboard
          WHERE generation = {LIVE} AND kind = $1 AND preset = $2 AND period = $3 AND player = ANY ($4) AND {stands}"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(select));
    let query = query.bind(&board.kind).bind(&board.preset).bind(&board.period).bind(players);
    query.fetch_all(pool).await?.iter().map(standing).collect()
}

/// The columns of a measure, and who stands on its board.
const fn names(measure: Measure) -> (&'static str, &'static str, &'static str) {
    match measure {
        Measure::Wins => ("wins", "wins_at", "wins > 0"),
        Measure::Best => ("best", "best_at", "games > 0"),
        Measure::Average => ("average", "average_at", "average IS NOT NULL"),
    }
}

fn standing(row: &PgRow) -> Result<Standing, ProjectionError> {
    Ok(Standing {
        player: row.try_get(0)?,
        value: row.try_get(1)?,
        at: row.try_get(2)?,
        games: row.try_get(3)?,
        rank: 0,
    })
}

/// Gives rows that stand behind each other on a board their ranks: only the first value has to be looked up, the others follow.
async fn ranked_in_a_row(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    mut rows: Vec<Standing>,
) -> Result<Vec<Standing>, ProjectionError> {
    let Some(first) = rows.first().map(|row| row.value) else { return Ok(rows) };
    // Just below the first value there are all who have more than it, and all who have it.
    let above = players_above(pool, board, measure, &[first, first - 1]).await?;
    let above = |value: i64| above.get(&value).copied().unwrap_or(0);
    let (mut rank, mut value, mut next) = (above(first) + 1, first, above(first - 1) + 1);
    for row in &mut rows {
        if row.value != value {
            (rank, value) = (next, row.value);
        }
        if row.value != first {
            next += 1;
        }
        row.rank = rank;
    }
    Ok(rows)
}

/// Gives rows of a board, in order, their ranks: that of each value is one more than there are players above it.
async fn ranked(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    mut rows: Vec<Standing>,
) -> Result<Vec<Standing>, ProjectionError> {
    let mut values: Vec<i64> = rows.iter().map(|row| row.value).collect();
    values.dedup();
    let above = players_above(pool, board, measure, &values).await?;
    for row in &mut rows {
        row.rank = above.get(&row.value).copied().unwrap_or(0) + 1;
    }
    Ok(rows)
}

/// How many players have more, for each value: a few buckets of each level.
async fn players_above(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    values: &[i64],
) -> Result<HashMap<i64, i64>, ProjectionError> {
    const ABOVE: &str = "
SELECT w.value, sum(c.players)::bigint
  FROM unnest($5::bigint[], $6::smallint[], $7::bigint[], $8::bigint[]) AS w (value, level, above, up_to)
 CROSS JOIN LATERAL (
        SELECT coalesce(sum(c.players), 0) AS players FROM leaderboard_count c
         WHERE c.generation = (SELECT generation FROM projection WHERE name = 'leaderboards' AND state = 'live')
           AND c.kind = $1 AND c.preset = $2 AND c.period = $3 AND c.measure = $4 AND c.level = w.level
           AND c.bucket > w.above AND c.bucket <= w.up_to) c
 GROUP BY w.value";
    let (mut whose, mut levels, mut from, mut up_to) = (vec![], vec![], vec![], vec![]);
    for &value in values {
        for (level, bucket) in buckets(value) {
            // Those in the same bucket of the next level; on the last level all.
            let last = if level + 1 == LEVELS { i64::MAX } else { bucket | ((1 << BITS) - 1) };
            whose.push(value);
            levels.push(i16::try_from(level).unwrap_or(0));
            from.push(bucket);
            up_to.push(last);
        }
    }
    let query = sqlx::query(ABOVE).bind(&board.kind).bind(&board.preset).bind(&board.period);
    let query = query.bind(measure.name()).bind(whose).bind(levels).bind(from).bind(up_to);
    let mut above = HashMap::with_capacity(values.len());
    for row in query.fetch_all(pool).await? {
        above.insert(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(above)
}
