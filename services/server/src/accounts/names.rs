//! Display names of accounts, cached and loaded in batches. They are not part of the log.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use store::StoreError;
use uuid::Uuid;

const IN_MEMORY: usize = 50_000;

/// How long a cached name is used: it may be changed on another node.
const CACHE_TIME: Duration = Duration::from_mins(1);

/// Cache of display names.
#[derive(Debug)]
pub(crate) struct Names {
    pool: PgPool,
    known: Cache<Uuid, (Arc<str>, Instant)>,
    /// Whether an account is staff; this never changes.
    staff: Cache<Uuid, bool>,
}

/// The name of a player in the log. It reveals nothing about the person.
pub(crate) fn pseudonym(account: Uuid) -> String {
    let (_, random) = account.as_u64_pair();
    format!("player-{:012x}", random & 0xffff_ffff_ffff)
}

impl Names {
    pub(crate) fn new(pool: PgPool) -> Self {
        Self { pool, known: Cache::new(IN_MEMORY), staff: Cache::new(IN_MEMORY) }
    }

    pub(crate) fn cache(&self, account: Uuid, name: &Arc<str>) {
        self.known.insert(account, (Arc::clone(name), Instant::now()));
    }

    /// The name of an account if it is cached.
    pub(crate) fn cached(&self, account: Uuid) -> Option<Arc<str>> {
        let (name, since) = self.known.get(&account)?;
        (since.elapsed() < CACHE_TIME).then_some(name)
    }

    /// Whether an account is staff: players do not see their names.
    pub(crate) async fn is_staff(&self, account: Uuid) -> Result<bool, StoreError> {
        if let Some(staff) = self.staff.get(&account) {
            return Ok(staff);
        }
        let query = sqlx::query("SELECT role <> 'player' FROM account WHERE id = $1").bind(account);
        let row = query.fetch_optional(&self.pool).await?;
        let staff = row.map_or(Ok(false), |row| row.try_get(0))?;
        self.staff.insert(account, staff);
        Ok(staff)
    }

    /// The names of these accounts, with at most one query. An erased account has its pseudonym.
    pub(crate) async fn of(
        &self,
        accounts: impl IntoIterator<Item = Uuid>,
    ) -> Result<HashMap<Uuid, Arc<str>>, StoreError> {
        let mut names = HashMap::new();
        let mut uncached = Vec::new();
        for account in accounts {
            match self.cached(account) {
                Some(name) => {
                    names.insert(account, name);
                }
                None => uncached.push(account),
            }
        }
        if !uncached.is_empty() {
            let query =
                sqlx::query("SELECT id, name, role <> 'player' FROM account WHERE id = ANY($1)")
                    .bind(&uncached);
            for row in query.fetch_all(&self.pool).await? {
                self.staff.insert(row.try_get(0)?, row.try_get(2)?);
                let (account, name): (Uuid, String) = (row.try_get(0)?, row.try_get(1)?);
                let name: Arc<str> = name.into();
                self.cache(account, &name);
                names.insert(account, name);
            }
            // An erased account is cached too, or every event of its games would ask for it.
            for account in uncached {
                names.entry(account).or_insert_with(|| {
                    let name: Arc<str> = pseudonym(account).into();
                    self.cache(account, &name);
                    name
                });
            }
        }
        Ok(names)
    }
}
