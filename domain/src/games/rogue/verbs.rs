//! The moves of DiceRogue, as written by people.

use crate::{
    Play,
    verbs::{BUY, END, ROLL_OR_KEEP, Verb, quoted},
};

pub(super) const VERBS: &[Verb] = &[ROLL_OR_KEEP, SCORE, BUY, USE, END];

const SCORE: Verb = Verb {
    name: "score",
    forms: "score CATEGORY",
    read: |words| Ok(Play::Score { category: words.code("a category")? }),
    write: |play, _| match play {
        Play::Score { category } => Some(format!("score {}", quoted(category))),
        _ => None,
    },
};

const USE: Verb = Verb {
    name: "use",
    forms: "use CODE",
    read: |words| Ok(Play::Use { code: words.code("what is used")? }),
    write: |play, _| match play {
        Play::Use { code } => Some(format!("use {}", quoted(code))),
        _ => None,
    },
};
