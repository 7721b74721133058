//! Ratings: Glicko-2, for each game.
//!
//! A rating period is a day in UTC. Within a day all games count at once, against the ratings that everybody began the day with, so
//! the order in which games are taken in does not matter, and the rating of today is up to date with every game. A game of
//! several players is as many results as there are pairs. Whoever does not play for a day becomes a little less certain.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2_rating_period},
};
use sqlx::{PgConnection, PgPool, Row};
use uuid::Uuid;

use crate::{GameRecord, Model, ProjectionError, SeatRecord, model::one_at_a_time};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "ratings",
    version: 1,
    tables: &["rating_result", "rating", "rating_due"],
    rows: "SELECT concat_ws('/', kind, player, day), concat_ws(' ', rating, deviation, volatility) FROM rating WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', kind, day, player, game, opponent), outcome::text FROM rating_result WHERE generation = $1",
    write,
    settle: Some(settle),
};

/// Less certain than this, a rating is provisional.
pub const PROVISIONAL: f64 = 110.0;
const DAY: u64 = 86_400_000;

/// How a seat stands in the end, the better the higher.
fn standing(record: &GameRecord, seat: &SeatRecord) -> (bool, bool, i64) {
    // Zero Hour counts down.
    let score = if record.kind == "zero_hour" { seat.score.saturating_neg() } else { seat.score };
    (seat.won, !seat.left, if seat.won || seat.left { 0 } else { score })
}

fn write<'a>(
    connection: &'a mut PgConnection,
    generation: i32,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), ProjectionError>> {
    const RESULTS: &str = "
INSERT INTO rating_result (generation, kind, day, player, game, opponent, outcome)
SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[], $5::uuid[], $6::uuid[], $7::smallint[]) AS w
    ON CONFLICT DO NOTHING";
    const DUE: &str = "
INSERT INTO rating_due (generation, kind, day, player)
SELECT DISTINCT $1::integer, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[]) AS w ORDER BY 2, 3, 4
    ON CONFLICT DO NOTHING";
    async move {
        let (mut kinds, mut days, mut players) = (vec![], vec![], vec![]);
        let (mut games, mut opponents, mut outcomes) = (vec![], vec![], vec![]);
        for record in records.iter().filter(|record| record.preset != "custom") {
            for seat in &record.seats {
                for other in record.seats.iter().filter(|other| other.player != seat.player) {
                    kinds.push(record.kind);
                    days.push(i32::try_from(record.ended_at.0 / DAY).unwrap_or(i32::MAX));
                    players.push(seat.player);
                    games.push(record.game);
                    opponents.push(other.player);
                    let order = standing(record, seat).cmp(&standing(record, other));
                    outcomes.push(order as i16 + 1);
                }
            }
        }
        if kinds.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(RESULTS).bind(generation).bind(&kinds).bind(&days).bind(&players);
        query.bind(games).bind(opponents).bind(outcomes).execute(&mut *connection).await?;
        let query = sqlx::query(DUE).bind(generation).bind(kinds).bind(days).bind(players);
        query.execute(connection).await?;
        Ok(())
    }
    .boxed()
}

/// Works out all ratings that are due. Games of one kind are worked on one after the other, so that nobody misses what another
/// one has just written.
fn settle(
    connection: &mut PgConnection,
    generation: i32,
) -> BoxFuture<'_, Result<(), ProjectionError>> {
    const KINDS: &str = "SELECT DISTINCT kind FROM rating_due WHERE generation = $1 ORDER BY kind";
    async move {
        let query = sqlx::query(KINDS).bind(generation);
        for row in query.fetch_all(&mut *connection).await? {
            let kind: String = row.try_get(0)?;
            one_at_a_time(connection, &format!("ratings/{kind}"), generation).await?;

            rate(connection, generation, &kind).await?;
        }
        Ok(())
    }
    .boxed()
}

/// Works out the days that are due, and everything behind them: a changed day changes what the next ones begin with.
async fn rate(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
) -> Result<(), ProjectionError> {
    const DUE: &str =
        "DELETE FROM rating_due WHERE generation = $1 AND kind = $2 RETURNING day, player";
    const DAYS: &str = "SELECT DISTINCT day FROM rating_result WHERE generation = $1 AND kind = $2 AND day >= $3 ORDER BY day";
    let mut due: BTreeMap<i32, Vec<Uuid>> = BTreeMap::new();
    for row in sqlx::query(DUE).bind(generation).bind(kind).fetch_all(&mut *connection).await? {
        due.entry(row.try_get(0)?).or_default().push(row.try_get(1)?);
    }
    let Some((&first, _)) = due.first_key_value() else { return Ok(()) };
    let query = sqlx::query(DAYS).bind(generation).bind(kind).bind(first);
    let mut changed = false;
    for row in query.fetch_all(&mut *connection).await? {
        let day: i32 = row.try_get(0)?;
        let of_day = Period { generation, kind, day };
        let players = if changed { None } else { due.get(&day) };
        of_day.rate(connection, players.map(Vec::as_slice)).await?;
        changed = true;
    }
    Ok(())
}

struct Period<'a> {
    generation: i32,
    kind: &'a str,
    day: i32,
}

impl Period<'_> {
    /// Works out the ratings of these players, or of all who played that day.
    async fn rate(
        &self,
        connection: &mut PgConnection,
        players: Option<&[Uuid]>,
    ) -> Result<(), ProjectionError> {
        const RESULTS: &str = "
SELECT player, opponent, outcome FROM rating_result
 WHERE generation = $1 AND kind = $2 AND day = $3 AND ($4::uuid[] IS NULL OR player = ANY ($4))
 ORDER BY player, game, opponent";
        let query = sqlx::query(RESULTS).bind(self.generation).bind(self.kind);
        let mut results: BTreeMap<Uuid, Vec<(Uuid, Outcomes)>> = BTreeMap::new();
        for row in query.bind(self.day).bind(players).fetch_all(&mut *connection).await? {
            let outcome = match row.try_get::<i16, _>(2)? {
                0 => Outcomes::LOSS,
                1 => Outcomes::DRAW,
                _ => Outcomes::WIN,
            };
            results.entry(row.try_get(0)?).or_default().push((row.try_get(1)?, outcome));
        }
        let opponents = results.values().flatten().map(|(opponent, _)| *opponent);
        let mut involved: Vec<Uuid> = results.keys().copied().chain(opponents).collect();
        involved.sort_unstable();
        involved.dedup();
        let began = self.began_with(connection, &involved).await?;
        let start = |player: &Uuid| began.get(player).copied().unwrap_or_default();
        let config = Glicko2Config::default();
        let rated: Vec<(Uuid, Glicko2Rating)> = results
            .iter()
            .map(|(player, games)| {
                let games: Vec<(Glicko2Rating, Outcomes)> =
                    games.iter().map(|(opponent, outcome)| (start(opponent), *outcome)).collect();
                (*player, glicko2_rating_period(&start(player), &games, &config))
            })
            .collect();
        self.write(connection, &rated).await
    }

    /// The ratings that players began the day with.
    async fn began_with(
        &self,
        connection: &mut PgConnection,
        players: &[Uuid],
    ) -> Result<HashMap<Uuid, Glicko2Rating>, ProjectionError> {
        const BEFORE: &str = "
SELECT w.player, r.day, r.rating, r.deviation, r.volatility
  FROM unnest($4::uuid[]) AS w (player)
 CROSS JOIN LATERAL (
        SELECT * FROM rating r WHERE r.generation = $1 AND r.kind = $2 AND r.player = w.player AND r.day < $3
         ORDER BY r.day DESC LIMIT 1) r";
        let query = sqlx::query(BEFORE).bind(self.generation).bind(self.kind).bind(self.day);
        let mut began = HashMap::with_capacity(players.len());
        for row in query.bind(players).fetch_all(connection).await? {
            let last: i32 = row.try_get(1)?;
            let rating = Glicko2Rating {
                rating: row.try_get(2)?,
                deviation: row.try_get(3)?,
                volatility: row.try_get(4)?,
            };
            began.insert(row.try_get(0)?, idle(rating, self.day - last - 1));
        }
        Ok(began)
    }

    async fn write(
        &self,
        connection: &mut PgConnection,
        rated: &[(Uuid, Glicko2Rating)],
    ) -> Result<(), ProjectionError> {
        const WRITE: &str = "
INSERT INTO rating (generation, kind, day, player, rating, deviation, volatility)
SELECT $1, $2, $3, w.* FROM unnest($4::uuid[], $5::float8[], $6::float8[], $7::float8[]) AS w
    ON CONFLICT (generation, kind, player, day) DO UPDATE
   SET rating = excluded.rating, deviation = excluded.deviation, volatility = excluded.volatility";
        let column = |value: fn(&Glicko2Rating) -> f64| -> Vec<f64> {
            rated.iter().map(|(_, rating)| value(rating)).collect()
        };
        let query = sqlx::query(WRITE).bind(self.generation).bind(self.kind).bind(self.day);
        let query = query.bind(rated.iter().map(|(player, _)| *player).collect::<Vec<_>>());
        let query = query.bind(column(|rating| rating.rating));
        let query = query.bind(column(|rating| rating.deviation));
        query.bind(column(|rating| rating.volatility)).execute(connection).await?;
        Ok(())
    }
}

/// A rating after so many days without a game.
fn idle(rating: Glicko2Rating, days: i32) -> Glicko2Rating {
    // After a few thousand days nothing changes any more.
    (0..days.clamp(0, 5_000)).fold(rating, |rating, _| decay_deviation(&rating))
}

/// A player's rating in a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// What is played.
    pub kind: String,
    /// How good the player is; 1500 is where everybody begins.
    pub rating: f64,
    /// How uncertain that is: two of them either way hold the truth in 95 of 100 cases.
    pub deviation: f64,
    /// How erratic the results are.
    pub volatility: f64,
    /// Whether it is too uncertain to count.
    pub provisional: bool,
}

/// The ratings of players as of a day since 1970, by player.
pub async fn ratings_of(
    pool: &PgPool,
    players: &[Uuid],
    today: i32,
) -> Result<HashMap<Uuid, Vec<Rating>>, ProjectionError> {
    const FIND: &str = "
SELECT DISTINCT ON (r.player, r.kind) r.player, r.kind, r.day, r.rating, r.deviation, r.volatility
  FROM rating r
 WHERE r.generation = (SELECT generation FROM projection WHERE name = 'ratings' AND state = 'live') AND r.player = ANY ($1)
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
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of Glickman's paper: 1500 ± 200 wins against 1400 ± 30, loses against 1550 ± 100 and 1700 ± 300.
    #[test]
    fn the_example_of_the_paper() {
        let of = |rating, deviation| Glicko2Rating { rating, deviation, volatility: 0.06 };
        let games = [
            (of(1400.0, 30.0), Outcomes::WIN),
            (of(1550.0, 100.0), Outcomes::LOSS),
            (of(1700.0, 300.0), Outcomes::LOSS),
        ];
        let config = Glicko2Config { tau: 0.5, ..Glicko2Config::default() };
        let after = glicko2_rating_period(&of(1500.0, 200.0), &games, &config);
        assert!((after.rating - 1464.06).abs() < 0.01, "{after:?}");
        assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
        assert!((after.volatility - 0.059_99).abs() < 0.000_01, "{after:?}");
    }

    #[test]
    fn idle_days_make_less_certain() {
        let rating = Glicko2Rating { rating: 1800.0, deviation: 60.0, volatility: 0.06 };
        let after = idle(rating, 100);
        assert!(after.deviation > 100.0 && after.deviation < 150.0, "{after:?}");
        assert!((idle(rating, i32::MAX).deviation - 350.0).abs() < 1.0);
        assert!((idle(rating, -5).deviation - 60.0).abs() < f64::EPSILON);
    }
}
