//! What can be asked.

use std::sync::Arc;

use async_graphql::{Context, ID, Interface, Json, Object};
use serde_json::Value;
use sqlx::Row;
use uuid::Uuid;

use super::{
    allowed, app,
    audit::audit_log,
    balance::{Balance, BalanceBy, BalanceFilter},
    connection::{AuditConnection, DisputeConnection, GameConnection, page_size},
    dice::{DieKindView, views},
    dispute::{self, DisputeView},
    errors::bad_input,
    game::{GameStage, GameView},
    ids::{Named, game_id, named, player_id},
    leaderboard::{Leaderboard, LeaderboardMeasure, LeaderboardSpan},
    player,
    player::Player,
    privacy,
    proof::Verification,
    remedy::{self, RemedyInput, RemedyPreview},
    replay::{self, ReplayView},
    rules::{RulesetView, presets},
    season::{self, SeasonView},
    shop::Shop,
    viewer, viewer_if_any,
    what_if::{self, WhatIf, WhatIfInput},
};
use crate::{
    accounts::Role,
    app::App,
    disputes::{
        Wanted,
        audit::{self, Filter},
    },
    play::PlayError,
};

/// Everything that can be asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query;

/// Anything with a global id.
#[derive(Clone, Debug, Interface)]
#[graphql(field(name = "id", ty = "ID", desc = "The global id."))]
enum Node {
    Game(GameView),
    Player(Player),
    Dispute(DisputeView),
}

/// Everything that can be asked.
#[Object]
#[allow(clippy::too_many_arguments, reason = "a field has the arguments that clients need")]
impl Query {
    /// Whatever has this global id; nothing if there is no such thing, or it is not for you to see.
    async fn node(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "A global id: `game:…`, `player:…` or `dispute:…`.")] id: ID,
    ) -> async_graphql::Result<Option<Node>> {
        let viewer = viewer(ctx)?;
        match named(&id)? {
            Named::Game(game) => {
                Ok(GameView::find(app(ctx), viewer, game, None).await?.map(Node::Game))
            }
            Named::Player(id) => Ok(find_player(app(ctx), id).await?.map(Node::Player)),
            Named::Dispute(id) => Ok(dispute::find(ctx, id).await?.map(Node::Dispute)),
        }
    }

    /// Yourself; nobody without a token.
    async fn me(&self, ctx: &Context<'_>) -> Option<Player> {
        viewer_if_any(ctx).map(|viewer| Player::new(viewer.account))
    }

    /// A game you may see: a public one, one you sit at, or one you have the invite code of.
    async fn game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game's id.")] id: ID,
        #[graphql(desc = "The code of a private game.")] invite_code: Option<String>,
    ) -> async_graphql::Result<Option<GameView>> {
        let viewer = viewer(ctx)?;
        Ok(GameView::find(app(ctx), viewer, game_id(&id)?, invite_code.as_deref()).await?)
    }

    /// The games you sit or sat at, the newest first. A moment behind the games themselves.
    async fn my_games(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only games that are this far.")] stage: Option<GameStage>,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<GameConnection> {
        const ALL: &str = "SELECT game FROM game_player WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND player = $1 AND game < $2 ORDER BY game DESC LIMIT $3";
        const STAGE: &str = "
SELECT game FROM game_player WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND player = $1 AND game < $2 AND stage = $4 ORDER BY game DESC LIMIT $3";
        let viewer = player(ctx)?;
        let (size, before) = (page_size(first)?, cursor(after.as_deref())?);
        let query = sqlx::query(if stage.is_some() { STAGE } else { ALL });
        let query = query.bind(viewer.account).bind(before).bind(limit(size));
        let query = match stage {
            Some(GameStage::Gathering) => query.bind("gathering"),
            Some(GameStage::Playing) => query.bind("playing"),
            Some(GameStage::Ended) => query.bind("ended"),
            None => query,
        };
        games(ctx, query, size, after.is_some()).await
    }

    /// Who is best at a game.
    async fn leaderboard(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What is played: `farkle` …")] game: String,
        #[graphql(desc = "The preset; the game's default if you do not say.")] preset: Option<
            String,
        >,
        #[graphql(desc = "What counts.")] by: LeaderboardMeasure,
        #[graphql(desc = "Which games count.", default_with = "LeaderboardSpan::AllTime")]
        span: LeaderboardSpan,
        #[graphql(desc = "How many days, weeks or months ago: 0 is the current one.", default)]
        ago: i32,
        #[graphql(desc = "The code of the season, for `span: SEASON`.")] season: Option<String>,
    ) -> async_graphql::Result<Leaderboard> {
        viewer(ctx)?;
        app(ctx).database.check()?;
        let period = Leaderboard::period_of(ctx, span, ago, season.as_deref()).await?;
        Leaderboard::find(&game, preset.as_deref(), by, period)
    }

    /// Checks a game: its chain, its commitment, every roll, every decision. Nothing if you may not see it.
    async fn verify_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The code of a private table.")] invite_code: Option<String>,
    ) -> async_graphql::Result<Option<Verification>> {
        let viewer = viewer(ctx)?;
        let id = self::game_id(&game_id)?;
        let seen = GameView::find(app(ctx), viewer, id, invite_code.as_deref()).await?;
        if seen.is_none() {
            return Ok(None);
        }
        Ok(Some(Verification::of(&app(ctx).tables.store, id).await?))
    }

    /// Everything that happened in a game, step by step: for who played it once it is over, for support at any time. Nothing if you may
    /// not see it.
    async fn replay(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
    ) -> async_graphql::Result<Option<ReplayView>> {
        app(ctx).database.check()?;
        replay::find(ctx, &game_id).await
    }

    /// A game played otherwise: with other rules, dice, loadouts or moves, from any version on, the original beside it. For who may
    /// replay it. Nothing of it is stored, counted or paid.
    async fn what_if(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "How it is played otherwise.")] input: WhatIfInput,
    ) -> async_graphql::Result<Option<WhatIf>> {
        app(ctx).database.check()?;
        what_if::find(ctx, &game_id, input).await
    }

    /// A dispute, if it is yours or you see to disputes.
    async fn dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Its id.")] id: ID,
    ) -> async_graphql::Result<Option<DisputeView>> {
        let (viewer, id) = (viewer(ctx)?, dispute::dispute_id(&id)?);
        if dispute::STAFF.contains(&viewer.role) {
            dispute::acting(ctx, "look_at_dispute", id).await?;
        }
        dispute::find(ctx, id).await
    }

    /// The disputes you opened, the oldest first.
    async fn my_disputes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<DisputeConnection> {
        let viewer = player(ctx)?;
        let wanted = Wanted { player: Some(viewer.account), ..Wanted::default() };
        dispute::list(ctx, viewer, wanted, first, after).await
    }

    /// Disputes, the oldest first. For support and admins.
    async fn disputes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only those that are resolved, or are not.")] resolved: Option<bool>,
        #[graphql(desc = "Only those that you see to.", default)] mine: bool,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<DisputeConnection> {
        let viewer = allowed(ctx, dispute::STAFF)?;
        app(ctx).database.check()?;
        let store = &app(ctx).tables.store;
        audit::note(store, &viewer, "list_disputes", Uuid::nil(), None).await?;
        let assignee = mine.then_some(viewer.account);
        let wanted = Wanted { resolved, assignee, ..Wanted::default() };
        dispute::list(ctx, viewer, wanted, first, after).await
    }

    /// What a remedy would do to the game, to wallets and accounts. For support and admins.
    async fn preview_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The remedy.")] remedy: RemedyInput,
    ) -> async_graphql::Result<RemedyPreview> {
        remedy::preview(ctx, &dispute_id, &remedy).await
    }

    /// Everything that staff did, in order: chained by hashes like games, and sealed. For admins.
    async fn audit_log(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only what this member of staff did.")] by: Option<ID>,
        #[graphql(desc = "Only what was done to this game, account or dispute.")] subject: Option<
            Uuid,
        >,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<AuditConnection> {
        allowed(ctx, &[Role::Admin])?;
        app(ctx).database.check()?;
        let staff = by.as_ref().map(player_id).transpose()?;
        audit_log(ctx, Filter { staff, subject }, first, after).await
    }

    /// Everything that is known about you beside the games themselves, as JSON: account, sessions, wallet, evidence, what you wrote.
    async fn my_data(&self, ctx: &Context<'_>) -> async_graphql::Result<Json<Value>> {
        privacy::own(ctx).await
    }

    /// The same about somebody else, unmasked. That you looked is in the audit log. For support and admins.
    async fn personal_data(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The player.")] player_id: ID,
        #[graphql(desc = "Because of which dispute.")] dispute_id: Option<ID>,
    ) -> async_graphql::Result<Json<Value>> {
        privacy::of_player(ctx, &player_id, dispute_id.as_ref()).await
    }

    /// All seasons, the latest first.
    async fn seasons(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<SeasonView>> {
        viewer(ctx)?;
        app(ctx).database.check()?;
        season::all(ctx).await
    }

    /// How often which dice, characters and seats win, and how sure that is. For analysts and admins.
    async fn balance(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What the lines are about.")] by: BalanceBy,
        #[graphql(desc = "Which games; all of them if you do not say.")] filter: Option<
            BalanceFilter,
        >,
        #[graphql(desc = "Only these lines, at most 100: codes of dice, for one.")] names: Option<
            Vec<String>,
        >,
    ) -> async_graphql::Result<Balance> {
        Balance::find(ctx, by, filter.unwrap_or_default(), names).await
    }

    /// Public games with a free seat, the newest first. A moment behind the games themselves.
    async fn lobby(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only this kind of game: `farkle` …")] game: Option<String>,
        #[graphql(desc = "Only games of this preset.")] preset: Option<String>,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<GameConnection> {
        const OPEN: &str = "
SELECT game FROM game_index
 WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND open AND game < $1 AND ($3::text IS NULL OR kind = $3) AND ($4::text IS NULL OR preset = $4)
 ORDER BY game DESC LIMIT $2";
        viewer(ctx)?;
        let (size, before) = (page_size(first)?, cursor(after.as_deref())?);
        // No game has such a name, and PostgreSQL knows no such text.
        if [&game, &preset].into_iter().flatten().any(|name| name.contains('\0')) {
            return Ok(GameConnection::page(Vec::new(), false, size, after.is_some()));
        }
        let query = sqlx::query(OPEN).bind(before).bind(limit(size)).bind(game).bind(preset);
        games(ctx, query, size, after.is_some()).await
    }

    /// The rule presets, of one game or of all; the first one of a game is its default.
    async fn presets(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of this game: `farkle` …")] game: Option<String>,
    ) -> async_graphql::Result<Vec<RulesetView>> {
        app(ctx).database.check()?;
        Ok(presets(ctx, game.as_deref()).await?)
    }

    /// The kinds of special dice there are, also those that are retired.
    async fn dice_catalogue(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<DieKindView>> {
        app(ctx).database.check()?;
        Ok(views(&*app(ctx).tables.wallets.catalogue().await?))
    }

    /// The dice for sale.
    async fn shop(&self, ctx: &Context<'_>) -> async_graphql::Result<Shop> {
        app(ctx).database.check()?;
        Ok(Shop::load(ctx).await?)
    }
}

type PgQuery = sqlx::query::Query<'static, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// A page of games out of their ids.
async fn games(
    ctx: &Context<'_>,
    query: PgQuery,
    size: usize,
    after: bool,
) -> async_graphql::Result<GameConnection> {
    let app: &Arc<App> = app(ctx);
    app.database.check()?;
    let rows = query.fetch_all(app.tables.store.pool()).await.map_err(PlayError::from)?;
    let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Uuid>, _>>();
    let ids = ids.map_err(PlayError::from)?;
    let views = GameView::load(app, viewer_if_any(ctx), &ids[..ids.len().min(size)], None).await?;
    let found = views.into_iter().flatten().map(|view| (view.id.to_string(), view));
    Ok(GameConnection::page(found.collect(), ids.len() > size, size, after))
}

async fn find_player(app: &App, id: Uuid) -> async_graphql::Result<Option<Player>> {
    app.database.check()?;
    let account = app.accounts.find(id).await.map_err(super::errors::account_error)?;
    Ok(account.map(|account| Player::new(account.id)))
}

/// One more than fits, to know whether there is another page.
fn limit(size: usize) -> i64 {
    i64::try_from(size + 1).unwrap_or(i64::MAX)
}

/// Game ids are in the order of creation; without a cursor a page begins at the newest.
fn cursor(after: Option<&str>) -> async_graphql::Result<Uuid> {
    let wrong = |_| bad_input("after is the cursor of an edge of this list");
    after.map_or(Ok(Uuid::max()), Uuid::try_parse).map_err(wrong)
}
