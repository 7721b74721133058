//! Trusted documents: texts that are sent by their SHA-256 instead of in full. A house can refuse
//! all others.

use std::{collections::HashMap, path::Path, sync::Arc};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The known documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedDocuments {
    by_hash: HashMap<String, Arc<str>>,
    /// Whether documents that are not known are refused.
    only: bool,
}

/// Why a document cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UntrustedDocument {
    #[error("there is no document {0}; send its text as query, or register it with the house")]
    Unknown(String),
    #[error("this house executes registered documents only; send one by its documentId")]
    NotRegistered,
    #[error("send a query, or the documentId of a registered document: sha256:HEX")]
    Missing,
}

impl TrustedDocuments {
    /// Reads a file of documents: a JSON object of texts by their SHA-256, as code generators write
    /// it.
    pub(crate) fn read(path: Option<&Path>, only: bool) -> Result<Self, String> {
        let Some(path) = path else {
            if only {
                return Err("--only-trusted-documents needs --trusted-documents FILE".to_owned());
            }
            return Ok(Self::default());
        };
        let named = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        let given: HashMap<String, String> = serde_json::from_str(&text)
            .map_err(|error| named(format!("expected an object of texts by SHA-256: {error}")))?;
        let mut by_hash = HashMap::with_capacity(given.len());
        for (name, text) in given {
            let hash = sha256(&text);
            if name.trim_start_matches(PREFIX) != hash {
                return Err(named(format!("the text of {name} has the SHA-256 {hash}")));
            }
            by_hash.insert(hash, text.into());
        }
        Ok(Self { by_hash, only })
    }

    /// The text of a request: as it was sent, or by its hash. Clients send the hash as `documentId`,
    /// or in `extensions.persistedQuery`.
    pub(crate) fn resolve(
        &self,
        query: Option<String>,
        document_id: Option<&str>,
        extensions: Option<&Map<String, Value>>,
    ) -> Result<String, UntrustedDocument> {
        let persisted = || extensions?.get("persistedQuery")?.get("sha256Hash")?.as_str();
        let hash = document_id.or_else(persisted).map(|id| id.trim_start_matches(PREFIX));
        match (query, hash) {
            (Some(query), _) if !self.only => Ok(query),
            (_, Some(hash)) => {
                let known = self.by_hash.get(&hash.to_ascii_lowercase());
                let shown = || hash.chars().take(64).collect();
                let unknown = || UntrustedDocument::Unknown(shown());
                known.map(|text| text.as_ref().to_owned()).ok_or_else(unknown)
            }
            (Some(query), None) if self.by_hash.contains_key(&sha256(&query)) => Ok(query),
            (Some(_), None) => Err(UntrustedDocument::NotRegistered),
            (None, None) => Err(UntrustedDocument::Missing),
        }
    }
}

/// The algorithm in front of a hash: `sha256:HEX`.
const PREFIX: &str = "sha256:";

fn sha256(text: &str) -> String {
    store::Hash(Sha256::digest(text).into()).to_string()
}
