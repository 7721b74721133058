//! The moves of Farkle, as written by people.

#![expect(clippy::wildcard_enum_match_arm, reason = "a verb handles only its own moves")]

use crate::{
    Play,
    verbs::{BANK, Verb, listed},
};

/// Score some of the dice just rolled, optionally rolling on.
pub(super) const SAVE: Verb = Verb {
    name: "save",
    forms: "save [SLOTS], save [SLOTS] roll [VALUES]",
    read: |words| {
        let slots = words.list("save", "slots")?;
        if !words.accept("roll")? {
            return Ok(Play::Save { slots });
        }
        words.dice()?;
        Ok(Play::SaveAndRoll { slots })
    },
    write: |play, dice| match play {
        Play::Save { slots } => Some(format!("save {}", listed(slots))),
        Play::SaveAndRoll { slots } => Some(format!("save {} roll {}", listed(slots), dice())),
        _ => None,
    },
};

/// Bank, optionally with some of the dice just rolled.
pub(super) const BANK_WITH: Verb = Verb { forms: "bank, bank [SLOTS]", ..BANK };

/// Give up the roll.
pub(super) const FORFEIT: Verb = Verb {
    name: "forfeit",
    forms: "forfeit",
    read: |_| Ok(Play::Forfeit),
    write: |play, _| (*play == Play::Forfeit).then(|| "forfeit".to_owned()),
};
