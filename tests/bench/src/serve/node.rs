//! The real binary, built in release mode.

use std::{
    error::Error,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use cluster::Cluster;

/// A running node. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Node {
    /// Builds the binary if needed, and starts it.
    pub(crate) fn start(url: &str, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let built = Command::new(option_env!("CARGO").unwrap_or("cargo"))
            .args(["build", "--release", "--quiet", "--bin", "croupier"])
            .status()?;
        let here = std::env::current_exe()?;
        let binary = here.parent().ok_or("no folder")?.join("croupier");
        if !built.success() || !binary.exists() {
            return Err("run: cargo build --release --bin croupier".into());
        }
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--database-url", url, "--log", "warn"])
            .args(["--actor-rate", "0", "--address-rate", "0", "--sign-in-rate", "0"])
            .args(["--guest-rate", "0", "--first-money", "100", "--data"])
            .arg(folder.join("data"))
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or("no output")?;
        for line in BufReader::new(out).lines() {
            if let Some((_, rest)) = line?.split_once("GraphQL   http://") {
                let address = rest.split('/').next().unwrap_or_default().parse()?;
                return Ok(Self { address, child });
            }
        }
        Err("the node did not start".into())
    }

    /// The memory of the process, in KiB.
    pub(crate) fn memory(&self) -> Result<f64, Box<dyn Error>> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)).ok_or("no VmRSS")?;
        Ok(kib.parse()?)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// CPU time of the node, the database and the benchmark itself, in microseconds; 0 if the system
/// does not provide it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTimes([f64; 3]);

impl CpuTimes {
    pub(crate) fn now(node: &Node, cluster: &Cluster) -> Self {
        let of = |pid: i64| cpu_micros(pid).map_or(0.0, |[own, _]| own);
        let backends: f64 = cluster.backends().into_iter().map(|pid| of(pid.into())).sum();
        // A backend that ended is counted by its parent; one that ends between the two readings is
        // briefly counted twice.
        let parent = cluster.pid().and_then(|pid| cpu_micros(pid.into())).unwrap_or_default();
        Self([
            of(node.child.id().into()),
            backends + parent.iter().sum::<f64>(),
            of(std::process::id().into()),
        ])
    }

    pub(crate) fn since(&self, before: &Self) -> [f64; 3] {
        let mut spent = self.0;
        for (spent, before) in spent.iter_mut().zip(before.0) {
            *spent = (*spent - before).max(0.0);
        }
        spent
    }
}

/// The CPU time of a process and of its ended children: fields 14 to 17 of its `stat`, in
/// hundredths of a second.
fn cpu_micros(pid: i64) -> Option<[f64; 2]> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = line.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    let ticks: Vec<u32> = fields.filter_map(|field| field.parse().ok()).collect();
    let [user, system, ended_user, ended_system] = ticks.try_into().ok()?;
    Some([user + system, ended_user + ended_system].map(|ticks| f64::from(ticks) * 10_000.0))
}
