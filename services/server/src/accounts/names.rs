//! The names people go by, kept beside the log and asked for in batches.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use store::StoreError;
use uuid::Uuid;

/// How many names are kept in memory.
const MOST: usize = 50_000;

/// How long a name is believed: another node may have given a new one.
const GOOD_FOR: Duration = Duration::from_mins(1);

/// The names shown.
#[derive(Debug)]
pub(crate) struct Names {
    pool: PgPool,
    known: Cache<Uuid, (Arc<str>, Instant)>,
    /// Who works for the house; that does not change.
    staff: Cache<Uuid, bool>,
}

/// What the log calls a player: nothing that says who it is.
pub(crate) fn pseudonym(account: Uuid) -> String {
    let (_, random) = account.as_u64_pair();
    format!("player-{:012x}", random & 0xffff_ffff_ffff)
}

impl Names {
    pub(crate) fn new(pool: PgPool) -> Self {
        Self { pool, known: Cache::new(MOST), staff: Cache::new(MOST) }
    }

    /// Remembers a name that was just given.
    pub(crate) fn know(&self, account: Uuid, name: &Arc<str>) {
        self.known.insert(account, (Arc::clone(name), Instant::now()));
    }

    /// The name of an account if it is in memory.
    pub(crate) fn at_hand(&self, account: Uuid) -> Option<Arc<str>> {
        let (name, since) = self.known.get(&account)?;
        (since.elapsed() < GOOD_FOR).then_some(name)
    }

    /// Whether an account is one of staff: players are not told who.
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

    /// The names of these accounts, in one round trip at most. An account that is gone keeps its pseudonym.
    pub(crate) async fn of(
        &self,
        accounts: impl IntoIterator<Item = Uuid>,
    ) -> Result<HashMap<Uuid, Arc<str>>, StoreError> {
        let mut names = HashMap::new();
        let mut unknown = Vec::new();
        for account in accounts {
            match self.at_hand(account) {
                Some(name) => {
                    names.insert(account, name);
                }
                None => unknown.push(account),
            }
        }
        if !unknown.is_empty() {
            let query =
                sqlx::query("SELECT id, name, role <> 'player' FROM account WHERE id = ANY($1)")
                    .bind(&unknown);
            for row in query.fetch_all(&self.pool).await? {
                self.staff.insert(row.try_get(0)?, row.try_get(2)?);
                let (account, name): (Uuid, String) = (row.try_get(0)?, row.try_get(1)?);
                let name: Arc<str> = name.into();
                self.know(account, &name);
                names.insert(account, name);
            }
            for account in unknown {
                names.entry(account).or_insert_with(|| pseudonym(account).into());
            }
        }
        Ok(names)
    }
}
