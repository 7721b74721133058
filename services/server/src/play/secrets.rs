//! What dice are made from: 32 bytes of the operating system's randomness a game, sealed with a key that the database does
//! not have, opened only to roll.

use std::time::Duration;

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use domain::fair::Secret;
use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::{PlayError, Refusal, access::invite_code};
use crate::keys::KeyRing;

/// How many secrets of games in play are kept in memory.
const IN_MEMORY: usize = 50_000;

/// How old what we know about the keys may be.
const LOOK_FOR_KEYS: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Secrets {
    pool: PgPool,
    keys: KeyRing,
    open: Cache<Uuid, Sealed>,
}

/// A secret in memory. It never shows itself.
#[derive(Clone)]
struct Sealed(Secret);

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealed")
    }
}

impl Secrets {
    pub(crate) fn new(pool: PgPool, keys: KeyRing) -> Self {
        Self { pool, keys, open: Cache::new(IN_MEMORY) }
    }

    /// The id and the secret of a game that is about to be created. The same creator with the same command gets the
    /// same ones.
    pub(crate) async fn prepare(
        &self,
        creator: Uuid,
        command: Uuid,
        private: bool,
    ) -> Result<(Uuid, Secret), PlayError> {
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
            self.open.insert(game, Sealed(secret));
            return Ok((game, secret));
        }
        let query = sqlx::query(EARLIER).bind(creator).bind(command);
        let earlier = query.fetch_one(&self.pool).await?;
        let (game, was_private): (Uuid, bool) = (earlier.try_get(0)?, earlier.try_get(1)?);
        if was_private != private {
            return Err(Refusal::command_reused().into());
        }
        Ok((game, self.of(game).await?))
    }

    /// The secret of a game. A game without one has none to lose: nothing can be rolled there.
    pub(crate) async fn of(&self, game: Uuid) -> Result<Secret, PlayError> {
        if let Some(Sealed(secret)) = self.open.get(&game) {
            return Ok(secret);
        }
        let query = sqlx::query("SELECT key, sealed FROM dice_secret WHERE game = $1").bind(game);
        let Some(row) = query.fetch_optional(&self.pool).await? else {
            return Err(Refusal::no_such_game().into());
        };
        let (key, sealed): (Uuid, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        let secret = self.unseal(game, key, &sealed)?;
        self.open.insert(game, Sealed(secret));
        Ok(secret)
    }

    /// Finds keys that were added, within half a minute.
    pub(crate) fn look_for_keys(&self) {
        self.keys.look_again(LOOK_FOR_KEYS);
    }

    fn seal(&self, game: Uuid, secret: &Secret) -> Result<(Uuid, Vec<u8>), PlayError> {
        let key = self.keys.newest().map_err(|error| PlayError::Fault(error.to_string()))?;
        let nonce: [u8; 24] = random()?;
        let text = Payload { msg: &secret.0, aad: game.as_bytes() };
        let cipher = XChaCha20Poly1305::new(&key.bytes.into());
        let sealed = cipher.encrypt(&XNonce::from(nonce), text);
        let sealed =
            sealed.map_err(|_| PlayError::Fault("a secret cannot be sealed".to_owned()))?;
        Ok((key.id, [nonce.as_slice(), &sealed].concat()))
    }

    fn unseal(&self, game: Uuid, key: Uuid, sealed: &[u8]) -> Result<Secret, PlayError> {
        let fault = |what: &str| PlayError::Fault(format!("the dice of game {game}: {what}"));
        let missing = || fault(&format!("key dice-{key}.key is not in the folder of keys"));
        let key = self.keys.find(key).ok_or_else(missing)?;
        let (nonce, sealed) = sealed.split_at_checked(24).ok_or_else(|| fault("cut short"))?;
        let nonce: [u8; 24] = nonce.try_into().map_err(|_| fault("cut short"))?;
        let text = Payload { msg: sealed, aad: game.as_bytes() };
        let cipher = XChaCha20Poly1305::new(&key.bytes.into());
        let secret = cipher.decrypt(&XNonce::from(nonce), text);
        let secret =
            secret.map_err(|_| fault("the secret was changed, or moved to another game"))?;
        Ok(Secret(secret.try_into().map_err(|_| fault("the secret has not 32 bytes"))?))
    }
}

pub(super) fn random<const N: usize>() -> Result<[u8; N], PlayError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| PlayError::Fault(error.to_string()))?;
    Ok(bytes)
}
