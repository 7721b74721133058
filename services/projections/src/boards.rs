//! Boards: ranked lists of players, sorted by any measure.
//!
//! Equal values have the same rank; among them, the player who reached the value first comes first.
//! Ranks are computed from counts of players per bucket of values, so a page or the rank of one
//! player costs the same with a thousand players and with a million.

use std::collections::{BTreeMap, HashMap};

use sqlx::{PgConnection, PgPool, Postgres, Row, Transaction, postgres::PgRow};
use uuid::Uuid;

use store::StoreError;

/// Buckets are 1, 128 and 128² wide: a rank adds up at most 127 of the first two kinds, and as many
/// of the widest kind as the values of a game need, which does not depend on the number of players.
const BITS: u32 = 7;
const LEVELS: u32 = 3;
/// Number of rows written at once.
pub(crate) const AT_ONCE: usize = 5_000;

/// What a board is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Games won.
    Wins,
    /// The best final score.
    Best,
    /// Average final score over at least ten games, in thousandths.
    Average,
    /// Rating, in thousandths. These boards belong to [`crate::ratings`].
    Rating,
}

impl Measure {
    /// The measures that depend on games only.
    pub const OF_GAMES: [Self; 3] = [Self::Wins, Self::Best, Self::Average];

    const fn name(self) -> &'static str {
        match self {
            Self::Wins => "wins",
            Self::Best => "best",
            Self::Average => "average",
            Self::Rating => "rating",
        }
    }

    /// The tables of its boards and of its counts.
    const fn tables(self) -> (&'static str, &'static str) {
        match self {
            Self::Wins | Self::Best | Self::Average => ("leaderboard", "leaderboard_count"),
            Self::Rating => ("rating_board", "rating_count"),
        }
    }

    /// A subquery for the live generation.
    const fn live(self) -> &'static str {
        match self {
            Self::Wins | Self::Best | Self::Average => {
                "(SELECT generation FROM processor WHERE name = 'leaderboards' AND state = 'live')"
            }
            Self::Rating => {
                "(SELECT generation FROM processor WHERE name = 'ratings' AND state = 'live')"
            }
        }
    }
}

/// A board.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board {
    /// The game.
    pub kind: String,
    /// The preset.
    pub preset: String,
    /// The period, as named by [`crate::Span`].
    pub period: String,
}

/// A player on a board.
pub(crate) type Key = (Board, Uuid);

pub(crate) struct Columns<'a> {
    pub(crate) kinds: Vec<&'a str>,
    pub(crate) presets: Vec<&'a str>,
    pub(crate) periods: Vec<&'a str>,
    pub(crate) players: Vec<Uuid>,
}

pub(crate) fn columns(keys: &[Key]) -> Columns<'_> {
    Columns {
        kinds: keys.iter().map(|(board, _)| board.kind.as_str()).collect(),
        presets: keys.iter().map(|(board, _)| board.preset.as_str()).collect(),
        periods: keys.iter().map(|(board, _)| board.period.as_str()).collect(),
        players: keys.iter().map(|(_, player)| *player).collect(),
    }
}

/// Changes of the number of players per bucket.
pub(crate) type Counts = BTreeMap<(Board, Measure, u32, i64), i64>;

/// Records that a player's value on a board has changed.
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

/// The bucket of a value on each level.
fn buckets(value: i64) -> impl Iterator<Item = (u32, i64)> {
    (0..LEVELS).map(move |level| (level, value >> (BITS * level)))
}

/// Removes players from boards.
pub(crate) async fn remove(
    connection: &mut PgConnection,
    measure: Measure,
    generation: i32,
    keys: &[Key],
) -> Result<(), StoreError> {
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

/// Applies changes of counts, in key order.
pub(crate) async fn count(
    connection: &mut PgConnection,
    generation: i32,
    mut counts: Counts,
) -> Result<(), StoreError> {
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

/// A player's entry on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The player.
    pub player: Uuid,
    /// The rank, from 1; equal values have the same rank.
    pub rank: i64,
    /// The value the board is sorted by.
    pub value: i64,
    /// When it was reached, in milliseconds since the Unix epoch.
    pub at: i64,
    /// Games played.
    pub games: i64,
}

/// A cursor: the page starts after this entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The value of the entry.
    pub value: i64,
    /// When it was reached.
    pub at: i64,
    /// The player of the entry.
    pub player: Uuid,
}

impl From<Standing> for Cursor {
    fn from(standing: Standing) -> Self {
        Self { value: standing.value, at: standing.at, player: standing.player }
    }
}

/// Direction of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the best on.
    Down,
    /// From the last on.
    Up,
}

/// The next players of a board, best first, after a cursor or from the top.
pub async fn page(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    from: Option<Cursor>,
    way: Direction,
    most: i64,
) -> Result<Vec<Standing>, StoreError> {
    let mut transaction = snapshot(pool).await?;
    let mut rows = read(&mut transaction, board, measure, from, way, most).await?;
    if way == Direction::Up {
        rows.reverse();
    }
    ranked_in_a_row(&mut transaction, board, measure, rows).await
}

/// How many players a board has: the sum of its widest buckets.
pub async fn count_players(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
) -> Result<i64, StoreError> {
    let ((_, table), live) = (measure.tables(), measure.live());
    let select = format!(
        "SELECT coalesce(sum(players), 0)::bigint FROM {table}
          WHERE generation = {live} AND kind = $1 AND preset = $2 AND period = $3 AND measure = $4 AND level = {}",
        LEVELS - 1
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(&board.kind).bind(&board.preset);
    let row = query.bind(&board.period).bind(measure.name()).fetch_one(pool).await?;
    Ok(row.try_get(0)?)
}

/// A snapshot, so that several reads see the same state of one generation.
async fn snapshot(pool: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    Ok(pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?)
}

/// A player and the `each` players above and below.
pub async fn around(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    player: Uuid,
    each: i64,
) -> Result<Vec<Standing>, StoreError> {
    let mut transaction = snapshot(pool).await?;
    let Some(own) = of_players(&mut transaction, board, measure, &[player]).await?.pop() else {
        return Ok(Vec::new());
    };
    let cursor = Some(Cursor::from(own));
    let mut rows = read(&mut transaction, board, measure, cursor, Direction::Up, each).await?;
    rows.reverse();
    rows.push(own);
    rows.extend(read(&mut transaction, board, measure, cursor, Direction::Down, each).await?);
    ranked_in_a_row(&mut transaction, board, measure, rows).await
}

/// These players, best first.
pub async fn among(
    pool: &PgPool,
    board: &Board,
    measure: Measure,
    players: &[Uuid],
) -> Result<Vec<Standing>, StoreError> {
    let mut transaction = snapshot(pool).await?;
    let mut rows = of_players(&mut transaction, board, measure, players).await?;
    rows.sort_by_key(|row| (std::cmp::Reverse(row.value), row.at, row.player));
    ranked(&mut transaction, board, measure, rows).await
}

async fn read(
    connection: &mut PgConnection,
    board: &Board,
    measure: Measure,
    from: Option<Cursor>,
    way: Direction,
    most: i64,
) -> Result<Vec<Standing>, StoreError> {
    let (value, at, stands) = names(measure);
    let ((table, _), live) = (measure.tables(), measure.live());
    let rows = |condition: &str, order: &str| {
        format!(
            "SELECT player, {value}, {at}, games FROM {table}
              WHERE generation = {live} AND kind = $1 AND preset = $2 AND period = $3 AND {stands} {condition}
              ORDER BY {order} LIMIT {most}"
        )
    };
    let (order, more, behind) = match way {
        Direction::Down => (format!("{value} DESC, {at}, player"), "<", ">"),
        Direction::Up => (format!("{value}, {at} DESC, player DESC"), ">", "<"),
    };
    // Entries with the same value and those with another one are looked up separately: each starts
    // at its position in the index, however many have the same value.
    let select = if from.is_some() {
        let same = rows(&format!("AND {value} = $4 AND ({at}, player) {behind} ($5, $6)"), &order);
        let other = rows(&format!("AND {value} {more} $4"), &order);
        format!("SELECT * FROM (({same}) UNION ALL ({other})) AS b ORDER BY {order} LIMIT {most}")
    } else {
        rows("", &order)
    };
    let query = sqlx::query(sqlx::AssertSqlSafe(select));
    let mut query = query.bind(&board.kind).bind(&board.preset).bind(&board.period);
    if let Some(cursor) = from {
        query = query.bind(cursor.value).bind(cursor.at).bind(cursor.player);
    }
    query.fetch_all(connection).await?.iter().map(standing).collect()
}

async fn of_players(
    connection: &mut PgConnection,
    board: &Board,
    measure: Measure,
    players: &[Uuid],
) -> Result<Vec<Standing>, StoreError> {
    let (value, at, stands) = names(measure);
    let ((table, _), live) = (measure.tables(), measure.live());
    let select = format!(
        "SELECT player, {value}, {at}, games FROM {table}
          WHERE generation = {live} AND kind = $1 AND preset = $2 AND period = $3 AND player = ANY ($4) AND {stands}"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(select));
    let query = query.bind(&board.kind).bind(&board.preset).bind(&board.period).bind(players);
    query.fetch_all(connection).await?.iter().map(standing).collect()
}

/// The columns of a measure, and the condition for being on its board.
const fn names(measure: Measure) -> (&'static str, &'static str, &'static str) {
    match measure {
        Measure::Wins => ("wins", "wins_at", "wins > 0"),
        Measure::Best => ("best", "best_at", "games > 0"),
        Measure::Average => ("average", "average_at", "average IS NOT NULL"),
        Measure::Rating => ("rating", "rating_at", "games > 0"),
    }
}

fn standing(row: &PgRow) -> Result<Standing, StoreError> {
    Ok(Standing {
        player: row.try_get(0)?,
        value: row.try_get(1)?,
        at: row.try_get(2)?,
        games: row.try_get(3)?,
        rank: 0,
    })
}

/// Assigns ranks to consecutive rows of a board: only the first value has to be looked up, the
/// others follow.
async fn ranked_in_a_row(
    connection: &mut PgConnection,
    board: &Board,
    measure: Measure,
    mut rows: Vec<Standing>,
) -> Result<Vec<Standing>, StoreError> {
    let Some(first) = rows.first().map(|row| row.value) else { return Ok(rows) };
    // The counts above the first value, and above the next lower one, which includes the players
    // with the first value.
    let above = players_above(connection, board, measure, &[first, first - 1]).await?;
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

/// Assigns ranks to rows of a board, in order: one more than the number of players above the value.
async fn ranked(
    connection: &mut PgConnection,
    board: &Board,
    measure: Measure,
    mut rows: Vec<Standing>,
) -> Result<Vec<Standing>, StoreError> {
    let mut values: Vec<i64> = rows.iter().map(|row| row.value).collect();
    values.dedup();
    let above = players_above(connection, board, measure, &values).await?;
    for row in &mut rows {
        row.rank = above.get(&row.value).copied().unwrap_or(0) + 1;
    }
    Ok(rows)
}

/// Number of players above each value, from a few buckets per level.
async fn players_above(
    connection: &mut PgConnection,
    board: &Board,
    measure: Measure,
    values: &[i64],
) -> Result<HashMap<i64, i64>, StoreError> {
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
            // The following buckets within the same bucket of the next level; on the last level,
            // all.
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
    for row in query.fetch_all(connection).await? {
        above.insert(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(above)
}
