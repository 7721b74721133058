//! Why a cluster does not start: one sentence, with what to do.

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
    /// The override names a folder without them.
    #[error("{variable} is {}, but there is no initdb and postgres in it", folder.display())]
    BadOverride {
        /// The variable.
        variable: &'static str,
        /// What it says.
        folder: PathBuf,
    },
    /// Another process uses the folder.
    #[error(
        "{} is in use by another running croupier; stop that one or choose another data folder",
        .0.display()
    )]
    InUse(PathBuf),
    /// A cluster that was made to stay.
    #[error("{} holds a cluster that was made to stay; it is not thrown away", .0.display())]
    NotThrowaway(PathBuf),
    /// PostgreSQL must not run as root, and there is no user to run it as.
    #[error(
        "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as. Run: useradd --system postgres"
    )]
    NoUser,
    /// The user PostgreSQL runs as cannot get to the folder.
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
    /// The file system said no.
    #[error("{}: {error}", path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// A program of PostgreSQL failed.
    #[error("{program} failed: {output}")]
    Failed {
        /// Which.
        program: &'static str,
        /// The end of what it said.
        output: String,
    },
}

impl ClusterError {
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
