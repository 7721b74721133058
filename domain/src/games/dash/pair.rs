//! Two dice.

use serde::{Deserialize, Serialize};

use crate::{
    Combination, CombinationName, DieOnTable, DiePlace, Draw, Event, Faces, Points, Rejection,
    Rolled, Saved, Slots, desk::Desk, rulebook::Rulebook, special_dice::Code,
};

/// What two dice show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair(pub u8, pub u8);

impl Pair {
    /// What is read off a roll of two dice.
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

    /// Both dice added up.
    pub fn sum(self) -> Points {
        Points::from(self.0) + Points::from(self.1)
    }

    /// Where the dice lie: on the table once they were rolled.
    pub(super) fn show(last: Option<Self>) -> Vec<DieOnTable> {
        let faces = [last.map(|pair| pair.0), last.map(|pair| pair.1)];
        let place = if last.is_some() { DiePlace::Table } else { DiePlace::Hand };
        let die =
            |(slot, face)| DieOnTable { slot, code: Code::STANDARD, face, place, extra: false };
        (0..).zip(faces).map(die).collect()
    }

    /// As a combination: a double, or the plain sum; and what it is worth by itself.
    pub(super) fn combination(self, points: Points) -> Option<Combination> {
        let name = match self.double() {
            Some(_) => CombinationName::Double,
            None => CombinationName::Sum,
        };
        let faces = Faces::of(&[self.0, self.1])?;
        Some(Combination { name, slots: Slots::first(2), faces, points, effects: Vec::new() })
    }
}

/// Rolls two ordinary dice; `worth` says what they score.
pub(super) fn roll<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    worth: impl FnOnce(Pair) -> Points,
) -> Result<Pair, Rejection> {
    let (draw, raw) = desk.roll(2, 6)?;
    let face = |value: Option<&u32>| u8::try_from(*value?).ok();
    let (Some(first), Some(second)) = (face(raw.first()), face(raw.get(1))) else {
        return Err(Rejection::WrongRoll { got: raw, dice: 2, sides: draw.sides });
    };
    let pair = Pair(first, second);
    record(desk, draw, raw, pair, worth(pair));
    Ok(pair)
}

/// Two dice fell.
pub(super) fn record<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    draw: Draw,
    raw: Vec<u32>,
    pair: Pair,
    max_points: Points,
) {
    let (seat, slots) = (desk.table.turn.seat, Slots::first(2));
    let faces = Faces::of(&[pair.0, pair.1]).unwrap_or_default();
    desk.record(Event::Rolled(Rolled {
        seat,
        draw,
        slots,
        raw,
        faces,
        max_points,
        folded: None,
        colours: None,
    }));
}

/// What a roll adds to a turn: its own points times the multiplier.
pub(super) fn score<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    pair: Pair,
    (points, multiplier): (Points, Points),
    before: Points,
) {
    let seat = desk.table.turn.seat;
    let total = points.saturating_mul(multiplier);
    desk.record(Event::Saved(Saved {
        seat,
        slots: Slots::first(2),
        combinations: pair.combination(points).into_iter().collect(),
        bonuses: Vec::new(),
        multiplier,
        points: total,
        turn_score: before.saturating_add(total),
        left: Slots::EMPTY,
    }));
}
