//! The event log compared with plain PostgreSQL.

use std::{error::Error, time::Duration};

use cluster::Cluster;
use serde_json::{Value, json};
use store::Store;

use crate::{append_load, growth::psql, load, pgbench, read_load, tail_load};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Take half a minute instead of several.
    #[arg(long)]
    quick: bool,
    /// Numbers of concurrent writers, one run each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
    writers: Vec<usize>,
    /// Number of batches that may be committed concurrently.
    #[arg(long, default_value_t = store::Settings::default().lanes)]
    lanes: usize,
    /// Print one JSON object on the last line.
    #[arg(long)]
    json: bool,
}

/// The log reader compared with COPY, on a million events.
async fn reading(store: &Store, url: &str, options: &Options) -> Result<Value, Box<dyn Error>> {
    let most = if options.quick { 300_000 } else { 1_000_000 };
    let there = store.heads().await?.total();
    let missing = usize::try_from(most - there).unwrap_or(0);
    load::fill(store, missing).await?;
    psql(url, "VACUUM ANALYZE event")?;
    let events = store.heads().await?.total();
    let copy = read_load::by_copy(url, events)?;
    let ours = read_load::through_the_reader(store).await?;
    let ratio = ours / copy;
    println!(
        "reading {events} events: COPY {copy:.0}/s, ours decoded {ours:.0}/s, ratio {ratio:.2}"
    );
    Ok(json!({ "events": events, "copy_per_s": copy, "ours_per_s": ours, "ratio": ratio }))
}

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-bench-").tempdir()?;
    let cluster = Cluster::start(folder.path(), cluster::Settings::Durable)?;
    let url = cluster.url("postgres");
    store::migrate(&url).await?;
    let store = Store::open(&url, &store::Settings { lanes: options.lanes, ..Default::default() })?;
    let time = Duration::from_secs(if options.quick { 3 } else { 10 });

    println!("one action = one command of three events; fsync on; {} s per run", time.as_secs());
    println!("{:>8} │ {:>27} │ {:>27} │", "", "pgbench, 3-row insert", "our append, 3 events");
    println!(
        "{:>8} │ {:>9} {:>8} {:>8} │ {:>9} {:>8} {:>8} │ ratio",
        "writers", "actions/s", "p50 ms", "p99 ms", "actions/s", "p50 ms", "p99 ms"
    );
    let mut rows = Vec::new();
    for &writers in &options.writers {
        let plain = pgbench::run(&url, writers, time)?;
        let ours = append_load::run(&store, writers, time).await?;
        let ratio = ours.per_second / plain.per_second;
        println!(
            "{writers:>8} │ {:>9.0} {:>8.2} {:>8.2} │ {:>9.0} {:>8.2} {:>8.2} │ {ratio:>5.2}",
            plain.per_second, plain.p50_ms, plain.p99_ms, ours.per_second, ours.p50_ms, ours.p99_ms
        );
        rows.push(json!({
            "writers": writers, "pgbench_per_s": plain.per_second, "ours_per_s": ours.per_second,
            "ours_p50_ms": ours.p50_ms, "ours_p99_ms": ours.p99_ms, "ratio": ratio,
        }));
    }
    let read = reading(&store, &url, options).await?;
    let other = Store::open(&url, &store::Settings::default())?;
    let here = tail_load::delay(&store, &store).await?;
    let elsewhere = tail_load::delay(&other, &store).await?;
    println!(
        "a follower receives an append after {here:.1} ms, another node's after {elsewhere:.1} ms"
    );
    if options.json {
        let tail = json!({ "here_ms": here, "elsewhere_ms": elsewhere });
        println!("{}", json!({ "append": rows, "read": read, "tail": tail }));
    }
    other.close().await;
    store.close().await;
    cluster.stop();
    Ok(())
}
