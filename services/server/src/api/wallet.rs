//! Wallets, inventories and loadouts. Visible to their owners only.

use std::sync::Arc;

use async_graphql::{ComplexObject, Context, ID, Object, SimpleObject};
use domain::{Account, Entry, GameId};
use store::{Loaded, Recorded};
use uuid::Uuid;

use super::{
    app,
    connection::{LedgerConnection, PageArguments},
    dates::dates,
    dice::DieKindView,
    enums::LedgerReason,
    ids::Named,
    scalars::{DateTime, DieCode, Long, int},
};
use crate::{
    play::AppError,
    wallets::{LEDGER, account_event},
};

/// The wallet of an account.
#[derive(Clone, Debug)]
pub(super) struct Wallet {
    pub(super) account: Uuid,
    pub(super) state: Arc<Loaded<Account>>,
}

/// An entry of the ledger: a change of the balance.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct LedgerEntry {
    /// The version of the event in the account's stream.
    version: i32,
    /// When the change was recorded.
    recorded_at: DateTime,
    /// The change in dollars; negative if money was spent.
    change: i32,
    /// The balance after the change, in dollars.
    balance: i32,
    /// The reason for the change.
    reason: LedgerReason,
    /// The code of the die. Null if the change is not about a die.
    code: Option<DieCode>,
    /// The game that awarded it. Null if the change is not from a game.
    game_id: Option<ID>,
    /// The version of the event of the game that awarded it. Null if the change is not from a game.
    game_version: Option<i32>,
}

/// The dice of one kind that an account owns.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(super) struct InventoryItem {
    #[graphql(skip)]
    account: Uuid,
    /// The code of the dice.
    code: DieCode,
    /// The kind of die, as in the current catalogue.
    die: Option<DieKindView>,
    /// The number of dice owned.
    quantity: i32,
    /// The number of dice equipped in unfinished games, which cannot be sold.
    locked: i32,
    /// The games in which they are equipped.
    equipped_in: Vec<ID>,
}

/// Dates from the log.
#[ComplexObject]
impl InventoryItem {
    /// When the first one was bought.
    async fn first_bought_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(dates(ctx, self.account, &self.code.0).await?.and_then(|dates| dates.first))
    }

    /// When the last one was bought.
    async fn last_bought_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(dates(ctx, self.account, &self.code.0).await?.map(|dates| dates.last))
    }
}

/// A saved loadout.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct NamedLoadout {
    /// The name.
    name: String,
    /// The codes of the dice, one per slot.
    dice: Vec<DieCode>,
}

/// The wallet of an account.
#[Object]
impl Wallet {
    /// The balance in dollars: the sum of the ledger.
    async fn balance(&self) -> i32 {
        int(self.state.aggregate.as_ref().map_or(0, |account| account.balance))
    }

    /// The total spent on dice in dollars, minus what was received for sold ones.
    async fn spent(&self) -> Long {
        Long(self.state.aggregate.as_ref().map_or(0, |account| account.spent))
    }

    /// The changes of the balance, newest first.
    async fn ledger(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<LedgerConnection> {
        let request = PageArguments { first, after, last, before }.request(ctx)?;
        let versions = 1..=self.state.head.version;
        let read = |cursor: &str| cursor.parse().ok().filter(|version| versions.contains(version));
        let from = request.position(read)?;
        let store = &app(ctx).games.store;
        let (stream, limit) = (self.account, request.limit());
        let found = if request.backward {
            store.forwards(stream, from.unwrap_or(0), &LEDGER, limit).await
        } else {
            store.backwards(stream, from.unwrap_or(i64::MAX), &LEDGER, limit).await
        };
        let (found, more) = request.trim(found.map_err(AppError::from)?);
        let total = if request.counts { store.count(stream, &LEDGER).await } else { Ok(0) };
        let items = found.iter().filter_map(LedgerEntry::of);
        let items = items.map(|entry| (entry.version.to_string(), entry)).collect();
        Ok(LedgerConnection::page(&request, items, more, total.map_err(AppError::from)?))
    }
}

impl LedgerEntry {
    fn of(recorded: &Recorded) -> Option<Self> {
        let Entry { change, balance, reason, code, game } =
            account_event(&recorded.event)?.entry()?;
        Some(Self {
            version: int(recorded.version),
            recorded_at: DateTime(recorded.at),
            change: change.try_into().unwrap_or(if change < 0 { i32::MIN } else { i32::MAX }),
            balance: int(balance),
            reason: LedgerReason::named(reason)?,
            code: code.map(DieCode::from),
            game_id: game.map(|(GameId(game), _)| Named::Game(game).id()),
            game_version: game.map(|(_, event)| int(event)),
        })
    }
}

/// The dice that an account owns.
pub(super) async fn inventory(
    ctx: &Context<'_>,
    owner: Uuid,
    state: &Loaded<Account>,
) -> Result<Vec<InventoryItem>, AppError> {
    let catalogue = app(ctx).games.wallets.catalogue().await?;
    let Some(account) = &state.aggregate else { return Ok(Vec::new()) };
    let item = |(&code, &quantity)| {
        let equipped = account.equipped.iter().filter(|(_, dice)| dice.contains_key(&code));
        InventoryItem {
            account: owner,
            code: code.into(),
            die: catalogue.find(code).map(Into::into),
            quantity: int(quantity),
            locked: int(account.locked(code)),
            equipped_in: equipped.map(|(game, _)| Named::Game(game.0).id()).collect(),
        }
    };
    Ok(account.dice.iter().map(item).collect())
}

/// The saved loadouts of an account, by name.
pub(super) fn loadouts(state: &Loaded<Account>) -> Vec<NamedLoadout> {
    let saved = state.aggregate.iter().flat_map(|account| &account.loadouts);
    saved
        .map(|(name, dice)| NamedLoadout {
            name: name.to_string(),
            dice: dice.iter().copied().map(DieCode::from).collect(),
        })
        .collect()
}
