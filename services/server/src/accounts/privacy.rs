//! Personal data: export and erasure.
//!
//! Events contain only an account's id and a pseudonym derived from it, so after an erasure every
//! hash chain stays valid and every game can be replayed. Erased are the name, the sign-in name,
//! the password, the sessions, the addresses and clients in evidence, and all texts in disputes.

use domain::Moment;
use sqlx::{PgConnection, Row, postgres::PgRow};
use uuid::Uuid;

use super::{AccountError, Accounts, Role, pseudonym};
use crate::{clock, play::evidence};

/// The personal data of an account outside the log.
#[derive(Clone, Debug)]
pub(crate) struct Personal {
    pub(crate) name: String,
    pub(crate) sign_in_name: Option<String>,
    pub(crate) role: Role,
    pub(crate) created_at: Moment,
    pub(crate) erased_at: Option<Moment>,
    pub(crate) has_password: bool,
    pub(crate) sessions: Vec<PersonalSession>,
    pub(crate) activity: Vec<PersonalActivity>,
    pub(crate) texts: Vec<PersonalText>,
    pub(crate) games: Vec<Uuid>,
}

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct PersonalSession {
    pub(crate) id: Uuid,
    pub(crate) created_at: Moment,
    pub(crate) expires_at: Moment,
    pub(crate) revoked_at: Option<Moment>,
}

/// A piece of evidence.
#[derive(Clone, Debug)]
pub(crate) struct PersonalActivity {
    pub(crate) game: Uuid,
    pub(crate) at: Moment,
    pub(crate) kind: evidence::Kind,
    pub(crate) address: String,
    pub(crate) client: String,
    pub(crate) operation: Option<String>,
    pub(crate) code: Option<String>,
}

/// A text in a dispute.
#[derive(Clone, Debug)]
pub(crate) struct PersonalText {
    pub(crate) dispute: Uuid,
    pub(crate) number: i32,
    pub(crate) at: Moment,
    pub(crate) text: String,
}

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
    pub(crate) async fn personal(&self, account: Uuid) -> Result<Option<Personal>, AccountError> {
        const ACCOUNT: &str = "SELECT name, sign_in, role, created_at, erased_at, password IS NOT NULL FROM account WHERE id = $1";
        let mut connection = self.pool.acquire().await?;
        let row = sqlx::query(ACCOUNT).bind(account).fetch_optional(&mut *connection).await?;
        let Some(row) = row else { return Ok(None) };
        let role: String = row.try_get(2)?;
        Ok(Some(Personal {
            name: row.try_get(0)?,
            sign_in_name: row.try_get(1)?,
            role: Role::named(&role).unwrap_or(Role::Player),
            created_at: moment(&row, 3)?,
            erased_at: row.try_get::<Option<i64>, _>(4)?.map(clock::from_sql),
            has_password: row.try_get(5)?,
            sessions: sessions(&mut connection, account).await?,
            activity: activity(&mut connection, account).await?,
            texts: texts(&mut connection, account).await?,
            games: games(&mut connection, account).await?,
        }))
    }
}

/// The limit of rows of each kind.
const MAX_ROWS: i64 = 10_000;

fn moment(row: &PgRow, column: usize) -> Result<Moment, sqlx::Error> {
    row.try_get(column).map(clock::from_sql)
}

async fn sessions(
    connection: &mut PgConnection,
    account: Uuid,
) -> Result<Vec<PersonalSession>, sqlx::Error> {
    const SESSIONS: &str = "SELECT id, created_at, expires_at, revoked_at FROM session WHERE account = $1 ORDER BY created_at LIMIT $2";
    let rows = sqlx::query(SESSIONS).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    let session = |row: &PgRow| {
        Ok(PersonalSession {
            id: row.try_get(0)?,
            created_at: moment(row, 1)?,
            expires_at: moment(row, 2)?,
            revoked_at: row.try_get::<Option<i64>, _>(3)?.map(clock::from_sql),
        })
    };
    rows.iter().map(session).collect()
}

async fn activity(
    connection: &mut PgConnection,
    account: Uuid,
) -> Result<Vec<PersonalActivity>, sqlx::Error> {
    const EVIDENCE: &str = "SELECT game, at, kind, address, client, asked, code FROM evidence WHERE actor = $1 ORDER BY at LIMIT $2";
    let rows = sqlx::query(EVIDENCE).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    let activity = |row: &PgRow| {
        let kind: &str = row.try_get(2)?;
        let Some(kind) = evidence::Kind::named(kind) else { return Ok(None) };
        Ok(Some(PersonalActivity {
            game: row.try_get(0)?,
            at: moment(row, 1)?,
            kind,
            address: row.try_get(3)?,
            client: row.try_get(4)?,
            operation: row.try_get(5)?,
            code: row.try_get(6)?,
        }))
    };
    rows.iter().filter_map(|row| activity(row).transpose()).collect()
}

async fn texts(
    connection: &mut PgConnection,
    account: Uuid,
) -> Result<Vec<PersonalText>, sqlx::Error> {
    const TEXTS: &str =
        "SELECT dispute, number, at, text FROM dispute_text WHERE author = $1 ORDER BY at LIMIT $2";
    let rows = sqlx::query(TEXTS).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    let text = |row: &PgRow| {
        Ok(PersonalText {
            dispute: row.try_get(0)?,
            number: row.try_get(1)?,
            at: moment(row, 2)?,
            text: row.try_get(3)?,
        })
    };
    rows.iter().map(text).collect()
}

async fn games(connection: &mut PgConnection, account: Uuid) -> Result<Vec<Uuid>, sqlx::Error> {
    const GAMES: &str = "SELECT game FROM game_player WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND player = $1 ORDER BY game LIMIT $2";
    let rows = sqlx::query(GAMES).bind(account).bind(MAX_ROWS).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
