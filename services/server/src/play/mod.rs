//! Playing: the path from a player's command to events in the log, and to all subscribers.
//!
//! receive → authorise → load → decide → append → publish → answer. [`store::Store::execute`]
//! loads, decides and appends; [`live`] follows the log and publishes.

pub(crate) mod access;
mod authorise;
mod error;
pub(crate) mod evidence;
mod history;
pub(crate) mod index;
pub(crate) mod live;
mod loadout;
mod matching;
mod player_command;
pub(crate) mod presence;
pub(crate) mod scheduler;
mod secrets;
#[cfg(test)]
mod tests;
mod user_error;

use std::sync::Arc;

use domain::{
    Command, Dollars, Event, Game, GameId, Ruleset, VoidedFor,
    fair::{commitment, ruleset_hash},
};
use sha2::{Digest, Sha256};
use store::{Request, Store};
use uuid::Uuid;

use access::AccessList;
pub(crate) use authorise::{CommandContext, is_seated, seat_of};
pub(crate) use error::AppError;
use evidence::Evidence;
use history::History;
use live::Live;
pub(crate) use matching::MatchRequest;
pub(crate) use player_command::{CommandOutcome, Idempotency, NewEvent, NewGame, PlayerCommand};
use presence::Presence;
use secrets::Secrets;
pub(crate) use user_error::{ServiceCode, UserError, UserErrorCode};

use crate::{accounts::Viewer, clock, keys::KeyRing, wallets::Wallets};

/// Handles the commands of all games and publishes their events.
#[derive(Debug)]
pub(crate) struct GameService {
    pub(crate) store: Store,
    pub(crate) live: Live,
    pub(crate) access: AccessList,
    pub(crate) wallets: Wallets,
    pub(crate) evidence: Evidence,
    pub(crate) history: History,
    pub(crate) presence: Arc<Presence>,
    secrets: Secrets,
    matching: tokio::sync::Mutex<()>,
}

impl GameService {
    pub(crate) fn new(store: Store, dice_keys: KeyRing, grant: Dollars) -> Self {
        let pool = store.pool().clone();
        Self {
            wallets: Wallets::new(store.clone(), grant),
            history: History::new(store.clone()),
            presence: Arc::new(Presence::new(pool.clone())),
            store,
            live: Live::default(),
            access: AccessList::new(pool.clone()),
            evidence: Evidence::new(pool.clone()),
            secrets: Secrets::new(pool, dice_keys),
            matching: tokio::sync::Mutex::default(),
        }
    }

    /// Creates a game. A retry with the same id returns the same game.
    pub(crate) async fn create(
        &self,
        viewer: &Viewer,
        new: &NewGame,
        idempotency: Idempotency,
    ) -> Result<CommandOutcome, AppError> {
        let id = idempotency.id.unwrap_or_else(Uuid::now_v7);
        let (game, secret) = self.secrets.prepare(viewer.account, id, new.private).await?;
        let ruleset = match idempotency.id {
            Some(_) => self.with_first_catalogue(game, &new.ruleset).await?,
            None => Arc::clone(&new.ruleset),
        };
        let commitment = commitment(&secret, GameId(game), ruleset_hash(&ruleset));
        let command = Command::Create { game: GameId(game), ruleset, commitment };
        let created = self.execute(game, &command, id, viewer.account, None).await?;
        if !new.seated {
            return Ok(created);
        }
        let join = authorise::join(viewer, None);
        let joining = derived(id, b"join");
        let joined = self.execute(game, &join, joining, viewer.account, None).await?;
        Ok(created.and(joined))
    }

    /// The ruleset with the special dice of the first attempt: the catalogue may have changed
    /// since, and a retry must send the same command.
    async fn with_first_catalogue(
        &self,
        game: Uuid,
        ruleset: &Arc<Ruleset>,
    ) -> Result<Arc<Ruleset>, AppError> {
        let state = self.store.games.latest(game).await?;
        let rules = state.aggregate.as_ref().map(|game| &game.table.ruleset.rules);
        Ok(match rules.and_then(domain::Rules::catalogue) {
            Some(first) => {
                let rules = ruleset.rules.with_catalogue(&Arc::new(first.clone()));
                Arc::new(Ruleset { rules, ..Ruleset::clone(ruleset) })
            }
            None => Arc::clone(ruleset),
        })
    }

    /// Executes a player's command, if they may send it.
    pub(crate) async fn submit(
        &self,
        viewer: &Viewer,
        game: Uuid,
        command: PlayerCommand,
        idempotency: Idempotency,
    ) -> Result<CommandOutcome, AppError> {
        let command = self.authorise(viewer, game, command).await?;
        let id = idempotency.id.unwrap_or_else(Uuid::now_v7);
        self.execute(game, &command, id, viewer.account, idempotency.expected).await
    }

    /// Voids a game on behalf of staff.
    pub(crate) async fn void(
        &self,
        staff: &Viewer,
        game: Uuid,
        why: VoidedFor,
        idempotency: Idempotency,
    ) -> Result<CommandOutcome, AppError> {
        if self.store.games.latest(game).await?.aggregate.is_none() {
            return Err(UserError::no_such_game().into());
        }
        let id = idempotency.id.unwrap_or_else(Uuid::now_v7);
        let outcome = self
            .execute(game, &Command::Void { why, dispute: None }, id, staff.account, None)
            .await?;
        if !outcome.repeated {
            metrics::counter!("croupier_voided").increment(1);
            tracing::info!(staff = %staff.account, %game, ?why, "game voided");
        }
        Ok(outcome)
    }

    /// The deterministic id of a system command. It depends on the game's secret, so that players
    /// cannot guess and use it first.
    pub(crate) async fn system_command_id(
        &self,
        game: Uuid,
        purpose: &[u8],
    ) -> Result<Uuid, AppError> {
        let secret = self.secrets.of(game).await?;
        Ok(derived(game, &[secret.0.as_slice(), purpose].concat()))
    }

    /// Periodic work: removes unused channels and looks for new keys.
    pub(crate) fn maintain(&self) {
        self.live.prune();
        self.secrets.reload_keys();
    }

    /// The events a system command would produce now. Nothing is recorded.
    pub(crate) async fn dry_run(
        &self,
        game: Uuid,
        command: &Command,
    ) -> Result<Vec<Event>, AppError> {
        let context = self.secrets.of(game).await?;
        let (stream, id, actor, expected) = (game, Uuid::nil(), Uuid::nil(), None);
        let now = clock::now();
        let request = Request::<Game> { stream, command, id, actor, now, context, expected };
        Ok(self.store.dry_run(&request).await?.1)
    }

    /// Executes a command on a game, idempotent by its id.
    pub(crate) async fn execute(
        &self,
        game: Uuid,
        command: &Command,
        id: Uuid,
        actor: Uuid,
        expected: Option<i64>,
    ) -> Result<CommandOutcome, AppError> {
        let began = std::time::Instant::now();
        let secret = self.secrets.of(game).await?;
        let (now, stream) = (clock::now(), game);
        let request = Request { stream, command, id, actor, now, context: secret, expected };
        let executed = self.store.execute(&request).await?;
        if self.live.is_followed(game) {
            self.history.remember(game, &executed);
        }
        metrics::histogram!("croupier_command_seconds").record(began.elapsed());
        Ok(CommandOutcome::new(game, executed, id, actor))
    }
}

/// A deterministic id for a command that follows from another one.
pub(crate) fn derived(from: Uuid, purpose: &[u8]) -> Uuid {
    let hash = Sha256::new().chain_update(from.as_bytes()).chain_update(purpose).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
