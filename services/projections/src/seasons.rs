//! Seasons: named ranges of days with their own boards, created by staff.
//!
//! A season may be created before, during or after its days: its boards are then computed from the
//! facts that the read models keep.

use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};
use store::{StoreError, processor::wake};
use uuid::Uuid;

use crate::{leaderboards, period::Stretch, ratings};

/// A season. Days are counted from 1970-01-01, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Season {
    /// Its identifier: `winter-2026`.
    pub code: String,
    /// Its display name.
    pub title: String,
    /// The first day.
    pub first: i32,
    /// The last day.
    pub last: i32,
}

impl Season {
    /// The name of its period.
    pub fn period(&self) -> String {
        format!("season/{}", self.code)
    }

    pub(crate) fn stretch(&self) -> Stretch {
        Stretch { name: self.period(), first: self.first, last: self.last }
    }

    fn of(row: &PgRow) -> Result<Self, StoreError> {
        Ok(Self {
            code: row.try_get(0)?,
            title: row.try_get(1)?,
            first: row.try_get(2)?,
            last: row.try_get(3)?,
        })
    }
}

/// All seasons, latest first.
pub async fn seasons(pool: &PgPool) -> Result<Vec<Season>, StoreError> {
    const ALL: &str =
        "SELECT code, title, first_day, last_day FROM season ORDER BY first_day DESC, code";
    sqlx::query(ALL).fetch_all(pool).await?.iter().map(Season::of).collect()
}

/// A season by its code.
pub async fn season(pool: &PgPool, code: &str) -> Result<Option<Season>, StoreError> {
    const FIND: &str = "SELECT code, title, first_day, last_day FROM season WHERE code = $1";
    sqlx::query(FIND).bind(code).fetch_optional(pool).await?.as_ref().map(Season::of).transpose()
}

/// Creates a season; returns whether its code was free. The read models count its games shortly
/// afterwards.
pub async fn create(pool: &PgPool, season: &Season, by: Uuid) -> Result<bool, StoreError> {
    const INSERT: &str = "INSERT INTO season (code, title, first_day, last_day, created_by) VALUES ($1, $2, $3, $4, $5)
                          ON CONFLICT DO NOTHING";
    let query = sqlx::query(INSERT).bind(&season.code).bind(&season.title).bind(season.first);
    let done = query.bind(season.last).bind(by).execute(pool).await?;
    for model in [leaderboards::MODEL, ratings::MODEL] {
        wake(pool, model.name).await?;
    }
    Ok(done.rows_affected() > 0)
}

/// The seasons that a generation counts.
pub(crate) async fn counted(
    connection: &mut PgConnection,
    model: &str,
    generation: i32,
) -> Result<Vec<Season>, StoreError> {
    const COUNTED: &str = "SELECT s.code, s.title, s.first_day, s.last_day FROM season s JOIN season_counted c ON c.season = s.code
                            WHERE c.name = $1 AND c.generation = $2 ORDER BY s.code";
    let query = sqlx::query(COUNTED).bind(model).bind(generation);
    query.fetch_all(connection).await?.iter().map(Season::of).collect()
}

/// The seasons that a generation does not count yet.
pub(crate) async fn uncounted(
    connection: &mut PgConnection,
    model: &str,
    generation: i32,
) -> Result<Vec<Season>, StoreError> {
    const UNCOUNTED: &str = "SELECT code, title, first_day, last_day FROM season s
                              WHERE NOT EXISTS (SELECT 1 FROM season_counted c WHERE c.name = $1 AND c.generation = $2 AND c.season = s.code)
                              ORDER BY code";
    let query = sqlx::query(UNCOUNTED).bind(model).bind(generation);
    query.fetch_all(connection).await?.iter().map(Season::of).collect()
}

/// Marks a season as counted by a generation.
pub(crate) async fn is_counted(
    connection: &mut PgConnection,
    model: &str,
    generation: i32,
    season: &Season,
) -> Result<(), StoreError> {
    const COUNT: &str = "INSERT INTO season_counted (name, generation, season) VALUES ($1, $2, $3)";
    let query = sqlx::query(COUNT).bind(model).bind(generation).bind(&season.code);
    query.execute(connection).await?;
    Ok(())
}
