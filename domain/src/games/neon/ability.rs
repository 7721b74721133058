//! Abilities that players use as moves.

use super::{Gift, Neon, NeonDecision, board::ONCE_A_TURN, names};
use crate::{
    Ability, Change, EffectSource, Exchange, Measure, Rejection, SeatNo, Slots, effect::ACTIVE,
};

const ROLL_FIRST: Rejection = Rejection::NothingRolled;
const RESOLVED: Rejection = Rejection::NotNow { why: "the dice are resolved" };
const RESOLVE_FIRST: Rejection = Rejection::NotNow { why: "resolve the dice first" };

/// Uses the ability of the seat's character.
pub(super) fn use_ability(
    decision: &mut NeonDecision<'_>,
    ability: Ability,
) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let changes = decision.board.changes_by(seat, ability)?;
    let character = decision.board.player(seat).and_then(|player| player.character);
    if let Some(character) = character {
        decision.apply_effect(seat, EffectSource::Item(names::ABILITY, character), changes);
    }
    Ok(())
}

impl Neon {
    /// The changes an ability would make, or why it cannot be used now.
    pub(super) fn changes_by(
        &self,
        seat: SeatNo,
        ability: Ability,
    ) -> Result<Vec<Change>, Rejection> {
        match (self.gift(seat), ability) {
            (Some(Gift::Copy), Ability::Copy { from, onto }) => self.copy(from, onto),
            (Some(Gift::Bank), Ability::Store(slot)) => self.store(seat, slot),
            (Some(Gift::Bank), Ability::Place(slot)) => self.place(seat, slot),
            (Some(Gift::HeartsToEnergy), Ability::Convert(hearts)) => self.convert(seat, hearts),
            (Some(Gift::Exchange(amount)), Ability::Exchange(how)) => {
                self.exchange(seat, amount, how)
            }
            _ => Err(Rejection::NotYourAbility { can: self.ability_text(seat) }),
        }
    }

    fn ability_text(&self, seat: SeatNo) -> String {
        let character = self.player(seat).and_then(|player| player.character);
        let character = character.and_then(|code| self.rules.character(code));
        character.map_or_else(|| "nothing".to_owned(), |c| format!("{}: {}", c.ability, c.text()))
    }

    /// The face of one of the dice.
    fn face_at(&self, slot: u8) -> Result<u8, Rejection> {
        let dice = u8::try_from(self.turn.dice.len()).unwrap_or(u8::MAX);
        Slots::parse(&[slot], dice)?;
        self.turn.dice.get(usize::from(slot)).copied().ok_or(ROLL_FIRST)
    }

    fn mark_used(&self) -> Result<Change, Rejection> {
        if self.turn.ability_used {
            return Err(Rejection::AbilityUsed);
        }
        Ok(Change::of(Measure::OfItem(ACTIVE, ONCE_A_TURN), 0, 1))
    }

    fn check_unresolved(&self) -> Result<(), Rejection> {
        if self.turn.resolved {
            Err(RESOLVED)
        } else if self.turn.dice.is_empty() {
            Err(ROLL_FIRST)
        } else {
            Ok(())
        }
    }

    fn copy(&self, from: u8, onto: u8) -> Result<Vec<Change>, Rejection> {
        self.check_unresolved()?;
        let once = self.mark_used()?;
        let (copied, replaced) = (self.face_at(from)?, self.face_at(onto)?);
        if copied == replaced {
            return Err(Rejection::NotNow { why: "both dice show the same" });
        }
        Ok(vec![
            once,
            Change::of(Measure::OfDie(names::FACE, onto), replaced.into(), copied.into()),
        ])
    }

    fn store(&self, seat: SeatNo, slot: u8) -> Result<Vec<Change>, Rejection> {
        if !self.turn.resolved {
            return Err(RESOLVE_FIRST);
        }
        if self.player(seat).is_some_and(|player| player.stored != 0) {
            return Err(Rejection::NotNow { why: "a face is put by already" });
        }
        Ok(vec![Change::of(names::STORED, 0, self.face_at(slot)?.into())])
    }

    fn place(&self, seat: SeatNo, slot: u8) -> Result<Vec<Change>, Rejection> {
        self.check_unresolved()?;
        let stored = self.player(seat).map_or(0, |player| player.stored);
        if stored == 0 {
            return Err(Rejection::NotNow { why: "no face is put by" });
        }
        let replaced = self.face_at(slot)?;
        if replaced == stored {
            return Err(Rejection::NotNow { why: "the die shows that already" });
        }
        Ok(vec![
            Change::of(names::STORED, stored.into(), 0),
            Change::of(Measure::OfDie(names::FACE, slot), replaced.into(), stored.into()),
        ])
    }

    fn convert(&self, seat: SeatNo, wanted: u8) -> Result<Vec<Change>, Rejection> {
        if !self.turn.resolved {
            return Err(RESOLVE_FIRST);
        }
        let once = self.mark_used()?;
        let spare = self.turn.spare_hearts;
        if wanted == 0 || wanted > spare {
            return Err(Rejection::TooFewHearts { wanted, spare });
        }
        let energy = self.player(seat).map_or(0, |player| player.energy);
        Ok(vec![
            once,
            Change::of(names::SPARE_HEARTS, spare.into(), (spare - wanted).into()),
            Change::of(names::ENERGY, energy, energy + i64::from(wanted)),
        ])
    }

    fn exchange(&self, seat: SeatNo, amount: i64, how: Exchange) -> Result<Vec<Change>, Rejection> {
        let once = self.mark_used()?;
        let Some(player) = self.player(seat) else { return Ok(Vec::new()) };
        let (hp, energy) = (player.hp, player.energy);
        let (hp_after, energy_after) = match how {
            Exchange::Heal if energy < amount => {
                return Err(Rejection::CannotAfford {
                    price: amount,
                    have: energy,
                    unit: "energy",
                });
            }
            Exchange::Heal if self.rules.nothing_heals_inside && self.is_barred(seat) => {
                return Err(Rejection::NotNow { why: "nothing heals inside" });
            }
            Exchange::Heal if hp + amount > player.max_hp => {
                return Err(Rejection::NotNow { why: "you lack less health than it gives" });
            }
            Exchange::Heal => (hp + amount, energy - amount),
            Exchange::Charge if hp <= amount => {
                return Err(Rejection::NotNow { why: "it would cost your last HP" });
            }
            Exchange::Charge => (hp - amount, energy + amount),
        };
        Ok(vec![
            once,
            Change::of(names::HP, hp, hp_after),
            Change::of(names::ENERGY, energy, energy_after),
        ])
    }

    /// Every use of the ability that would be accepted now.
    pub(super) fn abilities(&self, seat: SeatNo) -> Vec<Ability> {
        let slots = || 0..u8::try_from(self.turn.dice.len()).unwrap_or(u8::MAX);
        let all: Vec<Ability> = match self.gift(seat) {
            Some(Gift::Copy) => slots()
                .flat_map(|from| slots().map(move |onto| Ability::Copy { from, onto }))
                .collect(),
            Some(Gift::Bank) => {
                slots().flat_map(|slot| [Ability::Store(slot), Ability::Place(slot)]).collect()
            }
            Some(Gift::HeartsToEnergy) => (1..=16).map(Ability::Convert).collect(),
            Some(Gift::Exchange(_)) => {
                [Exchange::Heal, Exchange::Charge].map(Ability::Exchange).to_vec()
            }
            Some(Gift::MoreEnergy(_) | Gift::Plate(_) | Gift::Precision(_) | Gift::Siphon(_))
            | None => Vec::new(),
        };
        all.into_iter().filter(|&ability| self.changes_by(seat, ability).is_ok()).collect()
    }

    /// The use of an ability that makes these changes.
    pub(super) fn ability_behind(&self, changes: &[Change]) -> Option<Ability> {
        let find = |wanted: &dyn Fn(Measure) -> bool| changes.iter().find(|c| wanted(c.what));
        let face = changes.iter().find_map(|change| match change.what {
            Measure::OfDie(names::FACE, slot) => Some((slot, u8::try_from(change.after).ok()?)),
            _ => None,
        });
        let shows = |face: u8, not: Option<u8>| {
            (0..).zip(&self.turn.dice).find(|(slot, shown)| **shown == face && Some(*slot) != not)
        };
        let stored = find(&|what| what == names::STORED);
        let hp = find(&|what| what == names::HP);
        let spare = find(&|what| what == names::SPARE_HEARTS);
        match (face, stored) {
            (Some((slot, _)), Some(_)) => Some(Ability::Place(slot)),
            (Some((onto, face)), None) => {
                Some(Ability::Copy { from: shows(face, Some(onto))?.0, onto })
            }
            (None, Some(stored)) => {
                Some(Ability::Store(shows(u8::try_from(stored.after).ok()?, None)?.0))
            }
            (None, None) => match (hp, spare) {
                (Some(hp), _) if hp.after > hp.before => Some(Ability::Exchange(Exchange::Heal)),
                (Some(_), _) => Some(Ability::Exchange(Exchange::Charge)),
                (None, Some(spare)) => {
                    Some(Ability::Convert(u8::try_from(spare.before - spare.after).ok()?))
                }
                (None, None) => None,
            },
        }
    }
}
