//! Ratings: Glicko-2, per game.
//!
//! A rating period is a day in UTC. Within a day all games count at once, against the ratings that
//! everybody started the day with, so the order in which games are written does not matter, and
//! today's rating reflects every game. A game with several players counts as one result per pair of
//! players. A day without games makes a rating a little less certain.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use skillratings::{Outcomes, glicko2::Glicko2Rating};
use sqlx::{PgConnection, PgPool, Row};
use store::{
    StoreError,
    processor::{HandlerError, Target},
};
use uuid::Uuid;

use crate::{
    GameRecord, Model,
    due::{Due, WHOLE},
    glicko::{self, PROVISIONAL, Results, Standing, idle, pairs, standing},
    period::day_of,
    rating_board::{self, RatingBoards},
    records::Records,
    seasons::counted,
};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "ratings",
    version: 3,
    tables: &["rating_result", "rating", "rating_due", "rating_board", "rating_count"],
    rows: "SELECT concat_ws('/', kind, player, day), concat_ws(' ', rating, deviation, volatility, games) FROM rating WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', kind, day, player, game, opponent), outcome::text FROM rating_result WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', 'board', kind, period, player), concat_ws(' ', rating, rating_at, games) FROM rating_board WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', 'count', kind, period, level, bucket), players::text FROM rating_count WHERE generation = $1 AND players <> 0",
    write,
    forget,
    derive: Some(derive),
};

fn write<'a>(
    Target { connection, generation, building }: Target<'a>,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), HandlerError>> {
    const RESULTS: &str = "
INSERT INTO rating_result (generation, kind, day, player, game, opponent, outcome)
SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[], $5::uuid[], $6::uuid[], $7::smallint[]) AS w
    ON CONFLICT DO NOTHING";
    async move {
        let (mut kinds, mut days, mut players) = (vec![], vec![], vec![]);
        let (mut games, mut opponents, mut outcomes) = (vec![], vec![], vec![]);
        let mut due = BTreeSet::new();
        for record in records.iter().filter(|record| record.preset != "custom") {
            let day = day_of(record.ended_at);
            let seats: Vec<(Uuid, Standing)> = record
                .seats
                .iter()
                .map(|seat| (seat.player, standing(seat.won, seat.left, record.merit(seat))))
                .collect();
            for (player, opponent, outcome) in pairs(&seats) {
                kinds.push(record.kind);
                days.push(day);
                players.push(player);
                games.push(record.game);
                opponents.push(opponent);
                outcomes.push(number(outcome));
                due.insert((record.kind, day, if building { WHOLE } else { player }));
            }
        }
        if kinds.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(RESULTS).bind(generation).bind(&kinds).bind(&days);
        let query = query.bind(&players).bind(games).bind(opponents).bind(outcomes);
        query.execute(&mut *connection).await?;
        Ok(DUE.note(connection, generation, &due).await?)
    }
    .boxed()
}

/// Without these games, the ratings of the day they ended on change, and those of all later days.
fn forget<'a>(
    Target { connection, generation, .. }: Target<'a>,
    records: &'a [Arc<GameRecord>],
    _: &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>> {
    const RESULTS: &str = "DELETE FROM rating_result WHERE generation = $1 AND game = $2";
    async move {
        let mut due = BTreeSet::new();
        for record in records {
            let query = sqlx::query(RESULTS).bind(generation).bind(record.game);
            if query.execute(&mut *connection).await?.rows_affected() > 0 {
                due.insert((record.kind, day_of(record.ended_at), WHOLE));
            }
        }
        Ok(DUE.note(connection, generation, &due).await?)
    }
    .boxed()
}

const DUE: Due = Due {
    note: "
INSERT INTO rating_due (generation, kind, day, player)
SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[]) AS w
    ON CONFLICT DO NOTHING",
    take: "DELETE FROM rating_due WHERE generation = $1 RETURNING kind, day, player",
};

/// Computes all ratings that are due.
fn derive(
    Target { connection, generation, .. }: Target<'_>,
) -> BoxFuture<'_, Result<(), HandlerError>> {
    async move {
        rating_board::count_seasons(connection, generation).await?;
        for (kind, (first, players)) in DUE.take(connection, generation).await? {
            rate(connection, generation, &kind, first, players).await?;
        }
        Ok(())
    }
    .boxed()
}

/// Computes what is due on the first such day, and everything after it: a changed day changes what
/// the next ones start with.
async fn rate(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    first: i32,
    players: BTreeSet<Uuid>,
) -> Result<(), StoreError> {
    const DAYS: &str = "SELECT DISTINCT day FROM rating_result WHERE generation = $1 AND kind = $2 AND day >= $3 ORDER BY day";
    const UNRATE: &str = "DELETE FROM rating WHERE generation = $1 AND kind = $2 AND day >= $3 RETURNING day, player";
    let whole = players.contains(&WHOLE);
    let after = if whole { first } else { first + 1 };
    let seasons = counted(connection, MODEL.name, generation).await?;
    let mut boards = RatingBoards::new(generation, kind, &seasons);
    let query = sqlx::query(UNRATE).bind(generation).bind(kind).bind(after);
    for row in query.fetch_all(&mut *connection).await? {
        boards.unrated(row.try_get(0)?, row.try_get(1)?);
    }
    if !whole {
        let players: Vec<Uuid> = players.into_iter().collect();
        let of_day = Period { generation, kind, day: first };
        of_day.rate(connection, Some(&players), &mut boards).await?;
    }
    let query = sqlx::query(DAYS).bind(generation).bind(kind).bind(after);
    for row in query.fetch_all(&mut *connection).await? {
        let of_day = Period { generation, kind, day: row.try_get(0)? };
        of_day.rate(connection, None, &mut boards).await?;
    }
    boards.write(connection).await
}

struct Period<'a> {
    generation: i32,
    kind: &'a str,
    day: i32,
}

/// A rating and the number of rated games it is based on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rated {
    pub(crate) rating: Glicko2Rating,
    pub(crate) games: i64,
}

impl Period<'_> {
    /// Computes the ratings of these players, or of all who played that day.
    async fn rate(
        &self,
        connection: &mut PgConnection,
        only: Option<&[Uuid]>,
        boards: &mut RatingBoards<'_>,
    ) -> Result<(), StoreError> {
        let results = self.results(connection, only).await?;
        let opponents =
            results.values().flat_map(|results| results.keys().map(|(_, other)| *other));
        let mut involved: Vec<Uuid> = results.keys().copied().chain(opponents).collect();
        involved.sort_unstable();
        involved.dedup();
        let began = self.began_with(connection, &involved).await?;
        let start = |player: Uuid| began.get(&player).copied().unwrap_or_default();
        let rated: Vec<(Uuid, Rated)> = results
            .iter()
            .map(|(player, results)| {
                let rating = glicko::rate(*player, results, |player| start(player).rating);
                let games: BTreeSet<&Uuid> = results.keys().map(|(game, _)| game).collect();
                let games = start(*player).games + i64::try_from(games.len()).unwrap_or(0);
                (*player, Rated { rating, games })
            })
            .collect();
        self.write(connection, &rated).await?;
        for (player, rated) in rated {
            boards.rated(self.day, player, rated);
        }
        boards.write_if_many(connection).await
    }

    /// The results of these players on that day, or of all players.
    async fn results(
        &self,
        connection: &mut PgConnection,
        players: Option<&[Uuid]>,
    ) -> Result<BTreeMap<Uuid, Results>, StoreError> {
        const RESULTS: &str = "
SELECT player, game, opponent, outcome FROM rating_result
 WHERE generation = $1 AND kind = $2 AND day = $3";
        // Two statements: the plan of a combined one would read the whole day for a single player.
        let some = players.map_or("", |_| "AND player = ANY ($4)");
        let select = format!("{RESULTS} {some}");
        let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(self.generation).bind(self.kind);
        let mut query = query.bind(self.day);
        if let Some(players) = players {
            query = query.bind(players);
        }
        let mut results: BTreeMap<Uuid, Results> = BTreeMap::new();
        for row in query.fetch_all(&mut *connection).await? {
            let outcome = match row.try_get::<i16, _>(3)? {
                0 => Outcomes::LOSS,
                1 => Outcomes::DRAW,
                _ => Outcomes::WIN,
            };
            let against = (row.try_get(1)?, row.try_get(2)?);
            results.entry(row.try_get(0)?).or_default().insert(against, outcome);
        }
        Ok(results)
    }

    /// The ratings that players started the day with.
    async fn began_with(
        &self,
        connection: &mut PgConnection,
        players: &[Uuid],
    ) -> Result<HashMap<Uuid, Rated>, StoreError> {
        const BEFORE: &str = "
SELECT w.player, r.day, r.rating, r.deviation, r.volatility, r.games
  FROM unnest($4::uuid[]) AS w (player)
 CROSS JOIN LATERAL (
        SELECT * FROM rating r WHERE r.generation = $1 AND r.kind = $2 AND r.player = w.player AND r.day < $3
         ORDER BY r.day DESC LIMIT 1) r";
        let query = sqlx::query(BEFORE).bind(self.generation).bind(self.kind).bind(self.day);
        let mut began = HashMap::with_capacity(players.len());
        for row in query.bind(players).fetch_all(connection).await? {
            let last: i32 = row.try_get(1)?;
            let rating = idle(glicko::read(&row, 2)?, self.day - last - 1);
            began.insert(row.try_get(0)?, Rated { rating, games: row.try_get(5)? });
        }
        Ok(began)
    }

    async fn write(
        &self,
        connection: &mut PgConnection,
        rated: &[(Uuid, Rated)],
    ) -> Result<(), StoreError> {
        const WRITE: &str = "
INSERT INTO rating (generation, kind, day, player, rating, deviation, volatility, games)
SELECT $1, $2, $3, w.* FROM unnest($4::uuid[], $5::float8[], $6::float8[], $7::float8[], $8::bigint[]) AS w
    ON CONFLICT (generation, kind, player, day) DO UPDATE
   SET rating = excluded.rating, deviation = excluded.deviation, volatility = excluded.volatility, games = excluded.games";
        let column = |value: fn(&Glicko2Rating) -> f64| -> Vec<f64> {
            rated.iter().map(|(_, rated)| value(&rated.rating)).collect()
        };
        let query = sqlx::query(WRITE).bind(self.generation).bind(self.kind).bind(self.day);
        let query = query.bind(rated.iter().map(|(player, _)| *player).collect::<Vec<_>>());
        let query = query.bind(column(|rating| rating.rating));
        let query = query.bind(column(|rating| rating.deviation));
        let query = query.bind(column(|rating| rating.volatility));
        let games: Vec<i64> = rated.iter().map(|(_, rated)| rated.games).collect();
        query.bind(games).execute(connection).await?;
        Ok(())
    }
}

/// An outcome as a number: 0 lost, 1 drawn, 2 won.
fn number(outcome: Outcomes) -> i16 {
    match outcome {
        Outcomes::LOSS => 0,
        Outcomes::DRAW => 1,
        Outcomes::WIN => 2,
    }
}

/// A player's rating in a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// The game.
    pub kind: String,
    /// The rating; everybody starts at 1500.
    pub rating: f64,
    /// The rating deviation: the 95 % confidence interval is two deviations either way.
    pub deviation: f64,
    /// The Glicko-2 volatility: how erratic the results are.
    pub volatility: f64,
    /// Whether the rating is too uncertain for the boards.
    pub provisional: bool,
    /// Number of rated games.
    pub games: i64,
}

/// The ratings of players as of a day (since 1970-01-01), by player.
pub async fn ratings_of(
    pool: &PgPool,
    players: &[Uuid],
    today: i32,
) -> Result<HashMap<Uuid, Vec<Rating>>, StoreError> {
    const FIND: &str = "
SELECT DISTINCT ON (r.player, r.kind) r.player, r.kind, r.day, r.rating, r.deviation, r.volatility, r.games
  FROM rating r
 WHERE r.generation = (SELECT generation FROM processor WHERE name = 'ratings' AND state = 'live') AND r.player = ANY ($1)
   AND r.kind = ANY ($2)
 ORDER BY r.player, r.kind, r.day DESC";
    let mut found: HashMap<Uuid, Vec<Rating>> = HashMap::new();
    for row in sqlx::query(FIND).bind(players).bind(domain::GAMES).fetch_all(pool).await? {
        let day: i32 = row.try_get(2)?;
        let written = Glicko2Rating {
            rating: row.try_get(3)?,
            deviation: row.try_get(4)?,
            volatility: row.try_get(5)?,
        };
        let now = idle(written, today - day);
        found.entry(row.try_get(0)?).or_default().push(Rating {
            kind: row.try_get(1)?,
            rating: now.rating,
            deviation: now.deviation,
            volatility: now.volatility,
            provisional: now.deviation > PROVISIONAL,
            games: row.try_get(6)?,
        });
    }
    Ok(found)
}

/// A player's rating after a day with rated games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingDay {
    /// The day since 1970, in UTC.
    pub day: i32,
    /// The rating.
    pub rating: f64,
    /// Its uncertainty.
    pub deviation: f64,
    /// How many rated games it comes from.
    pub games: i64,
}

/// The ratings of a player at a game after each day played from a day on, the oldest first.
pub async fn history(
    pool: &PgPool,
    player: Uuid,
    kind: &str,
    from: i32,
) -> Result<Vec<RatingDay>, StoreError> {
    const FIND: &str = "
SELECT day, rating, deviation, games FROM rating
 WHERE generation = (SELECT generation FROM processor WHERE name = 'ratings' AND state = 'live') AND kind = $1 AND player = $2
   AND day >= $3
 ORDER BY day";
    let rows = sqlx::query(FIND).bind(kind).bind(player).bind(from).fetch_all(pool).await?;
    let day = |row: &sqlx::postgres::PgRow| {
        Ok(RatingDay {
            day: row.try_get(0)?,
            rating: row.try_get(1)?,
            deviation: row.try_get(2)?,
            games: row.try_get(3)?,
        })
    };
    rows.iter().map(day).collect()
}
