//! Players as others see them, and as they see themselves.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, dataloader::DataLoader};
use domain::Account;
use store::Loaded;
use uuid::Uuid;

use super::{
    app,
    errors::{account_error, store_error},
    ids::Named,
    scalars::{Instant, int},
    statistics::{GameStatistics, Numbers, RatingView, Ratings},
    viewer_if_any,
    wallet::{InventoryItem, NamedLoadout, Wallet, inventory, loadouts},
};
use crate::accounts::{Role, pseudonym};

/// Somebody who plays, or works here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Player {
    pub(super) account: Uuid,
    /// Whether it is shown to who just became it: there is no token with the request yet.
    pub(super) own: bool,
}

/// Somebody who plays, or works here.
#[Object]
impl Player {
    /// The global id.
    pub(super) async fn id(&self) -> ID {
        Named::Player(self.account).id()
    }

    /// The name shown at tables. To players, whoever works for the house is the house.
    async fn name(&self, ctx: &Context<'_>) -> async_graphql::Result<String> {
        let names = &app(ctx).accounts.names;
        let plays = viewer_if_any(ctx).is_none_or(|viewer| viewer.role == Role::Player);
        if plays && !self.is_own(ctx) && names.is_staff(self.account).await.map_err(store_error)? {
            return Ok("the house".to_owned());
        }
        if let Some(name) = names.at_hand(self.account) {
            return Ok(name.to_string());
        }
        let known = names.of([self.account]).await.map_err(store_error)?;
        Ok(known.get(&self.account).map_or_else(|| pseudonym(self.account), ToString::to_string))
    }

    /// The name the public log has for this player. It says nothing about the person.
    async fn pseudonym(&self) -> String {
        pseudonym(self.account)
    }

    /// Whether this account has no password yet; told to its owner only.
    async fn is_guest(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<bool>> {
        Ok(self.own(ctx).await?.map(|account| account.guest))
    }

    /// What this account may do; told to its owner only.
    async fn role(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<&'static str>> {
        Ok(self.own(ctx).await?.map(|account| account.role.name()))
    }

    /// The money; told to its owner only.
    async fn wallet(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Wallet>> {
        let state = self.own_state(ctx).await?;
        Ok(state.map(|state| Wallet { account: self.account, state }))
    }

    /// The special dice owned; told to their owner only.
    async fn inventory(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<Option<Vec<InventoryItem>>> {
        match self.own_state(ctx).await? {
            Some(state) => Ok(Some(inventory(ctx, self.account, &state).await?)),
            None => Ok(None),
        }
    }

    /// How often this account was warned; told to its owner only.
    async fn warnings(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<i32>> {
        let state = self.own_state(ctx).await?;
        Ok(state.map(|state| state.now.as_ref().map_or(0, |account| int(account.warnings))))
    }

    /// The loadouts kept under a name; told to their owner only.
    async fn loadouts(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<Option<Vec<NamedLoadout>>> {
        Ok(self.own_state(ctx).await?.map(|state| loadouts(&state)))
    }

    /// What this player did so far, for each game and preset; a second behind at most.
    async fn statistics(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of this game.")] game: Option<String>,
        #[graphql(desc = "Only under this preset.")] preset: Option<String>,
    ) -> async_graphql::Result<Vec<GameStatistics>> {
        let loader = ctx.data_unchecked::<DataLoader<Numbers>>();
        let all = loader.load_one(self.account).await?.unwrap_or_default();
        let same = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        let wanted = |s: &GameStatistics| same(&game, &s.game) && same(&preset, &s.preset);
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// How good this player is at each game that is played against others; a second behind at most.
    async fn ratings(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<RatingView>> {
        let loader = ctx.data_unchecked::<DataLoader<Ratings>>();
        Ok(loader.load_one(self.account).await?.unwrap_or_default())
    }

    /// Since when this account exists; told to its owner only.
    async fn created_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Instant>> {
        Ok(self.own(ctx).await?.map(|account| Instant(account.created_at)))
    }
}

impl Player {
    pub(super) fn new(account: Uuid) -> Self {
        Self { account, own: false }
    }

    fn is_own(&self, ctx: &Context<'_>) -> bool {
        self.own || viewer_if_any(ctx).is_some_and(|viewer| viewer.account == self.account)
    }

    /// The wallet and the inventory, if they are the viewer's own.
    async fn own_state(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<Option<Arc<Loaded<Account>>>> {
        if !self.is_own(ctx) {
            return Ok(None);
        }
        app(ctx).database.check()?;
        Ok(Some(app(ctx).tables.wallets.of(self.account).await?))
    }

    /// The account, if it is the viewer's own.
    async fn own(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<Option<crate::accounts::Account>> {
        if !self.is_own(ctx) {
            return Ok(None);
        }
        app(ctx).accounts.find(self.account).await.map_err(account_error)
    }
}
