//! The delay until a finished game is in every read model, while a node serves many players.

use std::{
    collections::HashMap,
    error::Error,
    path::Path,
    time::{Duration, Instant},
};

use sqlx::Row;
use store::Store;
use uuid::Uuid;

use crate::serve::{Node, Way, load};

/// Poll interval.
const LOOK: Duration = Duration::from_millis(25);
/// Number of concurrent clients.
const CLIENTS: usize = 64;

/// The measured delays.
pub(super) struct Lag {
    pub(super) actions_per_second: f64,
    pub(super) games: usize,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) most_ms: f64,
}

/// A node plays and folds; we poll from outside which finished games are not folded yet, and for
/// how long.
pub(super) async fn lag(
    store: &Store,
    url: &str,
    folder: &Path,
    time: Duration,
) -> Result<Lag, Box<dyn Error>> {
    let node = Node::start(url, folder)?;
    // The previous node is gone; this one takes over all ranges and warms up.
    load(&node, Way::Http, "classic", CLIENTS, Duration::from_secs(3)).await?;
    let before = ended(store).await?;
    let watched = store.clone();
    let until = Instant::now() + time;
    let watch =
        tokio::spawn(async move { watch(&watched, until).await.map_err(|e| e.to_string()) });
    let figures = load(&node, Way::Http, "classic", CLIENTS, time).await?;
    let mut delays = watch.await??;
    let games = usize::try_from(ended(store).await? - before)?;
    // Games that were never seen waiting were folded within one poll interval.
    delays.resize(delays.len().max(games), LOOK.as_secs_f64() * 1e3);
    delays.sort_by(f64::total_cmp);
    Ok(Lag {
        actions_per_second: figures.per_second,
        games,
        p50_ms: delays[delays.len() / 2],
        p99_ms: delays[delays.len() * 99 / 100],
        most_ms: delays.last().copied().unwrap_or(0.0),
    })
}

async fn ended(store: &Store) -> Result<i64, Box<dyn Error>> {
    let count = "SELECT count(*) FROM event WHERE type = 'Ended' AND recorded_at > now() - interval '1 hour'";
    Ok(sqlx::query(count).fetch_one(store.pool()).await?.try_get(0)?)
}

/// The delays of all games that were seen waiting, in milliseconds: until every read model has
/// written them, and what is derived from them.
async fn watch(store: &Store, until: Instant) -> Result<Vec<f64>, sqlx::Error> {
    const WAITING: &str = "
SELECT e.stream, max(extract(epoch FROM clock_timestamp() - e.recorded_at) * 1000)::float8
  FROM processor p JOIN processor_range r USING (name, generation)
 CROSS JOIN LATERAL unnest(r.positions) WITH ORDINALITY AS q (position, n)
 CROSS JOIN LATERAL (
        SELECT e.stream, e.recorded_at FROM event e
         WHERE e.shard = r.range * (64 / p.ranges) + q.n - 1 AND e.position > q.position AND e.type = 'Ended') e
 WHERE p.state = 'live' AND p.name IN ('player_statistics', 'leaderboards', 'ratings', 'balance') GROUP BY e.stream
UNION ALL
SELECT DISTINCT d.game, (extract(epoch FROM clock_timestamp()) * 1000 - s.ended_at)::float8
  FROM processor p JOIN balance_due d USING (generation)
  JOIN balance_seat s ON s.generation = d.generation AND s.kind = d.kind AND s.day = d.day AND s.game = d.game
 WHERE p.name = 'balance' AND p.state = 'live'";
    let mut waiting: HashMap<Uuid, f64> = HashMap::new();
    let mut delays = Vec::new();
    while Instant::now() < until {
        let looked = Instant::now();
        let mut now: HashMap<Uuid, f64> = HashMap::new();
        for row in sqlx::query(WAITING).fetch_all(store.pool()).await? {
            let (game, age): (Uuid, f64) = (row.try_get(0)?, row.try_get(1)?);
            now.entry(game).and_modify(|known| *known = known.max(age)).or_insert(age);
        }
        waiting.retain(|game, age| {
            let still = now.contains_key(game);
            if !still {
                // It was folded between the last poll and this one.
                delays.push(*age + LOOK.as_secs_f64() * 1e3);
            }
            still
        });
        waiting.extend(now);
        tokio::time::sleep(LOOK.saturating_sub(looked.elapsed())).await;
    }
    delays.extend(waiting.into_values());
    Ok(delays)
}
