//! Fills a log with streams of sixty events.

use std::error::Error;

use domain::{Event, Moment};
use store::{Append, AppendError, Hash, Head, Store};
use uuid::Uuid;

use crate::append_load::three_events;

/// Number of events per stream.
pub(crate) const STREAM: usize = 60;

/// Appends this many events, rounded up to whole streams; returns the streams.
pub(crate) async fn fill(store: &Store, events: usize) -> Result<Vec<Uuid>, Box<dyn Error>> {
    const WRITERS: usize = 128;
    let each = events.div_ceil(STREAM).div_ceil(WRITERS);
    let tasks: Vec<_> =
        (0..WRITERS).map(|_| tokio::spawn(fill_streams(store.clone(), each))).collect();
    let mut streams = Vec::new();
    for task in tasks {
        streams.extend(task.await??);
    }
    Ok(streams)
}

async fn fill_streams(store: Store, count: usize) -> Result<Vec<Uuid>, AppendError> {
    let events: Vec<Event> = (1..).take(STREAM / 3).flat_map(three_events).collect();
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        let stream = Uuid::now_v7();
        let append = Append {
            stream,
            head: Head::NEW,
            command: Uuid::new_v4(),
            request: Hash::ZERO,
            actor: stream,
            at: Moment(1_800_000_000_000),
            events: &events,
        };
        store.append(append).await?;
        streams.push(stream);
    }
    Ok(streams)
}
