//! Two dice.

use serde::{Deserialize, Serialize};

use crate::{
    CombinationName, DieOnTable, Faces, Points, Rejection, decision::Decision,
    game_rules::GameRules,
};

/// The faces of two dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair(pub u8, pub u8);

impl Pair {
    /// The faces of a roll; `None` if it has not two dice.
    pub fn of(faces: Faces) -> Option<Self> {
        let mut faces = faces.iter();
        Some(Self(faces.next()?, faces.next()?))
    }

    /// Exactly one 1.
    pub const fn is_single_one(self) -> bool {
        (self.0 == 1) != (self.1 == 1)
    }

    /// The face of a double.
    pub const fn double(self) -> Option<u8> {
        if self.0 == self.1 { Some(self.0) } else { None }
    }

    /// The sum of both dice.
    pub fn sum(self) -> Points {
        Points::from(self.0) + Points::from(self.1)
    }

    /// The dice as clients show them: on the table once rolled.
    pub(super) fn show(last: Option<Self>) -> Vec<DieOnTable> {
        let faces = [last.map(|pair| pair.0), last.map(|pair| pair.1)];
        (0..).zip(faces).map(|(slot, face)| DieOnTable::ordinary(slot, face)).collect()
    }

    /// Both faces.
    pub(super) const fn faces(self) -> [u8; 2] {
        [self.0, self.1]
    }
}

/// Rolls two standard dice; `worth` computes their score.
pub(super) fn roll<B: GameRules>(
    decision: &mut Decision<'_, B>,
    worth: impl FnOnce(Pair) -> Points,
) -> Result<Pair, Rejection> {
    let pair = |faces: &[u8]| match *faces {
        [first, second] => Pair(first, second),
        _ => Pair(0, 0),
    };
    decision.roll_ordinary(2, |faces| worth(pair(faces))).map(|faces| pair(&faces))
}

/// Adds a roll to a turn: its points times the multiplier.
pub(super) fn score<B: GameRules>(
    decision: &mut Decision<'_, B>,
    pair: Pair,
    points: (Points, Points),
    before: Points,
) {
    let double = pair.double().map(|_| CombinationName::Double);
    decision.score_all(double.unwrap_or(CombinationName::Sum), &pair.faces(), points, before);
}
