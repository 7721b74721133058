//! Revoked sessions whose access tokens have not expired yet.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use domain::Moment;
use tokio::sync::watch;
use uuid::Uuid;

/// Revoked sessions, and when their last token expires.
#[derive(Debug, Default)]
pub(crate) struct Revoked {
    sessions: RwLock<HashMap<Uuid, Moment>>,
    changed: watch::Sender<()>,
}

impl Revoked {
    pub(crate) fn contains(&self, session: Uuid) -> bool {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session)
    }

    /// Wakes up when sessions are added, so that open connections end at once.
    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(crate) fn add(&self, sessions: impl IntoIterator<Item = (Uuid, Moment)>) {
        let mut known = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        known.extend(sessions);
        let is_new = known.len() > before;
        drop(known);
        if is_new {
            self.changed.send_replace(());
        }
    }

    /// Removes sessions whose tokens have all expired.
    pub(crate) fn remove_before(&self, moment: Moment) {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, &mut until| until >= moment);
    }
}
