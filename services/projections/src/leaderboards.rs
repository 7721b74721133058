//! Leaderboards: who did best in a game and preset, of all time and by day, week, month and season.
//!
//! Equal values have the same rank; among them who got there first stands first. A rank is read off counts of players per bucket
//! of values, so a page and the place of one player cost the same with a thousand players and with a million.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use domain::Moment;
use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};
use uuid::Uuid;

use crate::{
    GameRecord, Model, ProjectionError, SeatRecord,
    model::{Target, one_at_a_time},
    period::{day_of, stretches},
    records::Records,
    seasons::{counted, is_counted, uncounted},
};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "leaderboards",
    version: 2,
    tables: &["leaderboard_game", "leaderboard", "leaderboard_count"],
    rows: "SELECT concat_ws('/', kind, preset, period, player),
                  concat_ws(' ', games, total, wins, wins_at, best, best_at, coalesce(average, -1), average_at)
             FROM leaderboard WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', kind, preset, period, measure, level, bucket), players::text
             FROM leaderboard_count WHERE generation = $1 AND players <> 0
           UNION ALL
           SELECT concat_ws('/', kind, preset, player, ended_at, game), concat_ws(' ', won, score) FROM leaderboard_game WHERE generation = $1",
    write,
    forget,
    settle: Some(settle),
};

/// An average counts from so many games on.
pub const GAMES_FOR_AVERAGE: i64 = 10;
/// Buckets are 1, 128 and 128² wide: a rank adds up at most 127 of the first two kinds, and of the widest as many as the values
/// of a game need, which does not depend on the number of players.
const BITS: u32 = 7;
const LEVELS: u32 = 3;
/// How many rows are written at once.
const AT_ONCE: usize = 5_000;

/// What a board is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Games won.
    Wins,
    /// The best final score.
    Best,
    /// The final score on average, from ten games on; in thousandths.
    Average,
    /// The rating; in thousandths. These boards belong to [`crate::ratings`].
    Rating,
}

impl Measure {
    /// Those that follow from games alone.
    pub const OF_GAMES: [Self; 3] = [Self::Wins, Self::Best, Self::Average];

    const fn name(self) -> &'static str {
        match self {
            Self::Wins => "wins",
            Self::Best => "best",
            Self::Average => "average",
            Self::Rating => "rating",
        }
    }

    /// Where its boards are, and where its counts.
    const fn tables(self) -> (&'static str, &'static str) {
        match self {
            Self::Wins | Self::Best | Self::Average => ("leaderboard", "leaderboard_count"),
            Self::Rating => ("rating_board", "rating_count"),
        }
    }

    /// The generation that reads see, as part of a query.
    const fn live(self) -> &'static str {
        match self {
            Self::Wins | Self::Best | Self::Average => {
                "(SELECT generation FROM projection WHERE name = 'leaderboards' AND state = 'live')"
            }
            Self::Rating => {
                "(SELECT generation FROM projection WHERE name = 'ratings' AND state = 'live')"
            }
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

/// A game on a board.
#[derive(Clone, Copy, Debug)]
struct Played {
    at: i64,
    won: bool,
    score: i64,
}

impl Entry {
    fn of<'a>(games: impl IntoIterator<Item = &'a Played>) -> Self {
        let mut entry = Self::default();
        games.into_iter().for_each(|game| entry.absorb(*game));
        entry
    }

    fn absorb(&mut self, seat: Played) {
        let (first, at) = (self.games == 0, seat.at);
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
            Measure::Rating => None,
        }
    }
}

/// Whether a game counts: under a preset, and against somebody, unless nobody plays it against anybody.
fn counts(record: &GameRecord) -> bool {
    record.preset != "custom" && (record.most_seats == 1 || record.seats.len() > 1)
}

type Key = (Board, Uuid);

/// How many players more or less there are in a bucket.
pub(crate) type Counts = BTreeMap<(Board, Measure, u32, i64), i64>;

/// A player's value on a board has changed.
pub(crate) fn moved(
    counts: &mut Counts,
    board: &Board,
    measure: Measure,
    old: Option<i64>,
    new: Option<i64>,
) {
    if old == new {
        return;
    }
    for (value, by) in [(old, -1), (new, 1)] {
        for (level, bucket) in value.into_iter().flat_map(buckets) {
            *counts.entry((board.clone(), measure, level, bucket)).or_default() += by;
        }
    }
}

fn write<'a>(
    connection: &'a mut PgConnection,
    Target { generation, .. }: Target,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), ProjectionError>> {
    async move {
        let records: Vec<&GameRecord> =
            records.iter().map(|record| &**record).filter(|record| counts(record)).collect();
        if records.is_empty() {
            return Ok(());
        }
        one_at_a_time(connection, MODEL.name, generation).await?;
        let seasons = counted(connection, MODEL.name, generation).await?;
        insert_games(connection, generation, &records).await?;
        let mut of_key: BTreeMap<Key, Vec<Played>> = BTreeMap::new();
        for record in records {
            for stretch in stretches(day_of(record.ended_at), &seasons) {
                let board = Board::of(record, stretch.name);
                for seat in &record.seats {
                    let played = Played::of(record, seat);
                    of_key.entry((board.clone(), seat.player)).or_default().push(played);
                }
            }
        }
        let keys: Vec<Key> = of_key.keys().cloned().collect();
        let before = find(connection, generation, &keys).await?;
        let after = of_key.into_iter().map(|(key, games)| {
            let mut entry = before.get(&key).cloned().unwrap_or_default();
            games.into_iter().for_each(|game| entry.absorb(game));
            (key, entry)
        });
        let after = after.collect();
        change(connection, generation, &before, &after).await
    }
    .boxed()
}

/// What a player has left on the boards of a game that is void is worked out from the other games.
fn forget<'a>(
    connection: &'a mut PgConnection,
    Target { generation, .. }: Target,
    records: &'a [Arc<GameRecord>],
    _: &'a Records,
) -> BoxFuture<'a, Result<(), ProjectionError>> {
    const DELETE: &str = "DELETE FROM leaderboard_game WHERE generation = $1 AND kind = $2 AND preset = $3 AND game = $4
                             AND ended_at = $5 AND player = ANY ($6)";
    async move {
        one_at_a_time(connection, MODEL.name, generation).await?;
        let seasons = counted(connection, MODEL.name, generation).await?;
        for record in records.iter().filter(|record| counts(record)) {
            let players: Vec<Uuid> = record.seats.iter().map(|seat| seat.player).collect();
            let query = sqlx::query(DELETE).bind(generation).bind(record.kind);
            let query = query.bind(&record.preset).bind(record.game);
            let query = query.bind(milliseconds(record.ended_at)).bind(&players);
            if query.execute(&mut *connection).await?.rows_affected() == 0 {
                continue;
            }
            let mut after: BTreeMap<Key, Entry> = BTreeMap::new();
            for player in players {
                let games = games_of(connection, generation, record, player).await?;
                for stretch in stretches(day_of(record.ended_at), &seasons) {
                    let within =
                        |played: &&Played| (stretch.first..=stretch.last).contains(&played.day());
                    let entry = Entry::of(games.iter().filter(within));
                    after.insert((Board::of(record, stretch.name.clone()), player), entry);
                }
            }
            let keys: Vec<Key> = after.keys().cloned().collect();
            let before = find(connection, generation, &keys).await?;
            change(connection, generation, &before, &after).await?;
        }
        Ok(())
    }
    .boxed()
}

/// Counts the seasons that are not counted yet, from the games that are there.
fn settle(
    connection: &mut PgConnection,
    generation: i32,
) -> BoxFuture<'_, Result<(), ProjectionError>> {
    const GAMES: &str = "SELECT kind, preset, player, ended_at, won, score FROM leaderboard_game
                          WHERE generation = $1 AND ended_at >= $2 AND ended_at < $3";
    async move {
        if uncounted(connection, MODEL.name, generation).await?.is_empty() {
            return Ok(());
        }
        one_at_a_time(connection, MODEL.name, generation).await?;
        for season in uncounted(connection, MODEL.name, generation).await? {
            is_counted(connection, MODEL.name, generation, &season).await?;
            let at = |day: i32| i64::from(day) * 86_400_000;
            let query = sqlx::query(GAMES).bind(generation).bind(at(season.first));
            let mut after: BTreeMap<Key, Entry> = BTreeMap::new();
            let rows = query.bind(at(season.last + 1)).fetch_all(&mut *connection).await?;
            for row in rows {
                let (kind, preset, period) = (row.try_get(0)?, row.try_get(1)?, season.period());
                let key = (Board { kind, preset, period }, row.try_get(2)?);
                after.entry(key).or_default().absorb(Played::read(&row, 3)?);
            }
            change(connection, generation, &HashMap::new(), &after).await?;
        }
        Ok(())
    }
    .boxed()
}

impl Board {
    fn of(record: &GameRecord, period: String) -> Self {
        Self { kind: record.kind.to_owned(), preset: record.preset.clone(), period }
    }
}

impl Played {
    fn of(record: &GameRecord, seat: &SeatRecord) -> Self {
        Self { at: milliseconds(record.ended_at), won: seat.won, score: seat.score }
    }

    /// Three columns from this one on.
    fn read(row: &PgRow, from: usize) -> Result<Self, ProjectionError> {
        let (at, won, score) = (row.try_get(from)?, row.try_get(from + 1)?, row.try_get(from + 2)?);
        Ok(Self { at, won, score })
    }

    fn day(&self) -> i32 {
        i32::try_from(self.at / 86_400_000).unwrap_or(i32::MAX)
    }
}

fn milliseconds(moment: Moment) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

async fn insert_games(
    connection: &mut PgConnection,
    generation: i32,
    records: &[&GameRecord],
) -> Result<(), ProjectionError> {
    const INSERT: &str = "
INSERT INTO leaderboard_game (generation, kind, preset, player, ended_at, game, won, score)
SELECT $1, w.* FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::uuid[], $7::boolean[], $8::bigint[]) AS w
    ON CONFLICT DO NOTHING";
    let seats: Vec<(&GameRecord, &SeatRecord)> =
        records.iter().flat_map(|record| record.seats.iter().map(|seat| (*record, seat))).collect();
    let query = sqlx::query(INSERT)
        .bind(generation)
        .bind(seats.iter().map(|(record, _)| record.kind).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.preset.as_str()).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.player).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| milliseconds(record.ended_at)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.game).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.won).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.score).collect::<Vec<_>>());
    query.execute(connection).await?;
    Ok(())
}

/// The games of a player that count on the boards of a game's kind and preset.
async fn games_of(
    connection: &mut PgConnection,
    generation: i32,
    record: &GameRecord,
    player: Uuid,
) -> Result<Vec<Played>, ProjectionError> {
    const GAMES: &str = "SELECT ended_at, won, score FROM leaderboard_game
                          WHERE generation = $1 AND kind = $2 AND preset = $3 AND player = $4";
    let query = sqlx::query(GAMES).bind(generation).bind(record.kind).bind(&record.preset);
    query.bind(player).fetch_all(connection).await?.iter().map(|row| Played::read(row, 0)).collect()
}

/// Writes entries that have changed, and how many players are in which bucket now.
async fn change(
    connection: &mut PgConnection,
    generation: i32,
    before: &HashMap<Key, Entry>,
    after: &BTreeMap<Key, Entry>,
) -> Result<(), ProjectionError> {
    let mut counts = Counts::new();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for (key, entry) in after {
        let old = before.get(key);
        for measure in Measure::OF_GAMES {
            let old = old.and_then(|old| old.value(measure));
            moved(&mut counts, &key.0, measure, old, entry.value(measure));
        }
        if entry.games > 0 { &mut kept } else { &mut gone }.push(key.clone());
    }
    for keys in kept.chunks(AT_ONCE) {
        update(connection, generation, keys, after).await?;
    }
    remove(connection, Measure::Best, generation, &gone).await?;
    count(connection, generation, counts).await
}

/// Takes players off boards.
pub(crate) async fn remove(
    connection: &mut PgConnection,
    measure: Measure,
    generation: i32,
    keys: &[Key],
) -> Result<(), ProjectionError> {
    if keys.is_empty() {
        return Ok(());
    }
    let (table, _) = measure.tables();
    let delete = format!(
        "DELETE FROM {table} l USING unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) AS w (kind, preset, period, player)
          WHERE l.generation = $1 AND l.kind = w.kind AND l.preset = w.preset AND l.period = w.period AND l.player = w.player"
    );
    let Columns { kinds, presets, periods, players } = columns(keys);
    let query = sqlx::query(sqlx::AssertSqlSafe(delete)).bind(generation).bind(&kinds);
    query.bind(&presets).bind(&periods).bind(&players).execute(connection).await?;
    Ok(())
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
    known: &BTreeMap<Key, Entry>,
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
pub(crate) async fn count(
    connection: &mut PgConnection,
    generation: i32,
    mut counts: Counts,
) -> Result<(), ProjectionError> {
    counts.retain(|_, by| *by != 0);
    let changed: Vec<_> = counts.into_iter().collect();
    for changed in changed.chunks(AT_ONCE) {
        let Some(((_, measure, ..), _)) = changed.first() else { continue };
        let (_, table) = measure.tables();
        let count = format!(
            "INSERT INTO {table} AS c (generation, kind, preset, period, measure, level, bucket, players)
             SELECT $1, w.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::bigint[]) AS w
                 ON CONFLICT (generation, kind, preset, period, measure, level, bucket) DO UPDATE SET players = c.players + excluded.players"
        );
        let keys = || changed.iter().map(|(key, _)| key);
        let level = |level: &u32| i16::try_from(*level).unwrap_or(0);
        let query = sqlx::query(sqlx::AssertSqlSafe(count))
            .bind(generation)
            .bind(keys().map(|(board, ..)| board.kind.as_str()).collect::<Vec<_>>())
            .bind(keys().map(|(board, ..)| board.preset.as_str()).collect::<Vec<_>>())
            .bind(keys().map(|(board, ..)| board.period.as_str()).collect::<Vec<_>>())
            .bind(keys().map(|(_, measure, ..)| measure.name()).collect::<Vec<_>>())
            .bind(keys().map(|(_, _, at, _)| level(at)).collect::<Vec<_>>())
            .bind(keys().map(|(.., bucket)| *bucket).collect::<Vec<_>>())
            .bind(changed.iter().map(|(_, by)| *by).collect::<Vec<_>>());
        query.execute(&mut *connection).await?;
    }
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
    let ((table, _), live) = (measure.tables(), measure.live());
    let select = format!(
        "SELECT player, {value}, {at}, games FROM {table}
          WHERE generation = {live} AND kind = $1 AND preset = $2 AND period = $3 AND {stands} {condition}
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
    let ((table, _), live) = (measure.tables(), measure.live());
    let select = format!(
        "SELECT player, {value}, {at}, games FROM {table}
          WHERE generation = {live} AND kind = $1 AND preset = $2 AND period = $3 AND player = ANY ($4) AND {stands}"
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
        Measure::Rating => ("rating", "rating_at", "games > 0"),
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
    let ((_, table), live) = (measure.tables(), measure.live());
    let above = format!(
        "SELECT w.value, sum(c.players)::bigint
           FROM unnest($5::bigint[], $6::smallint[], $7::bigint[], $8::bigint[]) AS w (value, level, above, up_to)
          CROSS JOIN LATERAL (
                SELECT coalesce(sum(c.players), 0) AS players FROM {table} c
                 WHERE c.generation = {live}
                   AND c.kind = $1 AND c.preset = $2 AND c.period = $3 AND c.measure = $4 AND c.level = w.level
                   AND c.bucket > w.above AND c.bucket <= w.up_to) c
          GROUP BY w.value"
    );
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
    let query = sqlx::query(sqlx::AssertSqlSafe(above))
        .bind(&board.kind)
        .bind(&board.preset)
        .bind(&board.period);
    let query = query.bind(measure.name()).bind(whose).bind(levels).bind(from).bind(up_to);
    let mut above = HashMap::with_capacity(values.len());
    for row in query.fetch_all(pool).await? {
        above.insert(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(above)
}
