//! How far the log was worked through, written down in a table of 64 rows.

use sqlx::{PgConnection, Row};
use store::{Positions, SHARDS, Shard, StoreError};

/// A table with a position for each shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(pub(crate) &'static str);

impl Place {
    /// Where it was left.
    pub(crate) async fn read(self, connection: &mut PgConnection) -> Result<Positions, StoreError> {
        let select = format!("SELECT shard, position FROM {}", self.0);
        let query = sqlx::query(sqlx::AssertSqlSafe(select));
        let mut positions = Positions::default();
        for row in query.fetch_all(connection).await? {
            let number = u8::try_from(row.try_get::<i16, _>(0)?).unwrap_or(u8::MAX);
            if let Some(shard) = Shard::numbered(number) {
                positions.set(shard, row.try_get(1)?);
            }
        }
        Ok(positions)
    }

    /// Goes on to these positions; never back.
    pub(crate) async fn advance(
        self,
        connection: &mut PgConnection,
        positions: &Positions,
    ) -> Result<(), StoreError> {
        let update = format!(
            "UPDATE {} p SET position = n.position FROM unnest($1::smallint[], $2::bigint[]) AS n (shard, position)
              WHERE p.shard = n.shard AND p.position < n.position",
            self.0
        );
        let shards: Vec<i16> = (0..).take(SHARDS).collect();
        let ends: Vec<i64> = Shard::all().map(|shard| positions.get(shard)).collect();
        let query = sqlx::query(sqlx::AssertSqlSafe(update)).bind(shards).bind(ends);
        query.execute(connection).await?;
        Ok(())
    }
}
