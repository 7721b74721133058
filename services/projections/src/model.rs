//! What a read model is, and the list of them.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Row};

use crate::{GameRecord, ProjectionError, leaderboards, players, ratings, records::Records};

/// A read model.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// What it is called.
    pub name: &'static str,
    /// The version of its fold. A changed fold is a new version and is rebuilt.
    pub version: i32,
    /// Its tables; each has a column `generation`.
    pub tables: &'static [&'static str],
    /// Everything of a generation as (key, row), to compare two of them.
    pub rows: &'static str,
    /// Takes games in.
    pub(crate) write: Write,
    /// Takes games out again: they are void. A game that was never taken in changes nothing.
    pub(crate) forget: Forget,
    /// Works out what follows from what was taken in, where that is not done at once: behind every batch of a live generation; and
    /// of one that is built, once, when everything is taken in.
    pub(crate) settle: Option<Settle>,
}

/// What is written to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) generation: i32,
    /// Whether everything is still being taken in: what follows from facts is worked out once, at the end.
    pub(crate) building: bool,
    /// Whether to wait for others who work out what follows, or to leave it to them.
    pub(crate) waits: bool,
}

impl Target {
    /// A generation that is kept up to date.
    pub(crate) const fn kept(generation: i32) -> Self {
        Self { generation, building: false, waits: true }
    }
}

/// Takes games into a generation, as part of a transaction.
pub(crate) type Write = for<'a> fn(
    &'a mut PgConnection,
    Target,
    &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), ProjectionError>>;

/// Takes games out of a generation, as part of a transaction; other games can be read.
pub(crate) type Forget = for<'a> fn(
    &'a mut PgConnection,
    Target,
    &'a [Arc<GameRecord>],
    &'a Records,
) -> BoxFuture<'a, Result<(), ProjectionError>>;

/// Works out what follows from what was taken in, as part of a transaction; whether nothing is left for later, because somebody
/// else is at it.
pub(crate) type Settle =
    for<'a> fn(&'a mut PgConnection, Target) -> BoxFuture<'a, Result<bool, ProjectionError>>;

/// Waits until nobody else writes to this generation: then what is read stays true until the end of the transaction.
pub(crate) async fn one_at_a_time(
    connection: &mut PgConnection,
    name: &str,
    generation: i32,
) -> Result<(), ProjectionError> {
    const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))";
    let query = sqlx::query(LOCK).bind(name).bind(generation.to_string());
    query.execute(connection).await?;
    Ok(())
}

/// The same, unless somebody else does: then nothing is waited for.
pub(crate) async fn if_alone(
    connection: &mut PgConnection,
    name: &str,
    generation: i32,
) -> Result<bool, ProjectionError> {
    const LOCK: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))";
    let query = sqlx::query(LOCK).bind(name).bind(generation.to_string());
    Ok(query.fetch_one(connection).await?.try_get(0)?)
}

/// Every read model there is.
pub const MODELS: &[Model] = &[
    players::MODEL,
    leaderboards::MODEL,
    ratings::MODEL,
    #[cfg(test)]
    crate::tests::games_by_day::MODEL,
];

impl Model {
    /// A read model by its name.
    pub fn named(name: &str) -> Result<Self, ProjectionError> {
        let known = || MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(", ");
        let found = MODELS.iter().find(|model| model.name == name);
        found.copied().ok_or_else(|| ProjectionError::Unknown {
            name: name.chars().take(40).collect(),
            known: known(),
        })
    }
}
