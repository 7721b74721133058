//! Access tokens: short-lived JWTs.
//!
//! The only algorithm is `EdDSA`; a token with any other in its header is rejected, which prevents
//! algorithm confusion. The header names the key. Checking a signature costs more than many
//! requests, so verified tokens are cached.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use domain::Moment;
use ed25519_dalek::{Signature, Signer, SigningKey};
use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Role, Viewer, revoked::Revoked, sessions::MAX_STAFF_LIFETIME};
use crate::keys::{Key, KeyRing};

const ISSUER: &str = "croupier";
/// The longest token accepted.
const MAX_BYTES: usize = 1024;
/// The minimum time between two scans of the folder of keys.
const RELOAD_KEYS: Duration = Duration::from_secs(20);
/// How many verified tokens are cached.
const CACHED: usize = 20_000;

/// Lifetimes of tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetimes {
    pub(crate) access: Duration,
    pub(crate) refresh: Duration,
}

/// Why a token is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadToken {
    #[error("this token is invalid; sign in again")]
    Malformed,
    #[error("this token has expired; use the refresh token or sign in again")]
    Expired,
    #[error("this session was revoked; sign in again")]
    Revoked,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    typ: String,
    kid: Uuid,
}

#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    sub: Uuid,
    sid: Uuid,
    role: String,
    iat: u64,
    exp: u64,
}

/// Issues and checks access tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    keys: KeyRing,
    pub(crate) lifetimes: Lifetimes,
    pub(crate) revoked: Revoked,
    /// By hash of the token: its viewer, and the key that signed it.
    cache: Cache<[u8; 32], (Viewer, Uuid)>,
}

impl Tokens {
    pub(crate) fn new(keys: KeyRing, lifetimes: Lifetimes) -> Self {
        Self { keys, lifetimes, revoked: Revoked::default(), cache: Cache::new(CACHED) }
    }

    /// Issues an access token; `None` if there is no key.
    pub(crate) fn issue(&self, viewer: &Viewer, now: Moment) -> Option<String> {
        let claims = Claims {
            iss: ISSUER.to_owned(),
            sub: viewer.account,
            sid: viewer.session,
            role: viewer.role.name().to_owned(),
            iat: now.0 / 1000,
            exp: viewer.until.0 / 1000,
        };
        self.sign(&claims)
    }

    /// Signs claims with the newest key.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> Option<String> {
        let key = self.keys.newest().ok()?;
        let header = Header { alg: "EdDSA".to_owned(), typ: "JWT".to_owned(), kid: key.id };
        let part = |json: serde_json::Result<Vec<u8>>| Some(BASE64.encode(json.ok()?));
        let header = part(serde_json::to_vec(&header))?;
        let signed = format!("{header}.{}", part(serde_json::to_vec(claims))?);
        let signature = signing_key(&key).sign(signed.as_bytes());
        Some(format!("{signed}.{}", BASE64.encode(signature.to_bytes())))
    }

    /// Checks an access token.
    pub(crate) fn check(&self, token: &str, now: Moment) -> Result<Viewer, BadToken> {
        if token.len() > MAX_BYTES {
            return Err(BadToken::Malformed);
        }
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let (viewer, key) = if let Some(known) = self.cache.get(&digest) {
            known
        } else {
            let parsed = self.parse(token).ok_or(BadToken::Malformed)?;
            self.cache.insert(digest, parsed);
            parsed
        };
        // Removing a key invalidates the tokens it signed.
        if !self.keys.all().iter().any(|known| known.id == key) {
            return Err(BadToken::Malformed);
        }
        if viewer.until <= now {
            return Err(BadToken::Expired);
        }
        if self.revoked.contains(viewer.session) {
            return Err(BadToken::Revoked);
        }
        Ok(viewer)
    }

    fn parse(&self, token: &str) -> Option<(Viewer, Uuid)> {
        let (claims, key): (Claims, Uuid) = self.verify(token)?;
        let lifetime = Duration::from_secs(claims.exp.saturating_sub(claims.iat));
        let max_lifetime = MAX_STAFF_LIFETIME.max(self.lifetimes.access);
        let viewer = Viewer {
            account: claims.sub,
            role: Role::named(&claims.role)?,
            session: claims.sid,
            until: Moment(claims.exp.saturating_mul(1000)),
        };
        (claims.iss == ISSUER && lifetime <= max_lifetime).then_some((viewer, key))
    }

    /// Verifies the signature; returns the claims and the key.
    pub(super) fn verify<T: DeserializeOwned>(&self, token: &str) -> Option<(T, Uuid)> {
        if token.len() > MAX_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Header = serde_json::from_slice(&BASE64.decode(header).ok()?).ok()?;
        if header.alg != "EdDSA" || header.typ != "JWT" {
            return None;
        }
        let key = self.keys.find(header.kid)?;
        let signature = Signature::from_slice(&BASE64.decode(signature).ok()?).ok()?;
        let public = signing_key(&key).verifying_key();
        public.verify_strict(signed.as_bytes(), &signature).ok()?;
        Some((serde_json::from_slice(&BASE64.decode(claims).ok()?).ok()?, key.id))
    }

    /// Loads keys that were added or removed, within half a minute.
    pub(crate) fn maintain(&self) {
        self.keys.reload(RELOAD_KEYS);
    }

    /// The public keys, as a JSON Web Key Set.
    pub(crate) fn public_keys(&self) -> serde_json::Value {
        let keys = self.keys.all();
        let key = |key: &Key| {
            let public = signing_key(key).verifying_key();
            serde_json::json!({
                "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
                "kid": key.id, "x": BASE64.encode(public.as_bytes()),
            })
        };
        serde_json::json!({ "keys": keys.iter().map(key).collect::<Vec<_>>() })
    }
}

fn signing_key(key: &Key) -> SigningKey {
    SigningKey::from_bytes(&key.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{self, Purpose};

    fn tokens(folder: &std::path::Path) -> Tokens {
        let keys = KeyRing::open(folder, Purpose::Token).unwrap();
        let hour = Duration::from_hours(1);
        Tokens::new(keys, Lifetimes { access: hour, refresh: hour })
    }

    const VIEWER: Viewer = Viewer {
        account: Uuid::from_u128(1),
        role: Role::Support,
        session: Uuid::from_u128(2),
        until: Moment(60_000),
    };

    #[test]
    fn a_token_is_valid_until_it_expires_or_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = tokens(folder.path());
        let token = tokens.issue(&VIEWER, Moment(0)).unwrap();
        assert_eq!(tokens.check(&token, Moment(59_999)), Ok(VIEWER));
        assert_eq!(tokens.check(&token, Moment(60_000)), Err(BadToken::Expired));
        tokens.revoked.add([(VIEWER.session, Moment(1))]);
        assert_eq!(tokens.check(&token, Moment(2)), Err(BadToken::Revoked));
    }

    #[test]
    fn keys_can_be_added_and_removed_at_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let node = tokens(folder.path());
        let old = node.issue(&VIEWER, Moment(0)).unwrap();
        let new_key = keys::add(folder.path(), Purpose::Token).unwrap();
        // Another node signs with the new key before this one has loaded it.
        let new = tokens(folder.path()).issue(&VIEWER, Moment(0)).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(node.check(&new, Moment(0)), Ok(VIEWER));
        assert_eq!(node.check(&old, Moment(0)), Ok(VIEWER));
        std::fs::remove_file(folder.path().join(format!("token-{new_key}.key"))).unwrap();
        node.keys.reload(Duration::ZERO);
        assert_eq!(node.check(&new, Moment(0)), Err(BadToken::Malformed));
        assert_eq!(tokens(folder.path()).check(&new, Moment(0)), Err(BadToken::Malformed));
        // A token of another installation is invalid.
        let elsewhere = tempfile::tempdir().unwrap();
        let theirs = tokens(elsewhere.path()).issue(&VIEWER, Moment(0)).unwrap();
        assert_eq!(node.check(&theirs, Moment(0)), Err(BadToken::Malformed));
    }
}
