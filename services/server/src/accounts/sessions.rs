//! Sessions: beginning, renewing, ending.
//!
//! A refresh token is a signed statement: which session, and its how many-th token this is. Each use spends it for the next one. Whoever
//! shows a spent one has a copy, so the session ends for everybody: except for a few seconds in which an answer may
//! have been lost on its way. The table has no secret at all.

use std::time::Duration;

use domain::Moment;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, Row, postgres::PgRow};
use store::StoreError;
use uuid::Uuid;

use super::{Account, AccountError, Accounts, Role, Viewer};
use crate::clock;

/// How long a spent refresh token is still taken for a repeated request.
const GRACE: u64 = 10_000;

/// What somebody gets who signs in.
#[derive(Clone, Debug)]
pub(crate) struct SessionTokens {
    pub(crate) access: String,
    pub(crate) access_until: Moment,
    pub(crate) refresh: String,
    pub(crate) refresh_until: Moment,
}

impl Accounts {
    /// Begins a session.
    pub(crate) async fn begin(&self, account: &Account) -> Result<SessionTokens, AccountError> {
        const BEGIN: &str = "
INSERT INTO session (id, account, created_at, expires_at, generation) VALUES ($1, $2, $3, $4, 1)";
        let (now, session) = (clock::now(), Uuid::now_v7());
        let until = later(now, self.tokens.lifetimes.refresh);
        let query = sqlx::query(BEGIN).bind(session).bind(account.id).bind(clock::to_sql(now));
        query.bind(clock::to_sql(until)).execute(&self.pool).await?;
        self.hand_out(account.id, account.role, Refresh { sid: session, generation: 1 }, now)
    }

    /// Begins a session of staff: one token, which cannot be renewed.
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
        let token = self.tokens.issue(&viewer, now).ok_or_else(no_key)?;
        Ok((session, token))
    }

    /// Spends a refresh token for new tokens.
    pub(crate) async fn renew(&self, token: &str) -> Result<(Uuid, SessionTokens), AccountError> {
        const FIND: &str = "
SELECT s.account, s.generation, s.renewed_at, a.role
  FROM session s JOIN account a ON a.id = s.account
 WHERE s.id = $1 AND s.revoked_at IS NULL AND s.expires_at > $2";
        const RENEW: &str = "
UPDATE session SET generation = generation + 1, renewed_at = $3, expires_at = $4
 WHERE id = $1 AND generation = $2 AND revoked_at IS NULL";
        let now = clock::now();
        let shown: Option<(Refresh, Uuid)> = self.tokens.open(token);
        let (shown, _) = shown.ok_or(AccountError::BadRefreshToken)?;
        // Somebody else may renew the same session at the same time: then it is looked at once more.
        for _ in 0..3 {
            let query = sqlx::query(FIND).bind(shown.sid).bind(clock::to_sql(now));
            let row =
                query.fetch_optional(&self.pool).await?.ok_or(AccountError::BadRefreshToken)?;
            let current: i32 = row.try_get("generation")?;
            let renewed_at: Option<i64> = row.try_get("renewed_at")?;
            let since = now.0.saturating_sub(clock::from_sql(renewed_at.unwrap_or(0)).0);
            let lost_answer = shown.generation + 1 == current && since <= GRACE;
            if shown.generation != current && !lost_answer {
                self.end(shown.sid).await?;
                return Err(AccountError::BadRefreshToken);
            }
            let until = later(now, self.tokens.lifetimes.refresh);
            let query = sqlx::query(RENEW).bind(shown.sid).bind(current);
            let query = query.bind(clock::to_sql(now)).bind(clock::to_sql(until));
            if query.execute(&self.pool).await?.rows_affected() == 1 {
                let account: Uuid = row.try_get("account")?;
                let role = Role::named(row.try_get("role")?).unwrap_or(Role::Player);
                let next = Refresh { sid: shown.sid, generation: current + 1 };
                return Ok((account, self.hand_out(account, role, next, now)?));
            }
        }
        Err(AccountError::Busy)
    }

    /// Ends a session; whether there was one to end.
    pub(crate) async fn end(&self, session: Uuid) -> Result<bool, AccountError> {
        const END: &str = "
UPDATE session SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id, generation, expires_at";
        let query = sqlx::query(END).bind(session).bind(clock::to_sql(clock::now()));
        let rows = query.fetch_all(&self.pool).await?;
        self.know_ended(&rows)?;
        Ok(!rows.is_empty())
    }

    /// Ends all sessions of an account; gives how many there were.
    pub(crate) async fn end_all(&self, account: Uuid) -> Result<usize, AccountError> {
        let mut connection = self.pool.acquire().await?;
        self.end_all_on(&mut connection, account).await
    }

    /// The same as part of something larger.
    pub(super) async fn end_all_on(
        &self,
        connection: &mut PgConnection,
        account: Uuid,
    ) -> Result<usize, AccountError> {
        const END: &str = "
UPDATE session SET revoked_at = $2 WHERE account = $1 AND revoked_at IS NULL AND expires_at > $2
RETURNING id, generation, expires_at";
        let query = sqlx::query(END).bind(account).bind(clock::to_sql(clock::now()));
        let rows = query.fetch_all(connection).await?;
        self.know_ended(&rows)?;
        Ok(rows.len())
    }

    /// Remembers ended sessions as long as a token of theirs could be good: those of players live for minutes, those of
    /// staff, which have no generation, as long as their session.
    fn know_ended(&self, rows: &[PgRow]) -> Result<(), sqlx::Error> {
        let outlives = later(clock::now(), self.tokens.lifetimes.access);
        let mut ended = Vec::with_capacity(rows.len());
        for row in rows {
            let staff = row.try_get::<Option<i32>, _>("generation")?.is_none();
            let expires = clock::from_sql(row.try_get("expires_at")?);
            ended.push((row.try_get("id")?, if staff { expires } else { outlives }));
        }
        self.tokens.revoked.add(ended);
        Ok(())
    }

    /// Learns which sessions were ended since, on whatever node.
    async fn learn_revoked(&self, since: Moment) -> Result<(), StoreError> {
        const LATELY: &str = "
SELECT id, generation, expires_at FROM session
 WHERE revoked_at >= $1 AND expires_at > $2 AND (generation IS NULL OR revoked_at >= $3)";
        let now = clock::now();
        let outlived = earlier(now, self.tokens.lifetimes.access);
        let query = sqlx::query(LATELY).bind(clock::to_sql(since)).bind(clock::to_sql(now));
        let query = query.bind(clock::to_sql(outlived)).fetch_all(&self.pool);
        let rows = tokio::time::timeout(PATIENCE, query).await;
        let rows = rows.map_err(|_| StoreError::Unavailable("it does not answer".to_owned()))??;
        self.know_ended(&rows)?;
        self.tokens.revoked.forget_before(now);
        Ok(())
    }

    /// Learns all that matters.
    pub(crate) async fn learn_all_revoked(&self) -> Result<(), StoreError> {
        self.learn_revoked(earlier(clock::now(), LONGEST_LIFE)).await
    }

    /// Goes on learning, for ever.
    pub(crate) async fn keep_learning_revoked(&self) {
        let mut since = clock::now();
        loop {
            let began = clock::now();
            // Clocks of nodes may differ a little.
            match self.learn_revoked(earlier(since, Duration::from_mins(1))).await {
                Ok(()) => since = began,
                Err(error) => tracing::warn!(%error, "ended sessions cannot be read at the moment"),
            }
            tokio::time::sleep(LEARN_EVERY).await;
        }
    }

    fn hand_out(
        &self,
        account: Uuid,
        role: Role,
        refresh: Refresh,
        now: Moment,
    ) -> Result<SessionTokens, AccountError> {
        let access_until = later(now, self.tokens.lifetimes.access);
        let viewer = Viewer { account, role, session: refresh.sid, until: access_until };
        let access = self.tokens.issue(&viewer, now).ok_or_else(no_key)?;
        let refresh_until = later(now, self.tokens.lifetimes.refresh);
        let refresh = self.tokens.sign(&refresh).ok_or_else(no_key)?;
        Ok(SessionTokens { access, access_until, refresh, refresh_until })
    }
}

/// How soon a session ended on one node is ended on all.
const LEARN_EVERY: Duration = Duration::from_secs(1);

/// How long the database may take to tell.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest life a token of staff can have.
pub(crate) const LONGEST_LIFE: Duration = Duration::from_hours(24 * 7);

/// What a refresh token says.
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

fn no_key() -> AccountError {
    StoreError::Fault("there is no key to sign tokens with".to_owned()).into()
}
