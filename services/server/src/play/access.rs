//! Who may come to a table: everybody to a public one, who has the code to a private one.

use std::{collections::HashMap, sync::Arc};

use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use store::StoreError;
use uuid::Uuid;

use super::{PlayError, secrets::random};

/// How many tables are kept in memory.
const IN_MEMORY: usize = 50_000;

/// The letters of codes: none that look like another one.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Who may come to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Who opened it.
    pub(crate) creator: Uuid,
    /// The code of a private table.
    pub(crate) invite: Option<Arc<str>>,
}

/// The access to all tables. It is settled when a table is opened.
#[derive(Debug)]
pub(crate) struct AccessList {
    pool: PgPool,
    known: Cache<Uuid, Arc<Access>>,
}

/// A new code: fifty random bits in ten letters.
pub(super) fn invite_code() -> Result<String, PlayError> {
    let bytes: [u8; 10] = random()?;
    Ok(bytes.iter().map(|&byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect())
}

impl AccessList {
    pub(crate) fn new(pool: PgPool) -> Self {
        Self { pool, known: Cache::new(IN_MEMORY) }
    }

    /// The access to these tables, in one round trip at most.
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

    /// The private table of a code.
    pub(crate) async fn invited_to(&self, code: &str) -> Result<Option<Uuid>, StoreError> {
        let code = code.trim().to_ascii_uppercase();
        // What cannot be a code is nobody's, and not every text can be asked of PostgreSQL.
        if !code.bytes().all(|letter| LETTERS.contains(&letter)) {
            return Ok(None);
        }
        let query = sqlx::query("SELECT game FROM game_access WHERE invite = $1").bind(code);
        let row = query.fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Whether somebody with this code, or none, may come to the table.
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
