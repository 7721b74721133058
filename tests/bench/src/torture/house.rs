//! Everything that runs and is killed: nodes, PostgreSQL, a follower.

use std::{
    error::Error,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use cluster::Cluster;
use domain::Moment;
use ed25519_dalek::SigningKey;
use rustix::process::{Pid, Signal, kill_process};
use store::{Store, prove::ExternalEvidence, seal::seal};

use super::{
    chance::Chance,
    node::{Node, NodeSettings, program},
};

/// Number of nodes.
const NODES: usize = 3;
/// How long a node may take to become ready, and a follower to reach the end.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
pub(super) struct Kills {
    nodes: u32,
    /// Number of times all nodes were killed at once.
    all_nodes: u32,
    followers: u32,
    servers: u32,
    backends: u32,
}

impl fmt::Display for Kills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, all_nodes, followers, servers, backends } = self;
        write!(
            f,
            "killed: {nodes} nodes ({all_nodes} times all at once), {servers} PostgreSQL servers, {backends} of its backends, {followers} followers"
        )
    }
}

pub(super) struct House {
    pub(super) place: NodeSettings,
    pub(super) kills: Kills,
    /// Seals as they were created.
    pub(super) outside: ExternalEvidence,
    pub(super) notes: PathBuf,
    nodes: Vec<Node>,
    follower: Child,
    key: SigningKey,
    data: PathBuf,
    /// Last, so that it is dropped after everything that needs it.
    cluster: Option<Cluster>,
}

impl House {
    pub(super) async fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let program = program()?;
        let (data, notes) = (folder.join("cluster"), folder.join("notes"));
        let nodes_folder = folder.join("nodes");
        std::fs::create_dir(&notes)?;
        std::fs::create_dir(&nodes_folder)?;
        let cluster = Cluster::start(&data, cluster::Settings::Durable)?;
        let url = cluster.url("postgres");
        store::migrate(&url).await?;
        let place = NodeSettings { program, url, folder: nodes_folder };
        let follower = start_follower(&place.url, &notes)?;
        let mut house = Self {
            place,
            kills: Kills::default(),
            outside: ExternalEvidence::default(),
            notes,
            nodes: Vec::new(),
            follower,
            key: SigningKey::from_bytes(&[1; 32]),
            data,
            cluster: Some(cluster),
        };
        // The first one creates the keys of all.
        for number in 0..NODES {
            house.nodes.push(Node::new(number, &house.place)?);
            house.await_nodes().await?;
        }
        Ok(house)
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes.iter().map(|node| node.address).collect()
    }

    /// Waits until all nodes are ready.
    pub(super) async fn await_nodes(&mut self) -> Result<(), Box<dyn Error>> {
        let begun = Instant::now();
        while !self.nodes.iter().all(Node::serves) {
            self.maintain()?;
            if begun.elapsed() > PATIENCE {
                return Err(format!("a node is not ready within {PATIENCE:?}").into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// No process may end by itself.
    pub(super) fn maintain(&mut self) -> Result<(), Box<dyn Error>> {
        for node in &mut self.nodes {
            node.maintain()?;
        }
        match self.follower.try_wait()? {
            Some(status) => Err(format!("the follower ended by itself: {status}").into()),
            None => Ok(()),
        }
    }

    /// Kills something, or seals in the middle of it.
    pub(super) async fn strike(&mut self, chance: &mut Chance) -> Result<(), Box<dyn Error>> {
        self.maintain()?;
        match chance.up_to(12) {
            1..=2 => self.kill_the_server()?,
            3..=4 => self.kill_a_backend(chance),
            5 => self.seal().await,
            6 => self.kill_the_follower()?,
            _ => self.kill_nodes(chance)?,
        }
        Ok(())
    }

    /// Kills all of PostgreSQL and starts it again.
    fn kill_the_server(&mut self) -> Result<(), Box<dyn Error>> {
        if let Some(cluster) = self.cluster.take() {
            cluster.kill();
        }
        self.cluster = Some(Cluster::start(&self.data, cluster::Settings::Durable)?);
        self.kills.servers += 1;
        Ok(())
    }

    /// Kills one backend: the server stops all others and recovers, with clients waiting.
    fn kill_a_backend(&mut self, chance: &mut Chance) {
        let backends = self.cluster.as_ref().map(Cluster::backends).unwrap_or_default();
        if backends.is_empty() {
            return;
        }
        let one = backends[chance.place(backends.len())];
        if let Some(pid) = Pid::from_raw(one) {
            // It may have ended already.
            kill_process(pid, Signal::KILL).ok();
            self.kills.backends += 1;
        }
    }

    /// Kills one or more nodes at once.
    fn kill_nodes(&mut self, chance: &mut Chance) -> Result<(), Box<dyn Error>> {
        let count = chance.place(NODES) + 1;
        let first = chance.place(NODES);
        let victims: Vec<usize> = (first..first + count).map(|number| number % NODES).collect();
        for &victim in &victims {
            self.nodes[victim].kill()?;
        }
        for &victim in &victims {
            self.nodes[victim].revive()?;
        }
        self.kills.nodes += u32::try_from(count)?;
        self.kills.all_nodes += u32::from(count == NODES);
        Ok(())
    }

    fn kill_the_follower(&mut self) -> Result<(), Box<dyn Error>> {
        self.follower.kill()?;
        self.follower.wait()?;
        self.follower = start_follower(&self.place.url, &self.notes)?;
        self.kills.followers += 1;
        Ok(())
    }

    /// What cannot be sealed now is sealed later.
    async fn seal(&mut self) {
        let settings = store::Settings { connections: 2, ..Default::default() };
        let Ok(store) = Store::open(&self.place.url, &settings) else { return };
        if let Ok(seals) = seal(&store, &self.key, Moment(0)).await {
            let seals = seals.into_iter().map(|seal| ((seal.shard, seal.number), seal));
            self.outside.seals.extend(seals);
        }
        store.close().await;
    }

    /// Stops all nodes, as an operator does: from now on nothing is written.
    pub(super) fn stop_nodes(&mut self) -> Result<(), Box<dyn Error>> {
        for node in &mut self.nodes {
            node.stop()?;
        }
        Ok(())
    }

    /// Seals the rest, and lets the follower read to the end of the log.
    pub(super) async fn end_follower(&mut self, store: &Store) -> Result<(), Box<dyn Error>> {
        self.seal().await;
        std::fs::write(self.notes.join("end"), store.heads().await?.total().to_string())?;
        let begun = Instant::now();
        loop {
            match self.follower.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the follower ended with {status}").into()),
                None if begun.elapsed() > PATIENCE => {
                    return Err("the follower does not reach the end of the log".into());
                }
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.follower.kill().ok();
        self.follower.wait().ok();
    }
}

fn start_follower(url: &str, notes: &Path) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["torture-follower", "--url", url, "--folder"])
        .arg(notes)
        .stdin(Stdio::null())
        .spawn()
}
