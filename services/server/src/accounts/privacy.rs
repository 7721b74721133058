//! Personal data: export and erasure.
//!
//! Events contain only an account's id and a pseudonym derived from it, so after an erasure every
//! hash chain stays valid and every game can be replayed. Erased are the name, the sign-in name,
//! the password, the sessions, the addresses and clients in evidence, and all texts in disputes.

use serde_json::{Value, json};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::{AccountError, Accounts, pseudonym};
use crate::clock;

impl Accounts {
    /// Erases a player; returns whether there was one. Their sessions end within a second on every
    /// node.
    pub(crate) async fn erase(&self, account: Uuid) -> Result<bool, AccountError> {
        const ERASE: &str = "
UPDATE account SET name = $2, sign_in = NULL, password = NULL, erased_at = $3
 WHERE id = $1 AND role = 'player' AND erased_at IS NULL";
        const EVIDENCE: &str =
            "UPDATE evidence SET address = '', client = '', session = $2 WHERE actor = $1";
        const TEXTS: &str = "UPDATE dispute_text SET text = '' WHERE author = $1";
        let name = pseudonym(account);
        let mut transaction = self.pool.begin().await?;
        let query = sqlx::query(ERASE).bind(account).bind(&name);
        let erased = query.bind(clock::to_sql(clock::now())).execute(&mut *transaction).await?;
        if erased.rows_affected() == 0 {
            drop(transaction);
            // An interrupted erasure may have left sessions.
            self.revoke_all(account).await?;
            return Ok(false);
        }
        self.revoke_all_on(&mut transaction, account).await?;
        sqlx::query(EVIDENCE).bind(account).bind(Uuid::nil()).execute(&mut *transaction).await?;
        sqlx::query(TEXTS).bind(account).execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.names.cache(account, &name.into());
        Ok(true)
    }

    /// All data about an account outside the log.
    pub(crate) async fn personal(&self, account: Uuid) -> Result<Option<Value>, AccountError> {
        const ACCOUNT: &str = "SELECT name, sign_in, role, created_at, erased_at, password IS NOT NULL FROM account WHERE id = $1";
        let mut connection = self.pool.acquire().await?;
        let row = sqlx::query(ACCOUNT).bind(account).fetch_optional(&mut *connection).await?;
        let Some(row) = row else { return Ok(None) };
        let moment = |at: Option<i64>| at.map(|at| clock::rfc3339(clock::from_sql(at)));
        Ok(Some(json!({
            "id": account,
            "pseudonym": pseudonym(account),
            "name": row.try_get::<String, _>(0)?,
            "signIn": row.try_get::<Option<String>, _>(1)?,
            "role": row.try_get::<String, _>(2)?,
            "createdAt": moment(Some(row.try_get(3)?)),
            "erasedAt": moment(row.try_get(4)?),
            "hasPassword": row.try_get::<bool, _>(5)?,
            "sessions": sessions(&mut connection, account).await?,
            "evidence": evidence(&mut connection, account).await?,
            "disputeTexts": texts(&mut connection, account).await?,
            "games": games(&mut connection, account).await?,
        })))
    }
}

/// The limit of rows of each kind.
const MAX_ROWS: i64 = 10_000;

async fn sessions(connection: &mut PgConnection, account: Uuid) -> Result<Vec<Value>, sqlx::Error> {
    const SESSIONS: &str = "SELECT id, created_at, expires_at, revoked_at FROM session WHERE account = $1 ORDER BY created_at LIMIT $2";
    let rows = sqlx::query(SESSIONS).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    let session = |row: &sqlx::postgres::PgRow| {
        Ok(json!({
            "id": row.try_get::<Uuid, _>(0)?, "createdAt": row.try_get::<i64, _>(1)?,
            "expiresAt": row.try_get::<i64, _>(2)?, "revokedAt": row.try_get::<Option<i64>, _>(3)?,
        }))
    };
    rows.iter().map(session).collect()
}

async fn evidence(connection: &mut PgConnection, account: Uuid) -> Result<Vec<Value>, sqlx::Error> {
    const EVIDENCE: &str = "SELECT game, at, kind, address, client, asked, code FROM evidence WHERE actor = $1 ORDER BY at LIMIT $2";
    let rows = sqlx::query(EVIDENCE).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    let note = |row: &sqlx::postgres::PgRow| {
        Ok(json!({
            "game": row.try_get::<Uuid, _>(0)?, "at": row.try_get::<i64, _>(1)?, "kind": row.try_get::<String, _>(2)?,
            "address": row.try_get::<String, _>(3)?, "client": row.try_get::<String, _>(4)?,
            "asked": row.try_get::<Option<String>, _>(5)?, "code": row.try_get::<Option<String>, _>(6)?,
        }))
    };
    rows.iter().map(note).collect()
}

async fn texts(connection: &mut PgConnection, account: Uuid) -> Result<Vec<Value>, sqlx::Error> {
    const TEXTS: &str =
        "SELECT dispute, number, at, text FROM dispute_text WHERE author = $1 ORDER BY at LIMIT $2";
    let rows = sqlx::query(TEXTS).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    let text = |row: &sqlx::postgres::PgRow| {
        Ok(json!({
            "dispute": row.try_get::<Uuid, _>(0)?, "number": row.try_get::<i32, _>(1)?, "at": row.try_get::<i64, _>(2)?,
            "text": row.try_get::<String, _>(3)?,
        }))
    };
    rows.iter().map(text).collect()
}

async fn games(connection: &mut PgConnection, account: Uuid) -> Result<Vec<Uuid>, sqlx::Error> {
    const GAMES: &str = "SELECT game FROM game_player WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND player = $1 ORDER BY game LIMIT $2";
    let rows = sqlx::query(GAMES).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
