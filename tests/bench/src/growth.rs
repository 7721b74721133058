//! Whether the cost of the log grows with its size.

use std::{
    error::Error,
    process::Command,
    time::{Duration, Instant},
};

use cluster::Cluster;
use futures_util::TryStreamExt;
use serde_json::json;
use store::{Recorded, Store};
use uuid::Uuid;

use crate::{append_load, load};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Use a tenth of the events.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object on the last line.
    #[arg(long)]
    json: bool,
}

/// The measurements at one size.
struct Size {
    events: i64,
    append_per_second: f64,
    append_p50_ms: f64,
    read_micros: f64,
    bytes_per_event: f64,
}

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-bench-").tempdir()?;
    let cluster = Cluster::start(folder.path(), cluster::Settings::Durable)?;
    let url = cluster.url("postgres");
    store::migrate(&url).await?;
    let store = Store::open(&url, &store::Settings::default())?;
    let million = if options.quick { 100_000 } else { 1_000_000 };

    println!("{:>10} │ appends/s   p50 ms │ stream read µs │ bytes/event", "events");
    let mut sizes = Vec::new();
    let mut streams = Vec::new();
    for more in [million, 9 * million] {
        streams.extend(load::fill(&store, more).await?);
        psql(&url, "ANALYZE; CHECKPOINT")?;
        let size = measure(&store, &url, &streams).await?;
        println!(
            "{:>10} │ {:>9.0} {:>8.2} │ {:>14.0} │ {:>11.0}",
            size.events,
            size.append_per_second,
            size.append_p50_ms,
            size.read_micros,
            size.bytes_per_event
        );
        sizes.push(size);
    }
    if let [small, large] = sizes.as_slice() {
        let append = large.append_per_second / small.append_per_second;
        let read = small.read_micros / large.read_micros;
        println!(
            "ten times larger: appends at {append:.2} of the speed, stream reads at {read:.2}"
        );
        if options.json {
            let bytes = large.bytes_per_event;
            println!(
                "{}",
                json!({ "append_ratio": append, "read_ratio": read, "bytes_per_event": bytes })
            );
        }
    }
    store.close().await;
    cluster.stop();
    Ok(())
}

async fn measure(store: &Store, url: &str, streams: &[Uuid]) -> Result<Size, Box<dyn Error>> {
    let bytes: f64 = psql(
        url,
        "SELECT sum(pg_total_relation_size(c)) FROM unnest('{event,stream_head}'::regclass[]) c",
    )?
    .parse()?;
    let events = store.heads().await?.total();
    let appends = append_load::run(store, 16, Duration::from_secs(5)).await?;
    let mut micros = Vec::new();
    // Spread over the log, old and new.
    for number in 1..=2000 {
        let stream = &streams[number * 7919 % streams.len()];
        let start = Instant::now();
        let read: Vec<Recorded> = store.stream(*stream, 0).try_collect().await?;
        micros.push(start.elapsed().as_secs_f64() * 1e6);
        assert_eq!(read.len(), load::STREAM, "a whole stream");
    }
    micros.sort_by(f64::total_cmp);
    Ok(Size {
        events,
        append_per_second: appends.per_second,
        append_p50_ms: appends.p50_ms,
        read_micros: micros[micros.len() / 2],
        bytes_per_event: bytes / f64::from(u32::try_from(events)?),
    })
}

pub(crate) fn psql(url: &str, sql: &str) -> Result<String, Box<dyn Error>> {
    let output = Command::new("psql").args(["-XAtq", "-d", url, "-c", sql]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
