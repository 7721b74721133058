//! Whole games over GraphQL compared with plain PostgreSQL, and the memory cost of a game and a
//! subscriber.

mod memory;
mod node;
mod payout;
mod player;

use std::{
    error::Error,
    time::{Duration, Instant},
};

use cluster::Cluster;
use serde_json::json;

use crate::{figures::Figures, pgbench};
use node::CpuTimes;
pub(crate) use node::Node;
use player::Player;
pub(crate) use player::Way;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Take half a minute instead of several.
    #[arg(long)]
    quick: bool,
    /// Numbers of concurrent clients, one run each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
    clients: Vec<usize>,
    /// Transports, one run each.
    #[arg(long, value_delimiter = ',', default_values_t = [Way::Http, Way::Socket])]
    over: Vec<Way>,
    /// The preset. In a challenge one of the two players has six special dice and earns money with
    /// every save and every farkle.
    #[arg(long, default_value = "classic", value_parser = ["classic", "challenge-standard"])]
    preset: String,
    /// Skip the memory measurements.
    #[arg(long)]
    no_memory: bool,
    /// Print one JSON object on the last line.
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-bench-").tempdir()?;
    let cluster = Cluster::start(&folder.path().join("cluster"), cluster::Settings::Durable)?;
    let url = cluster.url("postgres");
    let node = Node::start(&url, folder.path())?;
    let time = Duration::from_secs(if options.quick { 4 } else { 12 });

    // Memory first: a node that has been busy has already allocated.
    let memory =
        if options.no_memory { json!(null) } else { memory::measure(&node, options.quick).await? };
    println!(
        "one action = one mutation (roll, save, bank) of a real game of two; fsync on; {} s per run",
        time.as_secs()
    );
    println!(
        "{:>7} │ {:>9} │ {:>6} {:>9} {:>7} {:>7} {:>6} │ {:>34}",
        "clients",
        "pgbench/s",
        "over",
        "actions/s",
        "p50 ms",
        "p99 ms",
        "ratio",
        "CPU µs an action: node, db, client"
    );
    let mut rows = Vec::new();
    for &clients in &options.clients {
        let plain = pgbench::run(&url, clients, time)?;
        for &way in &options.over {
            let before = CpuTimes::now(&node, &cluster);
            let ours = load(&node, way, &options.preset, clients, time).await?;
            let cpu = CpuTimes::now(&node, &cluster).since(&before);
            let ratio = ours.per_second / plain.per_second;
            let actions = ours.per_second * time.as_secs_f64();
            let [server, database, bench] = cpu.map(|micros| micros / actions);
            println!(
                "{clients:>7} │ {:>9.0} │ {:>6} {:>9.0} {:>7.2} {:>7.2} {ratio:>6.2} │ {server:>11.0} {database:>11.0} {bench:>10.0}",
                plain.per_second,
                way.to_string(),
                ours.per_second,
                ours.p50_ms,
                ours.p99_ms,
            );
            rows.push(json!({
                "clients": clients, "over": way.to_string(), "pgbench_per_s": plain.per_second, "actions_per_s": ours.per_second,
                "p50_ms": ours.p50_ms, "p99_ms": ours.p99_ms, "ratio": ratio,
                "cpu_us": { "node": server, "database": database, "client": bench },
            }));
        }
    }
    let money = payout::measure(&url).await?;
    if options.json {
        println!("{}", json!({ "serve": rows, "memory": memory, "money": money }));
    }
    drop(node);
    cluster.stop();
    Ok(())
}

/// A number of clients play for a given time.
pub(crate) async fn load(
    node: &Node,
    way: Way,
    preset: &str,
    clients: usize,
    time: Duration,
) -> Result<Figures, Box<dyn Error>> {
    // All players are seated before the clock starts.
    let mut players = Vec::with_capacity(clients);
    for _ in 0..clients {
        players.push(Player::new(node.address, way, preset).await.map_err(memory::plain)?);
    }
    let start = Instant::now();
    let tasks: Vec<_> =
        players.into_iter().map(|player| tokio::spawn(player.play_until(start + time))).collect();
    let mut micros = Vec::new();
    for task in tasks {
        micros.extend(task.await?.map_err(memory::plain)?);
    }
    Ok(Figures::new(micros, start.elapsed()))
}
