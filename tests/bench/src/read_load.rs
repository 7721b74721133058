//! Reading the log: decoded events, compared with the maximum throughput of COPY.

use std::{
    error::Error,
    process::{Command, Stdio},
    time::Instant,
};

use futures_util::{StreamExt, TryStreamExt, stream};
use store::{Shard, Store};

/// Events per second through the log reader, two shards at a time.
pub(crate) async fn through_the_reader(store: &Store) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let shards = stream::iter(Shard::all()).map(|shard| {
        let store = store.clone();
        async move {
            let count = store.log(shard, 0).try_fold(0u32, |count, _| async move { Ok(count + 1) });
            tokio::spawn(count).await
        }
    });
    let mut counts = shards.buffered(2);
    let mut events = 0;
    while let Some(count) = counts.next().await {
        events += count??;
    }
    Ok(f64::from(events) / start.elapsed().as_secs_f64())
}

/// Events per second when PostgreSQL copies the same columns, not decoded.
pub(crate) fn by_copy(url: &str, events: i64) -> Result<f64, Box<dyn Error>> {
    const COPY: &str = "COPY (SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, \
                        payload, hash FROM event) TO STDOUT (FORMAT binary)";
    let start = Instant::now();
    let status =
        Command::new("psql").args(["-Xq", "-d", url, "-c", COPY]).stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err("COPY failed".into());
    }
    Ok(f64::from(u32::try_from(events)?) / start.elapsed().as_secs_f64())
}
