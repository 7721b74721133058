//! A private PostgreSQL cluster: nothing to install by hand, nothing to configure.
//!
//! ```no_run
//! # fn main() -> Result<(), cluster::ClusterError> {
//! let cluster = cluster::Cluster::start(".croupier".as_ref(), cluster::Settings::Durable)?;
//! println!("{}", cluster.url("postgres"));
//! cluster.stop(); // or drop it, or crash: the server stops in every case
//! # Ok(())
//! # }
//! ```
//!
//! The cluster listens on a unix socket only, in a folder that only its owner can enter. PostgreSQL
//! refuses to run as root, so a root process starts it as `postgres` or `nobody`.

mod binaries;
mod error;
mod folder;
mod owner;
mod server;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub use binaries::BIN_VARIABLE;
pub use error::ClusterError;
use folder::Folder;
use owner::Owner;
use server::Server;

/// How long a cluster keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// Commits survive a power failure.
    Durable,
    /// Fast, and removed with its folder when it stops.
    Throwaway,
}

/// A running cluster. Dropping it stops the server.
#[derive(Debug)]
pub struct Cluster {
    folder: Folder,
    server: Server,
}

impl Cluster {
    /// Starts the cluster of a folder, creating it if the folder is new. Leftovers of a crash are
    /// cleaned up; a folder that another running process uses is refused.
    pub fn start(folder: &Path, settings: Settings) -> Result<Self, ClusterError> {
        let bin = binaries::find()?;
        let owner = Owner::choose()?;
        let folder = Folder::claim(folder, &owner)?;
        let exists = folder.data().join("PG_VERSION").exists();
        if exists && settings == Settings::Throwaway {
            return Err(ClusterError::NotThrowaway(folder.data()));
        }
        server::stop_orphan(&folder.data())?;
        if !exists {
            server::create(&bin, &folder, &owner, settings)?;
        }
        let server = Server::start(&bin, &folder, &owner, settings)?;
        Ok(Self { folder, server })
    }

    /// The URL of a database of this cluster, as its administrator.
    pub fn url(&self, database: &str) -> String {
        url(&self.folder.socket(), database)
    }

    /// The folder of the unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.socket()
    }

    /// The server's log file.
    pub fn log(&self) -> PathBuf {
        self.folder.log()
    }

    /// The process id of the server.
    pub fn pid(&self) -> Option<i32> {
        server::running_pid(&self.folder.data())
    }

    /// Stops the server and waits for it.
    pub fn stop(mut self) {
        self.server.stop();
    }

    /// The process ids of the server's child processes: backends, writers and so on.
    pub fn backends(&self) -> Vec<i32> {
        self.pid().map(server::backends).unwrap_or_default()
    }

    /// Kills all processes of the server at once, like a crash, and waits until they are gone.
    pub fn kill(mut self) {
        self.server.kill(&self.folder.data());
    }
}

/// The URL of a database of this folder's cluster, if another process runs it.
pub fn running(folder: &Path, database: &str) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    server::running_pid(&folder.join("data"))?;
    Some(url(&folder::socket_folder(&folder), database))
}

fn url(socket: &Path, database: &str) -> String {
    let host = percent_encoded(socket.as_os_str().as_encoded_bytes());
    format!("postgres://{ADMINISTRATOR}@{host}/{database}")
}

/// Percent-encodes a path for a URL.
fn percent_encoded(path: &[u8]) -> String {
    path.iter().fold(String::new(), |mut text, &byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => text.push(byte.into()),
            _ => {
                text.push('%');
                for digit in [byte >> 4, byte & 15] {
                    text.extend(char::from_digit(digit.into(), 16).map(|d| d.to_ascii_uppercase()));
                }
            }
        }
        text
    })
}

/// The superuser role of the cluster.
const ADMINISTRATOR: &str = "croupier";

/// How long a start, including crash recovery, or a stop may take.
const PATIENCE: Duration = Duration::from_mins(1);
