//! The query root.

use async_graphql::{Context, ID, Object};
use uuid::Uuid;

use super::{
    allowed, app,
    audit::audit_log,
    balance::{Balance, BalanceBy, BalanceFilter},
    connection::{AuditConnection, DisputeConnection, GameConnection, PageArguments},
    dice::{DieKindView, views},
    die_effect::DieEffectInfo,
    dispute::{self, DisputeView},
    game::{GameStage, GameView},
    game_info::GameInfo,
    game_kind::GameKind,
    game_list::GameList,
    ids::{game_id, player_id},
    leaderboard::{Leaderboard, LeaderboardMeasure, LeaderboardSpan},
    listed_enum::Listed,
    node::{self, Node},
    personal_data::PersonalData,
    player,
    player::Player,
    privacy,
    proof::Verification,
    remedy::{self, RemedyInput, RemedyPreview},
    replay::{self, ReplayView},
    rules::presets,
    ruleset::RulesetView,
    scalars::PresetName,
    season::{self, SeasonView},
    shop::Shop,
    viewer, viewer_if_any,
    what_if::{self, WhatIf, WhatIfInput},
};
use crate::{
    accounts::Role,
    app::App,
    disputes::{
        DisputeFilter,
        audit::{self, Filter},
    },
};

/// The query root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query;

/// The query root.
#[Object]
#[allow(clippy::too_many_arguments, reason = "a field has the arguments that clients need")]
impl Query {
    /// The object with this global id. Null if it does not exist or you may not see it.
    async fn node(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "A global id: `game:…`, `player:…`, `dispute:…` or `event:…`.")] id: ID,
    ) -> async_graphql::Result<Option<Node>> {
        node::find(ctx, &id).await
    }

    /// The objects with these global ids, in the same order. Null for each that does not exist or
    /// that you may not see.
    async fn nodes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Global ids, at most 100.")] ids: Vec<ID>,
    ) -> async_graphql::Result<Vec<Option<Node>>> {
        node::find_all(ctx, &ids).await
    }

    /// The signed-in account. Null without a token.
    async fn viewer(&self, ctx: &Context<'_>) -> Option<Player> {
        viewer_if_any(ctx).map(|viewer| Player::new(viewer.account))
    }

    /// A game. Null unless it is public, you created it or have or had a seat in it, or you give
    /// its invite code; support and admins see all games.
    async fn game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game's id.")] id: ID,
        #[graphql(desc = "The invite code of a private game.")] invite_code: Option<String>,
    ) -> async_graphql::Result<Option<GameView>> {
        let viewer = viewer_if_any(ctx);
        Ok(GameView::find(app(ctx), viewer, game_id(&id)?, invite_code.as_deref()).await?)
    }

    /// The games you have or had a seat in, newest first. Updated within a fraction of a second.
    async fn my_games(
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
        let account = player(ctx)?.account;
        let games = GameList::Player { account, stage, private: true };
        games.page(ctx, PageArguments { first, after, last, before }).await
    }

    /// A leaderboard of a game.
    async fn leaderboard(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] kind: GameKind,
        #[graphql(desc = "Defaults to the default preset of the game. Not allowed for ratings.")]
        preset: Option<PresetName>,
        #[graphql(desc = "The measure that players are ranked by.")] by: LeaderboardMeasure,
        #[graphql(
            desc = "The period whose games count.",
            default_with = "LeaderboardSpan::AllTime"
        )]
        span: LeaderboardSpan,
        #[graphql(desc = "How many days, weeks or months ago: 0 is the current one.", default)]
        ago: i32,
        #[graphql(desc = "The code of the season, for `span: SEASON`.")] season: Option<String>,
    ) -> async_graphql::Result<Leaderboard> {
        app(ctx).database.check()?;
        let period = Leaderboard::period_of(ctx, span, ago, season.as_deref()).await?;
        let preset = preset.map(|preset| preset.0);
        Leaderboard::find(kind, preset.as_deref(), by, period)
    }

    /// Verifies a game: its hash chain, its commitment, every roll and every decision. Null if you
    /// may not see it.
    async fn verify_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The invite code of a private game.")] invite_code: Option<String>,
    ) -> async_graphql::Result<Option<Verification>> {
        let viewer = viewer_if_any(ctx);
        let id = self::game_id(&game_id)?;
        let view = GameView::find(app(ctx), viewer, id, invite_code.as_deref()).await?;
        if view.is_none() {
            return Ok(None);
        }
        Ok(Some(Verification::of(&app(ctx).games.store, id).await?))
    }

    /// Everything that happened in a game, step by step. Null if you may not see the game. Until it
    /// has ended, only support and admins can replay it.
    async fn replay(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
    ) -> async_graphql::Result<Option<ReplayView>> {
        app(ctx).database.check()?;
        replay::find(ctx, &game_id).await
    }

    /// Plays a game again with other rules, dice, loadouts or moves, from any version on, and
    /// compares it with the original. Null if you may not see the game. Until it has ended, for
    /// support and admins only. Nothing is stored, counted or paid.
    async fn what_if(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The changes.")] input: WhatIfInput,
    ) -> async_graphql::Result<Option<WhatIf>> {
        app(ctx).database.check()?;
        what_if::find(ctx, &game_id, input).await
    }

    /// A dispute. Visible to the player who opened it, to support and to admins; null for others.
    async fn dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The id of the dispute.")] id: ID,
    ) -> async_graphql::Result<Option<DisputeView>> {
        let (viewer, id) = (viewer(ctx)?, dispute::dispute_id(&id)?);
        if dispute::STAFF.contains(&viewer.role) {
            dispute::acting(ctx, "look_at_dispute", id).await?;
        }
        dispute::find(ctx, id).await
    }

    /// The disputes you opened, oldest first.
    async fn my_disputes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<DisputeConnection> {
        let viewer = player(ctx)?;
        let filter = DisputeFilter { player: Some(viewer.account), ..DisputeFilter::default() };
        dispute::list(ctx, viewer, filter, PageArguments { first, after, last, before }).await
    }

    /// Disputes, oldest first. For support and admins.
    async fn disputes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only resolved (`true`) or unresolved (`false`) disputes.")]
        resolved: Option<bool>,
        #[graphql(desc = "Only disputes assigned to you.", default)] mine: bool,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<DisputeConnection> {
        let viewer = allowed(ctx, dispute::STAFF)?;
        app(ctx).database.check()?;
        let store = &app(ctx).games.store;
        audit::record(store, &viewer, "list_disputes", Uuid::nil(), None).await?;
        let assignee = mine.then_some(viewer.account);
        let filter = DisputeFilter { resolved, assignee, ..DisputeFilter::default() };
        dispute::list(ctx, viewer, filter, PageArguments { first, after, last, before }).await
    }

    /// Previews what a remedy would change in the game, in wallets and in accounts. For support and
    /// admins.
    async fn preview_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The remedy.")] remedy: RemedyInput,
    ) -> async_graphql::Result<RemedyPreview> {
        remedy::preview(ctx, &dispute_id, &remedy).await
    }

    /// The actions of staff, in order: a hash chain like that of a game, and sealed. For admins.
    async fn audit_log(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only actions of this staff account.")] by: Option<ID>,
        #[graphql(desc = "Only actions on this game, account or dispute.")] subject: Option<Uuid>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<AuditConnection> {
        allowed(ctx, &[Role::Admin])?;
        app(ctx).database.check()?;
        let staff = by.as_ref().map(player_id).transpose()?;
        let page = PageArguments { first, after, last, before };
        audit_log(ctx, Filter { staff, subject }, page).await
    }

    /// Your personal data: account, sessions, wallet, recorded activity and what you wrote. Does not
    /// include the games themselves.
    async fn my_data(&self, ctx: &Context<'_>) -> async_graphql::Result<PersonalData> {
        privacy::own(ctx).await
    }

    /// The personal data of another player, unmasked. The access is recorded in the audit log. For
    /// support and admins.
    async fn personal_data(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The player.")] player_id: ID,
        #[graphql(desc = "The dispute that requires it.")] dispute_id: Option<ID>,
    ) -> async_graphql::Result<PersonalData> {
        privacy::of_player(ctx, &player_id, dispute_id.as_ref()).await
    }

    /// All seasons, latest first.
    async fn seasons(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<SeasonView>> {
        app(ctx).database.check()?;
        season::all(ctx).await
    }

    /// Win rates of dice, characters and seats, with confidence intervals. For analysts and admins.
    async fn balance(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to group the lines by.")] by: BalanceBy,
        #[graphql(desc = "The games to count. Defaults to all games.")] filter: Option<
            BalanceFilter,
        >,
        #[graphql(
            desc = "Only the lines with these names, at most 100: codes of dice, for example."
        )]
        names: Option<Vec<String>>,
    ) -> async_graphql::Result<Balance> {
        Balance::find(ctx, by, filter.unwrap_or_default(), names).await
    }

    /// Public games, newest first: those with a free seat, those being played, or those that have
    /// ended. Updated within a fraction of a second.
    async fn lobby(
        &self,
        ctx: &Context<'_>,
        #[graphql(
            desc = "`GATHERING` lists games with a free seat, `PLAYING` games to watch, `ENDED` games to replay.",
            default_with = "GameStage::Gathering"
        )]
        stage: GameStage,
        #[graphql(desc = "Only this kind of game.")] kind: Option<GameKind>,
        #[graphql(desc = "Only games of this preset.")] preset: Option<PresetName>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<GameConnection> {
        let (kind, preset) = (kind.map(|kind| kind.0), preset.map(|preset| preset.0));
        let games = GameList::Lobby { stage, kind, preset };
        games.page(ctx, PageArguments { first, after, last, before }).await
    }

    /// The effects that special dice can have, with their parameters.
    async fn die_effect_kinds(&self) -> Vec<DieEffectInfo> {
        DieEffectInfo::all()
    }

    /// The games that can be played.
    async fn game_kinds(&self) -> Vec<GameInfo> {
        GameKind::all().into_iter().map(GameInfo).collect()
    }

    /// The rule presets of one game or of all games. The first preset of a game is its default.
    async fn presets(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only presets of this game.")] kind: Option<GameKind>,
    ) -> async_graphql::Result<Vec<RulesetView>> {
        app(ctx).database.check()?;
        Ok(presets(ctx, kind).await?)
    }

    /// The special dice, including retired ones.
    async fn dice_catalogue(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<DieKindView>> {
        app(ctx).database.check()?;
        Ok(views(&*app(ctx).games.wallets.catalogue().await?))
    }

    /// The dice for sale.
    async fn shop(&self, ctx: &Context<'_>) -> async_graphql::Result<Shop> {
        app(ctx).database.check()?;
        Ok(Shop::load(ctx).await?)
    }
}

pub(super) async fn find_player(app: &App, id: Uuid) -> async_graphql::Result<Option<Player>> {
    app.database.check()?;
    let account = app.accounts.find(id).await.map_err(super::errors::account_error)?;
    Ok(account.map(|account| Player::new(account.id)))
}
