//! Duties that one node does at a time: who holds a lock of the database does them.

use sqlx::{PgConnection, PgPool, Row};
use store::StoreError;

/// The connection that holds the lock, if nobody else's does. Should this machine vanish, the database notices within
/// half a minute, and the lock is free.
pub(crate) async fn hold(pool: &PgPool, lock: i64) -> Result<Option<PgConnection>, StoreError> {
    const MORTAL: &str = "
SET idle_session_timeout = '30s'; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";
    let mut connection = pool.acquire().await?;
    let query = sqlx::query("SELECT pg_try_advisory_lock($1)").bind(lock);
    let locked: bool = query.fetch_one(&mut *connection).await?.try_get(0)?;
    if !locked {
        return Ok(None);
    }
    let mut connection = connection.detach();
    sqlx::raw_sql(MORTAL).execute(&mut connection).await?;
    Ok(Some(connection))
}
