//! What a node is made of.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    accounts::Accounts,
    play::{PlayError, Tables},
};

/// Everything a request may need.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) tables: Arc<Tables>,
    pub(crate) accounts: Accounts,
    pub(crate) database: Database,
}

/// Whether the database answers. While it does not, requests are refused at once instead of waiting for it one by one.
#[derive(Debug, Default)]
pub(crate) struct Database {
    away: AtomicBool,
}

impl Database {
    pub(crate) fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    pub(crate) fn set_away(&self, away: bool) {
        if self.away.swap(away, Ordering::Relaxed) != away {
            if away {
                tracing::error!("the database is away");
            } else {
                tracing::info!("the database is back");
            }
        }
    }

    /// Refuses if the database is known to be away.
    pub(crate) fn check(&self) -> Result<(), PlayError> {
        if self.is_away() {
            return Err(PlayError::Unavailable("it does not answer at the moment".to_owned()));
        }
        Ok(())
    }
}
