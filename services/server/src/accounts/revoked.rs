//! Revoked sessions whose access tokens have not expired yet.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use domain::Moment;
use uuid::Uuid;

/// Revoked sessions, and when their last token expires.
#[derive(Debug, Default)]
pub(crate) struct Revoked(RwLock<HashMap<Uuid, Moment>>);

impl Revoked {
    pub(crate) fn contains(&self, session: Uuid) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session)
    }

    pub(crate) fn add(&self, sessions: impl IntoIterator<Item = (Uuid, Moment)>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(sessions);
    }

    /// Removes sessions whose tokens have all expired.
    pub(crate) fn remove_before(&self, moment: Moment) {
        let mut sessions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, &mut until| until >= moment);
    }
}
