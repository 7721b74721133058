//! Texts of disputes. They may contain personal data, so they are stored outside the log and erased
//! with their author.

use domain::Moment;
use sqlx::{PgPool, Row};
use uuid::Uuid;

use crate::clock;

/// A text of a dispute.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// 0 is the text of the opening.
    pub(crate) number: i32,
    pub(crate) author: Uuid,
    pub(crate) at: Moment,
    /// Visible to staff only.
    pub(crate) internal: bool,
    /// Empty if its author was erased.
    pub(crate) said: String,
}

/// Stores a text; a retry has no effect.
pub(super) async fn write(
    pool: &PgPool,
    dispute: Uuid,
    number: u32,
    author: Uuid,
    internal: bool,
    text: &str,
) -> Result<(), sqlx::Error> {
    const WRITE: &str = "
INSERT INTO dispute_text (dispute, number, author, at, internal, text) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let number = i32::try_from(number).unwrap_or(i32::MAX);
    let query = sqlx::query(WRITE).bind(dispute).bind(number).bind(author);
    let query = query.bind(clock::to_sql(clock::now())).bind(internal).bind(text);
    query.execute(pool).await?;
    Ok(())
}

/// The texts of a dispute, in order.
pub(super) async fn of(pool: &PgPool, dispute: Uuid) -> Result<Vec<Text>, sqlx::Error> {
    const TEXTS: &str = "SELECT number, author, at, internal, text FROM dispute_text WHERE dispute = $1 ORDER BY number";
    let rows = sqlx::query(TEXTS).bind(dispute).fetch_all(pool).await?;
    let text = |row: &sqlx::postgres::PgRow| {
        Ok(Text {
            number: row.try_get(0)?,
            author: row.try_get(1)?,
            at: clock::from_sql(row.try_get(2)?),
            internal: row.try_get(3)?,
            said: row.try_get(4)?,
        })
    };
    rows.iter().map(text).collect()
}
