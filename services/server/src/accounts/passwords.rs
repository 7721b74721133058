//! Password hashing with argon2id. Concurrency is limited, and unknown names take equally long.

use std::sync::{Arc, LazyLock};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use super::AccountError;

/// Length limits of passwords, in characters.
pub(crate) const MIN: usize = 8;
pub(crate) const MAX: usize = 128;

/// Each hash takes 19 MiB and about 20 ms of CPU, so more concurrency would not help.
const CONCURRENCY: usize = 2;
/// How many requests may wait; more fail as busy.
const QUEUE: usize = 64;

#[derive(Debug)]
pub(crate) struct Passwords {
    work: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            work: Arc::new(Semaphore::new(CONCURRENCY)),
            queue: Arc::new(Semaphore::new(CONCURRENCY + QUEUE)),
        }
    }
}

/// Checked for unknown names, so that they take as long as known ones.
static DUMMY_HASH: LazyLock<Option<String>> = LazyLock::new(|| hashed("nobody has this password"));

impl Passwords {
    pub(crate) async fn hash(&self, password: &str) -> Result<String, AccountError> {
        if !(MIN..=MAX).contains(&password.chars().count()) {
            return Err(AccountError::BadPassword);
        }
        let password = password.to_owned();
        self.run_blocking(move || hashed(&password)).await?.ok_or(AccountError::Busy)
    }

    /// Whether the password matches the hash; without a hash, never.
    pub(crate) async fn verify(
        &self,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, AccountError> {
        // No password is longer, so a huge text need not be hashed in full.
        let mut password = password.to_owned();
        password.truncate(password.floor_char_boundary(4 * MAX));
        self.run_blocking(move || {
            let known = hash.is_some();
            let hash = hash.as_deref().or(DUMMY_HASH.as_deref());
            let correct = hash.is_some_and(|hash| matches(&password, hash));
            known && correct
        })
        .await
    }

    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AccountError> {
        let _queued = self.queue.try_acquire().map_err(|_| AccountError::Busy)?;
        let _permit = self.work.acquire().await.map_err(|_| AccountError::Busy)?;
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
