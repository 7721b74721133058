//! Seasons.

use async_graphql::{Context, InputObject, Object, SimpleObject};
use projections::{Season, seasons};

use super::{
    allowed, app,
    errors::{UserErrorView, bad_input},
    scalars::Date,
};
use crate::{
    accounts::Role,
    disputes::audit,
    play::{AppError, ServiceCode, UserError},
};

/// A period of days with its own leaderboards.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Season")]
pub(super) struct SeasonView {
    /// The code: `winter-2026`.
    code: String,
    /// The display name.
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

/// The result of creating a season.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct SeasonPayload {
    /// The season. Null if the command was rejected.
    season: Option<SeasonView>,
    /// Why the command was rejected. If not empty, nothing was changed.
    user_errors: Vec<UserErrorView>,
}

/// All seasons, latest first.
pub(super) async fn all(ctx: &Context<'_>) -> async_graphql::Result<Vec<SeasonView>> {
    let found = seasons::seasons(app(ctx).games.store.pool()).await.map_err(AppError::from)?;
    Ok(found.into_iter().map(Into::into).collect())
}

/// The season with this code.
pub(super) async fn named(ctx: &Context<'_>, code: &str) -> async_graphql::Result<Season> {
    let pool = app(ctx).games.store.pool();
    let found = if is_code(code) { seasons::season(pool, code).await } else { Ok(None) };
    let found = found.map_err(AppError::from)?;
    let unknown =
        UserError::new(ServiceCode::UnknownSeason, "season not found; see the query seasons");
    Ok(found.ok_or_else(|| AppError::from(unknown.at("season")))?)
}

/// Whether this is a valid code: 1 to 40 lowercase letters, digits and hyphens.
fn is_code(code: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&code.len()) && code.bytes().all(allowed)
}

/// The maximum length of a season in days.
const MAX_DAYS: i32 = 3_660;

/// The season to create.
#[derive(Clone, Debug, InputObject)]
struct NameSeasonInput {
    /// The code: 1 to 40 lowercase letters, digits and hyphens.
    code: String,
    /// The display name: 1 to 60 characters on one line.
    title: String,
    /// The first day, in UTC.
    from: Date,
    /// The last day, in UTC.
    to: Date,
}

/// Seasons.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeasonMutation;

/// Seasons.
#[Object]
impl SeasonMutation {
    /// Creates a season. Its days may be in the past or the future; games already played in them
    /// are counted within seconds. For admins.
    async fn name_season(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The season.")] input: NameSeasonInput,
    ) -> async_graphql::Result<SeasonPayload> {
        let admin = allowed(ctx, &[Role::Admin])?;
        app(ctx).database.check()?;
        let NameSeasonInput { code, title, from, to } = input;
        if !is_code(&code) {
            return Err(bad_input("code must be 1 to 40 lowercase letters, digits and hyphens"));
        }
        if !domain::is_line(&title, 1..=60) {
            return Err(bad_input("title must be one line of 1 to 60 visible characters"));
        }
        if to.0 < from.0 || to.0 - from.0 >= MAX_DAYS {
            let message =
                format!("to must not be before from, and a season has at most {MAX_DAYS} days");
            return Err(bad_input(message));
        }
        let season = Season { code, title, first: from.0, last: to.0 };
        let pool = app(ctx).games.store.pool();
        let (store, none) = (&app(ctx).games.store, uuid::Uuid::nil());
        audit::record(store, &admin, "name_season", none, None).await?;
        let created = seasons::create(pool, &season, admin.account).await;
        if created.map_err(AppError::from)? {
            tracing::info!(staff = %admin.account, season = season.code, "season created");
            return Ok(SeasonPayload { season: Some(season.into()), user_errors: Vec::new() });
        }
        let exists = "a season with this code already exists";
        let error = UserError::new(ServiceCode::SeasonExists, exists).at("code");
        Ok(SeasonPayload { season: None, user_errors: vec![error.into()] })
    }
}
