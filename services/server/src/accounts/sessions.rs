//! Sessions and refresh tokens.
//!
//! A refresh token is signed and contains the session and a generation. Each use replaces it by one
//! of the next generation. A used token that is presented again was probably stolen, so the session
//! is revoked; within a short grace period it is taken for a retry after a lost response, or for one
//! of several requests at once, and gets the same successor. The table contains no secrets.

use std::time::Duration;

use domain::Moment;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, Row, postgres::PgRow};
use store::StoreError;
use uuid::Uuid;

use super::{Account, AccountError, Accounts, Role, Viewer};
use crate::clock;

/// How long a used refresh token is accepted as a retry, in milliseconds.
const GRACE: u64 = 10_000;

/// The tokens of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionTokens {
    pub(crate) access: String,
    pub(crate) access_until: Moment,
    pub(crate) refresh: String,
    pub(crate) refresh_until: Moment,
}

impl Accounts {
    pub(crate) async fn begin(&self, account: &Account) -> Result<SessionTokens, AccountError> {
        const BEGIN: &str = "
INSERT INTO session (id, account, created_at, expires_at, generation) VALUES ($1, $2, $3, $4, 1)";
        let (now, session) = (clock::now(), Uuid::now_v7());
        let until = later(now, self.tokens.lifetimes.refresh);
        let query = sqlx::query(BEGIN).bind(session).bind(account.id).bind(clock::to_sql(now));
        query.bind(clock::to_sql(until)).execute(&self.pool).await?;
        self.issue_tokens(account.id, account.role, Refresh { sid: session, generation: 1 }, now)
    }

    /// Begins a staff session: one access token, which cannot be renewed.
    pub(crate) async fn begin_staff(
        &self,
        account: &Account,
        life: Duration,
    ) -> Result<(Uuid, String), AccountError> {
        const BEGIN: &str =
            "INSERT INTO session (id, account, created_at, expires_at) VALUES ($1, $2, $3, $4)";
        let (now, session) = (clock::now(), Uuid::now_v7());
        let until = later(now, life);
        let query = sqlx::query(BEGIN).bind(session).bind(account.id).bind(clock::to_sql(now));
        query.bind(clock::to_sql(until)).execute(&self.pool).await?;
        let viewer = Viewer { account: account.id, role: account.role, session, until };
        let token = self.tokens.issue(&viewer, now).ok_or_else(missing_key)?;
        Ok((session, token))
    }

    /// Exchanges a refresh token for new tokens.
    pub(crate) async fn renew(&self, token: &str) -> Result<(Uuid, SessionTokens), AccountError> {
        const FIND: &str = "
SELECT s.account, s.generation, s.renewed_at, a.role
  FROM session s JOIN account a ON a.id = s.account
 WHERE s.id = $1 AND s.revoked_at IS NULL AND s.expires_at > $2";
        const RENEW: &str = "
UPDATE session SET generation = generation + 1, renewed_at = $3, expires_at = $4
 WHERE id = $1 AND generation = $2 AND revoked_at IS NULL";
        let now = clock::now();
        let presented: Option<(Refresh, Uuid)> = self.tokens.verify(token);
        let (presented, _) = presented.ok_or(AccountError::BadRefreshToken)?;
        // Retries if the session is renewed concurrently.
        for _ in 0..3 {
            let query = sqlx::query(FIND).bind(presented.sid).bind(clock::to_sql(now));
            let row =
                query.fetch_optional(&self.pool).await?.ok_or(AccountError::BadRefreshToken)?;
            let current: i32 = row.try_get("generation")?;
            let renewed_at: Option<i64> = row.try_get("renewed_at")?;
            let since = now.0.saturating_sub(clock::from_sql(renewed_at.unwrap_or(0)).0);
            let account: Uuid = row.try_get("account")?;
            let role = Role::named(row.try_get("role")?).unwrap_or(Role::Player);
            if presented.generation + 1 == current && since <= GRACE {
                let same = Refresh { sid: presented.sid, generation: current };
                return Ok((account, self.issue_tokens(account, role, same, now)?));
            }
            if presented.generation != current {
                self.revoke(presented.sid).await?;
                return Err(AccountError::BadRefreshToken);
            }
            let until = later(now, self.tokens.lifetimes.refresh);
            let query = sqlx::query(RENEW).bind(presented.sid).bind(current);
            let query = query.bind(clock::to_sql(now)).bind(clock::to_sql(until));
            if query.execute(&self.pool).await?.rows_affected() == 1 {
                let next = Refresh { sid: presented.sid, generation: current + 1 };
                return Ok((account, self.issue_tokens(account, role, next, now)?));
            }
        }
        Err(AccountError::Busy)
    }

    /// Revokes a session; returns whether there was an active one.
    pub(crate) async fn revoke(&self, session: Uuid) -> Result<bool, AccountError> {
        const END: &str = "
UPDATE session SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id, generation, expires_at";
        let query = sqlx::query(END).bind(session).bind(clock::to_sql(clock::now()));
        let rows = query.fetch_all(&self.pool).await?;
        self.add_revoked(&rows)?;
        Ok(!rows.is_empty())
    }

    /// Revokes all sessions of an account; returns their number.
    pub(crate) async fn revoke_all(&self, account: Uuid) -> Result<usize, AccountError> {
        let mut connection = self.pool.acquire().await?;
        self.revoke_all_on(&mut connection, account).await
    }

    /// The same within a transaction.
    pub(super) async fn revoke_all_on(
        &self,
        connection: &mut PgConnection,
        account: Uuid,
    ) -> Result<usize, AccountError> {
        const END: &str = "
UPDATE session SET revoked_at = $2 WHERE account = $1 AND revoked_at IS NULL AND expires_at > $2
RETURNING id, generation, expires_at";
        let query = sqlx::query(END).bind(account).bind(clock::to_sql(clock::now()));
        let rows = query.fetch_all(connection).await?;
        self.add_revoked(&rows)?;
        Ok(rows.len())
    }

    /// Remembers revoked sessions until their tokens expire: those of players within minutes, those
    /// of staff (sessions without generation) with the session.
    fn add_revoked(&self, rows: &[PgRow]) -> Result<(), sqlx::Error> {
        let tokens_expire = later(clock::now(), self.tokens.lifetimes.access);
        let mut ended = Vec::with_capacity(rows.len());
        for row in rows {
            let staff = row.try_get::<Option<i32>, _>("generation")?.is_none();
            let expires = clock::from_sql(row.try_get("expires_at")?);
            ended.push((row.try_get("id")?, if staff { expires } else { tokens_expire }));
        }
        self.tokens.revoked.add(ended);
        Ok(())
    }

    /// Loads the sessions that were revoked since then on any node.
    async fn load_revoked_since(&self, since: Moment) -> Result<(), StoreError> {
        const REVOKED: &str = "
SELECT id, generation, expires_at FROM session
 WHERE revoked_at >= $1 AND expires_at > $2 AND (generation IS NULL OR revoked_at >= $3)";
        let now = clock::now();
        let tokens_expired = earlier(now, self.tokens.lifetimes.access);
        let query = sqlx::query(REVOKED).bind(clock::to_sql(since)).bind(clock::to_sql(now));
        let query = query.bind(clock::to_sql(tokens_expired)).fetch_all(&self.pool);
        let rows = tokio::time::timeout(QUERY_TIMEOUT, query).await;
        let rows =
            rows.map_err(|_| StoreError::Unavailable("it does not respond".to_owned()))??;
        self.add_revoked(&rows)?;
        self.tokens.revoked.remove_before(now);
        Ok(())
    }

    /// Loads all revoked sessions that may still have valid tokens.
    pub(crate) async fn load_revoked(&self) -> Result<(), StoreError> {
        self.load_revoked_since(earlier(clock::now(), MAX_STAFF_LIFETIME)).await
    }

    /// Loads newly revoked sessions periodically, forever.
    pub(crate) async fn poll_revoked(&self) {
        let mut since = clock::now();
        loop {
            let began = clock::now();
            // Allows for clock skew between nodes.
            match self.load_revoked_since(earlier(since, Duration::from_mins(1))).await {
                Ok(()) => since = began,
                Err(error) => {
                    tracing::warn!(%error, "loading revoked sessions failed; it will be retried");
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn issue_tokens(
        &self,
        account: Uuid,
        role: Role,
        refresh: Refresh,
        now: Moment,
    ) -> Result<SessionTokens, AccountError> {
        let access_until = later(now, self.tokens.lifetimes.access);
        let viewer = Viewer { account, role, session: refresh.sid, until: access_until };
        let access = self.tokens.issue(&viewer, now).ok_or_else(missing_key)?;
        let refresh_until = later(now, self.tokens.lifetimes.refresh);
        let refresh = self.tokens.sign(&refresh).ok_or_else(missing_key)?;
        Ok(SessionTokens { access, access_until, refresh, refresh_until })
    }
}

/// How soon a revoked session is rejected on all nodes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest lifetime of a staff token.
pub(crate) const MAX_STAFF_LIFETIME: Duration = Duration::from_hours(24 * 7);

/// The claims of a refresh token.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Refresh {
    sid: Uuid,
    generation: i32,
}

fn earlier(now: Moment, span: Duration) -> Moment {
    Moment(now.0.saturating_sub(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
}

fn later(now: Moment, life: Duration) -> Moment {
    Moment(now.0.saturating_add(u64::try_from(life.as_millis()).unwrap_or(u64::MAX)))
}

fn missing_key() -> AccountError {
    StoreError::Fault("there is no key to sign tokens".to_owned()).into()
}
