//! Quick match: the next free seat under the same rules, or a new table to wait at.

use std::sync::Arc;

use domain::{Rejection, RejectionCode, Ruleset, Stage, fair::ruleset_hash};
use sqlx::{PgConnection, Row};
use store::StoreError;
use uuid::Uuid;

use super::{
    Done, NewGame, Once, PlayError, Refusal, RefusalCode, Tables, Wish, derived, is_seated,
};
use crate::accounts::Viewer;

/// What somebody who is in a hurry looks for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) ruleset: Arc<Ruleset>,
    /// With how many players the game begins.
    pub(crate) seats: u8,
    pub(crate) seed: Option<String>,
    /// The special dice to play with.
    pub(crate) dice: Option<Vec<String>>,
    /// Whom to play, if nobody does yet.
    pub(crate) character: Option<String>,
}

impl Wanted {
    /// Refuses a character that the game does not have.
    fn check_character(&self) -> Result<(), Rejection> {
        let Some(wanted) = &self.character else { return Ok(()) };
        let things = self.ruleset.rules.things().into_iter();
        let known: Vec<String> =
            things.filter(|t| t.kind == "character").map(|t| t.code.to_string()).collect();
        if known.is_empty() {
            return Err(Rejection::NoCharacters);
        }
        if known.contains(wanted) {
            return Ok(());
        }
        let character = wanted.chars().take(40).collect();
        Err(Rejection::UnknownCharacter { character, free: known.join(", ") })
    }

    fn key(&self) -> Vec<u8> {
        key_of(&self.ruleset, self.seats)
    }
}

/// Who has the same key can play together.
fn key_of(ruleset: &Ruleset, seats: u8) -> Vec<u8> {
    [ruleset_hash(ruleset).0.as_slice(), &[seats]].concat()
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
        let answered = match once.id {
            Some(id) => answered(connection, viewer, id).await?,
            None => None,
        };
        wanted.check_character().map_err(Refusal::from)?;
        if let (Some(dice), None) = (&wanted.dice, answered) {
            self.check_loadout(viewer, &wanted.ruleset, dice).await?;
        }
        let candidates = waiting(connection, key).await?;
        for game in answered.into_iter().chain(candidates) {
            if let Some(done) = self.take_seat(viewer, wanted, game, once, id).await? {
                if Self::is_settled(&done, wanted) {
                    forget(connection, key, game).await?;
                } else if let Some(there) = &done.state.now {
                    // A player who was cut off before the table was listed waits where others look.
                    let key = key_of(&there.table.ruleset, wanted.seats);
                    remember(connection, &key, game).await?;
                }
                return Ok(done);
            }
            forget(connection, key, game).await?;
        }
        let ruleset = Arc::clone(&wanted.ruleset);
        let new = NewGame { ruleset, private: false, seated: false };
        let created = self.create(viewer, &new, Once { id: Some(id), expected: None }).await?;
        let game = created.game;
        self.note_answer(viewer, once, game).await?;
        let join = Wish::Join { seed: wanted.seed.clone(), invite: None };
        let once = Once { id: Some(derived(id, b"join")), expected: None };
        let joined = self.ask(viewer, game, join, once).await?;
        let joined = self.settle_in(viewer, wanted, joined, id).await?;
        remember(connection, key, game).await?;
        let joined = self.begin_if_full(viewer, wanted, joined, id).await?;
        Ok(created.and(joined))
    }

    /// Seats the player at this table, or finds them there; `None` if it has no seat any more.
    async fn take_seat(
        &self,
        viewer: &Viewer,
        wanted: &Wanted,
        game: Uuid,
        once: Once,
        id: Uuid,
    ) -> Result<Option<Done>, PlayError> {
        let state = self.store.games.fresh(game).await?;
        let Some(there) = &state.now else { return Ok(None) };
        if is_seated(there, viewer.account) {
            let (made, actor) = (Vec::new(), viewer.account);
            let waits = Done { game, made, repeated: true, state, actor };
            // Whoever was cut off before choosing chooses now.
            let waits = self.settle_in(viewer, wanted, waits, id).await?;
            return self.begin_if_full(viewer, wanted, waits, id).await.map(Some);
        }
        if there.table.stage != Stage::Gathering {
            return Ok(None);
        }
        self.note_answer(viewer, once, game).await?;
        let join = Wish::Join { seed: wanted.seed.clone(), invite: None };
        // Not the id itself: a player who was cut off before sitting down has opened this very table under it.
        let joining = Once { id: Some(derived(id, b"join")), expected: None };
        match self.ask(viewer, game, join, joining).await {
            Ok(joined) => {
                let joined = self.settle_in(viewer, wanted, joined, id).await?;
                self.begin_if_full(viewer, wanted, joined, id).await.map(Some)
            }
            // Somebody came by another door: the next table may do.
            Err(PlayError::Refused(refusal)) if SEAT_GONE.contains(&refusal.code) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Chooses for who has just sat down: dice, and whom to play. A character that somebody else plays is not to be had.
    async fn settle_in(
        &self,
        viewer: &Viewer,
        wanted: &Wanted,
        joined: Done,
        id: Uuid,
    ) -> Result<Done, PlayError> {
        let joined = self.bring_dice(viewer, wanted, joined, id).await?;
        let Some(character) = wanted.character.clone() else { return Ok(joined) };
        let once = Once { id: Some(derived(id, b"character")), expected: None };
        match self.ask(viewer, joined.game, Wish::ChooseCharacter(character), once).await {
            Ok(chosen) if chosen.repeated => Ok(joined),
            Ok(chosen) => Ok(joined.and(chosen)),
            Err(PlayError::Refused(_)) => Ok(joined),
            Err(error) => Err(error),
        }
    }

    /// Chooses the dice of who has just sat down. Should the others have begun already, ordinary dice are played.
    async fn bring_dice(
        &self,
        viewer: &Viewer,
        wanted: &Wanted,
        joined: Done,
        id: Uuid,
    ) -> Result<Done, PlayError> {
        let Some(dice) = wanted.dice.clone() else { return Ok(joined) };
        let once = Once { id: Some(derived(id, b"dice")), expected: None };
        match self.choose_loadout(viewer, joined.game, dice, once).await {
            Ok(chosen) if chosen.repeated => Ok(joined),
            Ok(chosen) => Ok(joined.and(chosen)),
            Err(PlayError::Refused(refusal)) if SEAT_GONE.contains(&refusal.code) => Ok(joined),
            Err(error) => Err(error),
        }
    }

    /// Begins if enough players sit there. Who cannot begin sits there all the same.
    async fn begin_if_full(
        &self,
        viewer: &Viewer,
        wanted: &Wanted,
        joined: Done,
        id: Uuid,
    ) -> Result<Done, PlayError> {
        let table = joined.state.now.as_ref().map(|game| &game.table);
        let full = table.is_some_and(|table| {
            table.stage == Stage::Gathering
                && table.seated().count()
                    >= usize::from(wanted.seats.min(table.ruleset.table.max_seats))
        });
        if !full {
            return Ok(joined);
        }
        let once = Once { id: Some(derived(id, b"start")), expected: None };
        match self.ask(viewer, joined.game, Wish::Start, once).await {
            Ok(started) => Ok(joined.and(started)),
            Err(PlayError::Refused(_)) => Ok(joined),
            Err(error) => Err(error),
        }
    }

    /// Whether nobody is waited for any more.
    fn is_settled(done: &Done, wanted: &Wanted) -> bool {
        done.state.now.as_ref().is_none_or(|game| {
            game.table.stage != Stage::Gathering
                || game.table.seated().count() >= usize::from(wanted.seats)
        })
    }

    /// Writes down which table a command was given, before anybody sits down: a crash in between finds it again.
    async fn note_answer(&self, viewer: &Viewer, once: Once, game: Uuid) -> Result<(), PlayError> {
        const NOTE: &str = "
INSERT INTO quick_match_answer (player, command, game) VALUES ($1, $2, $3)
ON CONFLICT (player, command) DO UPDATE SET game = excluded.game";
        if let Some(id) = once.id {
            let query = sqlx::query(NOTE).bind(viewer.account).bind(id).bind(game);
            query.execute(self.store.pool()).await?;
        }
        Ok(())
    }
}

/// Refusals that mean: not at this table.
const SEAT_GONE: [RefusalCode; 3] = [
    RefusalCode::Rules(RejectionCode::TableFull),
    RefusalCode::Rules(RejectionCode::AlreadyStarted),
    RefusalCode::Rules(RejectionCode::GameOver),
];

async fn answered(
    connection: &mut PgConnection,
    viewer: &Viewer,
    command: Uuid,
) -> Result<Option<Uuid>, StoreError> {
    const FIND: &str = "SELECT game FROM quick_match_answer WHERE player = $1 AND command = $2";
    let query = sqlx::query(FIND).bind(viewer.account).bind(command);
    let row = query.fetch_optional(connection).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
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
