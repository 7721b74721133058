//! A history checker under kills.
//!
//! Processes play games through the log and write down what was acknowledged. They, a follower and
//! PostgreSQL itself, whole or one process of it, are killed (SIGKILL) at random moments, again and again;
//! commands
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
use rustix::process::{Pid, Signal, kill_process};
use store::{
    Store,
    prove::{Outside, prove},
    seal::seal,
};

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
    backends: u32,
}

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-torture-").tempdir()?;
    let notes = folder.path().join("notes");
    std::fs::create_dir(&notes)?;
    let time = Duration::from_secs(options.minutes * 60 + options.seconds);
    println!("{} s, {} workers, seed {}", time.as_secs(), options.workers, options.seed);

    let mut torture = Torture::begin(options, &folder.path().join("cluster"), &notes).await?;
    let mut chance = Chance::new(options.seed);
    let begun = Instant::now();
    while begun.elapsed() < time {
        tokio::time::sleep(Duration::from_millis(chance.up_to(1200).into())).await;
        torture.strike(&mut chance).await?;
    }
    let Kills { workers, followers, servers, backends } = torture.kills;
    println!(
        "killed: {workers} workers, {followers} followers, {servers} PostgreSQL servers, {backends} of its backends"
    );
    std::fs::write(notes.join("stop"), "")?;
    torture.await_end_of("torture-worker").await?;
    let store = Store::open(&torture.url, &store::Settings::default())?;
    torture.seal().await;
    std::fs::write(notes.join("end"), store.heads().await?.total().to_string())?;
    torture.await_end_of("torture-follower").await?;
    let proof = prove(&store, &torture.outside, 2, &AtomicU64::new(0).into()).await?;
    let compared = torture.outside.seals.len();
    println!(
        "log: {} events of {} games, {} seals, {compared} of them compared with outside: every chain holds",
        proof.events, proof.streams, proof.seals
    );
    check::check(&store, &notes, options.workers).await?;
    store.close().await;
    println!("nothing lost, nothing doubled, nothing rolled twice");
    Ok(())
}

/// Everything that runs and is killed.
struct Torture {
    data: PathBuf,
    notes: PathBuf,
    url: String,
    seed: u64,
    cluster: Option<Cluster>,
    victims: Vec<Victim>,
    kills: Kills,
    /// Seals as they were when they were made.
    outside: Outside,
    key: SigningKey,
}

impl Torture {
    async fn begin(options: &Options, data: &Path, notes: &Path) -> Result<Self, Box<dyn Error>> {
        let cluster = Cluster::start(data, cluster::Settings::Durable)?;
        let url = cluster.url("postgres");
        store::migrate(&url).await?;
        let mut torture = Self {
            data: data.to_owned(),
            notes: notes.to_owned(),
            url,
            seed: options.seed,
            cluster: Some(cluster),
            victims: Vec::new(),
            kills: Kills::default(),
            outside: Outside::default(),
            key: SigningKey::from_bytes(&[1; 32]),
        };
        for number in 0..options.workers {
            torture.victims.push(torture.start("torture-worker", number)?);
        }
        torture.victims.push(torture.start("torture-follower", 0)?);
        Ok(torture)
    }

    fn start(&self, name: &'static str, number: u32) -> std::io::Result<Victim> {
        let child = Command::new(std::env::current_exe()?)
            .args([name, "--url", &self.url, "--number", &number.to_string()])
            .args(["--seed", &self.seed.to_string(), "--folder"])
            .arg(&self.notes)
            .stdin(Stdio::null())
            .spawn()?;
        Ok(Victim { name, number, child })
    }

    /// Kills something, or seals in the middle of it all.
    async fn strike(&mut self, chance: &mut Chance) -> Result<(), Box<dyn Error>> {
        if let Some(victim) = self.victims.iter_mut().find_map(Victim::ended) {
            return Err(format!("{victim} ended by itself").into());
        }
        match chance.up_to(10) {
            1..=2 => {
                if let Some(cluster) = self.cluster.take() {
                    cluster.kill();
                }
                self.cluster = Some(Cluster::start(&self.data, cluster::Settings::Durable)?);
                self.kills.servers += 1;
            }
            3 => self.kill_a_backend(chance),
            4 => self.seal().await,
            _ => self.kill_a_process(chance)?,
        }
        Ok(())
    }

    /// One process of the server: it stops all others and recovers, with clients waiting.
    fn kill_a_backend(&mut self, chance: &mut Chance) {
        let backends = self.cluster.as_ref().map(Cluster::backends).unwrap_or_default();
        let Ok(count @ 1..) = u32::try_from(backends.len()) else { return };
        let one = backends[chance.up_to(count) as usize - 1];
        if let Some(pid) = Pid::from_raw(one) {
            // It may have gone by itself.
            kill_process(pid, Signal::KILL).ok();
            self.kills.backends += 1;
        }
    }

    fn kill_a_process(&mut self, chance: &mut Chance) -> Result<(), Box<dyn Error>> {
        let index = chance.up_to(u32::try_from(self.victims.len())?) as usize - 1;
        let victim = &mut self.victims[index];
        victim.child.kill()?;
        victim.child.wait()?;
        let (name, number) = (victim.name, victim.number);
        match name {
            "torture-worker" => self.kills.workers += 1,
            _ => self.kills.followers += 1,
        }
        self.victims[index] = self.start(name, number)?;
        Ok(())
    }

    /// What cannot be sealed now is sealed later.
    async fn seal(&mut self) {
        let settings = store::Settings { connections: 2, ..Default::default() };
        let Ok(store) = Store::open(&self.url, &settings) else { return };
        if let Ok(seals) = seal(&store, &self.key, Moment(0)).await {
            let seals = seals.into_iter().map(|seal| ((seal.shard, seal.number), seal));
            self.outside.seals.extend(seals);
        }
        store.close().await;
    }

    async fn await_end_of(&mut self, name: &str) -> Result<(), Box<dyn Error>> {
        for victim in self.victims.iter_mut().filter(|victim| victim.name == name) {
            victim.must_end_well().await?;
        }
        Ok(())
    }
}

impl Victim {
    /// What it says if it is not running any more, though nobody killed it.
    fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        Some(format!("{} {} ({status})", self.name, self.number))
    }

    /// Waits for its end, but not for ever.
    async fn must_end_well(&mut self) -> Result<(), Box<dyn Error>> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    return Err(format!("{} {} ended with {status}", self.name, self.number).into());
                }
                None if begun.elapsed() > Duration::from_mins(1) => {
                    self.child.kill()?;
                    return Err(
                        format!("{} {} does not come to its end", self.name, self.number).into()
                    );
                }
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}
