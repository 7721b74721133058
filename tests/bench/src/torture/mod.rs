//! A history checker under kills.
//!
//! Clients play, buy dice, match quickly, dispute and are paid at three real nodes. The nodes, several at once, a follower of the
//! log and PostgreSQL itself, whole or one process of it, are killed (SIGKILL) at random moments, again and again. Clients ask
//! again under the same ids, at other nodes, until they are answered, and keep in mind what they were told. Afterwards: nothing
//! acknowledged is missing, nothing is doubled, no answer differs from its repetition, every remedy has come to its end, every
//! award is paid once, every chain and seal holds, every finished game proves its dice, read models are what the log says, and
//! who followed or listened has seen every event exactly once.

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
use client::Trouble;
use house::House;
use node::Place;
use pair::Playing;
use store::Store;
use tokio::task::JoinSet;

pub(crate) use follower::follow;

/// How long clients may take to finish what they are at when nothing is killed any more.
const LAST_GAMES: Duration = Duration::from_mins(2);

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The seed of what is killed when, and of what clients do.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long.
    #[arg(long, default_value_t = 0)]
    minutes: u64,
    /// How long, on top of the minutes; 30 if nothing is said.
    #[arg(long)]
    seconds: Option<u64>,
    /// How many groups of clients; each plays everything and has two desks.
    #[arg(long, default_value_t = 1)]
    crowds: u64,
}

impl Options {
    fn time(&self) -> Duration {
        let short = if self.minutes == 0 { 30 } else { 0 };
        Duration::from_secs(self.minutes * 60 + self.seconds.unwrap_or(short))
    }
}

/// What the process that follows the log needs to know.
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
        // Whoever looks for the reason needs what the nodes said, and the log.
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
        admit(&mut clients, &shared, crowd * 100, &staff);
    }

    let mut chance = Chance::new(options.seed);
    let begun = Instant::now();
    while begun.elapsed() < time {
        let pause = Duration::from_millis(chance.up_to(1500).into());
        tokio::select! {
            () = tokio::time::sleep(pause) => house.strike(&mut chance).await?,
            Some(ended) = clients.join_next() => {
                ended?.map_err(|trouble| trouble.to_string())?;
                return Err("a client went home early".into());
            }
        }
    }
    println!("{}", house.kills);
    shared.stop();
    let last_words = tokio::time::timeout(LAST_GAMES, go_home(&mut clients, &mut house)).await;
    last_words.map_err(|_| format!("clients did not go home within {LAST_GAMES:?}"))??;

    let store = Store::open(&house.place.url, &store::Settings::default())?;
    settle::settle(&store, &mut house).await?;
    house.close_doors()?;
    house.end_follower(&store).await?;
    check::check(&store, &shared.journal, &house).await?;
    store.close().await;
    println!("nothing lost, nothing doubled, nothing rolled twice");
    Ok(())
}

/// Somebody who works for the house.
fn staff(place: &Place, name: &str) -> Result<Person, Box<dyn Error>> {
    let data = place.folder.join("data");
    let data = data.to_str().ok_or("a folder with a strange name")?;
    let issue = ["token", "issue", "--role", "support", "--name", name, "--hours", "24"];
    let token = place.run(&[issue.as_slice(), &["--data", data]].concat())?;
    Ok(Person { id: String::new(), token: token.trim().to_owned() })
}

/// A crowd of every kind of client.
fn admit(
    clients: &mut JoinSet<Result<(), Trouble>>,
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

/// Waits for all clients, while nodes are looked after.
async fn go_home(
    clients: &mut JoinSet<Result<(), Trouble>>,
    house: &mut House,
) -> Result<(), Box<dyn Error>> {
    loop {
        tokio::select! {
            ended = clients.join_next() => match ended {
                Some(ended) => ended?.map_err(|trouble| trouble.to_string())?,
                None => return Ok(()),
            },
            () = tokio::time::sleep(Duration::from_millis(100)) => house.look_after()?,
        }
    }
}
