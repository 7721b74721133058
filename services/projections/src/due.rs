//! Days that have to be computed or recomputed: recorded with the rows that changed, taken by
//! `derive`.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{PgConnection, Row};
use store::StoreError;
use uuid::Uuid;

/// Instead of a part of a day: the whole day, and all later days.
pub(crate) const WHOLE: Uuid = Uuid::nil();

/// A kind of game, a day, and a part of it: a game, a player or [`WHOLE`].
pub(crate) type Part = (&'static str, i32, Uuid);

/// The table of a read model that records due days.
#[derive(Debug)]
pub(crate) struct Due {
    /// Inserts the columns `$2..$4` for the generation `$1`.
    pub(crate) note: &'static str,
    /// Deletes and returns the entries of the generation `$1`.
    pub(crate) take: &'static str,
}

impl Due {
    pub(crate) async fn note(
        &self,
        connection: &mut PgConnection,
        generation: i32,
        parts: &BTreeSet<Part>,
    ) -> Result<(), StoreError> {
        let query = sqlx::query(self.note)
            .bind(generation)
            .bind(parts.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>())
            .bind(parts.iter().map(|(_, day, _)| *day).collect::<Vec<_>>())
            .bind(parts.iter().map(|(.., part)| *part).collect::<Vec<_>>());
        query.execute(connection).await?;
        Ok(())
    }

    /// The first due day of each kind, and its due parts: all later days follow from it.
    pub(crate) async fn take(
        &self,
        connection: &mut PgConnection,
        generation: i32,
    ) -> Result<BTreeMap<String, (i32, BTreeSet<Uuid>)>, StoreError> {
        let mut first: BTreeMap<String, (i32, BTreeSet<Uuid>)> = BTreeMap::new();
        for row in sqlx::query(self.take).bind(generation).fetch_all(connection).await? {
            let (day, part): (i32, Uuid) = (row.try_get(1)?, row.try_get(2)?);
            let known = first.entry(row.try_get(0)?).or_insert_with(|| (day, BTreeSet::new()));
            if day < known.0 {
                *known = (day, BTreeSet::new());
            }
            if day == known.0 {
                known.1.insert(part);
            }
        }
        Ok(first)
    }
}
