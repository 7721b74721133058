//! Finding and listing disputes.

use sqlx::Row;
use uuid::Uuid;

use super::{Disputes, Found, Text, texts};
use crate::play::AppError;

/// A dispute in a list, with its cursor.
pub(crate) type Listed = ((i64, Uuid), Found);

/// Which disputes to list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DisputeFilter {
    /// Only disputes of this player.
    pub(crate) player: Option<Uuid>,
    /// Only resolved or only open disputes.
    pub(crate) resolved: Option<bool>,
    /// Only disputes assigned to this staff member.
    pub(crate) assignee: Option<Uuid>,
}

/// Which page of the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// When a dispute was opened, and which: the page continues from there.
    pub(crate) cursor: Option<(i64, Uuid)>,
    pub(crate) backward: bool,
    pub(crate) limit: i64,
}

/// The rows of the disputes that pass a filter.
const ROWS: &str = "
  FROM dispute_index
 WHERE generation = (SELECT generation FROM processor WHERE name = 'dispute_index' AND state = 'live')
   AND ($1::uuid IS NULL OR player = $1) AND ($2::boolean IS NULL OR resolved = $2) AND ($3::uuid IS NULL OR assignee = $3)";

impl Disputes {
    pub(crate) async fn find(&self, id: Uuid) -> Result<Option<Found>, AppError> {
        let state = self.store.disputes.latest(id).await?;
        Ok(state.aggregate.clone().map(|dispute| Found { id, dispute }))
    }

    /// Disputes in the direction of reading, each with its cursor. Forward is the oldest first.
    pub(crate) async fn list(
        &self,
        filter: &DisputeFilter,
        page: Page,
    ) -> Result<Vec<Listed>, AppError> {
        let (comparison, order, end) = if page.backward {
            ("<", "DESC", (i64::MAX, Uuid::max()))
        } else {
            (">", "ASC", (i64::MIN, Uuid::nil()))
        };
        let select = format!(
            "SELECT opened_at, dispute {ROWS} AND (opened_at, dispute) {comparison} ($4, $5)
              ORDER BY opened_at {order}, dispute {order} LIMIT $6"
        );
        let (at, id) = page.cursor.unwrap_or(end);
        let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(filter.player);
        let query = query.bind(filter.resolved).bind(filter.assignee).bind(at).bind(id);
        let mut cursors = Vec::new();
        for row in query.bind(page.limit).fetch_all(self.pool()).await? {
            cursors.push((row.try_get::<i64, _>(0)?, row.try_get::<Uuid, _>(1)?));
        }
        let ids: Vec<Uuid> = cursors.iter().map(|(_, id)| *id).collect();
        let mut states = self.store.disputes.fresh_all(&ids).await?;
        let found = cursors.into_iter().filter_map(|(at, id)| {
            let dispute = states.remove(&id)?.aggregate.clone()?;
            Some(((at, id), Found { id, dispute }))
        });
        Ok(found.collect())
    }

    /// How many disputes there are.
    pub(crate) async fn count(&self, filter: &DisputeFilter) -> Result<i64, AppError> {
        let select = format!("SELECT count(*) {ROWS}");
        let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(filter.player);
        let query = query.bind(filter.resolved).bind(filter.assignee);
        Ok(query.fetch_one(self.pool()).await?.try_get(0)?)
    }

    /// The texts of a dispute, in order.
    pub(crate) async fn texts(&self, id: Uuid) -> Result<Vec<Text>, AppError> {
        Ok(texts::of(self.pool(), id).await?)
    }
}
