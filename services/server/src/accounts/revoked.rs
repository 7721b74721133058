//! Sessions that were ended while their tokens are still good.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use domain::Moment;
use uuid::Uuid;

/// Sessions that were ended, and until when a token of theirs could be good.
#[derive(Debug, Default)]
pub(crate) struct Revoked(RwLock<HashMap<Uuid, Moment>>);

impl Revoked {
    pub(crate) fn contains(&self, session: Uuid) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session)
    }

    pub(crate) fn add(&self, sessions: impl IntoIterator<Item = (Uuid, Moment)>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(sessions);
    }

    /// Forgets sessions of which no token is good any more.
    pub(crate) fn forget_before(&self, moment: Moment) {
        let mut sessions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, &mut until| until >= moment);
    }
}
