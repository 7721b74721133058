//! Seasons.

use async_graphql::{Context, Object, SimpleObject};
use projections::{Season, seasons};

use super::{
    allowed, app,
    errors::{Problem, bad_input},
    scalars::Date,
};
use crate::{
    accounts::Role,
    disputes::audit,
    play::{PlayError, Refusal, ServiceCode},
};

/// A stretch of days with leaderboards of its own.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Season")]
pub(super) struct SeasonView {
    /// What programs call it: `winter-2026`.
    code: String,
    /// What people call it.
    title: String,
    /// The first day, in UTC.
    from: Date,
    /// The last day, in UTC.
    to: Date,
}

impl From<Season> for SeasonView {
    fn from(season: Season) -> Self {
        let Season { code, title, first, last } = season;
        Self { code, title, from: Date(first), to: Date(last) }
    }
}

/// What came of naming a season.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct SeasonPayload {
    /// The season; nothing if it was refused.
    season: Option<SeasonView>,
    /// Why it was refused. Nothing was changed.
    errors: Vec<Problem>,
}

/// All seasons, the latest first.
pub(super) async fn all(ctx: &Context<'_>) -> async_graphql::Result<Vec<SeasonView>> {
    let found = seasons::seasons(app(ctx).tables.store.pool()).await.map_err(PlayError::from)?;
    Ok(found.into_iter().map(Into::into).collect())
}

/// The season of this code.
pub(super) async fn named(ctx: &Context<'_>, code: &str) -> async_graphql::Result<Season> {
    let pool = app(ctx).tables.store.pool();
    let found = if is_code(code) { seasons::season(pool, code).await } else { Ok(None) };
    let found = found.map_err(PlayError::from)?;
    let unknown =
        Refusal::new(ServiceCode::UnknownSeason, "there is no such season: see the query seasons");
    Ok(found.ok_or_else(|| PlayError::from(unknown.at("season")))?)
}

/// 1 to 40 small letters, digits and hyphens.
fn is_code(code: &str) -> bool {
    let lawful = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&code.len()) && code.bytes().all(lawful)
}

/// Longer than this no season is.
const MOST_DAYS: i32 = 3_660;

/// Seasons.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeasonMutation;

/// Seasons.
#[Object]
impl SeasonMutation {
    /// Names a season. Its days may lie in the future or the past: what was played in them is counted within a second or two. For admins.
    async fn name_season(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What programs call it: 1 to 40 small letters, digits and hyphens.")] code: String,
        #[graphql(desc = "What people call it: a line of 1 to 60 characters.")] title: String,
        #[graphql(desc = "The first day, in UTC.")] from: Date,
        #[graphql(desc = "The last day, in UTC.")] to: Date,
    ) -> async_graphql::Result<SeasonPayload> {
        let admin = allowed(ctx, &[Role::Admin])?;
        app(ctx).database.check()?;
        if !is_code(&code) {
            return Err(bad_input("code must be 1 to 40 small letters, digits and hyphens"));
        }
        if !domain::is_line(&title, 1..=60) {
            return Err(bad_input("title must be a line of 1 to 60 characters that can be seen"));
        }
        if to.0 < from.0 || to.0 - from.0 >= MOST_DAYS {
            let message = format!("to must be behind from, at most {MOST_DAYS} days");
            return Err(bad_input(message));
        }
        let season = Season { code, title, first: from.0, last: to.0 };
        let pool = app(ctx).tables.store.pool();
        let (store, none) = (&app(ctx).tables.store, uuid::Uuid::nil());
        audit::note(store, &admin, "name_season", none, None).await?;
        let created = seasons::create(pool, &season, admin.account).await;
        if created.map_err(PlayError::from)? {
            tracing::info!(staff = %admin.account, season = season.code, "a season was named");
            return Ok(SeasonPayload { season: Some(season.into()), errors: Vec::new() });
        }
        let exists = "there is a season of this code already; choose another one";
        let refusal = Refusal::new(ServiceCode::SeasonExists, exists).at("code");
        Ok(SeasonPayload { season: None, errors: vec![refusal.into()] })
    }
}
