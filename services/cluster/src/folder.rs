//! The folder of a cluster and its lock.

use std::{
    fs::{File, OpenOptions, Permissions, TryLockError},
    hash::{DefaultHasher, Hash, Hasher},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{ClusterError, owner::Owner};

/// A folder that is locked while this value lives: the system releases the lock with our process.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    socket: PathBuf,
    _lock: File,
}

impl Folder {
    pub(crate) fn claim(path: &Path, owner: &Owner) -> Result<Self, ClusterError> {
        std::fs::create_dir_all(path).map_err(ClusterError::at(path))?;
        let path = path.canonicalize().map_err(ClusterError::at(path))?;
        let lock = lock(&path)?;
        owner.take(&path)?;
        owner.check_reach(&path)?;
        let socket = socket_folder(&path);
        std::fs::create_dir_all(&socket).map_err(ClusterError::at(&socket))?;
        owner.take(&socket)?;
        std::fs::set_permissions(&socket, Permissions::from_mode(0o700))
            .map_err(ClusterError::at(&socket))?;
        Ok(Self { path, socket, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("postgres.log")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.socket.clone()
    }
}

fn lock(folder: &Path) -> Result<File, ClusterError> {
    let path = folder.join("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(ClusterError::at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ClusterError::InUse(folder.to_owned())),
        Err(TryLockError::Error(error)) => Err(ClusterError::Io { path, error }),
    }
}

/// Inside the folder if it fits: the path of a socket is limited to about a hundred bytes.
pub(crate) fn socket_folder(folder: &Path) -> PathBuf {
    let inside = folder.join("socket");
    if inside.as_os_str().len() <= 80 {
        return inside;
    }
    let mut hash = DefaultHasher::new();
    folder.hash(&mut hash);
    PathBuf::from(format!("/tmp/croupier-{:016x}", hash.finish()))
}
