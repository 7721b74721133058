//! Who is who: guests, players with a password, staff; their sessions and tokens.
//!
//! Everything personal stays in these tables. Events know a player by the account's id alone.

mod names;
mod passwords;
mod privacy;
mod revoked;
mod sessions;
mod tokens;

use std::sync::Arc;

use domain::{Moment, Name};
use sqlx::{PgPool, Row};
use store::StoreError;
use uuid::Uuid;

pub(crate) use names::{Names, pseudonym};
pub(crate) use sessions::{LONGEST_LIFE, SessionTokens};
pub(crate) use tokens::{Lifetimes, Tokens};

use crate::{clock, keys::KeyRing};

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub(crate) enum Role {
    /// Plays.
    Player,
    /// Reads statistics.
    Analyst,
    /// Helps players: sees every game, ends sessions.
    Support,
    /// Runs the house.
    Admin,
}

/// Who sends a request, as their token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    pub(crate) account: Uuid,
    pub(crate) role: Role,
    pub(crate) session: Uuid,
    /// When the token ends.
    pub(crate) until: Moment,
}

/// An account, as its owner may see it.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) id: Uuid,
    pub(crate) name: Arc<str>,
    pub(crate) role: Role,
    /// Whether it has no password: who loses the tokens loses the account.
    pub(crate) guest: bool,
    pub(crate) created_at: Moment,
}

/// Why nothing was done. The first ones are the caller's to mend.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AccountError {
    #[error(transparent)]
    BadName(#[from] domain::Rejection),
    #[error("the name {0} is taken; choose another one")]
    NameTaken(String),
    #[error("a password has {least} to {most} characters", least = passwords::LEAST, most = passwords::MOST)]
    BadPassword,
    #[error("the name or the password is wrong")]
    WrongCredentials,
    #[error("this account has a password already; sign out to make another account")]
    NotAGuest,
    #[error("this refresh token is not good any more; sign in again")]
    BadRefreshToken,
    #[error("too many people are signing in; try again in a moment")]
    Busy,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for AccountError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Role {
    pub(crate) const ALL: [Self; 4] = [Self::Player, Self::Analyst, Self::Support, Self::Admin];

    /// Its name in tokens and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Analyst => "analyst",
            Self::Support => "support",
            Self::Admin => "admin",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// All accounts.
#[derive(Debug)]
pub(crate) struct Accounts {
    pool: PgPool,
    pub(crate) tokens: Tokens,
    pub(crate) names: Names,
    passwords: passwords::Passwords,
}

impl Accounts {
    pub(crate) fn new(pool: PgPool, keys: KeyRing, lifetimes: tokens::Lifetimes) -> Self {
        let names = Names::new(pool.clone());
        Self {
            pool,
            tokens: Tokens::new(keys, lifetimes),
            names,
            passwords: passwords::Passwords::default(),
        }
    }

    /// A new account without a password.
    pub(crate) async fn guest(&self, name: Option<&str>) -> Result<Account, AccountError> {
        let id = Uuid::now_v7();
        let name = match name {
            Some(name) => Name::parse(name)?,
            None => Name::parse(&format!("Guest {}", id.as_u128() % 10_000))?,
        };
        self.insert(id, &name, Role::Player, None).await
    }

    /// An account with a password: a new one, or what a guest becomes.
    pub(crate) async fn register(
        &self,
        name: &str,
        password: &str,
        guest: Option<Uuid>,
    ) -> Result<Account, AccountError> {
        let name = Name::parse(name)?;
        let hash = self.passwords.hash(password).await?;
        match guest {
            None => {
                self.insert(Uuid::now_v7(), &name, Role::Player, Some((sign_in(&name), hash))).await
            }
            Some(guest) => self.upgrade(guest, &name, &hash).await,
        }
    }

    /// The account of a name and its password. Takes as long for a name that nobody has.
    pub(crate) async fn sign_in(
        &self,
        name: &str,
        password: &str,
    ) -> Result<Account, AccountError> {
        let known = match Name::parse(name) {
            Ok(name) => {
                let select = format!("{SELECT}, password FROM account WHERE sign_in = $1");
                let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(sign_in(&name));
                query.fetch_optional(&self.pool).await?
            }
            Err(_) => None,
        };
        let hash = known.as_ref().map(|row| row.try_get::<Option<String>, _>("password"));
        let right = self.passwords.verify(password, hash.transpose()?.flatten()).await?;
        match known {
            Some(row) if right => Ok(account(&row)?),
            _ => Err(AccountError::WrongCredentials),
        }
    }

    /// Somebody who works here: found by name, or made.
    pub(crate) async fn staff(&self, name: &str, role: Role) -> Result<Account, AccountError> {
        let name = Name::parse(name)?;
        let select = format!("{SELECT} FROM account WHERE sign_in = $1 AND password IS NULL");
        let key = format!("{}:{}", role.name(), sign_in(&name));
        let known = sqlx::query(sqlx::AssertSqlSafe(select)).bind(&key);
        match known.fetch_optional(&self.pool).await? {
            Some(row) => Ok(account(&row)?),
            None => self.insert_row(Uuid::now_v7(), &name, role, Some(&key), None).await,
        }
    }

    pub(crate) async fn find(&self, id: Uuid) -> Result<Option<Account>, AccountError> {
        let select = format!("{SELECT} FROM account WHERE id = $1");
        let row =
            sqlx::query(sqlx::AssertSqlSafe(select)).bind(id).fetch_optional(&self.pool).await?;
        Ok(row.as_ref().map(account).transpose()?)
    }

    async fn upgrade(&self, guest: Uuid, name: &Name, hash: &str) -> Result<Account, AccountError> {
        const UPGRADE: &str = "
UPDATE account SET name = $2, sign_in = $3, password = $4 WHERE id = $1 AND password IS NULL AND role = 'player'
   AND erased_at IS NULL
RETURNING id, name, role, false AS guest, created_at";
        let query =
            sqlx::query(UPGRADE).bind(guest).bind(name.as_str()).bind(sign_in(name)).bind(hash);
        let row = query.fetch_optional(&self.pool).await.map_err(|error| taken(error, name))?;
        let upgraded = row.as_ref().map(account).transpose()?.ok_or(AccountError::NotAGuest)?;
        self.names.know(upgraded.id, &upgraded.name);
        Ok(upgraded)
    }

    async fn insert(
        &self,
        id: Uuid,
        name: &Name,
        role: Role,
        credentials: Option<(String, String)>,
    ) -> Result<Account, AccountError> {
        let (key, hash) = credentials.unzip();
        self.insert_row(id, name, role, key.as_deref(), hash.as_deref()).await
    }

    async fn insert_row(
        &self,
        id: Uuid,
        name: &Name,
        role: Role,
        sign_in: Option<&str>,
        password: Option<&str>,
    ) -> Result<Account, AccountError> {
        const INSERT: &str = "
INSERT INTO account (id, name, role, sign_in, password, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
        let created_at = clock::now();
        let query = sqlx::query(INSERT).bind(id).bind(name.as_str()).bind(role.name());
        let query = query.bind(sign_in).bind(password).bind(clock::to_sql(created_at));
        query.execute(&self.pool).await.map_err(|error| taken(error, name))?;
        let (name, guest): (Arc<str>, _) = (name.as_str().into(), password.is_none());
        self.names.know(id, &name);
        Ok(Account { id, name, role, guest: guest && role == Role::Player, created_at })
    }
}

const SELECT: &str =
    "SELECT id, name, role, role = 'player' AND password IS NULL AS guest, created_at";

fn account(row: &sqlx::postgres::PgRow) -> Result<Account, sqlx::Error> {
    Ok(Account {
        id: row.try_get("id")?,
        name: row.try_get::<String, _>("name")?.into(),
        role: Role::named(row.try_get("role")?).unwrap_or(Role::Player),
        guest: row.try_get("guest")?,
        created_at: clock::from_sql(row.try_get("created_at")?),
    })
}

/// The name as it is compared: nobody is called ANN where there is an Ann.
fn sign_in(name: &Name) -> String {
    name.as_str().to_lowercase()
}

fn taken(error: sqlx::Error, name: &Name) -> AccountError {
    match error.as_database_error() {
        Some(known) if known.is_unique_violation() => AccountError::NameTaken(name.to_string()),
        _ => error.into(),
    }
}
