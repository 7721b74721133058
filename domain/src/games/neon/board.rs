//! The state of a game of NeonPolis, folded from events.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CardKind, Gift, NeonRules, Passive, names};
use crate::{
    Change, EffectApplied, EffectSource, Event, Measure, Points, Purpose, Rolled, SeatNo, Slug,
    effect::{ACTIVE, BOUGHT, HELD},
};

/// A game of NeonPolis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neon {
    /// Its rules.
    pub rules: Arc<NeonRules>,
    /// The players, in seat order.
    pub players: Vec<NeonPlayer>,
    /// The seat inside the centre.
    pub inside: Option<SeatNo>,
    /// The open cards of the market; `None` for an empty space.
    pub market: Vec<Option<Slug>>,
    /// The number of cards drawn.
    pub drawn: u64,
    /// The current turn.
    pub turn: NeonTurn,
}

/// The state of a player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeonPlayer {
    /// The chosen character.
    pub character: Option<Slug>,
    /// Victory points.
    pub vp: Points,
    /// Health.
    pub hp: i64,
    /// Maximum health.
    pub max_hp: i64,
    /// Energy.
    pub energy: i64,
    /// Whether they are still in the game.
    pub alive: bool,
    /// Their cards and evolutions, in the order of acquisition.
    pub things: Vec<Slug>,
    /// Whether their plate is ready to weaken the next hit.
    pub armed: bool,
    /// Whether they are immune to hits.
    pub shielded: bool,
    /// Extra damage of the next hit on them.
    pub marked: i64,
    /// The stored face; 0 for none.
    pub stored: u8,
}

/// The state of a turn.
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeonTurn {
    /// The seat whose turn it is, while it lasts.
    pub owner: Option<SeatNo>,
    /// The faces of the dice; empty before the first roll.
    pub dice: Vec<u8>,
    /// The number of rolls.
    pub rolls: u8,
    /// Whether they were resolved.
    pub resolved: bool,
    /// Whether an attack must be made now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub combat: bool,
    /// Whether the ability that can be used once per turn was used.
    pub ability_used: bool,
    /// Hearts that could not heal.
    pub spare_hearts: u8,
    /// Whether an evolution can be taken.
    pub evolution: bool,
    /// Whether the siphon was used: it applies to the first damage of a turn only.
    pub siphoned: bool,
    /// Whether time ran out.
    pub timed_out: bool,
    /// Victory points gained.
    pub vp: Points,
}

impl Neon {
    pub(crate) fn new(rules: &Arc<NeonRules>) -> Self {
        Self {
            rules: Arc::clone(rules),
            players: Vec::new(),
            inside: None,
            market: vec![None; usize::from(rules.open_cards)],
            drawn: 0,
            turn: NeonTurn::default(),
        }
    }

    fn new_player(&self) -> NeonPlayer {
        let (hp, energy) = (self.rules.hp, self.rules.energy);
        NeonPlayer { hp, max_hp: hp, energy, alive: true, armed: true, ..NeonPlayer::default() }
    }

    /// A player by seat.
    pub(super) fn player(&self, seat: SeatNo) -> Option<&NeonPlayer> {
        self.players.get(usize::from(seat))
    }

    /// Whether a seat is still in the game.
    pub(super) fn is_alive(&self, seat: SeatNo) -> bool {
        self.player(seat).is_some_and(|player| player.alive)
    }

    /// The seats still in the game, in order.
    pub(super) fn alive(&self) -> Vec<SeatNo> {
        (0..).zip(&self.players).filter(|(_, p)| p.alive).map(|(seat, _)| seat).collect()
    }

    /// The other seats still in the game, in order.
    pub(super) fn opponents(&self, seat: SeatNo) -> Vec<SeatNo> {
        self.alive().into_iter().filter(|&other| other != seat).collect()
    }

    /// The ability of a seat's character.
    pub(super) fn gift(&self, seat: SeatNo) -> Option<Gift> {
        let character = self.player(seat)?.character?;
        Some(self.rules.character(character)?.gift)
    }

    /// The passive effects of a seat's cards and evolutions, in the order of acquisition.
    pub(super) fn passives(&self, seat: SeatNo) -> Vec<(Slug, Passive)> {
        let things = self.player(seat).map(|player| player.things.clone()).unwrap_or_default();
        let passive = |code: Slug| match self.rules.card(code).map(|card| card.kind) {
            Some(CardKind::Kept(passive)) => Some((code, passive)),
            Some(CardKind::Once(_)) => None,
            None => self.rules.evolution(code).map(|evolution| (code, evolution.effect)),
        };
        things.into_iter().filter_map(passive).collect()
    }

    /// Whether a seat cannot heal: it is inside, without a card or evolution that allows healing
    /// there.
    pub(super) fn is_barred(&self, seat: SeatNo) -> bool {
        let heals = |(_, passive): &(Slug, Passive)| *passive == Passive::HealInside;
        self.inside == Some(seat) && !self.passives(seat).iter().any(heals)
    }

    /// The number of dice a seat rolls.
    pub(super) fn dice_of(&self, seat: SeatNo) -> u8 {
        let more = self.passives(seat).into_iter().map(|(_, passive)| match passive {
            Passive::Dice(dice) => dice,
            _ => 0,
        });
        more.fold(self.rules.dice, u8::saturating_add).min(MOST_DICE)
    }

    /// The number of rolls a seat has per turn.
    pub(super) fn rolls_of(&self, seat: SeatNo) -> u8 {
        let more = self.passives(seat).into_iter().map(|(_, passive)| match passive {
            Passive::Rerolls(rolls) => rolls,
            _ => 0,
        });
        more.fold(self.rules.rerolls.saturating_add(1), u8::saturating_add)
    }

    /// The number of dice that show a face.
    pub(super) fn count(&self, face: u8) -> i64 {
        self.turn.dice.iter().map(|&shown| i64::from(shown == face)).sum()
    }

    pub(super) fn fold(&mut self, event: &Event) {
        if let Event::SeatTaken { seat, .. } = event {
            let new_player = self.new_player();
            match self.players.get_mut(usize::from(*seat)) {
                Some(free) => *free = new_player,
                None => self.players.push(new_player),
            }
        } else if let Event::CharacterChosen { seat, character } = event {
            self.change(*seat, |player| player.character = Some(*character));
        } else if let Event::SeatLeft { seat, .. } = event {
            self.change(*seat, |player| (player.alive, player.character) = (false, None));
            self.inside = self.inside.filter(|inside| inside != seat);
        } else if let Event::TurnStarted { seat, .. } = event {
            self.turn = NeonTurn { owner: Some(*seat), ..NeonTurn::default() };
        } else if let Event::TurnEnded(_) = event {
            self.turn = NeonTurn::default();
        } else if let Event::Rolled(rolled) = event {
            self.rolled(rolled);
        } else if let Event::Saved(saved) = event {
            self.turn.resolved = true;
            self.turn.vp = self.turn.vp.saturating_add(saved.points);
            self.change(saved.seat, |player| player.vp = saved.turn_score);
        } else if let Event::Drawn(drawn) = event {
            if drawn.draw.purpose == Purpose::Market {
                self.drawn = drawn.draw.number;
            }
            let place = drawn.place.and_then(|place| self.market.get_mut(usize::from(place)));
            if let Some(place) = place {
                *place = Some(drawn.item);
            }
        } else if let Event::TimedOut { seat, .. } = event {
            self.turn.timed_out |= Some(*seat) == self.turn.owner;
        } else if let Event::EffectApplied(effect) = event {
            self.changed(effect);
        }
    }

    fn rolled(&mut self, rolled: &Rolled) {
        self.turn.rolls = self.turn.rolls.saturating_add(1);
        for (slot, face) in rolled.slots.iter().zip(rolled.faces.iter()) {
            match self.turn.dice.get_mut(usize::from(slot)) {
                Some(place) => *place = face,
                None => self.turn.dice.push(face),
            }
        }
    }

    fn change(&mut self, seat: SeatNo, change: impl FnOnce(&mut NeonPlayer)) {
        if let Some(player) = self.players.get_mut(usize::from(seat)) {
            change(player);
        }
    }

    fn changed(&mut self, effect: &EffectApplied) {
        match effect.source {
            EffectSource::Item(BOUGHT, code) => {
                for place in &mut self.market {
                    *place = place.filter(|open| *open != code);
                }
            }
            names::RENEWED => self.market.fill(None),
            EffectSource::Item(names::EVOLVED, _) => self.turn.evolution = false,
            _ => {}
        }
        for change in &effect.changes {
            self.change_by(effect, *change);
        }
    }

    fn change_by(&mut self, effect: &EffectApplied, change: Change) {
        let (seat, after) = (effect.seat, change.after);
        let small = u8::try_from(after).unwrap_or(0);
        if change.what == names::INSIDE {
            self.inside = if after == 0 { None } else { Some(seat) };
        } else if change.what == names::COMBAT {
            self.turn.combat = change.after > 0;
        } else if change.what == names::SPARE_HEARTS {
            self.turn.spare_hearts = small;
        } else if change.what == names::EVOLUTION {
            self.turn.evolution = after != 0;
        } else if change.what == Measure::OfItem(ACTIVE, SIPHON) {
            self.turn.siphoned = after != 0;
        } else if change.what == Measure::OfItem(ACTIVE, ONCE_A_TURN) {
            self.turn.ability_used = after != 0;
        } else if let Measure::OfDie(names::FACE, slot) = change.what {
            if let Some(die) = self.turn.dice.get_mut(usize::from(slot)) {
                *die = small;
            }
        } else if change.what == names::VP {
            self.turn.vp = self.turn.vp.saturating_add(after.saturating_sub(change.before));
            self.change(seat, |player| player.vp = after);
        } else {
            self.change(seat, |player| player.change(change));
        }
    }
}

/// The maximum number of dice, whatever cards add.
const MOST_DICE: u8 = 10;

/// Marks the ability as used this turn.
pub(super) const ONCE_A_TURN: Slug = Slug::of("ability");
/// Marks the siphon as used this turn.
pub(super) const SIPHON: Slug = Slug::of("siphon");

impl NeonPlayer {
    fn change(&mut self, change: Change) {
        let after = change.after;
        if change.what == names::HP {
            self.hp = after;
        } else if change.what == names::MAX_HP {
            self.max_hp = after;
        } else if change.what == names::ENERGY {
            self.energy = after;
        } else if change.what == names::ALIVE {
            self.alive = after != 0;
        } else if change.what == names::ARMED {
            self.armed = after != 0;
        } else if change.what == names::SHIELDED {
            self.shielded = after != 0;
        } else if change.what == names::MARKED {
            self.marked = after;
        } else if change.what == names::STORED {
            self.stored = u8::try_from(after).unwrap_or(0);
        } else if let Measure::OfItem(HELD, code) = change.what
            && after > 0
            && !self.things.contains(&code)
        {
            self.things.push(code);
        }
    }
}
