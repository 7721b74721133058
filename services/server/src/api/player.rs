//! Players: the public view and the owner's own.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, dataloader::DataLoader};
use domain::Account;
use store::Loaded;
use uuid::Uuid;

use super::{
    app,
    connection::{GameConnection, PageArguments},
    enums::AccountRole,
    errors::{account_error, store_error},
    game::GameStage,
    game_kind::GameKind,
    game_list::GameList,
    ids::Named,
    scalars::{DateTime, PresetName, int},
    statistics::{GameStatistics, Numbers, RatingPoint, RatingView, Ratings, rating_history},
    viewer_if_any,
    wallet::{InventoryItem, NamedLoadout, Wallet, inventory, loadouts},
};
use crate::accounts::{Role, Viewer, pseudonym};

/// A player or a member of staff.
#[derive(Clone, Copy, Debug)]
pub(super) struct Player {
    pub(super) account: Uuid,
    /// Whether the request just signed this account in: its own token is not on the request yet.
    pub(super) own: bool,
}

/// A player or a member of staff.
#[Object]
impl Player {
    /// The global id.
    pub(super) async fn id(&self) -> ID {
        Named::Player(self.account).id()
    }

    /// The name shown at tables. Players see the staff as `the house`.
    async fn name(&self, ctx: &Context<'_>) -> async_graphql::Result<String> {
        let names = &app(ctx).accounts.names;
        let is_player = viewer_if_any(ctx).is_none_or(|viewer| viewer.role == Role::Player);
        if is_player
            && !self.is_own(ctx)
            && names.is_staff(self.account).await.map_err(store_error)?
        {
            return Ok("the house".to_owned());
        }
        if let Some(name) = names.cached(self.account) {
            return Ok(name.to_string());
        }
        let known = names.of([self.account]).await.map_err(store_error)?;
        Ok(known.get(&self.account).map_or_else(|| pseudonym(self.account), ToString::to_string))
    }

    /// The name of this player in the public log. It is derived from the id and not personal data.
    async fn pseudonym(&self) -> String {
        pseudonym(self.account)
    }

    /// Whether this account has no password yet. Visible to the owner only.
    async fn is_guest(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<bool>> {
        Ok(self.own(ctx).await?.map(|account| account.guest))
    }

    /// The role of this account. Visible to the owner only.
    async fn role(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<AccountRole>> {
        Ok(self.own(ctx).await?.map(|account| account.role.into()))
    }

    /// The wallet. Visible to the owner only.
    async fn wallet(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Wallet>> {
        let state = self.own_state(ctx).await?;
        Ok(state.map(|state| Wallet { account: self.account, state }))
    }

    /// The special dice owned. Visible to the owner only.
    async fn inventory(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<Option<Vec<InventoryItem>>> {
        match self.own_state(ctx).await? {
            Some(state) => Ok(Some(inventory(ctx, self.account, &state).await?)),
            None => Ok(None),
        }
    }

    /// The number of warnings. Visible to the owner only.
    async fn warnings(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<i32>> {
        let state = self.own_state(ctx).await?;
        Ok(state.map(|state| state.aggregate.as_ref().map_or(0, |account| int(account.warnings))))
    }

    /// The saved loadouts. Visible to the owner only.
    async fn loadouts(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<Option<Vec<NamedLoadout>>> {
        Ok(self.own_state(ctx).await?.map(|state| loadouts(&state)))
    }

    /// The statistics of this player, one entry per game and preset. At most a second old.
    async fn statistics(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of this game.")] kind: Option<GameKind>,
        #[graphql(desc = "Only of this preset.")] preset: Option<PresetName>,
    ) -> async_graphql::Result<Vec<GameStatistics>> {
        let loader = ctx.data_unchecked::<DataLoader<Numbers>>();
        let all = loader.load_one(self.account).await?.unwrap_or_default();
        let matches = |found: &GameStatistics| {
            kind.is_none_or(|kind| kind == found.kind)
                && preset.as_ref().is_none_or(|preset| *preset == found.preset)
        };
        Ok(all.into_iter().filter(matches).collect())
    }

    /// The ratings of this player, one per multiplayer game. At most a second old.
    async fn ratings(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<RatingView>> {
        let loader = ctx.data_unchecked::<DataLoader<Ratings>>();
        Ok(loader.load_one(self.account).await?.unwrap_or_default())
    }

    /// The rating at the end of each day with rated games, oldest first.
    async fn rating_history(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] kind: GameKind,
        #[graphql(desc = "The number of days, 1 to 1000.", default = 90)] days: i32,
    ) -> async_graphql::Result<Vec<RatingPoint>> {
        rating_history(ctx, self.account, kind, days).await
    }

    /// The games of this player, newest first. Private games are visible to the owner, support and
    /// admins only.
    #[allow(clippy::too_many_arguments, reason = "a field has the arguments that clients need")]
    async fn games(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only games in this stage.")] stage: Option<GameStage>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<GameConnection> {
        let support = |viewer: Viewer| matches!(viewer.role, Role::Support | Role::Admin);
        let private = self.is_own(ctx) || viewer_if_any(ctx).is_some_and(support);
        let games = GameList::Player { account: self.account, stage, private };
        games.page(ctx, PageArguments { first, after, last, before }).await
    }

    /// When the account was created. Visible to the owner only.
    async fn created_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(self.own(ctx).await?.map(|account| DateTime(account.created_at)))
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
        Ok(Some(app(ctx).games.wallets.of(self.account).await?))
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
