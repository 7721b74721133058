//! Keys in files of 32 bytes. The newest is used; older ones remain valid.
//!
//! A folder contains `token-ID.key` (to sign tokens) and `dice-ID.key` (to seal the secrets of
//! dice). To rotate a key, add a file; to revoke one, remove its file. Nodes that share a folder
//! share keys.

use std::{
    fmt,
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use uuid::Uuid;

/// The minimum time between two scans of the folder for an unknown key.
const RESCAN: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Token,
    Dice,
}

#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) id: Uuid,
    pub(crate) bytes: [u8; 32],
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

/// The keys of a folder for one purpose.
#[derive(Debug)]
pub(crate) struct KeyRing {
    folder: PathBuf,
    purpose: Purpose,
    /// Newest first; never empty.
    keys: RwLock<Arc<Vec<Key>>>,
    last_scan: Mutex<Option<Instant>>,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Dice => "dice",
        }
    }
}

/// The ids of the keys of a folder.
pub(crate) fn present(folder: &Path, purpose: Purpose) -> io::Result<Vec<Uuid>> {
    Ok(read(folder, purpose)?.into_iter().map(|key| key.id).collect())
}

impl KeyRing {
    /// Opens the keys of a folder; creates the first one if there is none.
    pub(crate) fn open(folder: &Path, purpose: Purpose) -> io::Result<Self> {
        let mut keys = read(folder, purpose)?;
        if keys.is_empty() {
            add(folder, purpose)?;
            keys = read(folder, purpose)?;
        }
        let keys = RwLock::new(Arc::new(keys));
        Ok(Self { folder: folder.to_owned(), purpose, keys, last_scan: Mutex::default() })
    }

    /// The key in use.
    pub(crate) fn newest(&self) -> io::Result<Key> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no key");
        self.all().first().cloned().ok_or_else(missing)
    }

    /// The key with this id. Scans the folder for an unknown one, which another node may have
    /// added.
    pub(crate) fn find(&self, id: Uuid) -> Option<Key> {
        let known = |keys: &[Key]| keys.iter().find(|key| key.id == id).cloned();
        known(&self.all()).or_else(|| {
            self.reload(RESCAN);
            known(&self.all())
        })
    }

    /// All keys, newest first.
    pub(crate) fn all(&self) -> Arc<Vec<Key>> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Scans the folder, unless that was done within this time.
    pub(crate) fn reload(&self, within: Duration) {
        let mut last_scan = self.last_scan.lock().unwrap_or_else(PoisonError::into_inner);
        if last_scan.is_some_and(|scan| scan.elapsed() < within) {
            return;
        }
        *last_scan = Some(Instant::now());
        match read(&self.folder, self.purpose) {
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => {
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
            }
            Err(error) => {
                tracing::warn!(%error, folder = %self.folder.display(), "reading keys failed");
            }
        }
    }
}

/// Creates a new key, which becomes the newest.
pub(crate) fn add(folder: &Path, purpose: Purpose) -> io::Result<Uuid> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    std::fs::create_dir_all(folder)?;
    let id = Uuid::now_v7();
    let path = folder.join(format!("{}-{id}.key", purpose.name()));
    let temporary = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    // Renaming is atomic: readers never see a partial key.
    std::fs::rename(temporary, path)?;
    Ok(id)
}

fn read(folder: &Path, purpose: Purpose) -> io::Result<Vec<Key>> {
    let mut keys = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(keys),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let id = name.strip_prefix(purpose.name()).and_then(|rest| rest.strip_prefix('-'));
        let id = id.and_then(|rest| rest.strip_suffix(".key")).and_then(|id| id.parse().ok());
        let Some(id) = id else { continue };
        let wrong = |_| io::Error::other(format!("{} is not a key of 32 bytes", path.display()));
        keys.push(Key { id, bytes: std::fs::read(&path)?.try_into().map_err(wrong)? });
    }
    // Ids (UUIDv7) sort by creation time.
    keys.sort_unstable_by_key(|key| std::cmp::Reverse(key.id));
    Ok(keys)
}
