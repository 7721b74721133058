//! The secrets of dice: 32 random bytes per game from the operating system, stored encrypted with a
//! key that is not in the database.

use std::time::Duration;

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use domain::fair::Secret;
use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::{AppError, UserError, access::invite_code};
use crate::keys::KeyRing;

/// How many decrypted secrets are cached.
const IN_MEMORY: usize = 50_000;

/// The minimum time between two scans of the folder of keys.
const RELOAD_KEYS: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Secrets {
    pool: PgPool,
    keys: KeyRing,
    cache: Cache<Uuid, CachedSecret>,
}

/// A decrypted secret that `Debug` does not print.
#[derive(Clone)]
struct CachedSecret(Secret);

impl std::fmt::Debug for CachedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CachedSecret")
    }
}

impl Secrets {
    pub(crate) fn new(pool: PgPool, keys: KeyRing) -> Self {
        Self { pool, keys, cache: Cache::new(IN_MEMORY) }
    }

    /// The id and the secret of a game to be created. The same creator and command get the same.
    pub(crate) async fn prepare(
        &self,
        creator: Uuid,
        command: Uuid,
        private: bool,
    ) -> Result<(Uuid, Secret), AppError> {
        const PREPARE: &str = "
WITH access AS (
    INSERT INTO game_access (game, creator, command, invite) VALUES ($1, $2, $3, $4)
    ON CONFLICT (creator, command) DO NOTHING
    RETURNING game)
INSERT INTO dice_secret (game, key, sealed) SELECT game, $5, $6 FROM access";
        const EARLIER: &str = "
SELECT game, invite IS NOT NULL FROM game_access WHERE creator = $1 AND command = $2";
        let game = Uuid::now_v7();
        let secret = Secret(random()?);
        let (key, sealed) = self.seal(game, &secret)?;
        let invite = private.then(invite_code).transpose()?;
        let query = sqlx::query(PREPARE).bind(game).bind(creator).bind(command);
        let query = query.bind(invite).bind(key).bind(sealed);
        if query.execute(&self.pool).await?.rows_affected() == 1 {
            self.cache.insert(game, CachedSecret(secret));
            return Ok((game, secret));
        }
        let query = sqlx::query(EARLIER).bind(creator).bind(command);
        let earlier = query.fetch_one(&self.pool).await?;
        let (game, was_private): (Uuid, bool) = (earlier.try_get(0)?, earlier.try_get(1)?);
        if was_private != private {
            return Err(UserError::command_reused().into());
        }
        Ok((game, self.of(game).await?))
    }

    /// The secret of a game. Every game has one, so without one there is no such game.
    pub(crate) async fn of(&self, game: Uuid) -> Result<Secret, AppError> {
        if let Some(CachedSecret(secret)) = self.cache.get(&game) {
            return Ok(secret);
        }
        let query = sqlx::query("SELECT key, sealed FROM dice_secret WHERE game = $1").bind(game);
        let Some(row) = query.fetch_optional(&self.pool).await? else {
            return Err(UserError::no_such_game().into());
        };
        let (key, sealed): (Uuid, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        let secret = self.unseal(game, key, &sealed)?;
        self.cache.insert(game, CachedSecret(secret));
        Ok(secret)
    }

    /// Loads keys that were added to the folder.
    pub(crate) fn reload_keys(&self) {
        self.keys.reload(RELOAD_KEYS);
    }

    fn seal(&self, game: Uuid, secret: &Secret) -> Result<(Uuid, Vec<u8>), AppError> {
        let key = self.keys.newest().map_err(|error| AppError::Fault(error.to_string()))?;
        let nonce: [u8; 24] = random()?;
        let text = Payload { msg: &secret.0, aad: game.as_bytes() };
        let cipher = XChaCha20Poly1305::new(&key.bytes.into());
        let sealed = cipher.encrypt(&XNonce::from(nonce), text);
        let sealed =
            sealed.map_err(|_| AppError::Fault("encrypting a secret failed".to_owned()))?;
        Ok((key.id, [nonce.as_slice(), &sealed].concat()))
    }

    fn unseal(&self, game: Uuid, key: Uuid, sealed: &[u8]) -> Result<Secret, AppError> {
        let fault = |what: &str| AppError::Fault(format!("the dice of game {game}: {what}"));
        let missing = || fault(&format!("key dice-{key}.key is not in the folder of keys"));
        let key = self.keys.find(key).ok_or_else(missing)?;
        let (nonce, sealed) =
            sealed.split_at_checked(24).ok_or_else(|| fault("the secret is truncated"))?;
        let nonce: [u8; 24] = nonce.try_into().map_err(|_| fault("the secret is truncated"))?;
        let text = Payload { msg: sealed, aad: game.as_bytes() };
        let cipher = XChaCha20Poly1305::new(&key.bytes.into());
        let secret = cipher.decrypt(&XNonce::from(nonce), text);
        let secret =
            secret.map_err(|_| fault("the secret was altered, or belongs to another game"))?;
        Ok(Secret(secret.try_into().map_err(|_| fault("the secret does not have 32 bytes"))?))
    }
}

pub(super) fn random<const N: usize>() -> Result<[u8; N], AppError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| AppError::Fault(error.to_string()))?;
    Ok(bytes)
}
