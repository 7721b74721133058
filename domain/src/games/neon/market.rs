//! The market: three open cards, bought with energy.

use std::sync::Arc;

use super::{
    Card, CardKind, Neon, NeonDesk, Once, Passive,
    combat::{Hit, gain, settle, strike},
    names,
};
use crate::{
    Change, EffectSource, Event, Measure, Offer, Purpose, Rejection, SeatNo, Table, Word,
    effect::{BOUGHT, HELD, ITEM},
};

const UNIT: &str = "energy";
const RESOLVE_FIRST: Rejection = Rejection::NotNow { why: "the market opens after your dice" };

/// Lays cards on the empty places, each as likely as any other that lies nowhere.
pub(super) fn refill(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    for place in 0..desk.board.rules.open_cards {
        let pile = desk.board.pile();
        let empty = desk.board.market.get(usize::from(place)).is_some_and(Option::is_none);
        if !empty || pile.is_empty() {
            continue;
        }
        let number = desk.board.drawn + 1;
        let card = desk.one_of(Purpose::Market, number, &pile, Some(place))?;
        desk.record(Event::Drawn(card));
    }
    Ok(())
}

impl Neon {
    /// The cards that lie nowhere: not open, and held by nobody in the game.
    fn pile(&self) -> Vec<Word> {
        let held = |code: Word| self.players.iter().any(|p| p.alive && p.things.contains(&code));
        let open = |code: Word| self.market.contains(&Some(code));
        let codes = self.rules.cards.iter().map(|card| card.code);
        codes.filter(|&code| !held(code) && !open(code)).collect()
    }

    fn price(&self, seat: SeatNo, card: &Card) -> i64 {
        let less = self.passives(seat).into_iter().map(|(_, passive)| match passive {
            Passive::Discount(less) => less,
            _ => 0,
        });
        let discount: i64 = less.sum();
        if discount == 0 { card.price } else { (card.price - discount).max(1.min(card.price)) }
    }

    fn open_card(&self, named: &str) -> Result<&Card, Rejection> {
        let code = named.parse::<Word>().ok().filter(|&code| self.market.contains(&Some(code)));
        code.and_then(|code| self.rules.card(code)).ok_or_else(|| {
            let open: Vec<String> = self.market.iter().flatten().map(Word::to_string).collect();
            Rejection::NotOffered {
                code: named.chars().take(40).collect(),
                known: if open.is_empty() { "none".to_owned() } else { open.join(", ") },
            }
        })
    }

    /// At whom a card is aimed: the one named, or the only one there is.
    fn aim(
        &self,
        seat: SeatNo,
        card: &Card,
        named: Option<SeatNo>,
    ) -> Result<Option<SeatNo>, Rejection> {
        let CardKind::Once(once) = card.kind else { return no_aim(card, named) };
        if !once.is_aimed() {
            return no_aim(card, named);
        }
        let there = self.opponents(seat);
        let seats = || there.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match (named, there.as_slice()) {
            (Some(target), _) if there.contains(&target) => Ok(Some(target)),
            (Some(target), _) => Err(Rejection::BadTarget { seat: target, seats: seats() }),
            (None, [only]) => Ok(Some(*only)),
            (None, _) => Err(Rejection::TargetNeeded { seats: seats() }),
        }
    }

    /// Everything that is checked before a card is bought: the card, its price, its target.
    pub(super) fn purchase(
        &self,
        seat: SeatNo,
        named: &str,
        target: Option<SeatNo>,
    ) -> Result<(Card, i64, Option<SeatNo>), Rejection> {
        if !self.turn.resolved {
            return Err(RESOLVE_FIRST);
        }
        self.is_peaceful()?;
        let card = self.open_card(named)?;
        let (price, have) = (self.price(seat, card), self.player(seat).map_or(0, |p| p.energy));
        if price > have {
            return Err(Rejection::CannotAfford { price, have, unit: UNIT });
        }
        let target = self.aim(seat, card, target)?;
        if let CardKind::Once(once) = card.kind {
            self.has_use(seat, card.code, once, target)?;
        }
        Ok((card.clone(), price, target))
    }

    fn has_use(
        &self,
        seat: SeatNo,
        code: Word,
        once: Once,
        target: Option<SeatNo>,
    ) -> Result<(), Rejection> {
        let player = |seat: SeatNo| self.player(seat);
        let why = match once {
            Once::Heal(_) if player(seat).is_some_and(|p| p.hp >= p.max_hp) => {
                "you are in full health"
            }
            Once::Shield if player(seat).is_some_and(|p| p.shielded) => "you have a shield",
            Once::Steal(_) if target.and_then(player).is_some_and(|p| p.energy == 0) => {
                "there is no energy to take"
            }
            Once::ForceOut if self.inside.is_none() => "nobody is inside",
            _ => return Ok(()),
        };
        Err(Rejection::NoUse { code, why })
    }

    /// The open cards.
    pub(super) fn open_offers(&self, table: &Table) -> Vec<Offer> {
        let (seat, asked) = (table.turn.seat, table.turn.asked.is_some());
        let card = |code: &Word| self.rules.card(*code);
        let offer = |card: &Card| {
            let targets = self.targets(seat).into_iter();
            let mut buyable =
                targets.filter(|&t| self.purchase(seat, card.code.as_str(), t).is_ok());
            Offer {
                code: card.code,
                name: card.name.clone(),
                text: card.text(),
                price: self.price(seat, card),
                odds: None,
                buyable: !asked && buyable.next().is_some(),
            }
        };
        self.market.iter().flatten().filter_map(card).map(offer).collect()
    }

    /// Nobody, and everybody a card can be aimed at.
    pub(super) fn targets(&self, seat: SeatNo) -> Vec<Option<SeatNo>> {
        std::iter::once(None).chain(self.opponents(seat).into_iter().map(Some)).collect()
    }

    pub(super) fn may_renew(&self, seat: SeatNo) -> Result<(i64, i64), Rejection> {
        if !self.turn.resolved {
            return Err(RESOLVE_FIRST);
        }
        self.is_peaceful()?;
        let (price, have) = (self.rules.renew_price, self.player(seat).map_or(0, |p| p.energy));
        if price > have {
            return Err(Rejection::CannotAfford { price, have, unit: UNIT });
        }
        if self.pile().is_empty() {
            return Err(Rejection::NotNow { why: "no cards are left" });
        }
        Ok((price, have))
    }

    pub(super) fn may_evolve(&self, seat: SeatNo, named: &str) -> Result<Word, Rejection> {
        if !self.turn.evolution {
            return Err(Rejection::NothingUnlocked);
        }
        let known = named.parse::<Word>().ok().and_then(|code| self.rules.evolution(code));
        let Some(evolution) = known else {
            let known: Vec<String> =
                self.rules.evolutions.iter().map(|known| known.code.to_string()).collect();
            let code = named.chars().take(40).collect();
            return Err(Rejection::NotOffered { code, known: known.join(", ") });
        };
        let code = evolution.code;
        match self.player(seat) {
            Some(player) if player.things.contains(&code) => Err(Rejection::AlreadyHeld { code }),
            _ => Ok(code),
        }
    }
}

fn no_aim(card: &Card, named: Option<SeatNo>) -> Result<Option<SeatNo>, Rejection> {
    match named {
        None => Ok(None),
        Some(_) => Err(Rejection::NoTarget { code: card.code }),
    }
}

/// Buys an open card; another one takes its place.
pub(super) fn buy(
    desk: &mut NeonDesk<'_>,
    named: &str,
    target: Option<SeatNo>,
) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let (card, price, target) = desk.board.purchase(seat, named, target)?;
    let energy = desk.board.player(seat).map_or(0, |player| player.energy);
    let mut changes = vec![Change::of(names::ENERGY, energy, energy - price)];
    if let CardKind::Kept(passive) = card.kind {
        changes.extend(desk.board.gained(seat, card.code, passive));
    }
    desk.apply_effect(seat, EffectSource::Thing(BOUGHT, card.code), changes);
    refill(desk)?;
    match card.kind {
        CardKind::Kept(_) => Ok(()),
        CardKind::Once(once) => play_once(desk, card.code, once, target),
    }
}

impl Neon {
    /// What changes when a seat gets a thing that lasts.
    fn gained(&self, seat: SeatNo, code: Word, passive: Passive) -> Vec<Change> {
        let mut changes = vec![Change::of(Measure::OfThing(HELD, code), 0, 1)];
        if let (Passive::MaxHp(more), Some(player)) = (passive, self.player(seat)) {
            let (max_hp, hp) = (player.max_hp, player.hp);
            changes.push(Change::of(names::MAX_HP, max_hp, max_hp.saturating_add(more)));
            changes.push(Change::of(names::HP, hp, hp.saturating_add(more)));
        }
        changes
    }
}

fn play_once(
    desk: &mut NeonDesk<'_>,
    code: Word,
    once: Once,
    target: Option<SeatNo>,
) -> Result<(), Rejection> {
    let (seat, source) = (desk.table.turn.seat, EffectSource::Thing(ITEM, code));
    let standing = desk.board.alive();
    let aimed = target.unwrap_or(seat);
    match once {
        Once::Energy(more) => gain(desk, seat, source, names::ENERGY, more),
        Once::Heal(more) => gain(desk, seat, source, names::HP, more),
        Once::Vp(more) => gain(desk, seat, source, names::VP, more),
        Once::Mark(more) => gain(desk, aimed, source, names::MARKED, more),
        Once::Shield => desk.apply_effect(seat, source, [Change::of(names::SHIELDED, 0, 1)]),
        Once::Steal(most) => {
            let there = desk.board.player(aimed).map_or(0, |player| player.energy);
            let taken = most.min(there);
            desk.apply_effect(aimed, source, [Change::of(names::ENERGY, there, there - taken)]);
            gain(desk, seat, source, names::ENERGY, taken);
        }
        Once::ForceOut => {
            if let Some(inside) = desk.board.inside {
                desk.apply_effect(inside, source, [Change::of(names::INSIDE, 1, 0)]);
            }
        }
        Once::Blast(damage) => {
            for target in desk.board.opponents(seat) {
                strike(desk, Hit { by: seat, target, damage, source });
            }
        }
        Once::Nova(damage) => {
            for target in standing.clone() {
                strike(desk, Hit { by: seat, target, damage, source });
            }
        }
    }
    settle(desk, &standing).map(drop)
}

/// Replaces all open cards.
pub(super) fn renew(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let (price, have) = desk.board.may_renew(seat)?;
    let paid = Change::of(names::ENERGY, have, have - price);
    desk.apply_effect(seat, names::RENEWED, [paid]);
    refill(desk)
}

/// Takes an evolution.
pub(super) fn evolve(desk: &mut NeonDesk<'_>, named: &str) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let code = desk.board.may_evolve(seat, named)?;
    let rules = Arc::clone(&desk.board.rules);
    let effect = rules.evolution(code).map(|evolution| evolution.effect);
    let changes = effect.map(|effect| desk.board.gained(seat, code, effect)).unwrap_or_default();
    let taken = Change::of(names::EVOLUTION, 1, 0);
    let changes = changes.into_iter().chain([taken]);
    desk.apply_effect(seat, EffectSource::Thing(names::EVOLVED, code), changes);
    Ok(())
}
