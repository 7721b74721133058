//! Dice from the inventory to the table, and back.
//!
//! Dice are locked in the account first and chosen at the table second, so dice that are played are always locked. What
//! breaks off in between can only leave dice locked that are not played: the lock is settled when the game ends or the
//! seat is given up, and when somebody wants to sell the dice.

use domain::{AccountCommand, Command, Game, GameId, Stage, farkle::dice::Code};
use uuid::Uuid;

use super::{Changed, Wallets};
use crate::{
    accounts::Viewer,
    play::{Done, Once, PlayError, Refusal, Tables, derived, is_seated, seat_of},
};

impl Tables {
    /// Chooses the dice of a player at a table, out of those the player owns.
    pub(crate) async fn choose_loadout(
        &self,
        viewer: &Viewer,
        game: Uuid,
        dice: Vec<String>,
        once: Once,
    ) -> Result<Done, PlayError> {
        let seat = self.seat_of(viewer, game).await?;
        let (account, id) = (viewer.account, once.id.unwrap_or_else(Uuid::now_v7));
        let state = self.store.games.fresh(game).await?;
        let open = state.now.as_ref().filter(|game| game.table.stage == Stage::Gathering);
        // What the game would refuse anyway is locked for nothing.
        if let Some(Ok(codes)) = open.map(|game| game.lawful_loadout(&dice)) {
            self.wallets.lock(account, game, codes, derived(id, b"lock")).await?;
        }
        let command = Command::ChooseLoadout { seat, dice };
        let chosen = self.execute(game, &command, id, account, once.expected).await;
        if !matches!(chosen, Err(PlayError::Busy | PlayError::Unavailable(_) | PlayError::Fault(_)))
        {
            self.settle_locks(account, game, true).await?;
        }
        chosen
    }

    /// Refuses dice that could not be chosen under these rules.
    pub(crate) async fn check_loadout(
        &self,
        viewer: &Viewer,
        ruleset: &domain::Ruleset,
        dice: &[String],
    ) -> Result<(), PlayError> {
        let codes = ruleset.rules.lawful_loadout(dice).map_err(Refusal::from)?;
        let account = self.wallets.of(viewer.account).await?;
        let account = account.now.clone().unwrap_or_default();
        Ok(account.owns(&codes).map_err(Refusal::from)?)
    }

    /// Makes the lock of a game what the account plays there. While seats still choose, a lock may be ahead of its
    /// table: then only who has just chosen may settle it.
    pub(crate) async fn settle_locks(
        &self,
        account: Uuid,
        game: Uuid,
        chooses: bool,
    ) -> Result<(), PlayError> {
        let wallet = self.wallets.of(account).await?;
        let locked = wallet.now.as_ref().and_then(|now| now.equipped.get(&GameId(game)));
        let state = self.store.games.fresh(game).await?;
        let played = state.now.as_ref().map(|game| played_dice(game, account, chooses));
        // The account may change in the meantime: then it is another command.
        let version = wallet.head.version.to_le_bytes();
        let id = derived(game, &[b"settle".as_slice(), account.as_bytes(), &version].concat());
        let done = match (played.unwrap_or(Played::Nothing), locked) {
            (Played::Unsettled, _) | (Played::Nothing, None) => return Ok(()),
            (Played::Dice(dice), Some(locked)) if *locked == domain::count_dice(&dice) => {
                return Ok(());
            }
            (Played::Dice(dice), _) => self.wallets.lock(account, game, dice, id).await,
            (Played::Nothing, Some(_)) => {
                let command = AccountCommand::Release { game: GameId(game) };
                self.wallets.execute(account, &command, id, Uuid::nil()).await.map(|_| ())
            }
        };
        match done {
            Err(PlayError::Refused(refusal)) if refusal.code == "NOTHING_LOCKED" => Ok(()),
            done => done,
        }
    }

    /// Sells dice. Locks of games that are over, or were left, are settled first if they are in the way.
    pub(crate) async fn sell(
        &self,
        owner: Uuid,
        (code, quantity): (String, i64),
        once: Once,
    ) -> Result<Changed, PlayError> {
        let command = AccountCommand::Sell { code, quantity };
        let sold = self.wallets.ask(owner, &command, once).await;
        let Err(PlayError::Refused(refusal)) = &sold else { return sold };
        if refusal.code != "DIE_LOCKED" {
            return sold;
        }
        let wallet = self.wallets.of(owner).await?;
        let games = wallet.now.iter().flat_map(|now| now.equipped.keys());
        for game in games.copied().collect::<Vec<_>>() {
            self.settle_locks(owner, game.0, false).await?;
        }
        self.wallets.ask(owner, &command, once).await
    }
}

impl Wallets {
    async fn lock(
        &self,
        account: Uuid,
        game: Uuid,
        dice: Vec<Code>,
        id: Uuid,
    ) -> Result<(), PlayError> {
        let once = Once { id: Some(id), expected: None };
        self.ask(account, &AccountCommand::Lock { game: GameId(game), dice }, once).await?;
        Ok(())
    }
}

/// What an account plays with at a table.
enum Played {
    /// Nothing of its own.
    Nothing,
    /// These dice.
    Dice(Vec<Code>),
    /// It may be choosing right now.
    Unsettled,
}

fn played_dice(game: &Game, account: Uuid, chooses: bool) -> Played {
    let over = matches!(game.table.stage, Stage::Ended(_));
    let Some(seat) = seat_of(game, account).filter(|_| !over && is_seated(game, account)) else {
        return Played::Nothing;
    };
    if game.table.stage == Stage::Gathering && !chooses {
        return Played::Unsettled;
    }
    let dice = game.loadout(seat);
    if dice.iter().all(|&code| code == Code::STANDARD) {
        Played::Nothing
    } else {
        Played::Dice(dice)
    }
}
