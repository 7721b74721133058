//! Ratings: Glicko-2, for each game.
//!
//! A rating period is a day in UTC. Within a day all games count at once, against the ratings that everybody began the day with, so
//! the order in which games are taken in does not matter, and the rating of today is up to date with every game. A game of
//! several players is as many results as there are pairs. Whoever does not play for a day becomes a little less certain.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2_rating_period},
};
use sqlx::{PgConnection, PgPool, Row};
use uuid::Uuid;

use crate::{
    GameRecord, Model, ProjectionError, SeatRecord,
    balance::{self, Band, SeatFact},
    model::{Target, if_alone, one_at_a_time},
    period::day_of,
    rating_board::{self, RatingBoards},
    records::Records,
    seasons::counted,
};

/// The read model. Balance belongs to it: it compares players of equal strength.
pub(crate) const MODEL: Model = Model {
    name: "ratings",
    version: 2,
    tables: &[
        "rating_result",
        "rating",
        "rating_due",
        "rating_board",
        "rating_count",
        "balance_seat",
        "balance_cell",
    ],
    rows: "SELECT concat_ws('/', kind, player, day), concat_ws(' ', rating, deviation, volatility, games) FROM rating WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', kind, day, player, game, opponent), outcome::text FROM rating_result WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', 'board', kind, period, player), concat_ws(' ', rating, rating_at, games) FROM rating_board WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', 'count', kind, period, level, bucket), players::text FROM rating_count WHERE generation = $1 AND players <> 0
           UNION ALL
           SELECT concat_ws('/', 'seat', kind, day, game, seat), (s.*)::balance_seat::text
             FROM (SELECT 0 AS generation, kind, day, game, seat, player, preset, ruleset_version, catalogue_version, seats, position, ended_at,
                          won, gave_up, score, turns, turn_time, rolls, farkles, money, dice, character, turn_lengths
                     FROM balance_seat WHERE generation = $1) AS s
           UNION ALL
           SELECT concat_ws('/', 'cell', kind, dimension, day, preset, ruleset_version, catalogue_version, seats, band, trait),
                  concat_ws(' ', games, wins, score, turns, turn_time, rolls, farkles, histograms) FROM balance_cell WHERE generation = $1",
    write,
    forget,
    settle: Some(settle),
};

/// Less certain than this, a rating is provisional.
pub const PROVISIONAL: f64 = 110.0;

/// How a seat stands in the end, the better the higher.
fn standing(record: &GameRecord, seat: &SeatRecord) -> (bool, bool, i64) {
    (seat.won, !seat.left, if seat.won || seat.left { 0 } else { record.merit(seat) })
}

fn write<'a>(
    connection: &'a mut PgConnection,
    target: Target,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), ProjectionError>> {
    const RESULTS: &str = "
INSERT INTO rating_result (generation, kind, day, player, game, opponent, outcome)
SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[], $5::uuid[], $6::uuid[], $7::smallint[]) AS w
    ON CONFLICT DO NOTHING";
    async move {
        let (mut kinds, mut days, mut players) = (vec![], vec![], vec![]);
        let (mut games, mut opponents, mut outcomes) = (vec![], vec![], vec![]);
        for record in records.iter().filter(|record| record.preset != "custom") {
            for seat in &record.seats {
                for other in record.seats.iter().filter(|other| other.player != seat.player) {
                    kinds.push(record.kind);
                    days.push(day_of(record.ended_at));
                    players.push(seat.player);
                    games.push(record.game);
                    opponents.push(other.player);
                    let order = standing(record, seat).cmp(&standing(record, other));
                    outcomes.push(order as i16 + 1);
                }
            }
        }
        let query = sqlx::query(RESULTS).bind(target.generation).bind(&kinds).bind(&days);
        let query = query.bind(&players).bind(games).bind(opponents).bind(outcomes);
        query.execute(&mut *connection).await?;
        balance::insert_seats(connection, target.generation, records).await?;
        let mut due = BTreeSet::new();
        for record in records {
            let (kind, day) = (record.kind, day_of(record.ended_at));
            if target.building {
                due.insert((kind, day, WHOLE, WHOLE));
            }
            let seats = record.seats.iter().filter(|_| !target.building);
            due.extend(seats.map(|seat| (kind, day, seat.player, record.game)));
        }
        is_due(connection, target.generation, &due).await
    }
    .boxed()
}

/// Without these games the day on which they ended is another one, and all days behind it.
fn forget<'a>(
    connection: &'a mut PgConnection,
    Target { generation, .. }: Target,
    records: &'a [Arc<GameRecord>],
    _: &'a Records,
) -> BoxFuture<'a, Result<(), ProjectionError>> {
    const RESULTS: &str = "DELETE FROM rating_result WHERE generation = $1 AND game = $2";
    async move {
        let mut due = BTreeSet::new();
        for record in records {
            let day = day_of(record.ended_at);
            sqlx::query(RESULTS)
                .bind(generation)
                .bind(record.game)
                .execute(&mut *connection)
                .await?;
            if balance::delete_seats(connection, generation, record).await? {
                // A row of its own: one that is there already may be worked out just now, without knowing of this.
                due.insert((record.kind, day, WHOLE, record.game));
            }
        }
        is_due(connection, generation, &due).await
    }
    .boxed()
}

/// In place of a player: the whole day, and all behind it.
const WHOLE: Uuid = Uuid::nil();

async fn is_due(
    connection: &mut PgConnection,
    generation: i32,
    due: &BTreeSet<(&'static str, i32, Uuid, Uuid)>,
) -> Result<(), ProjectionError> {
    const DUE: &str = "
INSERT INTO rating_due (generation, kind, day, player, game)
SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[], $5::uuid[]) AS w
    ON CONFLICT DO NOTHING";
    let query = sqlx::query(DUE)
        .bind(generation)
        .bind(due.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>())
        .bind(due.iter().map(|(_, day, ..)| *day).collect::<Vec<_>>())
        .bind(due.iter().map(|(_, _, player, _)| *player).collect::<Vec<_>>())
        .bind(due.iter().map(|(.., game)| *game).collect::<Vec<_>>());
    query.execute(connection).await?;
    Ok(())
}

/// Works out all ratings that are due. Games of one kind are worked on one after the other, so that nobody misses what another
/// one has just written.
fn settle(
    connection: &mut PgConnection,
    Target { generation, waits, .. }: Target,
) -> BoxFuture<'_, Result<bool, ProjectionError>> {
    const KINDS: &str = "SELECT DISTINCT kind FROM rating_due WHERE generation = $1 ORDER BY kind";
    async move {
        let mut done = rating_board::count_seasons(connection, generation, waits).await?;
        let query = sqlx::query(KINDS).bind(generation);
        for row in query.fetch_all(&mut *connection).await? {
            let kind: String = row.try_get(0)?;
            if lock(connection, generation, &kind, waits).await? {
                rate(connection, generation, &kind).await?;
            } else {
                done = false;
            }
        }
        Ok(done)
    }
    .boxed()
}

/// Nobody else works on the ratings of this kind; if somebody does, it is left to them unless we wait.
pub(crate) async fn lock(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    waits: bool,
) -> Result<bool, ProjectionError> {
    let name = format!("ratings/{kind}");
    if !waits {
        return if_alone(connection, &name, generation).await;
    }
    one_at_a_time(connection, &name, generation).await?;
    Ok(true)
}

/// Works out what is due of the first such day, and everything behind it: a changed day changes what the next ones begin with.
async fn rate(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
) -> Result<(), ProjectionError> {
    const DUE: &str =
        "DELETE FROM rating_due WHERE generation = $1 AND kind = $2 RETURNING day, player, game";
    const DAYS: &str = "SELECT DISTINCT day FROM balance_seat WHERE generation = $1 AND kind = $2 AND day >= $3 ORDER BY day";
    const UNRATE: &str = "DELETE FROM rating WHERE generation = $1 AND kind = $2 AND day >= $3 RETURNING day, player";
    let mut due: BTreeMap<i32, (BTreeSet<Uuid>, BTreeSet<Uuid>)> = BTreeMap::new();
    for row in sqlx::query(DUE).bind(generation).bind(kind).fetch_all(&mut *connection).await? {
        let (players, games) = due.entry(row.try_get(0)?).or_default();
        players.insert(row.try_get(1)?);
        games.insert(row.try_get(2)?);
    }
    let Some((first, (players, games))) = due.pop_first() else { return Ok(()) };
    let whole = players.contains(&WHOLE);
    let behind = if whole { first } else { first + 1 };
    let seasons = counted(connection, MODEL.name, generation).await?;
    let mut boards = RatingBoards::new(generation, kind, &seasons);
    let query = sqlx::query(UNRATE).bind(generation).bind(kind).bind(behind);
    for row in query.fetch_all(&mut *connection).await? {
        boards.unrated(row.try_get(0)?, row.try_get(1)?);
    }
    balance::delete_cells(connection, generation, kind, behind).await?;
    if !whole {
        let games: Vec<Uuid> = games.into_iter().collect();
        let players: Vec<Uuid> = players.into_iter().collect();
        let of_day = Period { generation, kind, day: first };
        of_day.rate(connection, Some((&players, &games)), &mut boards).await?;
    }
    let query = sqlx::query(DAYS).bind(generation).bind(kind).bind(behind);
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

/// A rating, and how many rated games it comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rated {
    pub(crate) rating: Glicko2Rating,
    pub(crate) games: i64,
}

/// A game of a day, against whom, and how it went.
type Against = (Uuid, Uuid, Outcomes);

impl Period<'_> {
    /// Works out the ratings of these players and adds these games to the balance of the day; or all who played that day.
    async fn rate(
        &self,
        connection: &mut PgConnection,
        only: Option<(&[Uuid], &[Uuid])>,
        boards: &mut RatingBoards<'_>,
    ) -> Result<(), ProjectionError> {
        // Seats before results: others add games meanwhile. One whose seats are seen here is settled with this; one whose results
        // alone are seen is due, and rated again.
        let games = only.map(|(_, games)| games);
        let seats = balance::seats(connection, self.generation, self.kind, self.day, games).await?;
        if only.is_none() {
            self.settled(connection, &seats).await?;
        }
        let results = self.results(connection, only.map(|(players, _)| players)).await?;
        let opponents = results.values().flatten().map(|(_, opponent, _)| *opponent);
        let mut involved: Vec<Uuid> = results.keys().copied().chain(opponents).collect();
        involved.extend(seats.iter().map(|seat| seat.player));
        involved.sort_unstable();
        involved.dedup();
        let began = self.began_with(connection, &involved).await?;
        let start = |player: &Uuid| began.get(player).copied().unwrap_or_default();
        let config = Glicko2Config::default();
        let rated: Vec<(Uuid, Rated)> = results
            .iter()
            .map(|(player, results)| {
                let before = start(player);
                let played: Vec<(Glicko2Rating, Outcomes)> =
                    results.iter().map(|(_, other, how)| (start(other).rating, *how)).collect();
                let rating = glicko2_rating_period(&before.rating, &played, &config);
                let games: BTreeSet<&Uuid> = results.iter().map(|(game, ..)| game).collect();
                let games = before.games + i64::try_from(games.len()).unwrap_or(0);
                (*player, Rated { rating, games })
            })
            .collect();
        self.write(connection, &rated).await?;
        for (player, rated) in rated {
            boards.rated(self.day, player, rated);
        }
        boards.write_if_many(connection).await?;
        let band = |player| Band::of(&start(&player).rating);
        let fresh = only.is_none();
        balance::add(connection, self.generation, self.kind, self.day, &seats, fresh, band).await
    }

    /// These games are worked out with the whole day: what made them due may have come after we looked what is.
    async fn settled(
        &self,
        connection: &mut PgConnection,
        seats: &[SeatFact],
    ) -> Result<(), ProjectionError> {
        const SETTLED: &str = "DELETE FROM rating_due WHERE generation = $1 AND kind = $2 AND day = $3 AND game = ANY ($4) AND player <> $5";
        let games: Vec<Uuid> = seats.iter().map(|seat| seat.game).collect();
        let query = sqlx::query(SETTLED).bind(self.generation).bind(self.kind).bind(self.day);
        query.bind(games).bind(WHOLE).execute(connection).await?;
        Ok(())
    }

    /// What these players did that day, or all.
    async fn results(
        &self,
        connection: &mut PgConnection,
        players: Option<&[Uuid]>,
    ) -> Result<BTreeMap<Uuid, Vec<Against>>, ProjectionError> {
        const RESULTS: &str = "
SELECT player, game, opponent, outcome FROM rating_result
 WHERE generation = $1 AND kind = $2 AND day = $3";
        // Not one statement for both: its plan would read the whole day for a single player.
        let some = players.map_or("", |_| "AND player = ANY ($4)");
        let select = format!("{RESULTS} {some} ORDER BY player, game, opponent");
        let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(self.generation).bind(self.kind);
        let mut query = query.bind(self.day);
        if let Some(players) = players {
            query = query.bind(players);
        }
        let mut results: BTreeMap<Uuid, Vec<Against>> = BTreeMap::new();
        for row in query.fetch_all(&mut *connection).await? {
            let outcome = match row.try_get::<i16, _>(3)? {
                0 => Outcomes::LOSS,
                1 => Outcomes::DRAW,
                _ => Outcomes::WIN,
            };
            let result = (row.try_get(1)?, row.try_get(2)?, outcome);
            results.entry(row.try_get(0)?).or_default().push(result);
        }
        Ok(results)
    }

    /// The ratings that players began the day with.
    async fn began_with(
        &self,
        connection: &mut PgConnection,
        players: &[Uuid],
    ) -> Result<HashMap<Uuid, Rated>, ProjectionError> {
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
            let rating = Glicko2Rating {
                rating: row.try_get(2)?,
                deviation: row.try_get(3)?,
                volatility: row.try_get(4)?,
            };
            let rating = idle(rating, self.day - last - 1);
            began.insert(row.try_get(0)?, Rated { rating, games: row.try_get(5)? });
        }
        Ok(began)
    }

    async fn write(
        &self,
        connection: &mut PgConnection,
        rated: &[(Uuid, Rated)],
    ) -> Result<(), ProjectionError> {
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
    /// How many rated games it comes from.
    pub games: i64,
}

/// The ratings of players as of a day since 1970, by player.
pub async fn ratings_of(
    pool: &PgPool,
    players: &[Uuid],
    today: i32,
) -> Result<HashMap<Uuid, Vec<Rating>>, ProjectionError> {
    const FIND: &str = "
SELECT DISTINCT ON (r.player, r.kind) r.player, r.kind, r.day, r.rating, r.deviation, r.volatility, r.games
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
            games: row.try_get(6)?,
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
