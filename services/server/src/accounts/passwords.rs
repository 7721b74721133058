//! Passwords: argon2id, a few at a time, and as slow for a name nobody has.

use std::sync::{Arc, LazyLock};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use super::AccountError;

/// The shortest and the longest password, in characters.
pub(crate) const LEAST: usize = 8;
pub(crate) const MOST: usize = 128;

/// Each hash takes 19 MiB and some 20 ms: more of them at once would only stand in each other's way.
const AT_ONCE: usize = 2;
/// How many may wait for their turn.
const WAITING: usize = 64;

#[derive(Debug)]
pub(crate) struct Passwords {
    work: Arc<Semaphore>,
    room: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            work: Arc::new(Semaphore::new(AT_ONCE)),
            room: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
        }
    }
}

/// What a password for a name nobody has is compared with.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| hashed("nobody has this password"));

impl Passwords {
    pub(crate) async fn hash(&self, password: &str) -> Result<String, AccountError> {
        if !(LEAST..=MOST).contains(&password.chars().count()) {
            return Err(AccountError::BadPassword);
        }
        let password = password.to_owned();
        self.slowly(move || hashed(&password)).await?.ok_or(AccountError::Busy)
    }

    /// Whether the password has this hash; without one, it never has.
    pub(crate) async fn verify(
        &self,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, AccountError> {
        // A huge text is not hashed: no password is that long.
        let mut password = password.to_owned();
        password.truncate(password.floor_char_boundary(4 * MOST));
        self.slowly(move || {
            let known = hash.is_some();
            let hash = hash.as_deref().or(NOBODY.as_deref());
            let right = hash.is_some_and(|hash| matches(&password, hash));
            known && right
        })
        .await
    }

    async fn slowly<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AccountError> {
        let _room = self.room.try_acquire().map_err(|_| AccountError::Busy)?;
        let _turn = self.work.acquire().await.map_err(|_| AccountError::Busy)?;
        tokio::task::spawn_blocking(work).await.map_err(|_| AccountError::Busy)
    }
}

fn hashed(password: &str) -> Option<String> {
    let hash: PasswordHash = Argon2::default().hash_password(password.as_bytes()).ok()?;
    Some(hash.to_string())
}

fn matches(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}
