//! Read models: speed of rebuilds, freshness, and the cost of a leaderboard of a million players.

mod board;
mod lag;
mod log;

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use cluster::Cluster;
use domain::Event;
use projections::{MODELS, processors};
use serde_json::json;
use store::{
    Store,
    processor::{Consumer, rebuild, status},
};
use uuid::Uuid;

use crate::{growth::psql, read_load};
use board::{Costs, board};
use lag::{Lag, lag};
use log::{fill, random_game};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Use a log of 250,000 events and boards of 100,000 players instead of 5,000,000 and
    /// 1,000,000.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object on the last line.
    #[arg(long)]
    json: bool,
}

/// Number of different games; the log has copies of them, with other players.
const PLAYED: u64 = 400;

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-bench-").tempdir()?;
    let cluster = Cluster::start(folder.path(), cluster::Settings::Durable)?;
    let url = cluster.url("postgres");
    store::migrate(&url).await?;
    let store = Store::open(&url, &store::Settings::default())?;
    let (wanted, many) = if options.quick { (250_000, 100_000) } else { (5_000_000, 1_000_000) };

    let games: Arc<Vec<Vec<Event>>> = Arc::new((1..=PLAYED).map(random_game).collect());
    let start = Instant::now();
    fill(&store, &games, wanted).await?;
    psql(&url, "ANALYZE; CHECKPOINT")?;
    let events = store.heads().await?.total();
    println!("a log of {events} events, written in {:.0} s", start.elapsed().as_secs_f64());

    let limit = read_load::through_the_reader(&store).await?;
    println!("\n{:<22} {:>12} {:>8}", "read and decoded", "events/s", "ratio");
    println!("{:<22} {limit:>12.0} {:>8.2}", "plainly", 1.0);
    let rate = |since: Instant| -> Result<f64, Box<dyn Error>> {
        Ok(f64::from(u32::try_from(events)?) / since.elapsed().as_secs_f64())
    };
    let mut ratios = serde_json::Map::new();
    let start = Instant::now();
    let consumer = Consumer::new(store.clone(), processors(&store), Uuid::new_v4());
    let work = tokio::spawn(consumer.run_until(std::future::pending()));
    while behind(&store).await? {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    work.abort();
    psql(&url, "DELETE FROM processor_node")?;
    let all = rate(start)?;
    println!("{:<22} {all:>12.0} {:>8.2}", "all live, one node", all / limit);
    ratios.insert("live".to_owned(), json!(all / limit));
    for one in processors(&store) {
        let start = Instant::now();
        for built in rebuild(&store, std::slice::from_ref(&one), |_| {}).await? {
            assert_eq!(built.differing, 0, "{:?}", built.differences);
        }
        let rate = rate(start)?;
        println!("{:<22} {rate:>12.0} {:>8.2}", one.name, rate / limit);
        ratios.insert(one.name.to_owned(), json!(rate / limit));
    }
    let start = Instant::now();
    rebuild(&store, &processors(&store), |_| {}).await?;
    let together = rate(start)?;
    println!("{:<22} {together:>12.0} {:>8.2}", "all of them together", together / limit);
    ratios.insert("all".to_owned(), json!(together / limit));

    psql(&url, "DELETE FROM processor_node")?;
    let time = Duration::from_secs(if options.quick { 8 } else { 20 });
    let Lag { actions_per_second, games, p50_ms, p99_ms, most_ms } =
        lag(&store, &url, folder.path(), time).await?;
    println!(
        "\n64 players at {actions_per_second:.0} actions/s finish {games} games in {} s; a finished game shows after: p50 {p50_ms:.0} ms, p99 {p99_ms:.0} ms, at most {most_ms:.0} ms",
        time.as_secs()
    );

    let small = board(&store, &url, 1_000).await?;
    let large = board(&store, &url, many).await?;
    let boards = ratios_of_boards(many, small, large);
    if options.json {
        let fresh = json!({
            "actions_per_s": actions_per_second, "games": games, "p50_ms": p50_ms, "p99_ms": p99_ms, "most_ms": most_ms,
        });
        println!("{}", json!({ "rebuild": ratios, "freshness": fresh, "leaderboard": boards }));
    }
    store.close().await;
    cluster.stop();
    Ok(())
}

/// The cost of a large board relative to a small one.
fn ratios_of_boards(
    many: u32,
    small: [Costs; 2],
    large: [Costs; 2],
) -> serde_json::Map<String, serde_json::Value> {
    println!("\n{:<22} {:>12} {:>12} {:>8}", "leaderboard", 1_000, many, "ratio");
    let mut boards = serde_json::Map::new();
    for (n, by) in ["average", "wins"].into_iter().enumerate() {
        let (small, large) = (small[n], large[n]);
        for (what, small, large) in
            [("page", small.page, large.page), ("around", small.around, large.around)]
        {
            let (name, ratio) = (format!("{what} by {by}"), large / small);
            println!("{name:<22} {small:>9.0} µs {large:>9.0} µs {ratio:>8.2}");
            boards.insert(name, json!(ratio));
        }
    }
    boards
}

/// Whether a live generation is still behind.
async fn behind(store: &Store) -> Result<bool, Box<dyn Error>> {
    let all = status(store.pool(), &store.heads().await?).await?;
    let of_model = |name: &str| all.iter().find(|s| s.name == name && s.state == "live");
    Ok(MODELS.iter().any(|model| of_model(model.name).is_none_or(|s| s.behind() > 0)))
}
