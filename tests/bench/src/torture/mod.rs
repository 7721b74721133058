//! A history checker under kills.
//!
//! Clients play, trade dice, use quick match, open disputes and earn money on three real nodes. The
//! nodes, several at once, a follower of the log and PostgreSQL itself, the whole server or a
//! single process, are killed (SIGKILL) at random times, again and again. Clients retry with the
//! same ids on other nodes until they get a response, and record every result. Afterwards: nothing
//! acknowledged is missing, nothing is duplicated, no result differs from that of its retry, every
//! remedy is completed, every award is credited once, every chain and seal is valid, the dice of
//! every finished game are verified, read models match the log, and followers and listeners have
//! received every event exactly once.

mod caller;
mod chance;
mod check;
mod desk;
mod follower;
mod house;
mod journal;
mod listener;
mod node;
mod pair;
mod quick;
mod remedies;
mod settle;
mod table;

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use caller::{Person, Shared};
use chance::Chance;
use client::ClientError;
use house::House;
use node::NodeSettings;
use pair::Playing;
use store::Store;
use tokio::task::JoinSet;

pub(crate) use follower::follow;

/// How long clients may take to finish once nothing is killed any more.
const LAST_GAMES: Duration = Duration::from_mins(2);

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Seed of the kills and of the clients' actions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Duration in minutes.
    #[arg(long, default_value_t = 0)]
    minutes: u64,
    /// Duration in seconds, added to the minutes; 30 if neither is given.
    #[arg(long)]
    seconds: Option<u64>,
    /// Number of groups of clients; each has every kind of player and two pairs of staff.
    #[arg(long, default_value_t = 1)]
    crowds: u64,
}

impl Options {
    fn time(&self) -> Duration {
        let short = if self.minutes == 0 { 30 } else { 0 };
        Duration::from_secs(self.minutes * 60 + self.seconds.unwrap_or(short))
    }
}

/// The arguments of the process that follows the log.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Part {
    #[arg(long)]
    url: String,
    #[arg(long)]
    folder: PathBuf,
}

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-torture-").tempdir()?;
    let done = torture(options, folder.path()).await;
    if done.is_err() {
        // The logs of the nodes and the database are needed to find the reason.
        eprintln!("everything is kept in {}", folder.keep().display());
    }
    done
}

async fn torture(options: &Options, folder: &Path) -> Result<(), Box<dyn Error>> {
    let time = options.time();
    println!("{} s, seed {}", time.as_secs(), options.seed);
    let mut house = House::open(folder).await?;
    let staff = [staff(&house.place, "Sue")?, staff(&house.place, "Tom")?];
    let shared = Arc::new(Shared::new(house.addresses(), options.seed));
    let mut clients = JoinSet::new();
    for crowd in 0..options.crowds {
        start_clients(&mut clients, &shared, crowd * 100, &staff);
    }

    let mut chance = Chance::new(options.seed);
    let begun = Instant::now();
    while begun.elapsed() < time {
        let pause = Duration::from_millis(chance.up_to(1500).into());
        tokio::select! {
            () = tokio::time::sleep(pause) => house.strike(&mut chance).await?,
            Some(ended) = clients.join_next() => {
                ended?.map_err(|trouble| trouble.to_string())?;
                return Err("a client stopped early".into());
            }
        }
    }
    println!("{}", house.kills);
    shared.stop();
    let finished = tokio::time::timeout(LAST_GAMES, finish_clients(&mut clients, &mut house)).await;
    finished.map_err(|_| format!("clients did not finish within {LAST_GAMES:?}"))??;

    let store = Store::open(&house.place.url, &store::Settings::default())?;
    settle::settle(&store, &mut house).await?;
    house.stop_nodes()?;
    house.end_follower(&store).await?;
    check::check(&store, &shared.journal, &house).await?;
    store.close().await;
    println!("nothing lost, nothing duplicated, nothing rolled twice");
    Ok(())
}

/// A staff member.
fn staff(place: &NodeSettings, name: &str) -> Result<Person, Box<dyn Error>> {
    let data = place.folder.join("data");
    let data = data.to_str().ok_or("a folder with a strange name")?;
    let issue = ["token", "issue", "--role", "support", "--name", name, "--hours", "24"];
    let token = place.run(&[issue.as_slice(), &["--data", data]].concat())?;
    Ok(Person { id: String::new(), token: token.trim().to_owned() })
}

/// Starts a group of every kind of client.
fn start_clients(
    clients: &mut JoinSet<Result<(), ClientError>>,
    shared: &Arc<Shared>,
    number: u64,
    [sue, tom]: &[Person; 2],
) {
    let new = || Arc::clone(shared);
    clients.spawn(pair::play(new(), number, Playing::Farkle));
    clients.spawn(pair::play(new(), number + 10, Playing::LastLine));
    clients.spawn(pair::play(new(), number + 20, Playing::Challenge));
    clients.spawn(pair::play(new(), number + 30, Playing::Challenge));
    for quick in 0..3 {
        clients.spawn(quick::play(new(), number + 40 + quick));
    }
    clients.spawn(desk::see_to(new(), number + 50, [sue.clone(), tom.clone()]));
    clients.spawn(desk::see_to(new(), number + 60, [tom.clone(), sue.clone()]));
    for listener in 0..2 {
        clients.spawn(listener::listen(new(), number + 70 + listener));
    }
}

/// Waits for all clients, while nodes are restarted if needed.
async fn finish_clients(
    clients: &mut JoinSet<Result<(), ClientError>>,
    house: &mut House,
) -> Result<(), Box<dyn Error>> {
    loop {
        tokio::select! {
            ended = clients.join_next() => match ended {
                Some(ended) => ended?.map_err(|trouble| trouble.to_string())?,
                None => return Ok(()),
            },
            () = tokio::time::sleep(Duration::from_millis(100)) => house.maintain()?,
        }
    }
}
