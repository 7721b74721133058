//! Special dice move from the inventory to the table and back.
//!
//! First the dice are locked in the account, then they are chosen at the table, at the version of
//! the game read before. While seats may still choose, a lock only grows, so that dice in play are
//! locked even after a crash in between. When the game starts, the lock is reduced to the dice in
//! play; when it ends or the seat is left, the lock is released.

use domain::{
    AccountCommand, Command, Game, GameId, RejectionCode, Stage, count_dice, special_dice::Code,
};
use store::Loaded;
use uuid::Uuid;

use super::{
    AppError, CommandOutcome, GameService, Idempotency, ServiceCode, UserError, UserErrorCode,
    derived, is_seated, seat_of,
};
use crate::{accounts::Viewer, wallets::WalletOutcome};

/// How often choosing dice or settling a lock is tried when a concurrent change gets in the way.
const TRIES: usize = 5;
/// The code of a conflict with a concurrent command.
const STALE: UserErrorCode = UserErrorCode::Service(ServiceCode::StaleVersion);

impl GameService {
    /// Chooses a player's dice at a table, from the dice the player owns.
    pub(crate) async fn choose_loadout(
        &self,
        viewer: &Viewer,
        game: Uuid,
        dice: Vec<String>,
        idempotency: Idempotency,
    ) -> Result<CommandOutcome, AppError> {
        let seat = self.seat_of(viewer, game).await?;
        let id = idempotency.id.unwrap_or_else(Uuid::now_v7);
        let mut tries = 0;
        loop {
            tries += 1;
            let state = self.store.games.latest(game).await?;
            let version = idempotency.expected.unwrap_or(state.head.version);
            if let Some(codes) = dice_to_lock(&state, viewer.account, &dice, version) {
                self.wallets.lock(viewer.account, game, codes).await?;
            }
            let command = Command::ChooseLoadout { seat, dice: dice.clone() };
            let chosen = self.execute(game, &command, id, viewer.account, Some(version)).await;
            match &chosen {
                Err(AppError::User(refusal))
                    if refusal.code == STALE && idempotency.expected.is_none() && tries < TRIES => {
                }
                _ => return chosen,
            }
        }
    }

    /// Fails if the player could not choose these dice under these rules.
    pub(crate) async fn check_loadout(
        &self,
        viewer: &Viewer,
        ruleset: &domain::Ruleset,
        dice: &[String],
    ) -> Result<(), AppError> {
        let codes = ruleset.rules.lawful_loadout(dice).map_err(UserError::from)?;
        let account = self.wallets.of(viewer.account).await?;
        let account = account.aggregate.clone().unwrap_or_default();
        Ok(account.owns(&codes).map_err(UserError::from)?)
    }

    /// Reduces the lock for a game to the dice the account plays there, once it cannot choose any
    /// more.
    pub(crate) async fn settle_lock(&self, account: Uuid, game: Uuid) -> Result<(), AppError> {
        for _ in 0..TRIES {
            let wallet = self.wallets.of(account).await?;
            let Some(locked) =
                wallet.aggregate.as_ref().and_then(|now| now.equipped.get(&GameId(game)))
            else {
                return Ok(());
            };
            let state = self.store.games.latest(game).await?;
            let Some(played) =
                state.aggregate.as_ref().map_or(Some(Vec::new()), |g| played(g, account))
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
            // The expected version detects dice that are locked concurrently.
            let id = derived(game.0, &[account.as_bytes(), &version.to_le_bytes()[..]].concat());
            match self.wallets.execute_as_system(account, &command, id, Some(version)).await {
                Err(AppError::User(refusal)) if refusal.code == STALE => {}
                settled => return settled.map(|_| ()),
            }
        }
        Err(AppError::Busy)
    }

    /// Sells dice. If they are locked, stale locks of ended or left games are released first.
    pub(crate) async fn sell(
        &self,
        owner: Uuid,
        (code, quantity): (String, i64),
        idempotency: Idempotency,
    ) -> Result<WalletOutcome, AppError> {
        let command = AccountCommand::Sell { code: code.clone(), quantity };
        let sold = self.wallets.submit(owner, &command, idempotency).await;
        let Err(AppError::User(refusal)) = &sold else { return sold };
        let (true, Ok(code)) =
            (refusal.code == RejectionCode::DieLocked.into(), code.parse::<Code>())
        else {
            return sold;
        };
        let wallet = self.wallets.of(owner).await?;
        let equipped = wallet.aggregate.iter().flat_map(|now| &now.equipped);
        let games: Vec<Uuid> =
            equipped.filter(|(_, dice)| dice.contains_key(&code)).map(|(game, _)| game.0).collect();
        // Loads all games into the cache with one query.
        self.store.games.fresh_all(&games).await?;
        for game in games {
            self.settle_lock(owner, game).await?;
        }
        self.wallets.submit(owner, &command, idempotency).await
    }
}

/// The dice to lock before they are chosen; `None` if the table will refuse them, or if they are
/// all ordinary.
fn dice_to_lock(
    state: &Loaded<Game>,
    account: Uuid,
    dice: &[String],
    version: i64,
) -> Option<Vec<Code>> {
    let game = state.aggregate.as_ref()?;
    let may_choose = game.table.stage == Stage::Gathering && is_seated(game, account);
    let codes = game.lawful_loadout(dice).ok()?;
    let special = !count_dice(&codes).is_empty();
    (may_choose && special && version == state.head.version).then_some(codes)
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
