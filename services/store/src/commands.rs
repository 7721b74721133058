//! The ids of the commands of a stream, for deduplication.
//!
//! A state that is decided on knows every command before it, and an append checks the head of the
//! stream. An id that is not in this list and whose append succeeds is therefore new: no second
//! table is needed.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

/// The commands of a stream up to a version. All states of a stream share one append-only list;
/// each sees a prefix of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    all: Arc<Mutex<Vec<u64>>>,
    count: usize,
}

impl Commands {
    /// Whether a command may be in the list. Only eight bytes of each id are kept, so a hit must be
    /// checked in the log.
    pub(crate) fn may_contain(&self, command: Uuid) -> bool {
        let wanted = fingerprint(command);
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all[..self.count].contains(&wanted)
    }

    /// The commands after one more event. The events of a command are consecutive, so only the
    /// first one adds it.
    #[must_use]
    pub(crate) fn with(&self, command: Uuid) -> Self {
        let new = fingerprint(command);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if self.count > 0 && all[self.count - 1] == new {
            return self.clone();
        }
        let count = self.count + 1;
        match all.get(self.count) {
            None => all.push(new),
            Some(known) if *known == new => {}
            // A different history, which only a tampered log can have.
            Some(_) => {
                let mut own = all[..self.count].to_vec();
                own.push(new);
                return Self { all: Arc::new(Mutex::new(own)), count };
            }
        }
        drop(all);
        Self { all: Arc::clone(&self.all), count }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
fn fingerprint(command: Uuid) -> u64 {
    let id = command.as_u128();
    (id >> 64) as u64 ^ id as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_one_stream_share_a_list() {
        let ids: Vec<Uuid> = (1..=4).map(Uuid::from_u128).collect();
        let none = Commands::default();
        let one = none.with(ids[0]).with(ids[0]);
        assert_eq!(one.count, 1, "the events of a command count once");
        let two = one.with(ids[1]);
        assert!(two.may_contain(ids[0]) && two.may_contain(ids[1]));
        assert!(!one.may_contain(ids[1]), "an earlier state does not know what came later");
        let same = one.with(ids[1]);
        assert!(Arc::ptr_eq(&same.all, &two.all) && same.count == 2);
        let other = one.with(ids[2]);
        assert!(other.may_contain(ids[2]) && !other.may_contain(ids[1]));
        assert!(!two.may_contain(ids[2]) && !two.may_contain(ids[3]));
    }
}
