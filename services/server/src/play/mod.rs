//! Playing: the one path from a player's wish to events in the log, and from there to everybody who watches.
//!
//! receive → authorise → load → decide → append → publish → answer. Loading, deciding and appending are
//! [`store::Store::execute`]; publishing is following the log ([`live`]).

pub(crate) mod access;
mod error;
pub(crate) mod evidence;
pub(crate) mod index;
pub(crate) mod live;
mod matching;
mod refusal;
pub(crate) mod scheduler;
mod secrets;
#[cfg(test)]
mod tests;
mod wish;

use std::sync::Arc;

use domain::{
    Command, Dollars, Event, Game, GameId, PlayerId, Ruleset, SeatNo, VoidedFor,
    fair::{commitment, ruleset_hash},
};
use sha2::{Digest, Sha256};
use store::{Loaded, Request, Store};
use uuid::Uuid;

use access::{Access, AccessList};
pub(crate) use error::PlayError;
use evidence::Evidence;
use live::Live;
pub(crate) use matching::Wanted;
pub(crate) use refusal::{Refusal, RefusalCode, ServiceCode};
use secrets::Secrets;
pub(crate) use wish::{Done, Made, NewGame, Once, Wish};

use crate::{
    accounts::{Viewer, pseudonym},
    clock,
    keys::KeyRing,
    wallets::Wallets,
};

/// All tables of this house.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) store: Store,
    pub(crate) live: Live,
    pub(crate) access: AccessList,
    pub(crate) wallets: Wallets,
    pub(crate) evidence: Evidence,
    secrets: Secrets,
    matching: tokio::sync::Mutex<()>,
}

impl Tables {
    pub(crate) fn new(store: Store, dice_keys: KeyRing, grant: Dollars) -> Self {
        let pool = store.pool().clone();
        Self {
            wallets: Wallets::new(store.clone(), grant),
            store,
            live: Live::default(),
            access: AccessList::new(pool.clone()),
            evidence: Evidence::new(pool.clone()),
            secrets: Secrets::new(pool, dice_keys),
            matching: tokio::sync::Mutex::default(),
        }
    }

    /// Opens a table. Asked again with the same id, it is the same table.
    pub(crate) async fn create(
        &self,
        viewer: &Viewer,
        new: &NewGame,
        once: Once,
    ) -> Result<Done, PlayError> {
        let id = once.id.unwrap_or_else(Uuid::now_v7);
        let (game, secret) = self.secrets.prepare(viewer.account, id, new.private).await?;
        let ruleset = match once.id {
            Some(_) => self.as_first_asked(game, &new.ruleset).await?,
            None => Arc::clone(&new.ruleset),
        };
        let commitment = commitment(&secret, GameId(game), ruleset_hash(&ruleset));
        let command = Command::Create { game: GameId(game), ruleset, commitment };
        let created = self.execute(game, &command, id, viewer.account, None).await?;
        if !new.seated {
            return Ok(created);
        }
        let sit = Wish::Join { seed: None, invite: None };
        let once = Once { id: Some(derived(id, b"join")), expected: None };
        let joined = self.seat_and_execute(viewer, game, sit, once).await?;
        Ok(created.and(joined))
    }

    /// The special dice may have changed since a table was opened: who asks again means those of the first time.
    async fn as_first_asked(
        &self,
        game: Uuid,
        ruleset: &Arc<Ruleset>,
    ) -> Result<Arc<Ruleset>, PlayError> {
        let state = self.store.games.fresh(game).await?;
        let rules = state.now.as_ref().map(|game| &game.table.ruleset.rules);
        Ok(match rules.and_then(domain::Rules::catalogue) {
            Some(first) => {
                let rules = ruleset.rules.with_catalogue(&Arc::new(first.clone()));
                Arc::new(Ruleset { rules, ..Ruleset::clone(ruleset) })
            }
            None => Arc::clone(ruleset),
        })
    }

    /// Does what a player wants at a table.
    pub(crate) async fn ask(
        &self,
        viewer: &Viewer,
        game: Uuid,
        wish: Wish,
        once: Once,
    ) -> Result<Done, PlayError> {
        if let Wish::Join { invite, .. } = &wish {
            self.let_in(viewer, game, invite.as_deref()).await?;
        }
        self.seat_and_execute(viewer, game, wish, once).await
    }

    /// Who has no code, is not the host and never sat at a private table is told nothing about it.
    async fn let_in(
        &self,
        viewer: &Viewer,
        game: Uuid,
        code: Option<&str>,
    ) -> Result<(), PlayError> {
        if self.is_admitted(viewer, game, code).await? {
            return Ok(());
        }
        self.seat_of(viewer, game).await.map(|_| ())
    }

    async fn seat_and_execute(
        &self,
        viewer: &Viewer,
        game: Uuid,
        wish: Wish,
        once: Once,
    ) -> Result<Done, PlayError> {
        let seat = async || self.seat_of(viewer, game).await;
        let command = match wish {
            Wish::Join { seed, .. } => {
                let (player, name) = (PlayerId(viewer.account), pseudonym(viewer.account));
                Command::Join { player, name, seed }
            }
            Wish::ChooseSeed(seed) => Command::ChooseSeed { seat: seat().await?, seed },
            Wish::ChooseCharacter(character) => {
                Command::ChooseCharacter { seat: seat().await?, character }
            }
            Wish::Leave => Command::Leave { seat: seat().await? },
            Wish::Start => seat().await.map(|_| Command::Start)?,
            Wish::Play(play) => Command::Play { seat: seat().await?, play },
        };
        let id = once.id.unwrap_or_else(Uuid::now_v7);
        self.execute(game, &command, id, viewer.account, once.expected).await
    }

    /// Makes a game void, in the name of who works for the house.
    pub(crate) async fn void(
        &self,
        staff: &Viewer,
        game: Uuid,
        why: VoidedFor,
        once: Once,
    ) -> Result<Done, PlayError> {
        if self.store.games.fresh(game).await?.now.is_none() {
            return Err(Refusal::no_such_game().into());
        }
        let id = once.id.unwrap_or_else(Uuid::now_v7);
        let done = self
            .execute(game, &Command::Void { why, dispute: None }, id, staff.account, None)
            .await?;
        if !done.repeated {
            metrics::counter!("croupier_voided").increment(1);
            tracing::info!(staff = %staff.account, %game, ?why, "a game was made void");
        }
        Ok(done)
    }

    /// Where the player sits; who left sits there no more, but may ask again for what was answered.
    pub(crate) async fn seat_of(&self, viewer: &Viewer, game: Uuid) -> Result<SeatNo, PlayError> {
        let find = |state: &Loaded| state.now.as_ref().and_then(|g| seat_of(g, viewer.account));
        if let Some(seat) = self.store.games.remembered(game).as_deref().and_then(find) {
            return Ok(seat);
        }
        let state = self.store.games.fresh(game).await?;
        if let Some(seat) = find(&state) {
            return Ok(seat);
        }
        // Strangers are not told that a private table exists.
        let hidden = state.now.is_none() || !self.is_admitted(viewer, game, None).await?;
        Err(if hidden { Refusal::no_such_game() } else { Refusal::not_seated() }.into())
    }

    /// Whether a table is open to somebody: it is public, or theirs, or they have the code.
    async fn is_admitted(
        &self,
        viewer: &Viewer,
        game: Uuid,
        code: Option<&str>,
    ) -> Result<bool, PlayError> {
        let access = self.access.of(&[game]).await?;
        let open = |access: &Arc<Access>| access.creator == viewer.account || access.admits(code);
        Ok(access.get(&game).is_some_and(open))
    }

    /// The id of a command of the house. Nobody can guess it who does not know the game's secret, so nobody can use it up.
    pub(crate) async fn house_id(&self, game: Uuid, what: &[u8]) -> Result<Uuid, PlayError> {
        let secret = self.secrets.of(game).await?;
        Ok(derived(game, &[secret.0.as_slice(), what].concat()))
    }

    /// What is done now and then: listeners who have gone are forgotten, new keys are found.
    pub(crate) fn look_after(&self) {
        self.live.forget_the_gone();
        self.secrets.look_for_keys();
    }

    /// What a command of the house would do to a game now. Nothing is recorded.
    pub(crate) async fn dry_run(
        &self,
        game: Uuid,
        command: &Command,
    ) -> Result<Vec<Event>, PlayError> {
        let context = self.secrets.of(game).await?;
        let (stream, id, actor, expected) = (game, Uuid::nil(), Uuid::nil(), None);
        let now = clock::now();
        let request = Request::<Game> { stream, command, id, actor, now, context, expected };
        Ok(self.store.dry_run(&request).await?.1)
    }

    /// Makes a command happen to a game, once.
    pub(crate) async fn execute(
        &self,
        game: Uuid,
        command: &Command,
        id: Uuid,
        actor: Uuid,
        expected: Option<i64>,
    ) -> Result<Done, PlayError> {
        let began = std::time::Instant::now();
        let secret = self.secrets.of(game).await?;
        let (now, stream) = (clock::now(), game);
        let request = Request { stream, command, id, actor, now, context: secret, expected };
        let executed = self.store.execute(&request).await?;
        metrics::histogram!("croupier_command_seconds").record(began.elapsed());
        Ok(Done::new(game, executed, id, actor))
    }
}

/// The seat of an account: the one it sits on, or the last one it left.
pub(crate) fn seat_of(game: &Game, account: Uuid) -> Option<SeatNo> {
    let seats = (0..).zip(&game.table.seats).filter(|(_, seat)| seat.player.0 == account);
    seats.max_by_key(|(_, seat)| !seat.gone).map(|(number, _)| number)
}

/// Whether an account sits at this table now.
pub(crate) fn is_seated(game: &Game, account: Uuid) -> bool {
    game.table.seats.iter().any(|seat| seat.player.0 == account && !seat.gone)
}

/// A command that follows from another one has an id that follows from the other's.
pub(crate) fn derived(from: Uuid, what: &[u8]) -> Uuid {
    let hash = Sha256::new().chain_update(from.as_bytes()).chain_update(what).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}
