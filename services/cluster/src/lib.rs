//! A private PostgreSQL cluster: nothing to install by hand, nothing to configure.
//!
//! ```no_run
//! # fn main() -> Result<(), cluster::ClusterError> {
//! let cluster = cluster::Cluster::start(".croupier".as_ref(), cluster::Settings::Durable)?;
//! println!("{}", cluster.url("postgres"));
//! cluster.stop(); // or drop it, or die: the server stops in every case
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

/// What a cluster promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// What is committed survives a loss of power.
    Durable,
    /// Fast, and gone when it stops: its folder is removed.
    Throwaway,
}

/// A running cluster. Dropping it stops the server.
#[derive(Debug)]
pub struct Cluster {
    folder: Folder,
    server: Server,
}

impl Cluster {
    /// Starts the cluster of a folder, creating it if the folder is new. What a crash left behind is
    /// cleared away; a folder that another running process uses is refused.
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

    /// Where a database of this cluster is reached, by the cluster's administrator.
    pub fn url(&self, database: &str) -> String {
        url(&self.folder.socket(), database)
    }

    /// The folder of the unix socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.socket()
    }

    /// What the server writes about itself.
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

    /// The process ids of the server's own processes: backends, writers and so on.
    pub fn backends(&self) -> Vec<i32> {
        self.pid().map(server::backends).unwrap_or_default()
    }

    /// Ends all processes of the server at once, as a crash would, and waits until they are gone.
    pub fn kill(mut self) {
        self.server.kill(&self.folder.data());
    }
}

/// Where a database of the cluster of this folder is reached, if another process runs it.
pub fn running(folder: &Path, database: &str) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    server::running_pid(&folder.join("data"))?;
    Some(url(&folder::socket_folder(&folder), database))
}

fn url(socket: &Path, database: &str) -> String {
    let host = percent_encoded(socket.as_os_str().as_encoded_bytes());
    format!("postgres://{ADMINISTRATOR}@{host}/{database}")
}

/// A path as part of an address.
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

/// The role that owns everything in the cluster.
const ADMINISTRATOR: &str = "croupier";

/// How long a start, with recovery after a crash, or a stop may take.
const PATIENCE: Duration = Duration::from_mins(1);
