//! A compiled scoring table.

use std::{
    collections::VecDeque,
    ops::Deref,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{
    compile::{Row, Scored, Scoring, rows},
    tally::Tally,
};
use crate::{Combination, CombinationName, Faces, Points, Slots};

/// Scores dice by look-up. Serialized as its numbers, [`Scoring`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Scoring", into = "Scoring")]
pub struct ScoreTable(Arc<Compiled>);

struct Compiled {
    scoring: Scoring,
    combinations: Vec<Scored>,
    rows: Vec<Row>,
}

/// Games with the same numbers share a table. It depends on its numbers only, so sharing just saves
/// time and memory.
static CLASSIC: LazyLock<ScoreTable> = LazyLock::new(|| ScoreTable::compile(Scoring::classic()));
static HOUSE_750: LazyLock<ScoreTable> =
    LazyLock::new(|| ScoreTable::compile(Scoring::house_750()));
/// Recently used custom tables.
static RECENT: Mutex<VecDeque<ScoreTable>> = Mutex::new(VecDeque::new());
const RECENT_MOST: usize = 16;

impl ScoreTable {
    /// The classic table.
    pub fn classic() -> Self {
        CLASSIC.clone()
    }

    /// The table of a live site.
    pub fn house_750() -> Self {
        HOUSE_750.clone()
    }

    /// The table with these numbers.
    pub fn new(scoring: Scoring) -> Self {
        let recent = || RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = [&CLASSIC, &HOUSE_750].into_iter().find(|table| table.0.scoring == scoring);
        if let Some(table) = known {
            return table.deref().clone();
        }
        if let Some(table) = recent().iter().find(|table| table.0.scoring == scoring) {
            return table.clone();
        }
        let table = Self::compile(scoring);
        let mut recent = recent();
        recent.push_front(table.clone());
        recent.truncate(RECENT_MOST);
        table
    }

    fn compile(scoring: Scoring) -> Self {
        let combinations = scoring.combinations();
        let rows = rows(&combinations);
        Self(Arc::new(Compiled { scoring, combinations, rows }))
    }

    /// The numbers.
    pub fn scoring(&self) -> &Scoring {
        &self.0.scoring
    }

    /// The best points of any selection of these dice; 0 is a farkle.
    #[inline]
    pub fn best(&self, dice: Tally) -> Points {
        self.0.rows[dice.rank()].best
    }

    /// The score of exactly these dice; `None` if one of them is not part of a combination.
    #[inline]
    pub fn score(&self, dice: Tally) -> Option<Points> {
        self.0.rows[dice.rank()].exact.map(|(points, _)| points)
    }

    /// The combination of exactly these dice and its points, if they form one.
    pub fn whole(&self, dice: Tally) -> Option<(CombinationName, Points)> {
        let number = self.0.rows[dice.rank()].whole?;
        let scored = self.0.combinations.get(usize::from(number))?;
        Some((scored.name, scored.points))
    }

    /// The combinations of [`Self::score`]; each die is a slot and its face.
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

/// Removes the dice of a combination from a selection, lowest slots first.
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
    let effects = Vec::new();
    fits.then_some(Combination { name: scored.name, slots, faces, points: scored.points, effects })
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

impl From<Scoring> for ScoreTable {
    fn from(scoring: Scoring) -> Self {
        Self::new(scoring)
    }
}

impl From<ScoreTable> for Scoring {
    fn from(table: ScoreTable) -> Self {
        table.0.scoring.clone()
    }
}
