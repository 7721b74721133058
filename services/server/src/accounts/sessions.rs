//! Sessions: beginning, renewing, ending.
//!
//! A refresh token is the session's id and 32 random bytes; the table has only its hash. Each use spends it for a new
//! one. Whoever shows a spent one has a copy of it, so the session ends for both: except for a few seconds, in which an
//! answer may have been lost on its way.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use domain::Moment;
use sha2::{Digest, Sha256};
use sqlx::Row;
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
INSERT INTO session (id, account, created_at, expires_at, refresh) VALUES ($1, $2, $3, $4, $5)";
        let (now, session) = (clock::now(), Uuid::now_v7());
        let refresh = RefreshToken::new(session)?;
        let until = later(now, self.tokens.lifetimes.refresh);
        let query = sqlx::query(BEGIN).bind(session).bind(account.id).bind(clock::to_sql(now));
        let query = query.bind(clock::to_sql(until)).bind(refresh.hash());
        query.execute(&self.pool).await?;
        self.hand_out(account.id, account.role, session, &refresh, until, now)
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
SELECT s.account, s.refresh, s.spent, s.renewed_at, a.role
  FROM session s JOIN account a ON a.id = s.account
 WHERE s.id = $1 AND s.revoked_at IS NULL AND s.expires_at > $2";
        const RENEW: &str = "
UPDATE session SET spent = refresh, refresh = $3, renewed_at = $4, expires_at = $5
 WHERE id = $1 AND refresh = $2 AND revoked_at IS NULL";
        let now = clock::now();
        let shown = RefreshToken::parse(token).ok_or(AccountError::BadRefreshToken)?;
        let query = sqlx::query(FIND).bind(shown.session).bind(clock::to_sql(now));
        let row = query.fetch_optional(&self.pool).await?.ok_or(AccountError::BadRefreshToken)?;
        let (current, spent): (Option<Vec<u8>>, Option<Vec<u8>>) =
            (row.try_get("refresh")?, row.try_get("spent")?);
        let hash = shown.hash();
        let renewed_at = clock::from_sql(row.try_get::<Option<i64>, _>("renewed_at")?.unwrap_or(0));
        let is_current = current.as_ref().is_some_and(|current| same(current, &hash));
        if !is_current {
            let was_spent = spent.is_some_and(|spent| same(&spent, &hash));
            if !was_spent || now.0.saturating_sub(renewed_at.0) > GRACE {
                if was_spent {
                    self.end(shown.session).await?;
                }
                return Err(AccountError::BadRefreshToken);
            }
        }
        let refresh = RefreshToken::new(shown.session)?;
        let until = later(now, self.tokens.lifetimes.refresh);
        let query = sqlx::query(RENEW).bind(shown.session).bind(current).bind(refresh.hash());
        let query = query.bind(clock::to_sql(now)).bind(clock::to_sql(until));
        if query.execute(&self.pool).await?.rows_affected() == 0 {
            return Err(AccountError::BadRefreshToken);
        }
        let account: Uuid = row.try_get("account")?;
        let role = Role::named(row.try_get("role")?).unwrap_or(Role::Player);
        let tokens = self.hand_out(account, role, shown.session, &refresh, until, now)?;
        Ok((account, tokens))
    }

    /// Ends a session.
    pub(crate) async fn end(&self, session: Uuid) -> Result<(), AccountError> {
        const END: &str = "UPDATE session SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
        let now = clock::now();
        sqlx::query(END).bind(session).bind(clock::to_sql(now)).execute(&self.pool).await?;
        self.tokens.revoked.add([(session, now)]);
        Ok(())
    }

    /// Ends all sessions of an account; gives how many there were.
    pub(crate) async fn end_all(&self, account: Uuid) -> Result<usize, AccountError> {
        const END: &str = "
UPDATE session SET revoked_at = $2 WHERE account = $1 AND revoked_at IS NULL AND expires_at > $2 RETURNING id";
        let now = clock::now();
        let query = sqlx::query(END).bind(account).bind(clock::to_sql(now));
        let rows = query.fetch_all(&self.pool).await?;
        let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Uuid>, _>>()?;
        self.tokens.revoked.add(ids.iter().map(|&id| (id, now)));
        Ok(ids.len())
    }

    /// Learns which sessions were ended since, on whatever node. What was ended so long ago that no token of the
    /// session is good any more need not be known; only staff have tokens that live for long.
    pub(crate) async fn learn_revoked(&self, since: Moment) -> Result<(), StoreError> {
        const LATELY: &str = "
SELECT id, revoked_at FROM session
 WHERE revoked_at >= $1 AND expires_at > $2 AND (refresh IS NULL OR revoked_at >= $3)";
        let now = clock::now();
        let outlived = earlier(now, self.tokens.lifetimes.access);
        let query = sqlx::query(LATELY).bind(clock::to_sql(since)).bind(clock::to_sql(now));
        let rows = query.bind(clock::to_sql(outlived)).fetch_all(&self.pool).await?;
        let mut lately = Vec::with_capacity(rows.len());
        for row in rows {
            lately.push((row.try_get(0)?, clock::from_sql(row.try_get(1)?)));
        }
        self.tokens.revoked.add(lately);
        self.tokens.revoked.forget_before(earlier(now, LONGEST_LIFE));
        Ok(())
    }

    /// Goes on learning, for ever.
    pub(crate) async fn keep_learning_revoked(&self) {
        let mut since = earlier(clock::now(), LONGEST_LIFE);
        loop {
            let began = clock::now();
            match self.learn_revoked(since).await {
                // Clocks of nodes may differ a little.
                Ok(()) => since = earlier(began, Duration::from_mins(1)),
                Err(error) => tracing::warn!(%error, "ended sessions cannot be read at the moment"),
            }
            tokio::time::sleep(LEARN_EVERY).await;
        }
    }

    fn hand_out(
        &self,
        account: Uuid,
        role: Role,
        session: Uuid,
        refresh: &RefreshToken,
        refresh_until: Moment,
        now: Moment,
    ) -> Result<SessionTokens, AccountError> {
        let until = later(now, self.tokens.lifetimes.access);
        let viewer = Viewer { account, role, session, until };
        let access = self.tokens.issue(&viewer, now).ok_or_else(no_key)?;
        let refresh = refresh.written();
        Ok(SessionTokens { access, access_until: until, refresh, refresh_until })
    }
}

/// How soon a session ended on one node is ended on all.
const LEARN_EVERY: Duration = Duration::from_secs(1);

/// The longest life a token of staff can have.
pub(crate) const LONGEST_LIFE: Duration = Duration::from_hours(24 * 7);

struct RefreshToken {
    session: Uuid,
    secret: [u8; 32],
}

impl RefreshToken {
    fn new(session: Uuid) -> Result<Self, AccountError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| StoreError::Fault(error.to_string()))?;
        Ok(Self { session, secret })
    }

    fn parse(token: &str) -> Option<Self> {
        let bytes: [u8; 48] = BASE64.decode(token).ok()?.try_into().ok()?;
        let (session, secret) = bytes.split_at(16);
        Some(Self { session: Uuid::from_slice(session).ok()?, secret: secret.try_into().ok()? })
    }

    fn written(&self) -> String {
        BASE64.encode([self.session.as_bytes().as_slice(), &self.secret].concat())
    }

    fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.secret).to_vec()
    }
}

/// Compares without telling by time where two hashes begin to differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
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
