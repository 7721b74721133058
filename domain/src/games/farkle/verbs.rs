//! The moves of Farkle, as people write them.

#![expect(clippy::wildcard_enum_match_arm, reason = "a verb writes its own moves")]

use crate::{
    Play,
    verbs::{BANK, Verb, listed},
};

/// Score some of the dice just rolled.
pub(super) const SAVE: Verb = Verb {
    name: "save",
    forms: "save [SLOTS]",
    read: |words| Ok(Play::Save { slots: words.list("save", "slots")? }),
    write: |play, _| match play {
        Play::Save { slots } => Some(format!("save {}", listed(slots))),
        _ => None,
    },
};

/// Bank, perhaps with some of the dice just rolled.
pub(super) const BANK_WITH: Verb = Verb { forms: "bank, bank [SLOTS]", ..BANK };

/// Give the roll up.
pub(super) const FORFEIT: Verb = Verb {
    name: "forfeit",
    forms: "forfeit",
    read: |_| Ok(Play::Forfeit),
    write: |play, _| (*play == Play::Forfeit).then(|| "forfeit".to_owned()),
};
