//! The market: open cards, bought with energy.

use std::sync::Arc;

use super::{
    Card, CardKind, Neon, NeonDecision, Once, Passive,
    combat::{Hit, gain, settle, strike},
    names,
};
use crate::{
    Change, EffectSource, Event, Measure, Offer, Purpose, Rejection, SeatNo, Slug, Table,
    effect::{BOUGHT, HELD, ITEM},
};

const UNIT: &str = "energy";
const RESOLVE_FIRST: Rejection = Rejection::NotNow { why: "the market opens after your dice" };

/// Fills the empty spaces of the market with random cards of the deck, each equally likely.
pub(super) fn refill(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    for place in 0..decision.board.rules.open_cards {
        let deck = decision.board.deck();
        let empty = decision.board.market.get(usize::from(place)).is_some_and(Option::is_none);
        if !empty || deck.is_empty() {
            continue;
        }
        let number = decision.board.drawn + 1;
        let card = decision.one_of(Purpose::Market, number, &deck, Some(place))?;
        decision.record(Event::Drawn(card));
    }
    Ok(())
}

impl Neon {
    /// The cards that are neither open nor held by a player in the game.
    fn deck(&self) -> Vec<Slug> {
        let held = |code: Slug| self.players.iter().any(|p| p.alive && p.things.contains(&code));
        let open = |code: Slug| self.market.contains(&Some(code));
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
        let code = named.parse::<Slug>().ok().filter(|&code| self.market.contains(&Some(code)));
        code.and_then(|code| self.rules.card(code)).ok_or_else(|| {
            let open: Vec<String> = self.market.iter().flatten().map(Slug::to_string).collect();
            Rejection::NotOffered {
                code: named.chars().take(40).collect(),
                known: if open.is_empty() { "none".to_owned() } else { open.join(", ") },
            }
        })
    }

    /// The target of a card: the one named, or the only possible one.
    fn aim(
        &self,
        seat: SeatNo,
        card: &Card,
        named: Option<SeatNo>,
    ) -> Result<Option<SeatNo>, Rejection> {
        let CardKind::Once(once) = card.kind else { return reject_target(card, named) };
        if !once.is_aimed() {
            return reject_target(card, named);
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

    /// Validates a purchase: the card, its price, its target.
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
            self.check_useful(seat, card.code, once, target)?;
        }
        Ok((card.clone(), price, target))
    }

    fn check_useful(
        &self,
        seat: SeatNo,
        code: Slug,
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
        let card = |code: &Slug| self.rules.card(*code);
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

    /// `None`, and every opponent: all targets to try for an attack or a card.
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
        if self.deck().is_empty() {
            return Err(Rejection::NotNow { why: "no cards are left" });
        }
        Ok((price, have))
    }

    pub(super) fn may_evolve(&self, seat: SeatNo, named: &str) -> Result<Slug, Rejection> {
        if !self.turn.evolution {
            return Err(Rejection::NothingUnlocked);
        }
        let known = named.parse::<Slug>().ok().and_then(|code| self.rules.evolution(code));
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

fn reject_target(card: &Card, named: Option<SeatNo>) -> Result<Option<SeatNo>, Rejection> {
    match named {
        None => Ok(None),
        Some(_) => Err(Rejection::NoTarget { code: card.code }),
    }
}

/// Buys an open card and refills the market.
pub(super) fn buy(
    decision: &mut NeonDecision<'_>,
    named: &str,
    target: Option<SeatNo>,
) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let (card, price, target) = decision.board.purchase(seat, named, target)?;
    let energy = decision.board.player(seat).map_or(0, |player| player.energy);
    let mut changes = vec![Change::of(names::ENERGY, energy, energy - price)];
    if let CardKind::Kept(passive) = card.kind {
        changes.extend(decision.board.changes_by_gaining(seat, card.code, passive));
    }
    decision.apply_effect(seat, EffectSource::Item(BOUGHT, card.code), changes);
    refill(decision)?;
    match card.kind {
        CardKind::Kept(_) => Ok(()),
        CardKind::Once(once) => play_card(decision, card.code, once, target),
    }
}

impl Neon {
    /// The changes when a seat gets a permanent card or evolution.
    fn changes_by_gaining(&self, seat: SeatNo, code: Slug, passive: Passive) -> Vec<Change> {
        let mut changes = vec![Change::of(Measure::OfItem(HELD, code), 0, 1)];
        if let (Passive::MaxHp(more), Some(player)) = (passive, self.player(seat)) {
            let (max_hp, hp) = (player.max_hp, player.hp);
            changes.push(Change::of(names::MAX_HP, max_hp, max_hp.saturating_add(more)));
            changes.push(Change::of(names::HP, hp, hp.saturating_add(more)));
        }
        changes
    }
}

fn play_card(
    decision: &mut NeonDecision<'_>,
    code: Slug,
    once: Once,
    target: Option<SeatNo>,
) -> Result<(), Rejection> {
    let (seat, source) = (decision.table.turn.seat, EffectSource::Item(ITEM, code));
    let standing = decision.board.alive();
    let aimed = target.unwrap_or(seat);
    match once {
        Once::Energy(more) => gain(decision, seat, source, names::ENERGY, more),
        Once::Heal(more) => gain(decision, seat, source, names::HP, more),
        Once::Vp(more) => gain(decision, seat, source, names::VP, more),
        Once::Mark(more) => gain(decision, aimed, source, names::MARKED, more),
        Once::Shield => decision.apply_effect(seat, source, [Change::of(names::SHIELDED, 0, 1)]),
        Once::Steal(most) => {
            let there = decision.board.player(aimed).map_or(0, |player| player.energy);
            let taken = most.min(there);
            decision.apply_effect(aimed, source, [Change::of(names::ENERGY, there, there - taken)]);
            gain(decision, seat, source, names::ENERGY, taken);
        }
        Once::ForceOut => {
            if let Some(inside) = decision.board.inside {
                decision.apply_effect(inside, source, [Change::of(names::INSIDE, 1, 0)]);
            }
        }
        Once::Blast(damage) => {
            for target in decision.board.opponents(seat) {
                strike(decision, Hit { by: seat, target, damage, source });
            }
        }
        Once::Nova(damage) => {
            for target in standing.clone() {
                strike(decision, Hit { by: seat, target, damage, source });
            }
        }
    }
    settle(decision, &standing).map(drop)
}

/// Replaces all open cards.
pub(super) fn renew(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let (price, have) = decision.board.may_renew(seat)?;
    let paid = Change::of(names::ENERGY, have, have - price);
    decision.apply_effect(seat, names::RENEWED, [paid]);
    refill(decision)
}

/// Takes an evolution.
pub(super) fn evolve(decision: &mut NeonDecision<'_>, named: &str) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let code = decision.board.may_evolve(seat, named)?;
    let rules = Arc::clone(&decision.board.rules);
    let effect = rules.evolution(code).map(|evolution| evolution.effect);
    let changes = effect
        .map(|effect| decision.board.changes_by_gaining(seat, code, effect))
        .unwrap_or_default();
    let taken = Change::of(names::EVOLUTION, 1, 0);
    let changes = changes.into_iter().chain([taken]);
    decision.apply_effect(seat, EffectSource::Item(names::EVOLVED, code), changes);
    Ok(())
}
