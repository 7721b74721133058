//! Quick match: the next free seat under the same rules, or a new table to wait at.

use std::sync::Arc;

use domain::{Ruleset, Stage, fair::ruleset_hash};
use sqlx::{PgConnection, Row};
use store::StoreError;
use uuid::Uuid;

use super::{Done, NewGame, Once, PlayError, Tables, Wish, derived, is_seated};
use crate::accounts::Viewer;

/// What somebody who is in a hurry looks for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) ruleset: Arc<Ruleset>,
    /// With how many players the game begins.
    pub(crate) seats: u8,
    pub(crate) seed: Option<String>,
}

impl Wanted {
    /// Who has the same key can play together.
    fn key(&self) -> Vec<u8> {
        [ruleset_hash(&self.ruleset).0.as_slice(), &[self.seats]].concat()
    }
}

impl Tables {
    /// Seats a player at a table where somebody waits, or opens one. A full table begins.
    ///
    /// Whoever looks for the same rules does so one after the other, on all nodes, so that two players never wait at
    /// two tables. Asking again while waiting gives the same table.
    pub(crate) async fn quick_match(
        &self,
        viewer: &Viewer,
        wanted: &Wanted,
        once: Once,
    ) -> Result<Done, PlayError> {
        let key = wanted.key();
        // One at a time on this node too: more would wait with a connection in hand that the first one needs.
        let _turn = self.matching.lock().await;
        let mut transaction = self.store.pool().begin().await?;
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 0))";
        sqlx::query(lock).bind(&key).execute(&mut *transaction).await?;
        let done = self.matched(&mut transaction, viewer, wanted, &key, once).await?;
        transaction.commit().await?;
        Ok(done)
    }

    async fn matched(
        &self,
        connection: &mut PgConnection,
        viewer: &Viewer,
        wanted: &Wanted,
        key: &[u8],
        once: Once,
    ) -> Result<Done, PlayError> {
        let id = once.id.unwrap_or_else(Uuid::now_v7);
        let joining = Once { id: Some(id), expected: None };
        for game in waiting(connection, key).await? {
            let state = self.store.fresh(game).await?;
            let free = state.game.as_ref().filter(|game| game.table.stage == Stage::Gathering);
            let Some(there) = free else {
                forget(connection, key, game).await?;
                continue;
            };
            if is_seated(there, viewer.account) {
                return self.already_waiting(viewer, game, id).await;
            }
            let join = Wish::Join { seed: wanted.seed.clone(), invite: None };
            match self.ask(viewer, game, join, joining).await {
                Ok(done) => return self.begin_if_full(connection, viewer, wanted, done).await,
                // Somebody came or went by another door: the next table may do.
                Err(PlayError::Refused(refusal))
                    if ["TABLE_FULL", "ALREADY_STARTED", "GAME_OVER"]
                        .contains(&refusal.code.as_ref()) => {}
                Err(error) => return Err(error),
            }
        }
        let ruleset = Arc::clone(&wanted.ruleset);
        let new = NewGame { ruleset, private: false, seated: false };
        let created = self.create(viewer, &new, joining).await?;
        let once = Once { id: Some(derived(id, b"join")), expected: None };
        let join = Wish::Join { seed: wanted.seed.clone(), invite: None };
        let joined = self.ask(viewer, created.game, join, once).await?;
        remember(connection, key, joined.game).await?;
        let joined = self.begin_if_full(connection, viewer, wanted, joined).await?;
        Ok(super::together(created, joined))
    }

    /// The table at which the player waits already; nothing happens there.
    async fn already_waiting(
        &self,
        viewer: &Viewer,
        game: Uuid,
        command: Uuid,
    ) -> Result<Done, PlayError> {
        let state = self.store.fresh(game).await?;
        let (first_version, at) = (state.head.version, state.head.at());
        let executed =
            store::Executed { events: Vec::new(), first_version, at, repeated: true, state };
        Ok(Done { game, executed, command, actor: viewer.account })
    }

    async fn begin_if_full(
        &self,
        connection: &mut PgConnection,
        viewer: &Viewer,
        wanted: &Wanted,
        joined: Done,
    ) -> Result<Done, PlayError> {
        let table = joined.executed.state.game.as_ref().map(|game| &game.table);
        let full = table.is_some_and(|table| {
            table.seated().count() >= usize::from(wanted.seats.min(table.ruleset.table.max_seats))
        });
        if !full {
            return Ok(joined);
        }
        let once = Once { id: Some(derived(joined.command, b"start")), expected: None };
        let started = self.ask(viewer, joined.game, Wish::Start, once).await?;
        forget(connection, &wanted.key(), joined.game).await?;
        Ok(super::together(joined, started))
    }
}

async fn waiting(connection: &mut PgConnection, key: &[u8]) -> Result<Vec<Uuid>, StoreError> {
    let query =
        sqlx::query("SELECT game FROM quick_match WHERE wanted = $1 ORDER BY game LIMIT 100");
    let rows = query.bind(key).fetch_all(connection).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

async fn remember(connection: &mut PgConnection, key: &[u8], game: Uuid) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO quick_match (wanted, game) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    query.bind(key).bind(game).execute(connection).await?;
    Ok(())
}

async fn forget(connection: &mut PgConnection, key: &[u8], game: Uuid) -> Result<(), StoreError> {
    let query = sqlx::query("DELETE FROM quick_match WHERE wanted = $1 AND game = $2");
    query.bind(key).bind(game).execute(connection).await?;
    Ok(())
}
