//! Signing in and out.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};
use domain::Sanction;
use uuid::Uuid;

use super::{
    allowed, app,
    errors::{UserErrorView, account_error, account_user_error},
    ids::player_id,
    player::Player,
    scalars::{DateTime, int},
    viewer, viewer_if_any,
};
use crate::{
    accounts::{Account, AccountError, Role, SessionTokens},
    clock,
    disputes::audit,
    play::{ServiceCode, UserError},
};

/// The result of signing in.
#[derive(Clone, Debug, Default, SimpleObject)]
pub(super) struct SessionPayload {
    /// The access token. Send it as the header `authorization: Bearer TOKEN`, or as `authorization`
    /// in the connection parameters of a WebSocket.
    access_token: Option<String>,
    /// When the access token expires.
    access_token_expires_at: Option<DateTime>,
    /// Exchange it for new tokens with `refreshSession`. Store it like a password.
    refresh_token: Option<String>,
    /// When the refresh token expires if it is not used.
    refresh_token_expires_at: Option<DateTime>,
    /// The signed-in player.
    player: Option<Player>,
    /// Why signing in failed. If not empty, there are no tokens.
    user_errors: Vec<UserErrorView>,
}

/// The result of ending sessions.
#[derive(Clone, Debug, SimpleObject)]
struct SignOutPayload {
    /// The number of sessions ended.
    ended: i32,
}

impl SessionPayload {
    fn of(player: uuid::Uuid, tokens: SessionTokens) -> Self {
        Self {
            access_token: Some(tokens.access),
            access_token_expires_at: Some(DateTime(tokens.access_until)),
            refresh_token: Some(tokens.refresh),
            refresh_token_expires_at: Some(DateTime(tokens.refresh_until)),
            player: Some(Player { account: player, own: true }),
            user_errors: Vec::new(),
        }
    }

    fn rejected(error: AccountError) -> async_graphql::Result<Self> {
        Ok(Self { user_errors: vec![account_user_error(error)?], ..Self::default() })
    }
}

async fn start_session(
    ctx: &Context<'_>,
    account: Result<Account, AccountError>,
) -> async_graphql::Result<SessionPayload> {
    let accounts = &app(ctx).accounts;
    if let Ok(account) = &account
        && account.role == Role::Player
    {
        // A failure must not prevent signing in: the wallet is opened later, when it is needed.
        if let Err(error) = app(ctx).games.wallets.open(account.id).await {
            tracing::warn!(?error, account = %account.id, "opening a wallet failed");
        }
    }
    let tokens = match account {
        Ok(account) => accounts.begin(&account).await.map(|tokens| (account.id, tokens)),
        Err(error) => Err(error),
    };
    match tokens {
        Ok((player, tokens)) => issue_tokens(ctx, player, tokens).await,
        Err(error) => SessionPayload::rejected(error),
    }
}

/// Returns the tokens unless the player is banned or suspended. Checked after the session starts,
/// so that a sanction imposed meanwhile ends this session too.
async fn issue_tokens(
    ctx: &Context<'_>,
    player: Uuid,
    tokens: SessionTokens,
) -> async_graphql::Result<SessionPayload> {
    if let Some(error) = sanction_error(ctx, player).await? {
        app(ctx).accounts.revoke_all(player).await.map_err(account_error)?;
        return Ok(SessionPayload { user_errors: vec![error.into()], ..SessionPayload::default() });
    }
    Ok(SessionPayload::of(player, tokens))
}

/// The error if the account is banned or suspended.
async fn sanction_error(
    ctx: &Context<'_>,
    account: Uuid,
) -> async_graphql::Result<Option<UserError>> {
    let wallet = app(ctx).games.wallets.of(account).await?;
    Ok(match wallet.aggregate.as_ref().and_then(|account| account.sanction) {
        Some(Sanction::Ban) => Some(UserError::new(ServiceCode::Banned, "this account is banned")),
        Some(Sanction::Suspension(until)) if until > clock::now() => {
            let message = format!("this account is suspended until {}", clock::rfc3339(until));
            Some(UserError::new(ServiceCode::Suspended, message))
        }
        Some(Sanction::Suspension(_) | Sanction::Warning | Sanction::Lifted) | None => None,
    })
}

/// A guest account.
#[derive(Clone, Debug, InputObject)]
struct SignInAsGuestInput {
    /// The name shown at tables. Defaults to a generated one.
    name: Option<String>,
}

/// A new account.
#[derive(Clone, Debug, InputObject)]
struct RegisterInput {
    /// The name to sign in with, also shown at tables: 1 to 32 characters.
    name: String,
    /// The password: 8 to 128 characters.
    #[graphql(secret)]
    password: String,
}

/// Credentials.
#[derive(Clone, Debug, InputObject)]
struct SignInInput {
    /// The name.
    name: String,
    /// The password.
    #[graphql(secret)]
    password: String,
}

/// A refresh token.
#[derive(Clone, Debug, InputObject)]
struct RefreshSessionInput {
    /// The latest refresh token.
    #[graphql(secret)]
    refresh_token: String,
}

/// Sessions to end.
#[derive(Clone, Copy, Debug, InputObject)]
struct SignOutInput {
    /// Whether to end all your sessions, on all devices.
    #[graphql(default)]
    everywhere: bool,
}

/// The player whose sessions to end.
#[derive(Clone, Debug, InputObject)]
struct EndSessionsInput {
    /// The player.
    player_id: ID,
}

/// Signing in and out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionMutation;

/// Signing in and out.
#[Object]
impl SessionMutation {
    /// Signs in as a guest, without a password. A guest who loses the tokens loses the account; use
    /// `register` to keep it.
    async fn sign_in_as_guest(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The name.")] input: Option<SignInAsGuestInput>,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        let guest = app(ctx).accounts.guest(input.and_then(|input| input.name).as_deref()).await;
        start_session(ctx, guest).await
    }

    /// Creates an account with a password. A guest keeps games and id.
    async fn register(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Name and password.")] input: RegisterInput,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        let guest = viewer_if_any(ctx).map(|viewer| viewer.account);
        let account = app(ctx).accounts.register(&input.name, &input.password, guest).await;
        start_session(ctx, account).await
    }

    /// Signs in with name and password.
    async fn sign_in(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Name and password.")] input: SignInInput,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        let account = app(ctx).accounts.sign_in(&input.name, &input.password).await;
        start_session(ctx, account).await
    }

    /// Exchanges a refresh token for new tokens. Each refresh token is valid once: using it again
    /// ends the session.
    async fn refresh_session(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The refresh token.")] input: RefreshSessionInput,
    ) -> async_graphql::Result<SessionPayload> {
        app(ctx).database.check()?;
        match app(ctx).accounts.renew(&input.refresh_token).await {
            Ok((player, tokens)) => issue_tokens(ctx, player, tokens).await,
            Err(error) => SessionPayload::rejected(error),
        }
    }

    /// Ends your session or all of them. Their tokens are invalidated on all nodes within a second.
    async fn sign_out(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The sessions to end. Defaults to this one.")] input: Option<SignOutInput>,
    ) -> async_graphql::Result<SignOutPayload> {
        let viewer = viewer(ctx)?;
        let accounts = &app(ctx).accounts;
        app(ctx).database.check()?;
        let ended = if input.is_some_and(|input| input.everywhere) {
            accounts.revoke_all(viewer.account).await
        } else {
            accounts.revoke(viewer.session).await.map(usize::from)
        };
        ended.map(|ended| SignOutPayload { ended: int(ended) }).map_err(account_error)
    }

    /// Ends all sessions of a player. For support and admins.
    async fn end_sessions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The player.")] input: EndSessionsInput,
    ) -> async_graphql::Result<SignOutPayload> {
        let staff = allowed(ctx, &[Role::Support, Role::Admin])?;
        let player = player_id(&input.player_id)?;
        app(ctx).database.check()?;
        audit::record(&app(ctx).games.store, &staff, "end_sessions", player, None).await?;
        let ended = app(ctx).accounts.revoke_all(player).await.map_err(account_error)?;
        tracing::info!(staff = %staff.account, %player, ended, "staff ended sessions");
        Ok(SignOutPayload { ended: int(ended) })
    }
}
