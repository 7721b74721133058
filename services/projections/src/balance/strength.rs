//! The strength of players at the start of a day: ratings of past days, computed from the facts of
//! seats.
//!
//! A day is closed when the first game of a later day is written: until then its ratings are not
//! needed. A game that arrives late reopens its day and all later days.

use std::collections::{BTreeMap, HashMap};

use domain::Rules;
use skillratings::glicko2::Glicko2Rating;
use sqlx::{PgConnection, Row};
use store::StoreError;
use uuid::Uuid;

use super::{SeatFact, seats};
use crate::glicko::{Results, Standing, idle, pairs, rate, read, standing};

/// The ratings of players in a kind of game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strengths<'a> {
    pub(super) generation: i32,
    pub(super) kind: &'a str,
}

impl Strengths<'_> {
    /// The ratings that players started a day with; all earlier days must be closed.
    pub(super) async fn began_with(
        self,
        connection: &mut PgConnection,
        day: i32,
        players: &[Uuid],
    ) -> Result<HashMap<Uuid, Glicko2Rating>, StoreError> {
        const BEFORE: &str = "
SELECT w.player, s.day, s.rating, s.deviation, s.volatility
  FROM unnest($4::uuid[]) AS w (player)
 CROSS JOIN LATERAL (
        SELECT * FROM balance_strength s WHERE s.generation = $1 AND s.kind = $2 AND s.player = w.player AND s.day < $3
         ORDER BY s.day DESC LIMIT 1) s";
        let query = sqlx::query(BEFORE).bind(self.generation).bind(self.kind).bind(day);
        let mut began = HashMap::with_capacity(players.len());
        for row in query.bind(players).fetch_all(connection).await? {
            let last: i32 = row.try_get(1)?;
            began.insert(row.try_get(0)?, idle(read(&row, 2)?, day - last - 1));
        }
        Ok(began)
    }

    /// Closes all earlier days that are still open.
    pub(super) async fn close_before(
        self,
        connection: &mut PgConnection,
        day: i32,
    ) -> Result<(), StoreError> {
        const OPEN: &str = "
SELECT DISTINCT day FROM balance_seat WHERE generation = $1 AND kind = $2 AND day > $3 AND day < $4 ORDER BY day";
        const SET: &str = "
INSERT INTO balance_closed (generation, kind, day) VALUES ($1, $2, $3)
    ON CONFLICT (generation, kind) DO UPDATE SET day = excluded.day";
        let closed = self.closed(connection).await?;
        if closed >= day - 1 {
            return Ok(());
        }
        let query = sqlx::query(OPEN).bind(self.generation).bind(self.kind).bind(closed);
        for row in query.bind(day).fetch_all(&mut *connection).await? {
            self.close(connection, row.try_get(0)?).await?;
        }
        let query = sqlx::query(SET).bind(self.generation).bind(self.kind).bind(day - 1);
        query.execute(connection).await?;
        Ok(())
    }

    /// Reopens a day and all later days.
    pub(super) async fn open_from(
        self,
        connection: &mut PgConnection,
        day: i32,
    ) -> Result<(), StoreError> {
        const FORGET: &str =
            "DELETE FROM balance_strength WHERE generation = $1 AND kind = $2 AND day >= $3";
        const SET: &str =
            "UPDATE balance_closed SET day = $3 WHERE generation = $1 AND kind = $2 AND day > $3";
        if self.closed(connection).await? < day {
            return Ok(());
        }
        let query = sqlx::query(FORGET).bind(self.generation).bind(self.kind).bind(day);
        query.execute(&mut *connection).await?;
        let query = sqlx::query(SET).bind(self.generation).bind(self.kind).bind(day - 1);
        query.execute(connection).await?;
        Ok(())
    }

    /// The last closed day.
    async fn closed(self, connection: &mut PgConnection) -> Result<i32, StoreError> {
        const CLOSED: &str = "SELECT day FROM balance_closed WHERE generation = $1 AND kind = $2";
        let query = sqlx::query(CLOSED).bind(self.generation).bind(self.kind);
        let row = query.fetch_optional(connection).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or(i32::MIN))
    }

    /// Computes the ratings after a day, for all who played rated games on it.
    async fn close(self, connection: &mut PgConnection, day: i32) -> Result<(), StoreError> {
        const WRITE: &str = "
INSERT INTO balance_strength (generation, kind, day, player, rating, deviation, volatility)
SELECT $1, $2, $3, w.* FROM unnest($4::uuid[], $5::float8[], $6::float8[], $7::float8[]) AS w";
        let facts = seats(connection, self.generation, self.kind, day, None).await?;
        let results = results(self.kind, &facts);
        let players: Vec<Uuid> = results.keys().copied().collect();
        let began = self.began_with(connection, day, &players).await?;
        let start = |player: Uuid| began.get(&player).copied().unwrap_or_default();
        let rated: Vec<(Uuid, Glicko2Rating)> = results
            .iter()
            .map(|(player, results)| (*player, rate(*player, results, start)))
            .collect();
        let column = |value: fn(&Glicko2Rating) -> f64| -> Vec<f64> {
            rated.iter().map(|(_, rating)| value(rating)).collect()
        };
        let query = sqlx::query(WRITE).bind(self.generation).bind(self.kind).bind(day);
        let query = query.bind(players).bind(column(|rating| rating.rating));
        let query = query.bind(column(|rating| rating.deviation));
        query.bind(column(|rating| rating.volatility)).execute(connection).await?;
        Ok(())
    }
}

/// The results of everybody who played rated games on a day.
fn results(kind: &str, facts: &[SeatFact]) -> BTreeMap<Uuid, Results> {
    let down = Rules::counts_down(kind);
    let mut games: BTreeMap<Uuid, Vec<(Uuid, Standing)>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.preset != "custom") {
        let merit = if down { fact.score.saturating_neg() } else { fact.score };
        let standing = standing(fact.won, fact.gave_up, merit);
        games.entry(fact.game).or_default().push((fact.player, standing));
    }
    let mut results: BTreeMap<Uuid, Results> = BTreeMap::new();
    for (game, seats) in &games {
        for (player, opponent, outcome) in pairs(seats) {
            results.entry(player).or_default().insert((*game, opponent), outcome);
        }
    }
    results
}
