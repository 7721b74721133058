//! A compiled scoring table.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize, de};

use super::{
    compile::{Row, Scored, Scoring, rows},
    tally::Tally,
};
use crate::{Combination, Faces, Points, Slots};

/// Scores dice by look-up. Written in JSON as its numbers ([`Scoring`]), read from them or from
/// the name of a known table.
#[derive(Clone)]
pub struct ScoreTable(Arc<Compiled>);

struct Compiled {
    scoring: Scoring,
    combinations: Vec<Scored>,
    rows: Vec<Row>,
}

/// The tables used last, so that games under the same rules share one. A table is a function of
/// its numbers alone: sharing is never seen, except in time and memory.
static RECENT: Mutex<Vec<ScoreTable>> = Mutex::new(Vec::new());
const RECENT_MOST: usize = 16;

impl ScoreTable {
    /// The table of these numbers.
    pub fn new(scoring: Scoring) -> Self {
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent.iter().position(|table| table.0.scoring == scoring);
        let table = if let Some(at) = known {
            recent.remove(at)
        } else {
            let combinations = scoring.combinations();
            let rows = rows(&combinations);
            Self(Arc::new(Compiled { scoring, combinations, rows }))
        };
        recent.insert(0, table.clone());
        recent.truncate(RECENT_MOST);
        table
    }

    /// The numbers.
    pub fn scoring(&self) -> &Scoring {
        &self.0.scoring
    }

    /// The best points over all selections of these dice; 0 is a farkle.
    #[inline]
    pub fn best(&self, dice: Tally) -> Points {
        self.0.rows[dice.rank()].best
    }

    /// What exactly these dice score; `None` if one of them is in no combination.
    #[inline]
    pub fn score(&self, dice: Tally) -> Option<Points> {
        self.0.rows[dice.rank()].exact.map(|(points, _)| points)
    }

    /// The combinations that make the score of [`Self::score`]; each die is a slot and its face.
    pub fn explain(&self, dice: impl IntoIterator<Item = (u8, u8)>) -> Option<Vec<Combination>> {
        let mut dice: Vec<(u8, u8)> = dice.into_iter().collect();
        let mut left = Tally::of(dice.iter().map(|&(_, face)| face))?;
        let mut combinations = Vec::with_capacity(2);
        while left != Tally::EMPTY {
            let (_, number) = self.0.rows[left.rank()].exact?;
            let scored = self.0.combinations[usize::from(number)];
            combinations.push(take(&mut dice, scored)?);
            left = left.minus(scored.dice)?;
        }
        (!combinations.is_empty()).then_some(combinations)
    }
}

/// Takes the dice of a combination out of a selection, the lowest slots first.
fn take(dice: &mut Vec<(u8, u8)>, scored: Scored) -> Option<Combination> {
    let (mut slots, mut faces, mut missing) = (Slots::EMPTY, Faces::EMPTY, scored.dice);
    let mut fits = true;
    dice.retain(|&(slot, face)| match missing.minus(Tally::kind(face, 1)) {
        Some(fewer) => {
            missing = fewer;
            slots = slots.with(slot);
            match faces.with(face) {
                Some(more) => faces = more,
                None => fits = false,
            }
            false
        }
        None => true,
    });
    fits.then_some(Combination { name: scored.name, slots, faces, points: scored.points })
}

impl PartialEq for ScoreTable {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.scoring == other.0.scoring
    }
}

impl Eq for ScoreTable {}

impl std::fmt::Debug for ScoreTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.scoring.fmt(f)
    }
}

impl Serialize for ScoreTable {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.scoring.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ScoreTable {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Name(String),
            Numbers(Box<Scoring>),
        }
        match Written::deserialize(from)? {
            Written::Numbers(scoring) => Ok(Self::new(*scoring)),
            Written::Name(name) => Scoring::named(&name).map(Self::new).ok_or_else(|| {
                let known = Scoring::NAMES.join(", ");
                de::Error::custom(format_args!("there is no table '{name}'; there are: {known}"))
            }),
        }
    }
}
