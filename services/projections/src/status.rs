//! How far each read model is.

use sqlx::{PgPool, Row};
use store::Positions;
use uuid::Uuid;

use crate::{ProjectionError, lease::shards};

/// A generation of a read model.
#[derive(Clone, Debug)]
pub struct Status {
    /// The read model.
    pub name: String,
    /// The generation.
    pub generation: i32,
    /// `building`, `live` or `old`.
    pub state: String,
    /// The version of its fold.
    pub version: i32,
    /// Games that could not be taken in.
    pub parked: Vec<Parked>,
    /// Its ranges.
    pub ranges: Vec<RangeStatus>,
}

/// A game that could not be taken in, or out again.
#[derive(Clone, Debug)]
pub struct Parked {
    /// The game.
    pub game: Uuid,
    /// Why.
    pub why: String,
}

/// Eight shards of a generation.
#[derive(Clone, Debug)]
pub struct RangeStatus {
    /// Which.
    pub range: i16,
    /// How many events of its shards are folded.
    pub position: i64,
    /// How many are not yet.
    pub behind: i64,
    /// Whether somebody works on it.
    pub held: bool,
    /// How many seconds ago somebody did, if ever.
    pub heartbeat: Option<f64>,
}

impl Status {
    /// How many events are folded.
    pub fn position(&self) -> i64 {
        self.ranges.iter().map(|range| range.position).sum()
    }

    /// How many are not yet.
    pub fn behind(&self) -> i64 {
        self.ranges.iter().map(|range| range.behind).sum()
    }
}

/// Every generation of every read model; `heads` is where the log ends.
pub async fn status(pool: &PgPool, heads: &Positions) -> Result<Vec<Status>, ProjectionError> {
    const STATUS: &str = "
SELECT p.name, p.generation, p.state, p.version, r.range, r.positions, coalesce(r.leased_until > now(), false),
       extract(epoch FROM now() - r.heartbeat)::float8
  FROM projection p JOIN projection_range r USING (name, generation)
 ORDER BY p.name, p.generation, r.range";
    const PARKED: &str = "SELECT name, generation, game, why FROM projection_parked ORDER BY game";
    let mut all: Vec<Status> = Vec::new();
    for row in sqlx::query(STATUS).fetch_all(pool).await? {
        let (name, generation): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
        let (range, written): (i16, Vec<i64>) = (row.try_get(4)?, row.try_get(5)?);
        let position: i64 = written.iter().sum();
        let head: i64 = shards(range).into_iter().map(|shard| heads.get(shard)).sum();
        let range = RangeStatus {
            range,
            position,
            behind: (head - position).max(0),
            held: row.try_get(6)?,
            heartbeat: row.try_get(7)?,
        };
        match all.last_mut() {
            Some(last) if last.name == name && last.generation == generation => {
                last.ranges.push(range);
            }
            _ => all.push(Status {
                name,
                generation,
                state: row.try_get(2)?,
                version: row.try_get(3)?,
                parked: Vec::new(),
                ranges: vec![range],
            }),
        }
    }
    for row in sqlx::query(PARKED).fetch_all(pool).await? {
        let (name, generation): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
        let of = |status: &&mut Status| status.name == name && status.generation == generation;
        if let Some(status) = all.iter_mut().find(of) {
            status.parked.push(Parked { game: row.try_get(2)?, why: row.try_get(3)? });
        }
    }
    Ok(all)
}
