//! Two dice.

use serde::{Deserialize, Serialize};

use crate::{
    Combination, CombinationName, DieOnTable, DiePlace, Event, Faces, Points, Rejection, Rolled,
    Saved, SeatNo, Slots,
    desk::{Desk, Rulebook},
    farkle::dice::Code,
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
        let die = |(slot, face)| DieOnTable { slot, code: Code::STANDARD, face, place };
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

/// Rolls two ordinary dice and records it; `worth` says what they score, before any multiplier.
pub(super) fn roll<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    worth: impl FnOnce(Pair) -> Points,
) -> Result<Pair, Rejection> {
    let (draw, raw) = desk.roll(2, 6)?;
    let faces = raw.iter().try_fold(Faces::EMPTY, |faces, &value| {
        u8::try_from(value).ok().and_then(|face| faces.with(face))
    });
    let rolled = faces.and_then(|faces| Some((faces, Pair::of(faces)?)));
    let Some((faces, pair)) = rolled else {
        return Err(Rejection::WrongRoll { got: raw, dice: 2, sides: 6 });
    };
    record_roll(
        desk,
        Rolled {
            seat: desk.table.turn.seat,
            draw,
            slots: Slots::first(2),
            raw,
            faces,
            max_points: worth(pair),
            folded: None,
        },
    );
    Ok(pair)
}

pub(super) fn record_roll<B: Rulebook>(desk: &mut Desk<'_, B>, rolled: Rolled) {
    desk.record(Event::Rolled(rolled));
}

/// What a roll adds to a turn: its own points times the multiplier.
pub(super) fn score<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    pair: Pair,
    (points, multiplier): (Points, Points),
    before: Points,
) {
    let seat: SeatNo = desk.table.turn.seat;
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
