//! Who may send which command to a game, and what is recorded as evidence.
//!
//! Everybody may join a public table; a private one only its creator and players with the invite
//! code. Every other command needs a seat. Turn order and moves are checked by the rules.

use std::sync::Arc;

use domain::{Command, Game, PlayerId, SeatNo};
use store::Loaded;
use uuid::Uuid;

use super::{
    AppError, CommandOutcome, GameService, PlayerCommand, UserError, access::Access,
    evidence::Origin,
};
use crate::accounts::{Viewer, pseudonym};

/// The caller of a command, recorded as evidence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandContext<'a> {
    pub(crate) by: &'a Viewer,
    pub(crate) origin: &'a Origin,
    /// The name of the operation in the API.
    pub(crate) operation: &'a str,
    /// The client's command id.
    pub(crate) command: Option<Uuid>,
}

impl GameService {
    /// Turns a player's command into one of the domain, if the player may send it to this game.
    pub(super) async fn authorise(
        &self,
        viewer: &Viewer,
        game: Uuid,
        command: PlayerCommand,
    ) -> Result<Command, AppError> {
        let seat = async || self.seat_of(viewer, game).await;
        Ok(match command {
            PlayerCommand::Join { seed, invite } => {
                self.check_access(viewer, game, invite.as_deref()).await?;
                join(viewer, seed)
            }
            PlayerCommand::ChooseSeed(seed) => Command::ChooseSeed { seat: seat().await?, seed },
            PlayerCommand::ChooseCharacter(character) => {
                Command::ChooseCharacter { seat: seat().await?, character }
            }
            PlayerCommand::Leave => Command::Leave { seat: seat().await? },
            PlayerCommand::Start => seat().await.map(|_| Command::Start)?,
            PlayerCommand::Play(play) => Command::Play { seat: seat().await?, play },
        })
    }

    /// A private table appears not to exist unless the caller has the code, created it or had a
    /// seat there.
    async fn check_access(
        &self,
        viewer: &Viewer,
        game: Uuid,
        code: Option<&str>,
    ) -> Result<(), AppError> {
        if self.is_admitted(viewer, game, code).await? {
            return Ok(());
        }
        self.seat_of(viewer, game).await.map(|_| ())
    }

    /// The player's seat. A player who left keeps the last one, so that a retry of an earlier
    /// command returns its result.
    pub(crate) async fn seat_of(&self, viewer: &Viewer, game: Uuid) -> Result<SeatNo, AppError> {
        let find =
            |state: &Loaded| state.aggregate.as_ref().and_then(|g| seat_of(g, viewer.account));
        if let Some(seat) = self.store.games.cached(game).as_deref().and_then(find) {
            return Ok(seat);
        }
        let state = self.store.games.latest(game).await?;
        if let Some(seat) = find(&state) {
            return Ok(seat);
        }
        // A private table appears not to exist.
        let hidden = state.aggregate.is_none() || !self.is_admitted(viewer, game, None).await?;
        Err(if hidden { UserError::no_such_game() } else { UserError::not_seated() }.into())
    }

    /// Whether the caller may join: the table is public, or theirs, or they have the code.
    async fn is_admitted(
        &self,
        viewer: &Viewer,
        game: Uuid,
        code: Option<&str>,
    ) -> Result<bool, AppError> {
        let access = self.access.of(&[game]).await?;
        let open = |access: &Arc<Access>| access.creator == viewer.account || access.admits(code);
        Ok(access.get(&game).is_some_and(open))
    }

    /// Records evidence of a command: that it was refused, or that the player's session, address or
    /// client has changed. Commands of players without a seat are not recorded.
    pub(crate) fn note(
        &self,
        context: &CommandContext<'_>,
        game: Uuid,
        outcome: &Result<CommandOutcome, AppError>,
    ) {
        match outcome {
            Ok(outcome) => self.evidence.seen(game, context, outcome.new_events.first()),
            Err(AppError::User(refusal)) => {
                let Some(state) = self.store.games.cached(game) else { return };
                let table = state.aggregate.as_ref();
                if table.is_some_and(|table| seat_of(table, context.by.account).is_some()) {
                    self.evidence.refused(game, context, refusal, state.head.version);
                }
            }
            // Internal errors are logged.
            Err(_) => {}
        }
    }
}

pub(super) fn join(viewer: &Viewer, seed: Option<String>) -> Command {
    Command::Join { player: PlayerId(viewer.account), name: pseudonym(viewer.account), seed }
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
