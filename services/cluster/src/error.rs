//! Why a cluster does not start: one sentence that says what to do.

use std::{io, path::PathBuf};

/// A cluster that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// PostgreSQL is not installed.
    #[error("PostgreSQL's server programs were not found. Run: {install}")]
    NoBinaries {
        /// The command that installs them here.
        install: &'static str,
    },
    /// The override names a folder without the programs.
    #[error("{variable} is {}, but there is no initdb and postgres in it", folder.display())]
    BadOverride {
        /// The variable.
        variable: &'static str,
        /// Its value.
        folder: PathBuf,
    },
    /// Another process uses the folder.
    #[error(
        "{} is in use by another running croupier; stop that one or choose another data folder",
        .0.display()
    )]
    InUse(PathBuf),
    /// A durable cluster must not be opened as a throwaway one.
    #[error("{} holds a durable cluster, which is never removed", .0.display())]
    NotThrowaway(PathBuf),
    /// PostgreSQL must not run as root, and there is no user to run it as.
    #[error(
        "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as. Run: useradd --system postgres"
    )]
    NoUser,
    /// The user PostgreSQL runs as cannot reach the folder.
    #[error(
        "user {user} cannot reach {}; choose a data folder below /var/lib or /tmp",
        folder.display()
    )]
    Unreachable {
        /// The user.
        user: String,
        /// The folder.
        folder: PathBuf,
    },
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// A program of PostgreSQL failed.
    #[error("{program} failed: {output}")]
    Failed {
        /// The program.
        program: &'static str,
        /// The end of its output.
        output: String,
    },
}

impl ClusterError {
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
