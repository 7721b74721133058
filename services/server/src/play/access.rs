//! Access to tables: public ones are open to everybody, private ones need an invite code.

use std::{collections::HashMap, sync::Arc};

use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use store::StoreError;
use uuid::Uuid;

use super::{AppError, secrets::random};

const IN_MEMORY: usize = 50_000;

/// The letters of invite codes, without I, O, 0 and 1, which look alike.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Who may join and see a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) creator: Uuid,
    /// The invite code; `None` for a public table.
    pub(crate) invite: Option<Arc<str>>,
}

/// Looks up the access to tables. It never changes after a table is created, so it is cached.
#[derive(Debug)]
pub(crate) struct AccessList {
    pool: PgPool,
    known: Cache<Uuid, Arc<Access>>,
}

/// A new invite code: ten letters of five random bits each.
pub(super) fn invite_code() -> Result<String, AppError> {
    let bytes: [u8; 10] = random()?;
    Ok(bytes.iter().map(|&byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect())
}

impl AccessList {
    pub(crate) fn new(pool: PgPool) -> Self {
        Self { pool, known: Cache::new(IN_MEMORY) }
    }

    /// The access to these tables, with at most one query.
    pub(crate) async fn of(
        &self,
        games: &[Uuid],
    ) -> Result<HashMap<Uuid, Arc<Access>>, StoreError> {
        let mut found = HashMap::with_capacity(games.len());
        let mut unknown = Vec::new();
        for &game in games {
            match self.known.get(&game) {
                Some(access) => {
                    found.insert(game, access);
                }
                None => unknown.push(game),
            }
        }
        if !unknown.is_empty() {
            const FIND: &str = "SELECT game, creator, invite FROM game_access WHERE game = ANY($1)";
            for row in sqlx::query(FIND).bind(&unknown).fetch_all(&self.pool).await? {
                let game: Uuid = row.try_get(0)?;
                let invite = row.try_get::<Option<String>, _>(2)?.map(Into::into);
                let access = Arc::new(Access { creator: row.try_get(1)?, invite });
                self.known.insert(game, Arc::clone(&access));
                found.insert(game, access);
            }
        }
        Ok(found)
    }

    /// The private table with this invite code.
    pub(crate) async fn invited_to(&self, code: &str) -> Result<Option<Uuid>, StoreError> {
        let code = code.trim().to_ascii_uppercase();
        // PostgreSQL rejects some texts (with NUL, for example) as parameters.
        if !code.bytes().all(|letter| LETTERS.contains(&letter)) {
            return Ok(None);
        }
        let query = sqlx::query("SELECT game FROM game_access WHERE invite = $1").bind(code);
        let row = query.fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Whether this code, or none, gives access to the table.
    pub(crate) async fn admits(&self, game: Uuid, code: Option<&str>) -> Result<bool, StoreError> {
        let access = self.of(&[game]).await?;
        Ok(access.get(&game).is_some_and(|access| access.admits(code)))
    }
}

impl Access {
    pub(crate) fn admits(&self, code: Option<&str>) -> bool {
        let Some(invite) = &self.invite else { return true };
        code.is_some_and(|code| code.trim().eq_ignore_ascii_case(invite))
    }
}
