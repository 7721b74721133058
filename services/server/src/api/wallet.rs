//! Wallets, inventories and loadouts, as their owners see them.

use std::sync::Arc;

use async_graphql::{ComplexObject, Context, ID, Object, SimpleObject};
use domain::{Account, Entry, GameId};
use store::{Loaded, Recorded};
use uuid::Uuid;

use super::{
    app,
    connection::{LedgerConnection, page_size},
    dates::dates,
    dice::DieKindView,
    errors::bad_input,
    ids::Named,
    scalars::{Instant, Long, int},
};
use crate::{
    play::PlayError,
    wallets::{LEDGER, account_event},
};

/// The money of an account.
#[derive(Clone, Debug)]
pub(super) struct Wallet {
    pub(super) account: Uuid,
    pub(super) state: Arc<Loaded<Account>>,
}

/// A line of the ledger: money that came or went.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct LedgerEntry {
    /// Its number in the account's stream.
    version: i32,
    /// When it was recorded.
    recorded_at: Instant,
    /// How much came, in dollars; what went is negative.
    change: i32,
    /// The balance after it.
    balance: i32,
    /// What for: `opening`, `purchase`, `sale`, `finishing`, `winning`, `die` (a special die earned it), or `reversal` (the game
    /// is void).
    reason: &'static str,
    /// The kind of die it was about, if it was about one.
    code: Option<String>,
    /// The game it was earned in.
    game_id: Option<ID>,
    /// The version of the game's event that awarded it: see `game(id: …) { events }`.
    game_version: Option<i32>,
}

/// Dice of a kind that an account owns.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(super) struct InventoryItem {
    #[graphql(skip)]
    account: Uuid,
    /// Their code.
    code: String,
    /// Their kind, as the shop has it now.
    die: Option<DieKindView>,
    /// How many are owned.
    quantity: i32,
    /// How many of them are equipped in games that are not over: those cannot be sold.
    locked: i32,
    /// The games in which they are equipped.
    equipped_in: Vec<ID>,
}

/// What the log knows of them.
#[ComplexObject]
impl InventoryItem {
    /// When the first of them was bought.
    async fn first_bought_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Instant>> {
        Ok(dates(ctx, self.account, &self.code).await?.and_then(|dates| dates.first))
    }

    /// When the last of them was bought.
    async fn last_bought_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Instant>> {
        Ok(dates(ctx, self.account, &self.code).await?.map(|dates| dates.last))
    }
}

/// A loadout kept under a name.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct NamedLoadout {
    /// The name.
    name: String,
    /// The codes of the dice, one a slot.
    dice: Vec<String>,
}

/// The money of an account.
#[Object]
impl Wallet {
    /// The dollars in it: the sum of its ledger.
    async fn balance(&self) -> i32 {
        int(self.state.now.as_ref().map_or(0, |account| account.balance))
    }

    /// The dollars paid for dice altogether, less what they brought when sold back.
    async fn spent(&self) -> Long {
        Long(self.state.now.as_ref().map_or(0, |account| account.spent))
    }

    /// Every change, the newest first.
    async fn ledger(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<LedgerConnection> {
        let size = page_size(first)?;
        let last = self.state.head.version;
        let before = after.as_deref().map_or(Ok(last + 1), str::parse::<i64>);
        let before = before.ok().filter(|before| (1..=last + 1).contains(before));
        let before =
            before.ok_or_else(|| bad_input("after is the cursor of a line of this ledger"))?;
        let most = u32::try_from(size + 1).unwrap_or(u32::MAX);
        let lines = app(ctx).tables.store.backwards(self.account, before, &LEDGER, most).await;
        let lines = lines.map_err(PlayError::from)?;
        let more = lines.len() > size;
        let items = lines.iter().filter_map(LedgerEntry::of);
        let items = items.map(|entry| (entry.version.to_string(), entry)).collect();
        Ok(LedgerConnection::page(items, more, size, after.is_some()))
    }
}

impl LedgerEntry {
    fn of(recorded: &Recorded) -> Option<Self> {
        let Entry { change, balance, reason, code, game } =
            account_event(&recorded.event)?.entry()?;
        Some(Self {
            version: int(recorded.version),
            recorded_at: Instant(recorded.at),
            change: change.try_into().unwrap_or(if change < 0 { i32::MIN } else { i32::MAX }),
            balance: int(balance),
            reason,
            code: code.map(|code| code.to_string()),
            game_id: game.map(|(GameId(game), _)| Named::Game(game).id()),
            game_version: game.map(|(_, event)| int(event)),
        })
    }
}

/// What an account owns.
pub(super) async fn inventory(
    ctx: &Context<'_>,
    owner: Uuid,
    state: &Loaded<Account>,
) -> Result<Vec<InventoryItem>, PlayError> {
    let catalogue = app(ctx).tables.wallets.catalogue().await?;
    let Some(account) = &state.now else { return Ok(Vec::new()) };
    let item = |(&code, &quantity)| {
        let equipped = account.equipped.iter().filter(|(_, dice)| dice.contains_key(&code));
        InventoryItem {
            account: owner,
            code: code.to_string(),
            die: catalogue.find(code).map(Into::into),
            quantity: int(quantity),
            locked: int(account.locked(code)),
            equipped_in: equipped.map(|(game, _)| Named::Game(game.0).id()).collect(),
        }
    };
    Ok(account.dice.iter().map(item).collect())
}

/// The loadouts an account keeps, by name.
pub(super) fn loadouts(state: &Loaded<Account>) -> Vec<NamedLoadout> {
    let kept = state.now.iter().flat_map(|account| &account.loadouts);
    kept.map(|(name, dice)| NamedLoadout {
        name: name.to_string(),
        dice: dice.iter().map(ToString::to_string).collect(),
    })
    .collect()
}
