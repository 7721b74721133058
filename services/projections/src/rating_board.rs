//! Boards by rating: the rating after a player's last day in a period, unless it is provisional.

use std::collections::{BTreeMap, HashMap};

use sqlx::{PgConnection, Row};
use uuid::Uuid;

use store::StoreError;

use crate::{
    Season,
    boards::{Board, Counts, Measure, count, moved, remove},
    glicko::PROVISIONAL,
    period::{Stretch, stretches},
    ratings::{MODEL, Rated},
    seasons::{is_counted, uncounted},
};

/// Number of changes after which they are written.
const MANY: usize = 50_000;

/// An entry on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    rating: i64,
    at: i64,
    games: i64,
}

/// The state of a player in a period.
#[derive(Clone, Copy, Debug)]
enum Standing {
    /// The last rating within these days must be looked up.
    Unknown {
        first: i32,
        last: i32,
    },
    /// Not on the board.
    Off,
    On(Entry),
}

/// Changes to the boards of a kind of game. Days must be passed in order: the last one of a period
/// counts.
pub(crate) struct RatingBoards<'a> {
    generation: i32,
    kind: &'a str,
    seasons: &'a [Season],
    changed: BTreeMap<(Board, Uuid), Standing>,
}

impl<'a> RatingBoards<'a> {
    pub(crate) fn new(generation: i32, kind: &'a str, seasons: &'a [Season]) -> Self {
        Self { generation, kind, seasons, changed: BTreeMap::new() }
    }

    fn set(&mut self, day: i32, player: Uuid, standing: impl Fn(&Stretch) -> Standing) {
        for stretch in stretches(day, self.seasons) {
            let standing = standing(&stretch);
            self.changed.insert((board(self.kind, stretch.name), player), standing);
        }
    }

    /// The rating of a day was removed; another one may follow.
    pub(crate) fn unrated(&mut self, day: i32, player: Uuid) {
        self.set(day, player, |stretch| Standing::Unknown {
            first: stretch.first,
            last: stretch.last,
        });
    }

    pub(crate) fn rated(&mut self, day: i32, player: Uuid, rated: Rated) {
        let standing = standing(day, &rated);
        self.set(day, player, |_| standing);
    }

    pub(crate) async fn write_if_many(
        &mut self,
        connection: &mut PgConnection,
    ) -> Result<(), StoreError> {
        if self.changed.len() < MANY {
            return Ok(());
        }
        // Look-ups must wait until all days are computed.
        let all = std::mem::take(&mut self.changed).into_iter();
        let (unknown, known) =
            all.partition(|(_, standing)| matches!(standing, Standing::Unknown { .. }));
        self.changed = unknown;
        write(connection, self.generation, &known).await
    }

    pub(crate) async fn write(mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
        const LAST: &str = "
SELECT day, rating, deviation, volatility, games FROM rating
 WHERE generation = $1 AND kind = $2 AND player = $3 AND day BETWEEN $4 AND $5 ORDER BY day DESC LIMIT 1";
        for ((_, player), known) in &mut self.changed {
            let Standing::Unknown { first, last } = *known else { continue };
            let query = sqlx::query(LAST).bind(self.generation).bind(self.kind).bind(*player);
            let row = query.bind(first).bind(last).fetch_optional(&mut *connection).await?;
            *known = Standing::Off;
            if let Some(row) = row {
                let rating = skillratings::glicko2::Glicko2Rating {
                    rating: row.try_get(1)?,
                    deviation: row.try_get(2)?,
                    volatility: row.try_get(3)?,
                };
                *known = standing(row.try_get(0)?, &Rated { rating, games: row.try_get(4)? });
            }
        }
        write(connection, self.generation, &self.changed).await
    }
}

fn board(kind: &str, period: String) -> Board {
    Board { kind: kind.to_owned(), preset: String::new(), period }
}

#[expect(clippy::cast_possible_truncation, reason = "a rating has few digits")]
fn standing(day: i32, rated: &Rated) -> Standing {
    if rated.rating.deviation > PROVISIONAL {
        return Standing::Off;
    }
    let rating = (rated.rating.rating * 1000.0).round() as i64;
    Standing::On(Entry { rating, at: i64::from(day) * 86_400_000, games: rated.games })
}

async fn write(
    connection: &mut PgConnection,
    generation: i32,
    changed: &BTreeMap<(Board, Uuid), Standing>,
) -> Result<(), StoreError> {
    let keys: Vec<&(Board, Uuid)> = changed.keys().collect();
    let before = find(connection, generation, &keys).await?;
    let mut counts = Counts::new();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for (key, standing) in changed {
        let old = before.get(key).copied();
        let new = if let Standing::On(entry) = standing { Some(entry.rating) } else { None };
        moved(&mut counts, &key.0, Measure::Rating, old, new);
        match standing {
            Standing::On(entry) => kept.push((key, *entry)),
            Standing::Off | Standing::Unknown { .. } if old.is_some() => gone.push(key.clone()),
            Standing::Off | Standing::Unknown { .. } => {}
        }
    }
    insert(connection, generation, &kept).await?;
    remove(connection, Measure::Rating, generation, &gone).await?;
    count(connection, generation, counts).await
}

/// The existing entries of these boards.
async fn find(
    connection: &mut PgConnection,
    generation: i32,
    keys: &[&(Board, Uuid)],
) -> Result<HashMap<(Board, Uuid), i64>, StoreError> {
    const FIND: &str = "
SELECT w.place, b.rating
  FROM unnest($2::text[], $3::text[], $4::uuid[]) WITH ORDINALITY AS w (kind, period, player, place)
 CROSS JOIN LATERAL (
        SELECT b.rating FROM rating_board b
         WHERE b.generation = $1 AND b.kind = w.kind AND b.preset = '' AND b.period = w.period AND b.player = w.player
         LIMIT 1) b"; // forces an index probe per key
    let query = sqlx::query(FIND)
        .bind(generation)
        .bind(keys.iter().map(|(board, _)| board.kind.as_str()).collect::<Vec<_>>())
        .bind(keys.iter().map(|(board, _)| board.period.as_str()).collect::<Vec<_>>())
        .bind(keys.iter().map(|(_, player)| *player).collect::<Vec<_>>());
    let mut found = HashMap::with_capacity(keys.len());
    for row in query.fetch_all(connection).await? {
        let place: i64 = row.try_get(0)?;
        let key = usize::try_from(place - 1).ok().and_then(|place| keys.get(place));
        let rating = row.try_get(1)?;
        found.extend(key.map(|&key| (key.clone(), rating)));
    }
    Ok(found)
}

async fn insert(
    connection: &mut PgConnection,
    generation: i32,
    entries: &[(&(Board, Uuid), Entry)],
) -> Result<(), StoreError> {
    const INSERT: &str = "
INSERT INTO rating_board (generation, kind, preset, period, player, rating, rating_at, games)
SELECT $1, w.kind, '', w.period, w.player, w.rating, w.at, w.games
  FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[]) AS w (kind, period, player, rating, at, games)
    ON CONFLICT (generation, kind, preset, period, player) DO UPDATE
   SET rating = excluded.rating, rating_at = excluded.rating_at, games = excluded.games";
    for entries in entries.chunks(5_000) {
        let query = sqlx::query(INSERT)
            .bind(generation)
            .bind(entries.iter().map(|((board, _), _)| board.kind.as_str()).collect::<Vec<_>>())
            .bind(entries.iter().map(|((board, _), _)| board.period.as_str()).collect::<Vec<_>>())
            .bind(entries.iter().map(|((_, player), _)| *player).collect::<Vec<_>>())
            .bind(entries.iter().map(|(_, entry)| entry.rating).collect::<Vec<_>>())
            .bind(entries.iter().map(|(_, entry)| entry.at).collect::<Vec<_>>())
            .bind(entries.iter().map(|(_, entry)| entry.games).collect::<Vec<_>>());
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Adds the seasons that are not counted yet, from the stored ratings.
pub(crate) async fn count_seasons(
    connection: &mut PgConnection,
    generation: i32,
) -> Result<(), StoreError> {
    const LAST: &str = "
SELECT DISTINCT ON (player) player, day, rating, deviation, volatility, games FROM rating
 WHERE generation = $1 AND kind = $2 AND day BETWEEN $3 AND $4 ORDER BY player, day DESC";
    for season in uncounted(connection, MODEL.name, generation).await? {
        is_counted(connection, MODEL.name, generation, &season).await?;
        for kind in domain::GAMES {
            let query = sqlx::query(LAST).bind(generation).bind(kind).bind(season.first);
            let rows = query.bind(season.last).fetch_all(&mut *connection).await?;
            let mut changed = BTreeMap::new();
            for row in rows {
                let rating = skillratings::glicko2::Glicko2Rating {
                    rating: row.try_get(2)?,
                    deviation: row.try_get(3)?,
                    volatility: row.try_get(4)?,
                };
                let rated = Rated { rating, games: row.try_get(5)? };
                let key = (board(kind, season.period()), row.try_get(0)?);
                changed.insert(key, standing(row.try_get(1)?, &rated));
            }
            write(connection, generation, &changed).await?;
        }
    }
    Ok(())
}
