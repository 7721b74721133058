//! Accounts of guests, registered players and staff; their sessions and tokens.
//!
//! Personal data is only in these tables. Events contain nothing but the account's id and a
//! pseudonym derived from it.

mod names;
mod passwords;
mod privacy;
mod revoked;
mod sessions;
mod tokens;

use std::{sync::Arc, time::Duration};

use domain::{Moment, Name};
use sqlx::{PgPool, Row};
use store::StoreError;
use uuid::Uuid;

pub(crate) use names::{Names, pseudonym};
pub(crate) use privacy::Personal;
pub(crate) use sessions::{MAX_STAFF_LIFETIME, SessionTokens};
pub(crate) use tokens::{Lifetimes, Tokens};

use crate::{buckets::Buckets, clock, keys::KeyRing};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub(crate) enum Role {
    /// Plays games.
    Player,
    /// May read statistics.
    Analyst,
    /// Helps players: may see every game and revoke sessions.
    Support,
    /// May do everything.
    Admin,
}

/// The authenticated caller, from the access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewer {
    pub(crate) account: Uuid,
    pub(crate) role: Role,
    pub(crate) session: Uuid,
    /// When the token expires.
    pub(crate) until: Moment,
}

/// An account with the data its owner may see.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) id: Uuid,
    pub(crate) name: Arc<str>,
    pub(crate) role: Role,
    /// A guest has no password: without its tokens the account is lost.
    pub(crate) guest: bool,
    pub(crate) created_at: Moment,
}

/// Why an operation on an account failed. `Busy` and `Store` are not the caller's fault.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AccountError {
    #[error(transparent)]
    BadName(#[from] domain::Rejection),
    #[error("the name {0} is taken; choose another")]
    NameTaken(String),
    #[error("the name {0} is reserved; choose another")]
    ReservedName(String),
    #[error("too many attempts to sign in to this account; try again in {} s", .0.as_secs() + 1)]
    TooManyAttempts(Duration),
    #[error("a password must have {min} to {max} characters", min = passwords::MIN, max = passwords::MAX)]
    BadPassword,
    #[error("the name or the password is wrong")]
    WrongCredentials,
    #[error("this account already has a password; sign out to create another account")]
    NotAGuest,
    #[error("this refresh token is no longer valid; sign in again")]
    BadRefreshToken,
    #[error("too many sign-ins at the moment; try again later")]
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

    /// The name in tokens and in the database.
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

/// Names under which players could pose as the operator.
const RESERVED_NAMES: [&str; 10] = [
    "admin",
    "administrator",
    "croupier",
    "house",
    "moderator",
    "operator",
    "staff",
    "support",
    "system",
    "the house",
];

#[derive(Debug)]
pub(crate) struct Accounts {
    pool: PgPool,
    pub(crate) tokens: Tokens,
    pub(crate) names: Names,
    passwords: passwords::Passwords,
    /// Attempts to sign in, by the name to sign in with.
    attempts: Buckets<String>,
}

impl Accounts {
    /// `attempts` is how often a minute one may try to sign in to an account; 0 for no limit.
    pub(crate) fn new(
        pool: PgPool,
        keys: KeyRing,
        lifetimes: tokens::Lifetimes,
        attempts: u32,
    ) -> Self {
        let names = Names::new(pool.clone());
        let attempts = Buckets::new(attempts, Duration::from_mins(1), attempts);
        Self {
            pool,
            tokens: Tokens::new(keys, lifetimes),
            names,
            passwords: passwords::Passwords::default(),
            attempts,
        }
    }

    /// Creates an account without a password.
    pub(crate) async fn guest(&self, name: Option<&str>) -> Result<Account, AccountError> {
        let id = Uuid::now_v7();
        let name = match name {
            Some(name) => self.free_name(name).await?,
            None => Name::parse(&format!("Guest {}", id.as_u128() % 10_000))?,
        };
        self.insert(id, &name, Role::Player, None).await
    }

    /// Creates an account with a password, or gives a guest one.
    pub(crate) async fn register(
        &self,
        name: &str,
        password: &str,
        guest: Option<Uuid>,
    ) -> Result<Account, AccountError> {
        let name = self.free_name(name).await?;
        let hash = self.passwords.hash(password).await?;
        match guest {
            None => {
                self.insert(Uuid::now_v7(), &name, Role::Player, Some((sign_in(&name), hash))).await
            }
            Some(guest) => self.upgrade(guest, &name, &hash).await,
        }
    }

    /// Checks name and password. Takes equally long for an unknown name, so that names cannot be
    /// probed.
    pub(crate) async fn sign_in(
        &self,
        name: &str,
        password: &str,
    ) -> Result<Account, AccountError> {
        let found = match Name::parse(name) {
            Ok(name) => {
                // One account is guessed at from many addresses too.
                let attempt = self.attempts.take(sign_in(&name), 1);
                attempt.map_err(AccountError::TooManyAttempts)?;
                let select = format!("{SELECT}, password FROM account WHERE sign_in = $1");
                let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(sign_in(&name));
                query.fetch_optional(&self.pool).await?
            }
            Err(_) => None,
        };
        let hash = found.as_ref().map(|row| row.try_get::<Option<String>, _>("password"));
        let correct = self.passwords.verify(password, hash.transpose()?.flatten()).await?;
        match found {
            Some(row) if correct => Ok(account(&row)?),
            _ => Err(AccountError::WrongCredentials),
        }
    }

    /// A name that a player can take: not one of the operator, nor of a member of staff.
    async fn free_name(&self, name: &str) -> Result<Name, AccountError> {
        const STAFF: &str = "SELECT EXISTS (SELECT FROM account WHERE sign_in = ANY($1))";
        let name = Name::parse(name)?;
        let key = sign_in(&name);
        let staff = Role::ALL.into_iter().filter(|role| *role != Role::Player);
        let staff: Vec<String> = staff.map(|role| format!("{}:{key}", role.name())).collect();
        let reserved = RESERVED_NAMES.contains(&key.as_str())
            || sqlx::query_scalar(STAFF).bind(staff).fetch_one(&self.pool).await?;
        if reserved { Err(AccountError::ReservedName(name.to_string())) } else { Ok(name) }
    }

    /// Finds a staff account by name and role, or creates it.
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
        let row =
            query.fetch_optional(&self.pool).await.map_err(|error| name_taken(error, name))?;
        let upgraded = row.as_ref().map(account).transpose()?.ok_or(AccountError::NotAGuest)?;
        self.names.cache(upgraded.id, &upgraded.name);
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
        query.execute(&self.pool).await.map_err(|error| name_taken(error, name))?;
        let (name, guest): (Arc<str>, _) = (name.as_str().into(), password.is_none());
        self.names.cache(id, &name);
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

/// The name used to sign in, which is unique regardless of case.
fn sign_in(name: &Name) -> String {
    name.as_str().to_lowercase()
}

fn name_taken(error: sqlx::Error, name: &Name) -> AccountError {
    match error.as_database_error() {
        Some(known) if known.is_unique_violation() => AccountError::NameTaken(name.to_string()),
        _ => error.into(),
    }
}
