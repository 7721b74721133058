//! Waits until all processors and remedies are done.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use store::{Positions, Recorded, Store, processor::status};

use super::{house::House, remedies};

/// Maximum waiting time.
const LIMIT: Duration = Duration::from_mins(1);

/// Lets all nodes run until every processor has caught up and every remedy is completed.
pub(super) async fn settle(store: &Store, house: &mut House) -> Result<(), Box<dyn Error>> {
    house.await_nodes().await?;
    let begun = Instant::now();
    loop {
        house.maintain()?;
        let missing = missing(store).await?;
        if missing.is_empty() {
            println!(
                "settled: after {:.1} s nothing was due any more",
                begun.elapsed().as_secs_f64()
            );
            return Ok(());
        }
        if begun.elapsed() > LIMIT {
            return Err(format!("not within {LIMIT:?}: {}", missing.join("; ")).into());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// What is still missing.
async fn missing(store: &Store) -> Result<Vec<String>, Box<dyn Error>> {
    let mut missing = Vec::new();
    let heads = store.heads().await?;
    for status in status(store.pool(), &heads).await?.iter().filter(|one| one.state == "live") {
        let (name, behind) = (&status.name, status.behind());
        if behind > 0 {
            missing.push(format!("'{name}' is {behind} events behind"));
        }
        for parked in &status.parked {
            let (stream, version, why) = (parked.stream, parked.version, &parked.reason);
            missing.push(format!("'{name}' has parked version {version} of {stream}: {why}"));
        }
    }
    let found = disputed(store).await?;
    for ((dispute, number), course) in remedies::courses(found.iter()) {
        if !course.has_ended() {
            missing.push(format!("remedy {number} of dispute {dispute} has not ended"));
        }
    }
    Ok(missing)
}

/// All events about remedies.
async fn disputed(store: &Store) -> Result<Vec<Recorded>, Box<dyn Error>> {
    let (mut events, mut after) = (Vec::new(), Positions::default());
    loop {
        let found = store.of_types(&remedies::TYPES, &after, 1000).await?;
        for event in &found.events {
            events.push(event.decode()?);
        }
        if found.unfinished.is_empty() {
            return Ok(events);
        }
        after = found.looked_at;
    }
}
