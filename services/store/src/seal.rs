//! Seals: signed Merkle roots of each shard, chained, and also kept outside the database.
//!
//! Whoever can write to the database can rewrite a whole stream with a valid chain. The seals of
//! the shard then no longer match: they contain the root of the old hashes, are chained to each
//! other, are signed with a key that the database does not have, and are also stored in a file
//! elsewhere.

use std::{collections::BTreeMap, path::Path};

use domain::Moment;
pub use ed25519_dalek::SigningKey;
use ed25519_dalek::{Signature, Signer, VerifyingKey};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use crate::{
    Hash, Shard, Store, StoreError,
    merkle::{Tree, path},
    timestamp::Micros,
};

/// A signed statement: these positions of this shard have this root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The shard.
    pub shard: u8,
    /// 1, 2, 3 … within each shard.
    pub number: i64,
    /// The first sealed position: the one after the previous seal.
    pub first_position: i64,
    /// The last sealed position.
    pub last_position: i64,
    /// When it was sealed, in microseconds since the Unix epoch.
    pub sealed_at: i64,
    /// The Merkle root of the hashes of these events.
    #[serde(with = "hex")]
    pub root: [u8; 32],
    /// The hash of the previous seal; zero for the first one.
    #[serde(with = "hex")]
    pub previous: [u8; 32],
    /// The signer's public key.
    #[serde(with = "hex")]
    pub key: [u8; 32],
    /// The signature over the seal's hash.
    #[serde(with = "hex")]
    pub signature: [u8; 64],
}

impl Seal {
    /// The hash that is signed and that the next seal refers to.
    pub fn hash(&self) -> Hash {
        let mut hash = Sha256::new();
        hash.update(b"croupier/seal/1\0");
        hash.update([self.shard]);
        for number in [self.number, self.first_position, self.last_position, self.sealed_at] {
            hash.update(number.to_be_bytes());
        }
        hash.update(self.root);
        hash.update(self.previous);
        hash.update(self.key);
        Hash(hash.finalize().into())
    }

    /// Whether the signature matches the key in the seal.
    pub fn is_signed(&self) -> bool {
        let signature = Signature::from_bytes(&self.signature);
        VerifyingKey::from_bytes(&self.key)
            .is_ok_and(|key| key.verify_strict(&self.hash().0, &signature).is_ok())
    }
}

/// Seals the new events of every shard and returns the new seals. Several nodes may do this
/// concurrently: each shard is sealed by one of them.
pub async fn seal(store: &Store, key: &SigningKey, now: Moment) -> Result<Vec<Seal>, StoreError> {
    let mut seals = Vec::new();
    let heads = store.heads().await?;
    for shard in Shard::all() {
        let last = last_seal(&store.pool, shard).await?;
        let sealed = last.as_ref().map_or(0, |seal| seal.last_position);
        if heads.get(shard) > sealed {
            let seal = make(store, key, shard, last.as_ref(), heads.get(shard), now).await?;
            if keep(&store.pool, &seal).await? {
                seals.push(seal);
            }
        }
    }
    Ok(seals)
}

/// Reads the signing key from a file, creating it if missing: 32 bytes, readable by its owner only.
pub fn signing_key(path: &Path, random: impl FnOnce() -> [u8; 32]) -> std::io::Result<SigningKey> {
    use std::{io::Write, os::unix::fs::OpenOptionsExt};
    match std::fs::read(path) {
        Ok(bytes) => {
            let wrong = || std::io::Error::other("a signing key has 32 bytes");
            Ok(SigningKey::from_bytes(&bytes.try_into().map_err(|_| wrong())?))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let key = SigningKey::from_bytes(&random());
            let mut file =
                std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(key.as_bytes())?;
            file.sync_all()?;
            Ok(key)
        }
        Err(error) => Err(error),
    }
}

/// The seal of an event with its inclusion proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The seal.
    pub seal: Seal,
    /// The event's position in its shard's log.
    pub position: i64,
    /// The Merkle path, from the leaf to the root.
    pub path: Vec<Hash>,
}

/// The seal that covers a position, if it is sealed already.
pub(crate) async fn sealed(
    store: &Store,
    shard: Shard,
    position: i64,
) -> Result<Option<Sealed>, StoreError> {
    const COVERS: &str = "
SELECT shard, number, first_position, last_position, sealed_at, root, previous, key, signature
  FROM seal WHERE shard = $1 AND last_position >= $2 ORDER BY last_position LIMIT 1";
    const HASHES: &str =
        "SELECT hash FROM event WHERE shard = $1 AND position BETWEEN $2 AND $3 ORDER BY position";
    let row = sqlx::query(COVERS).bind(shard.sql()).bind(position).fetch_optional(&store.pool);
    let Some(seal) = row.await?.as_ref().map(from_row).transpose()? else { return Ok(None) };
    let query = sqlx::query(HASHES).bind(shard.sql());
    let rows =
        query.bind(seal.first_position).bind(seal.last_position).fetch_all(&store.pool).await?;
    let leaves = rows.iter().map(|row| Ok::<_, sqlx::Error>(Hash::from_sql(row.try_get(0)?)));
    let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
    let index = usize::try_from(position - seal.first_position).unwrap_or(usize::MAX);
    Ok(Some(Sealed { path: path(&leaves, index), position, seal }))
}

async fn make(
    store: &Store,
    key: &SigningKey,
    shard: Shard,
    last: Option<&Seal>,
    last_position: i64,
    now: Moment,
) -> Result<Seal, StoreError> {
    let after = last.map_or(0, |seal| seal.last_position);
    let mut tree = Tree::default();
    let mut events = store.log_envelopes(shard, after);
    while let Some(event) = events.try_next().await? {
        if event.position > last_position {
            break;
        }
        tree.push(&event.hash);
    }
    let sealed_at = i64::try_from(now.0).unwrap_or(i64::MAX).saturating_mul(1000);
    let mut seal = Seal {
        shard: u8::try_from(shard.sql()).unwrap_or(0),
        number: last.map_or(0, |seal| seal.number) + 1,
        first_position: after + 1,
        last_position,
        sealed_at: sealed_at.max(last.map_or(0, |seal| seal.sealed_at)),
        root: tree.root().0,
        previous: last.map_or(Hash::ZERO, Seal::hash).0,
        key: key.verifying_key().to_bytes(),
        signature: [0; 64],
    };
    seal.signature = key.sign(&seal.hash().0).to_bytes();
    Ok(seal)
}

/// Stores the seal. Returns whether this node was first.
async fn keep(pool: &PgPool, seal: &Seal) -> Result<bool, StoreError> {
    const KEEP: &str = "
INSERT INTO seal (shard, number, first_position, last_position, sealed_at, root, previous, key, signature)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (shard, number) DO NOTHING";
    let kept = sqlx::query(KEEP)
        .bind(i16::from(seal.shard))
        .bind(seal.number)
        .bind(seal.first_position)
        .bind(seal.last_position)
        .bind(Micros(seal.sealed_at))
        .bind(seal.root.as_slice())
        .bind(seal.previous.as_slice())
        .bind(seal.key.as_slice())
        .bind(seal.signature.as_slice())
        .execute(pool)
        .await?;
    Ok(kept.rows_affected() == 1)
}

async fn last_seal(pool: &PgPool, shard: Shard) -> Result<Option<Seal>, StoreError> {
    const LAST: &str = "
SELECT shard, number, first_position, last_position, sealed_at, root, previous, key, signature
  FROM seal WHERE shard = $1 ORDER BY number DESC LIMIT 1";
    let row = sqlx::query(LAST).bind(shard.sql()).fetch_optional(pool).await?;
    Ok(row.as_ref().map(from_row).transpose()?)
}

/// The seals of every shard after the known ones, given the last known number of each shard.
pub async fn seals_after(
    store: &Store,
    known: &BTreeMap<u8, i64>,
) -> Result<Vec<Seal>, StoreError> {
    let mut seals = Vec::new();
    for shard in Shard::all() {
        let number = u8::try_from(shard.sql()).unwrap_or(u8::MAX);
        let after = known.get(&number).copied().unwrap_or(0);
        let mut connection = store.pool.acquire().await?;
        seals.extend(seals_of(&mut connection, shard, after).await?);
    }
    Ok(seals)
}

/// The seals of a shard after a number, in order.
pub(crate) async fn seals_of(
    connection: &mut PgConnection,
    shard: Shard,
    after: i64,
) -> Result<Vec<Seal>, StoreError> {
    const ALL: &str = "
SELECT shard, number, first_position, last_position, sealed_at, root, previous, key, signature
  FROM seal WHERE shard = $1 AND number > $2 ORDER BY number";
    let rows = sqlx::query(ALL).bind(shard.sql()).bind(after).fetch_all(connection).await?;
    Ok(rows.iter().map(from_row).collect::<Result<_, _>>()?)
}

fn from_row(row: &PgRow) -> Result<Seal, sqlx::Error> {
    let bytes = |column: usize| Ok::<_, sqlx::Error>(Hash::from_sql(row.try_get(column)?).0);
    let signature: &[u8] = row.try_get(8)?;
    Ok(Seal {
        shard: u8::try_from(row.try_get::<i16, _>(0)?).unwrap_or(u8::MAX),
        number: row.try_get(1)?,
        first_position: row.try_get(2)?,
        last_position: row.try_get(3)?,
        sealed_at: row.try_get::<Micros, _>(4)?.0,
        root: bytes(5)?,
        previous: bytes(6)?,
        key: bytes(7)?,
        signature: signature.try_into().unwrap_or([0; 64]),
    })
}

/// Parses 64 hexadecimal digits.
pub fn hex32(text: &str) -> Option<[u8; 32]> {
    unhex(text)
}

/// Parses hexadecimal digits.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N * 2 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Serializes bytes as hexadecimal text.
mod hex {
    use std::fmt;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    struct Hex<'a>(&'a [u8]);

    impl fmt::Display for Hex<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        }
    }

    pub(super) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(&Hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        from: D,
    ) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || D::Error::custom(format_args!("not {} hexadecimal digits", N * 2));
        super::unhex(&text).ok_or_else(wrong)
    }
}
