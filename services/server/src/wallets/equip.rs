//! Dice from the inventory to the table, and back.
//!
//! Dice are locked in the account first and chosen at the table second, at the version of the game that was seen before.
//! While seats still choose, a lock is only ever raised: whatever happens in between, dice that are played are locked. A lock
//! becomes what is played when the game begins, and nothing when it is over or the seat is given up.

use domain::{
    AccountCommand, Command, Game, GameId, RejectionCode, Stage, count_dice, special_dice::Code,
};
use store::Loaded;
use uuid::Uuid;

use super::{Changed, Wallets};
use crate::{
    accounts::Viewer,
    play::{
        Done, Once, PlayError, Refusal, RefusalCode, ServiceCode, Tables, derived, is_seated,
        seat_of,
    },
};

/// How often dice are chosen anew when the table has changed meanwhile, or a lock is settled anew.
const TRIES: usize = 5;
/// The refusal that means: somebody was faster.
const STALE: RefusalCode = RefusalCode::Service(ServiceCode::StaleVersion);

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
        let id = once.id.unwrap_or_else(Uuid::now_v7);
        let mut tries = 0;
        loop {
            tries += 1;
            let state = self.store.games.fresh(game).await?;
            let version = once.expected.unwrap_or(state.head.version);
            if let Some(codes) = to_be_locked(&state, viewer.account, &dice, version) {
                self.wallets.lock(viewer.account, game, codes).await?;
            }
            let command = Command::ChooseLoadout { seat, dice: dice.clone() };
            let chosen = self.execute(game, &command, id, viewer.account, Some(version)).await;
            match &chosen {
                Err(PlayError::Refused(refusal))
                    if refusal.code == STALE && once.expected.is_none() && tries < TRIES => {}
                _ => return chosen,
            }
        }
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

    /// Makes the lock of a game what the account plays there, once nobody can choose any more.
    pub(crate) async fn settle_lock(&self, account: Uuid, game: Uuid) -> Result<(), PlayError> {
        for _ in 0..TRIES {
            let wallet = self.wallets.of(account).await?;
            let Some(locked) = wallet.now.as_ref().and_then(|now| now.equipped.get(&GameId(game)))
            else {
                return Ok(());
            };
            let state = self.store.games.fresh(game).await?;
            let Some(played) = state.now.as_ref().map_or(Some(Vec::new()), |g| played(g, account))
            else {
                return Ok(());
            };
            if *locked == count_dice(&played) {
                return Ok(());
            }
            let (game, version) = (GameId(game), wallet.head.version);
            let command = if count_dice(&played).is_empty() {
                AccountCommand::Release { game }
            } else {
                AccountCommand::Settle { game, dice: played }
            };
            // Only what was looked at is settled: who locks dice meanwhile makes another version of the account.
            let id = derived(game.0, &[account.as_bytes(), &version.to_le_bytes()[..]].concat());
            match self.wallets.by_the_house(account, &command, id, Some(version)).await {
                Err(PlayError::Refused(refusal)) if refusal.code == STALE => {}
                settled => return settled.map(|_| ()),
            }
        }
        Err(PlayError::Busy)
    }

    /// Sells dice. Locks of games that are over, or were left, are settled first if they are in the way.
    pub(crate) async fn sell(
        &self,
        owner: Uuid,
        (code, quantity): (String, i64),
        once: Once,
    ) -> Result<Changed, PlayError> {
        let command = AccountCommand::Sell { code: code.clone(), quantity };
        let sold = self.wallets.ask(owner, &command, once).await;
        let Err(PlayError::Refused(refusal)) = &sold else { return sold };
        let (true, Ok(code)) =
            (refusal.code == RejectionCode::DieLocked.into(), code.parse::<Code>())
        else {
            return sold;
        };
        let wallet = self.wallets.of(owner).await?;
        let equipped = wallet.now.iter().flat_map(|now| &now.equipped);
        let games: Vec<Uuid> =
            equipped.filter(|(_, dice)| dice.contains_key(&code)).map(|(game, _)| game.0).collect();
        // All of them are in memory then, by one round trip.
        self.store.games.fresh_all(&games).await?;
        for game in games {
            self.settle_lock(owner, game).await?;
        }
        self.wallets.ask(owner, &command, once).await
    }
}

impl Wallets {
    /// Locks at least these dice. Never answered from memory: the lock is there when this is done.
    async fn lock(&self, account: Uuid, game: Uuid, dice: Vec<Code>) -> Result<(), PlayError> {
        let command = AccountCommand::Lock { game: GameId(game), dice };
        let lock = || self.by_the_house(account, &command, Uuid::now_v7(), None);
        match lock().await {
            Err(PlayError::Refused(refusal)) if refusal.code == RejectionCode::NoWallet.into() => {
                self.open(account).await?;
                lock().await.map(|_| ())
            }
            locked => locked.map(|_| ()),
        }
    }
}

/// The dice to lock before they are chosen; nothing if the table will refuse them, or if they are ordinary.
fn to_be_locked(
    state: &Loaded<Game>,
    account: Uuid,
    dice: &[String],
    version: i64,
) -> Option<Vec<Code>> {
    let game = state.now.as_ref()?;
    let chooses = game.table.stage == Stage::Gathering && is_seated(game, account);
    let codes = game.lawful_loadout(dice).ok()?;
    let special = !count_dice(&codes).is_empty();
    (chooses && special && version == state.head.version).then_some(codes)
}

/// The dice an account plays with at a table; `None` while it may still choose.
fn played(game: &Game, account: Uuid) -> Option<Vec<Code>> {
    let seated = is_seated(game, account);
    match (&game.table.stage, seat_of(game, account)) {
        (Stage::Gathering, _) if seated => None,
        (Stage::Playing, Some(seat)) if seated => Some(game.loadout(seat)),
        (Stage::Gathering | Stage::Playing | Stage::Ended(_), _) => Some(Vec::new()),
    }
}
