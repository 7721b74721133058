//! Keys that live in files: 32 bytes each, the newest one in use, the older ones still good.
//!
//! A folder holds `token-ID.key` (they sign tokens) and `dice-ID.key` (they seal the secrets of dice). Rotating is
//! adding a file; taking an old key back is removing its file. Nodes that share a folder share keys.

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

/// How often the folder is looked at again for a key nobody knows.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Signing tokens.
    Token,
    /// Sealing the secrets of dice.
    Dice,
}

/// A key.
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

/// All keys of a purpose.
#[derive(Debug)]
pub(crate) struct KeyRing {
    folder: PathBuf,
    purpose: Purpose,
    /// The newest first; never empty.
    keys: RwLock<Arc<Vec<Key>>>,
    looked: Mutex<Option<Instant>>,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Dice => "dice",
        }
    }
}

impl KeyRing {
    /// The keys of a folder; the first one is made if there is none.
    pub(crate) fn open(folder: &Path, purpose: Purpose) -> io::Result<Self> {
        let mut keys = read(folder, purpose)?;
        if keys.is_empty() {
            add(folder, purpose)?;
            keys = read(folder, purpose)?;
        }
        let keys = RwLock::new(Arc::new(keys));
        Ok(Self { folder: folder.to_owned(), purpose, keys, looked: Mutex::default() })
    }

    /// The key in use.
    pub(crate) fn newest(&self) -> io::Result<Key> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no key");
        self.all().first().cloned().ok_or_else(missing)
    }

    /// The key of this id. One that is new, perhaps made by another node, is found in the folder.
    pub(crate) fn find(&self, id: Uuid) -> Option<Key> {
        let known = |keys: &[Key]| keys.iter().find(|key| key.id == id).cloned();
        known(&self.all()).or_else(|| {
            self.look_again(LOOK_AGAIN);
            known(&self.all())
        })
    }

    /// All keys, the newest first.
    pub(crate) fn all(&self) -> Arc<Vec<Key>> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the folder, unless that was done within this time.
    pub(crate) fn look_again(&self, within: Duration) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_some_and(|looked| looked.elapsed() < within) {
            return;
        }
        *looked = Some(Instant::now());
        match read(&self.folder, self.purpose) {
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => {
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
            }
            Err(error) => {
                tracing::warn!(%error, folder = %self.folder.display(), "keys cannot be read");
            }
        }
    }
}

/// Makes a new key, which is then the newest.
pub(crate) fn add(folder: &Path, purpose: Purpose) -> io::Result<Uuid> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    std::fs::create_dir_all(folder)?;
    let id = Uuid::now_v7();
    let path = folder.join(format!("{}-{id}.key", purpose.name()));
    let half_done = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half_done)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    // Whoever reads the folder sees a whole key or none.
    std::fs::rename(half_done, path)?;
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
    // Ids are in the order of creation.
    keys.sort_unstable_by_key(|key| std::cmp::Reverse(key.id));
    Ok(keys)
}
