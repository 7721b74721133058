//! The delay from the acknowledgement of an append until a follower receives it.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use domain::Moment;
use store::{Append, Hash, Head, Store};
use uuid::Uuid;

use crate::append_load::three_events;

/// The median in milliseconds, for appends through `writer` and a tail of `follower`.
pub(crate) async fn delay(writer: &Store, follower: &Store) -> Result<f64, Box<dyn Error>> {
    let mut tail = follower.tail(follower.heads().await?);
    let mut millis = Vec::new();
    for round in 1..=100 {
        let stream = Uuid::now_v7();
        let append = Append {
            stream,
            head: Head::NEW,
            command: stream,
            request: Hash::ZERO,
            actor: stream,
            at: Moment(1),
            events: &three_events(round),
        };
        writer.append(append).await?;
        let acknowledged = Instant::now();
        while tail.next().await?.stream != stream {}
        millis.push(acknowledged.elapsed().as_secs_f64() * 1000.0);
        tail.next().await?;
        tail.next().await?;
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
    millis.sort_by(f64::total_cmp);
    Ok(millis[millis.len() / 2])
}
