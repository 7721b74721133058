//! Signing in and out.

use async_graphql::{Context, ID, Object, SimpleObject};
use domain::Sanction;
use uuid::Uuid;

use super::{
    allowed, app,
    errors::{Problem, account_error, account_problem},
    ids::player_id,
    player::Player,
    scalars::{Instant, int},
    viewer, viewer_if_any,
};
use crate::{
    accounts::{Account, AccountError, Role, SessionTokens},
    clock,
    disputes::audit,
    play::{Refusal, ServiceCode},
};

/// What somebody gets who signs in; or why not.
#[derive(Clone, Debug, Default, SimpleObject)]
pub(super) struct SessionPayload {
    /// Send it with every request, as the header `authorization: Bearer TOKEN`; on a socket as `authorization` of the
    /// connection's parameters.
    access_token: Option<String>,
    /// When the access token ends.
    access_token_expires_at: Option<Instant>,
    /// Spend it with `refreshSession` for new tokens. Keep it safe: who has it is you.
    refresh_token: Option<String>,
    /// When the refresh token ends, if it is not used.
    refresh_token_expires_at: Option<Instant>,
    /// Who you are.
    player: Option<Player>,
    /// Why not. Nothing was changed.
    errors: Vec<Problem>,
}

/// What came of ending sessions.
#[derive(Clone, Debug, SimpleObject)]
struct SignOutPayload {
    /// How many sessions were ended.
    ended: i32,
}

impl SessionPayload {
    fn of(player: uuid::Uuid, tokens: SessionTokens) -> Self {
        Self {
            access_token: Some(tokens.access),
            access_token_expires_at: Some(Instant(tokens.access_until)),
            refresh_token: Some(tokens.refresh),
            refresh_token_expires_at: Some(Instant(tokens.refresh_until)),
            player: Some(Player { account: player, own: true }),
            errors: Vec::new(),
        }
    }

    fn refused(error: AccountError) -> async_graphql::Result<Self> {
        Ok(Self { errors: vec![account_problem(error)?], ..Self::default() })
    }
}

async fn begin(
    ctx: &Context<'_>,
    account: Result<Account, AccountError>,
) -> async_graphql::Result<SessionPayload> {
    let accounts = &app(ctx).accounts;
    if let Ok(account) = &account
        && account.role == Role::Player
    {
        // Who cannot have a wallet right now can sign in all the same: it is opened when it is needed.
        if let Err(error) = app(ctx).tables.wallets.open(account.id).await {
            tracing::warn!(?error, account = %account.id, "a wallet cannot be opened yet");
        }
    }
    let tokens = match account {
        Ok(account) => accounts.begin(&account).await.map(|tokens| (account.id, tokens)),
        Err(error) => Err(error),
    };
    match tokens {
        Ok((player, tokens)) => let_in(ctx, player, tokens).await,
        Err(error) => SessionPayload::refused(error),
    }
}

/// Hands out tokens, unless somebody may not play. Looked at behind the beginning: who is kept out from now on has this session ended
/// too.
async fn let_in(
    ctx: &Context<'_>,
    player: Uuid,
    tokens: SessionTokens,
) -> async_graphql::Result<SessionPayload> {
    if let Some(refusal) = kept_out(ctx, player).await? {
        app(ctx).accounts.end_all(player).await.map_err(account_error)?;
        return Ok(SessionPayload { errors: vec![refusal.into()], ..SessionPayload::default() });
    }
    Ok(SessionPayload::of(player, tokens))
}

/// Why somebody may not play, if they may not.
async fn kept_out(ctx: &Context<'_>, account: Uuid) -> async_graphql::Result<Option<Refusal>> {
    let wallet = app(ctx).tables.wallets.of(account).await?;
    Ok(match wallet.now.as_ref().and_then(|account| account.sanction) {
        Some(Sanction::Ban) => Some(Refusal::new(ServiceCode::Banned, "this account is banned")),
        Some(Sanction::Suspension(until)) if until > clock::now() => {
            let message = format!("this account is suspended until {}", clock::written(until));
            Some(Refusal::new(ServiceCode::Suspended, message))
        }
        Some(Sanction::Suspension(_) | Sanction::Warning | Sanction::Lifted) | None => None,
    })
}

/// Signing in and out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionMutation;

/// Signing in and out.
#[Object]
impl SessionMutation {
    /// Begins at once, without a password. Who loses the tokens of a guest loses the account; `register` keeps it.
    async fn sign_in_as_guest(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The name shown at tables; one is made up if you do not say.")]
        name: Option<String>,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        let guest = app(ctx).accounts.guest(name.as_deref()).await;
        begin(ctx, guest).await
    }

    /// Makes an account with a password. A guest who does this keeps games and id.
    async fn register(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The name to sign in with, shown at tables: 1 to 32 characters.")]
        name: String,
        #[graphql(desc = "8 to 128 characters.", secret)] password: String,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        let guest = viewer_if_any(ctx).map(|viewer| viewer.account);
        let account = app(ctx).accounts.register(&name, &password, guest).await;
        begin(ctx, account).await
    }

    /// Signs in with name and password.
    async fn sign_in(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The name.")] name: String,
        #[graphql(desc = "The password.", secret)] password: String,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        let account = app(ctx).accounts.sign_in(&name, &password).await;
        begin(ctx, account).await
    }

    /// Spends a refresh token for new tokens. Each one is good once: a copy that is used later ends the session.
    async fn refresh_session(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The refresh token you got last.", secret)] refresh_token: String,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        match app(ctx).accounts.renew(&refresh_token).await {
            Ok((player, tokens)) => let_in(ctx, player, tokens).await,
            Err(error) => SessionPayload::refused(error),
        }
    }

    /// Ends your session, or all of them: their tokens are good no more, within a second on every node.
    async fn sign_out(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "All your sessions, on all devices.", default)] everywhere: bool,
    ) -> async_graphql::Result<SignOutPayload> {
        let viewer = viewer(ctx)?;
        let accounts = &app(ctx).accounts;
        app(ctx).database.check()?;
        let ended = if everywhere {
            accounts.end_all(viewer.account).await
        } else {
            accounts.end(viewer.session).await.map(usize::from)
        };
        ended.map(|ended| SignOutPayload { ended: int(ended) }).map_err(account_error)
    }

    /// Ends all sessions of a player. For support and admins.
    async fn end_sessions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The player.")] player_id: ID,
    ) -> async_graphql::Result<SignOutPayload> {
        let staff = allowed(ctx, &[Role::Support, Role::Admin])?;
        let player = self::player_id(&player_id)?;
        app(ctx).database.check()?;
        audit::note(&app(ctx).tables.store, &staff, "end_sessions", player, None).await?;
        let ended = app(ctx).accounts.end_all(player).await.map_err(account_error)?;
        tracing::info!(staff = %staff.account, %player, ended, "sessions were ended by staff");
        Ok(SignOutPayload { ended: int(ended) })
    }
}
