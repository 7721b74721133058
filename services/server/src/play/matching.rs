//! Quick match: joins a waiting table with the same rules, or opens a new one.

use std::sync::Arc;

use domain::{Rejection, RejectionCode, Ruleset, Stage, fair::ruleset_hash};
use sqlx::{PgConnection, Row};
use store::StoreError;
use uuid::Uuid;

use super::{
    AppError, CommandOutcome, GameService, Idempotency, NewGame, PlayerCommand, UserError,
    UserErrorCode, derived, is_seated,
};
use crate::accounts::Viewer;

/// What a player of a quick match looks for.
#[derive(Clone, Debug)]
pub(crate) struct MatchRequest {
    pub(crate) ruleset: Arc<Ruleset>,
    /// The number of players with which the game starts.
    pub(crate) seats: u8,
    pub(crate) seed: Option<String>,
    /// The special dice to play with.
    pub(crate) dice: Option<Vec<String>>,
    /// The character to play, if it is still free.
    pub(crate) character: Option<String>,
}

impl MatchRequest {
    /// Fails for a character that the game does not have.
    fn check_character(&self) -> Result<(), Rejection> {
        let Some(character) = &self.character else { return Ok(()) };
        let things = self.ruleset.rules.items().into_iter();
        let known: Vec<String> =
            things.filter(|t| t.kind == "character").map(|t| t.code.to_string()).collect();
        if known.is_empty() {
            return Err(Rejection::NoCharacters);
        }
        if known.contains(character) {
            return Ok(());
        }
        let character = character.chars().take(40).collect();
        Err(Rejection::UnknownCharacter { character, free: known.join(", ") })
    }

    fn key(&self) -> Vec<u8> {
        key_of(&self.ruleset, self.seats)
    }
}

/// Players with the same key can be matched.
fn key_of(ruleset: &Ruleset, seats: u8) -> Vec<u8> {
    [ruleset_hash(ruleset).0.as_slice(), &[seats]].concat()
}

impl GameService {
    /// Seats a player at a waiting table or opens a new one. A full table starts.
    ///
    /// Matches with the same key are serialized across nodes by an advisory lock, so that two
    /// players never wait at two tables. A waiting player who asks again gets the same table.
    pub(crate) async fn quick_match(
        &self,
        viewer: &Viewer,
        request: &MatchRequest,
        idempotency: Idempotency,
    ) -> Result<CommandOutcome, AppError> {
        let key = request.key();
        // Also serialized on this node: waiters would hold connections that the first one needs.
        let _turn = self.matching.lock().await;
        let mut transaction = self.store.pool().begin().await?;
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 0))";
        sqlx::query(lock).bind(&key).execute(&mut *transaction).await?;
        let outcome =
            self.find_or_open_table(&mut transaction, viewer, request, &key, idempotency).await?;
        transaction.commit().await?;
        Ok(outcome)
    }

    async fn find_or_open_table(
        &self,
        connection: &mut PgConnection,
        viewer: &Viewer,
        request: &MatchRequest,
        key: &[u8],
        idempotency: Idempotency,
    ) -> Result<CommandOutcome, AppError> {
        let id = idempotency.id.unwrap_or_else(Uuid::now_v7);
        let earlier_answer = match idempotency.id {
            Some(id) => earlier_answer(connection, viewer, id).await?,
            None => None,
        };
        request.check_character().map_err(UserError::from)?;
        if let (Some(dice), None) = (&request.dice, earlier_answer) {
            self.check_loadout(viewer, &request.ruleset, dice).await?;
        }
        let candidates = waiting_tables(connection, key).await?;
        for game in earlier_answer.into_iter().chain(candidates) {
            if let Some(outcome) = self.take_seat(viewer, request, game, idempotency, id).await? {
                if Self::is_complete(&outcome, request) {
                    unlist_table(connection, key, game).await?;
                } else if let Some(game_state) = &outcome.state.aggregate {
                    // After a crash the table may not have been listed yet.
                    let key = key_of(&game_state.table.ruleset, request.seats);
                    list_table(connection, &key, game).await?;
                }
                return Ok(outcome);
            }
            unlist_table(connection, key, game).await?;
        }
        let ruleset = Arc::clone(&request.ruleset);
        let new = NewGame { ruleset, private: false, seated: false };
        let created =
            self.create(viewer, &new, Idempotency { id: Some(id), expected: None }).await?;
        let game = created.game;
        self.record_answer(viewer, idempotency, game).await?;
        let join = PlayerCommand::Join { seed: request.seed.clone(), invite: None };
        let idempotency = Idempotency { id: Some(derived(id, b"join")), expected: None };
        let joined = self.submit(viewer, game, join, idempotency).await?;
        let joined = self.apply_choices(viewer, request, joined, id).await?;
        list_table(connection, key, game).await?;
        let joined = self.begin_if_full(viewer, request, joined, id).await?;
        Ok(created.and(joined))
    }

    /// Seats the player at this table, unless they already sit there; `None` if it is full or has
    /// started.
    async fn take_seat(
        &self,
        viewer: &Viewer,
        request: &MatchRequest,
        game: Uuid,
        idempotency: Idempotency,
        id: Uuid,
    ) -> Result<Option<CommandOutcome>, AppError> {
        let state = self.store.games.latest(game).await?;
        let Some(game_state) = &state.aggregate else { return Ok(None) };
        if is_seated(game_state, viewer.account) {
            let (new_events, actor) = (Vec::new(), viewer.account);
            let (repeated, before) = (true, None);
            let seated = CommandOutcome { game, new_events, repeated, state, before, actor };
            // A crash may have prevented the choices.
            let seated = self.apply_choices(viewer, request, seated, id).await?;
            return self.begin_if_full(viewer, request, seated, id).await.map(Some);
        }
        if game_state.table.stage != Stage::Gathering {
            return Ok(None);
        }
        self.record_answer(viewer, idempotency, game).await?;
        let join = PlayerCommand::Join { seed: request.seed.clone(), invite: None };
        // Not the id itself: it is the one that opened this table, if a crash prevented joining.
        let joining = Idempotency { id: Some(derived(id, b"join")), expected: None };
        match self.submit(viewer, game, join, joining).await {
            Ok(joined) => {
                let joined = self.apply_choices(viewer, request, joined, id).await?;
                self.begin_if_full(viewer, request, joined, id).await.map(Some)
            }
            // Another player was faster: try the next table.
            Err(AppError::User(refusal)) if SEAT_GONE.contains(&refusal.code) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Chooses dice and character of a new player. A character that is taken is not chosen.
    async fn apply_choices(
        &self,
        viewer: &Viewer,
        request: &MatchRequest,
        joined: CommandOutcome,
        id: Uuid,
    ) -> Result<CommandOutcome, AppError> {
        let joined = self.choose_dice(viewer, request, joined, id).await?;
        let Some(character) = request.character.clone() else { return Ok(joined) };
        let idempotency = Idempotency { id: Some(derived(id, b"character")), expected: None };
        match self
            .submit(viewer, joined.game, PlayerCommand::ChooseCharacter(character), idempotency)
            .await
        {
            Ok(chosen) if chosen.repeated => Ok(joined),
            Ok(chosen) => Ok(joined.and(chosen)),
            Err(AppError::User(_)) => Ok(joined),
            Err(error) => Err(error),
        }
    }

    /// Chooses the dice of a new player. If the game has already started, they play ordinary dice.
    async fn choose_dice(
        &self,
        viewer: &Viewer,
        request: &MatchRequest,
        joined: CommandOutcome,
        id: Uuid,
    ) -> Result<CommandOutcome, AppError> {
        let Some(dice) = request.dice.clone() else { return Ok(joined) };
        let idempotency = Idempotency { id: Some(derived(id, b"dice")), expected: None };
        match self.choose_loadout(viewer, joined.game, dice, idempotency).await {
            Ok(chosen) if chosen.repeated => Ok(joined),
            Ok(chosen) => Ok(joined.and(chosen)),
            Err(AppError::User(refusal)) if SEAT_GONE.contains(&refusal.code) => Ok(joined),
            Err(error) => Err(error),
        }
    }

    /// Starts the game if enough players are seated. A refusal to start is ignored.
    async fn begin_if_full(
        &self,
        viewer: &Viewer,
        request: &MatchRequest,
        joined: CommandOutcome,
        id: Uuid,
    ) -> Result<CommandOutcome, AppError> {
        let table = joined.state.aggregate.as_ref().map(|game| &game.table);
        let full = table.is_some_and(|table| {
            table.stage == Stage::Gathering
                && table.seated().count()
                    >= usize::from(request.seats.min(table.ruleset.table.max_seats))
        });
        if !full {
            return Ok(joined);
        }
        let idempotency = Idempotency { id: Some(derived(id, b"start")), expected: None };
        match self.submit(viewer, joined.game, PlayerCommand::Start, idempotency).await {
            Ok(started) => Ok(joined.and(started)),
            Err(AppError::User(_)) => Ok(joined),
            Err(error) => Err(error),
        }
    }

    /// Whether the table waits for no more players.
    fn is_complete(outcome: &CommandOutcome, request: &MatchRequest) -> bool {
        outcome.state.aggregate.as_ref().is_none_or(|game| {
            game.table.stage != Stage::Gathering
                || game.table.seated().count() >= usize::from(request.seats)
        })
    }

    /// Records the table of a command before the player joins, so that a retry after a crash finds
    /// it.
    async fn record_answer(
        &self,
        viewer: &Viewer,
        idempotency: Idempotency,
        game: Uuid,
    ) -> Result<(), AppError> {
        const RECORD: &str = "
INSERT INTO quick_match_answer (player, command, game) VALUES ($1, $2, $3)
ON CONFLICT (player, command) DO UPDATE SET game = excluded.game";
        if let Some(id) = idempotency.id {
            let query = sqlx::query(RECORD).bind(viewer.account).bind(id).bind(game);
            query.execute(self.store.pool()).await?;
        }
        Ok(())
    }
}

/// Errors after which another table is tried.
const SEAT_GONE: [UserErrorCode; 3] = [
    UserErrorCode::Rules(RejectionCode::TableFull),
    UserErrorCode::Rules(RejectionCode::AlreadyStarted),
    UserErrorCode::Rules(RejectionCode::GameOver),
];

async fn earlier_answer(
    connection: &mut PgConnection,
    viewer: &Viewer,
    command: Uuid,
) -> Result<Option<Uuid>, StoreError> {
    const FIND: &str = "SELECT game FROM quick_match_answer WHERE player = $1 AND command = $2";
    let query = sqlx::query(FIND).bind(viewer.account).bind(command);
    let row = query.fetch_optional(connection).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

async fn waiting_tables(
    connection: &mut PgConnection,
    key: &[u8],
) -> Result<Vec<Uuid>, StoreError> {
    let query =
        sqlx::query("SELECT game FROM quick_match WHERE wanted = $1 ORDER BY game LIMIT 100");
    let rows = query.bind(key).fetch_all(connection).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

async fn list_table(
    connection: &mut PgConnection,
    key: &[u8],
    game: Uuid,
) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO quick_match (wanted, game) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    query.bind(key).bind(game).execute(connection).await?;
    Ok(())
}

async fn unlist_table(
    connection: &mut PgConnection,
    key: &[u8],
    game: Uuid,
) -> Result<(), StoreError> {
    let query = sqlx::query("DELETE FROM quick_match WHERE wanted = $1 AND game = $2");
    query.bind(key).bind(game).execute(connection).await?;
    Ok(())
}
