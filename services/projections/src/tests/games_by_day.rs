//! The smallest possible read model: how many games of a kind ended on a day. CONTRIBUTING.md
//! refers to it.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{PgPool, Row};
use uuid::Uuid;

use store::{
    StoreError,
    processor::{HandlerError, Target},
};

use crate::{GameRecord, Model, day_of, records::Records};

/// Its table. A real one has its own migration.
pub(crate) const TABLE: &str = "
CREATE TABLE games_by_day (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    day        integer NOT NULL,
    game       uuid    NOT NULL,
    PRIMARY KEY (generation, kind, day, game)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON games_by_day TO croupier_app";

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "games_by_day",
    version: 1,
    tables: &["games_by_day"],
    rows: "SELECT concat_ws('/', kind, day, game), '' FROM games_by_day WHERE generation = $1",
    write,
    forget,
    derive: None,
};

fn write<'a>(
    Target { connection, generation, .. }: Target<'a>,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), HandlerError>> {
    const INSERT: &str = "
INSERT INTO games_by_day SELECT $1, w.* FROM unnest($2::text[], $3::integer[], $4::uuid[]) AS w ON CONFLICT DO NOTHING";
    async move {
        let query = sqlx::query(INSERT)
            .bind(generation)
            .bind(records.iter().map(|record| record.kind).collect::<Vec<_>>())
            .bind(records.iter().map(|record| day_of(record.ended_at)).collect::<Vec<_>>())
            .bind(records.iter().map(|record| record.game).collect::<Vec<_>>());
        query.execute(connection).await?;
        Ok(())
    }
    .boxed()
}

fn forget<'a>(
    Target { connection, generation, .. }: Target<'a>,
    records: &'a [Arc<GameRecord>],
    _: &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>> {
    const DELETE: &str = "DELETE FROM games_by_day WHERE generation = $1 AND game = ANY ($2)";
    async move {
        let games: Vec<Uuid> = records.iter().map(|record| record.game).collect();
        sqlx::query(DELETE).bind(generation).bind(games).execute(connection).await?;
        Ok(())
    }
    .boxed()
}

/// How many games of a kind ended on a day.
pub(crate) async fn games_on(pool: &PgPool, kind: &str, day: i32) -> Result<i64, StoreError> {
    const COUNT: &str = "
SELECT count(*) FROM games_by_day JOIN processor p USING (generation)
 WHERE p.name = 'games_by_day' AND p.state = 'live' AND kind = $1 AND day = $2";
    Ok(sqlx::query(COUNT).bind(kind).bind(day).fetch_one(pool).await?.try_get(0)?)
}
