//! A history checker under kills.
//!
//! Processes play games through the log and write down what was acknowledged. They, a follower and
//! PostgreSQL itself are killed (SIGKILL) at random moments, again and again, and started anew; commands
//! whose answer was lost are asked again under their ids. Afterwards: nothing acknowledged is missing,
//! nothing is doubled, no answer differs from its repetition, every chain and seal holds, every finished
//! game proves its dice, and the follower has seen every event exactly once.

mod chance;
mod check;
mod follower;
mod journal;
mod worker;

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

use chance::Chance;
use cluster::Cluster;
use domain::Moment;
use ed25519_dalek::SigningKey;
use store::{Store, prove::KnownSeals, seal::seal};

pub(crate) use follower::follow;
pub(crate) use worker::work;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The seed of what is killed when.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long.
    #[arg(long, default_value_t = 0)]
    minutes: u64,
    /// How long, on top of the minutes.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// How many processes play; two at a time share their games.
    #[arg(long, default_value_t = 6)]
    workers: u32,
}

/// What a process of the torture needs to know.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Part {
    #[arg(long)]
    url: String,
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    number: u32,
    #[arg(long)]
    seed: u64,
}

/// A process that is killed and started again.
struct Victim {
    name: &'static str,
    number: u32,
    child: Child,
}

#[derive(Debug, Default)]
struct Kills {
    workers: u32,
    followers: u32,
    servers: u32,
}

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-torture-").tempdir()?;
    let data = folder.path().join("cluster");
    let mut cluster = Some(Cluster::start(&data, cluster::Settings::Durable)?);
    let url = cluster.as_ref().map(|cluster| cluster.url("postgres")).unwrap_or_default();
    store::migrate(&url).await?;
    // Shared by everybody, whoever they run as: the cluster's folder is another user's.
    let notes = folder.path().join("notes");
    std::fs::create_dir(&notes)?;

    let time = Duration::from_secs(options.minutes * 60 + options.seconds);
    println!("{} s, {} workers, seed {}", time.as_secs(), options.workers, options.seed);
    let start = |name, number| start(name, number, &url, &notes, options.seed);
    let mut victims = (0..options.workers)
        .map(|number| start("torture-worker", number))
        .chain([start("torture-follower", 0)])
        .collect::<Result<Vec<_>, _>>()?;
    let mut chance = Chance::new(options.seed);
    let mut kills = Kills::default();
    let begun = Instant::now();
    while begun.elapsed() < time {
        tokio::time::sleep(Duration::from_millis(chance.up_to(1200).into())).await;
        if chance.up_to(10) <= 2 {
            // Start recovers from the log, as after a loss of power.
            if let Some(cluster) = cluster.take() {
                cluster.kill();
            }
            cluster = Some(Cluster::start(&data, cluster::Settings::Durable)?);
            kills.servers += 1;
        } else {
            let count = u32::try_from(victims.len())?;
            let victim = &mut victims[chance.up_to(count) as usize - 1];
            victim.child.kill()?;
            victim.child.wait()?;
            match victim.name {
                "torture-worker" => kills.workers += 1,
                _ => kills.followers += 1,
            }
            *victim = start(victim.name, victim.number)?;
        }
    }
    println!(
        "killed: {} workers, {} followers, {} PostgreSQL servers",
        kills.workers, kills.followers, kills.servers
    );
    std::fs::write(notes.join("stop"), "")?;
    for victim in victims.iter_mut().filter(|victim| victim.name == "torture-worker") {
        let ended = victim.child.wait()?;
        if !ended.success() {
            return Err(format!("worker {} ended with {ended}", victim.number).into());
        }
    }
    let store = Store::open(&url, &store::Settings::default())?;
    let key = SigningKey::from_bytes(&[1; 32]);
    seal(&store, &key, Moment(0)).await?;
    std::fs::write(notes.join("end"), store.heads().await?.total().to_string())?;
    for victim in &mut victims {
        victim.child.wait()?;
    }
    let proof =
        store::prove::prove(&store, &KnownSeals::new(), 2, &AtomicU64::new(0).into()).await?;
    println!(
        "log: {} events of {} games, {} seals: every chain holds",
        proof.events, proof.streams, proof.seals
    );
    check::check(&store, &notes, options.workers).await?;
    store.close().await;
    println!("nothing lost, nothing doubled, nothing rolled twice");
    Ok(())
}

fn start(
    name: &'static str,
    number: u32,
    url: &str,
    folder: &Path,
    seed: u64,
) -> std::io::Result<Victim> {
    let child = Command::new(std::env::current_exe()?)
        .args([name, "--url", url, "--number", &number.to_string(), "--seed", &seed.to_string()])
        .arg("--folder")
        .arg(folder)
        .stdin(Stdio::null())
        .spawn()?;
    Ok(Victim { name, number, child })
}
