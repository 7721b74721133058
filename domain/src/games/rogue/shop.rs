//! The shop, and using consumables.

use std::sync::Arc;

use super::{
    Category, Colour, Consumable, ConsumableEffect, Rogue, RogueDecision, names,
    plays::settle_upper,
};
use crate::{
    Change, EffectSource, Measure, Offer, Rejection, Slug,
    effect::{ACTIVE, BOUGHT, HELD, USED},
};

const UNIT: &str = "dollars";
/// The maximum number of dice, whatever consumables add.
const MOST_DICE: u8 = 10;

/// Buys better odds of a colour, or a consumable.
pub(super) fn buy(decision: &mut RogueDecision<'_>, named: &str) -> Result<(), Rejection> {
    let board = &decision.board;
    if !board.shopping {
        return Err(Rejection::NotNow { why: "the shop opens when the round is over" });
    }
    let code = named.parse::<Slug>().ok();
    let offer = code.and_then(|code| board.offer(code)).ok_or_else(|| Rejection::NotOffered {
        code: named.chars().take(40).collect(),
        known: board.list_offers(),
    })?;
    let (code, price) = (offer.code, offer.price);
    board.may_buy(code)?;
    if price > board.money {
        return Err(Rejection::CannotAfford { price, have: board.money, unit: UNIT });
    }
    let paid = Change::of(names::MONEY, board.money, board.money - price);
    let (what, before) = match board.colour_for_sale(code) {
        Some(colour) => (Measure::OfItem(names::PURCHASES, code), board.purchases[colour.index()]),
        None => (Measure::OfItem(HELD, code), board.held.get(&code).copied().unwrap_or(0)),
    };
    let got = Change::of(what, before.into(), i64::from(before) + 1);
    decision.apply_effect(decision.table.turn.seat, EffectSource::Item(BOUGHT, code), [paid, got]);
    Ok(())
}

impl Rogue {
    fn colour_for_sale(&self, code: Slug) -> Option<Colour> {
        self.rules.colours.each().find(|colour| colour.slug() == code)
    }

    fn offer(&self, code: Slug) -> Option<Offer> {
        self.all_offers().into_iter().find(|offer| offer.code == code)
    }

    fn list_offers(&self) -> String {
        let codes: Vec<String> =
            self.all_offers().iter().map(|offer| offer.code.to_string()).collect();
        codes.join(", ")
    }

    /// Rejects what is sold out, and what there is no room for.
    fn may_buy(&self, code: Slug) -> Result<(), Rejection> {
        match self.colour_for_sale(code) {
            Some(colour) => {
                let odds = self.rules.odds(colour, self.purchases[colour.index()]);
                match odds {
                    Some(odds) if odds <= self.rules.best_odds => {
                        Err(Rejection::BestOdds { colour: code, odds })
                    }
                    Some(_) | None => Ok(()),
                }
            }
            None if self.held_in_all() >= u32::from(self.rules.slots) => {
                Err(Rejection::SlotsFull { most: self.rules.slots })
            }
            None => Ok(()),
        }
    }

    /// All offers of the shop: colours, then consumables.
    pub(super) fn all_offers(&self) -> Vec<Offer> {
        let colours = self.rules.colours.each().map(|colour| Offer {
            code: colour.slug(),
            name: colour.name().to_owned(),
            text: colour.text().to_owned(),
            price: self.rules.price(colour, self.purchases[colour.index()]),
            odds: self.rules.odds(colour, self.purchases[colour.index()].saturating_add(1)),
            buyable: false,
        });
        let items = self.rules.consumables.iter().map(|item| Offer {
            code: item.code,
            name: item.name.clone(),
            text: item.text(),
            price: item.price,
            odds: None,
            buyable: false,
        });
        colours
            .chain(items)
            .map(|offer| Offer {
                buyable: self.shopping
                    && offer.price <= self.money
                    && self.may_buy(offer.code).is_ok(),
                ..offer
            })
            .collect()
    }

    /// The faces of loaded dice, and the consumable that loads them.
    pub(super) fn loaded(&self) -> Option<(Slug, [u8; 6])> {
        self.active.keys().find_map(|&code| match self.rules.consumable(code)?.effect {
            ConsumableEffect::Sides(sides) => Some((code, sides)),
            _ => None,
        })
    }

    /// The category of this round with the most points; the first on the card if tied.
    fn best_category(&self) -> Option<Category> {
        let scored = Category::ALL.into_iter().filter(|&c| self.card.get(c).is_some_and(|p| p > 0));
        scored.rev().max_by_key(|&category| self.card.get(category))
    }

    /// The bought colour with the longest odds that can still improve; if tied, the one tried last.
    fn longest_odds(&self) -> Option<Colour> {
        let odds = |colour: Colour| self.rules.odds(colour, self.purchases[colour.index()]);
        let better = self
            .rules
            .colours
            .each()
            .filter(|&c| odds(c).is_some_and(|odds| odds > self.rules.best_odds));
        better.max_by_key(|&colour| odds(colour))
    }

    /// Rejects a consumable that would have no effect now.
    pub(super) fn may_use(&self, item: &Consumable) -> Result<(), Rejection> {
        use ConsumableEffect as E;
        let code = item.code;
        let needs = |fulfilled: bool, why| {
            if fulfilled { Ok(()) } else { Err(Rejection::NoUse { code, why }) }
        };
        if self.shopping && !matches!(item.effect, E::Upgrade(_)) {
            return Err(Rejection::NotNow { why: "it is used in a turn, not in the shop" });
        }
        needs(!self.active.contains_key(&code), "one is at work already")?;
        match item.effect {
            E::AnyScore | E::MultiplyOrNothing(_) | E::MultiplyGreen(_) | E::Insurance => Ok(()),
            E::ScoreReroll => needs(self.last.is_some(), "no category was scored just before"),
            E::MoreRolls(rolls) => {
                needs(self.turn.rolls_left.checked_add(rolls).is_some(), "there are enough rolls")
            }
            E::ExtraDice(dice) => {
                needs(self.turn.dice.is_empty(), "the dice were rolled already")?;
                needs(self.turn.size.saturating_add(dice) <= MOST_DICE, "there are enough dice")
            }
            E::MultiplyBest(_) => needs(self.best_category().is_some(), "nothing has points yet"),
            E::Sides(_) => {
                needs(self.turn.rolls_left > 0, "no rolls are left")?;
                needs(self.loaded().is_none(), "the dice are loaded already")
            }
            E::Upgrade(_) => needs(self.longest_odds().is_some(), "no colour can be better"),
        }
    }

    /// The changes by a consumable, besides its consumption.
    fn changes_by(&self, item: &Consumable) -> Vec<Change> {
        use ConsumableEffect as E;
        let round = |by: i64| {
            let before = self.round_score;
            Change::of(Measure::ROUND_SCORE, before, before.saturating_add(by))
        };
        let turn = &self.turn;
        match item.effect {
            E::AnyScore
            | E::MultiplyOrNothing(_)
            | E::MultiplyGreen(_)
            | E::Insurance
            | E::Sides(_) => vec![Change::of(Measure::OfItem(ACTIVE, item.code), 0, 1)],
            E::ScoreReroll => self.last.map_or_else(Vec::new, |last| {
                let points = self.card.get(last).unwrap_or(0);
                vec![
                    Change::of(Measure::OfItem(names::CATEGORY_POINTS, last.slug()), points, 0),
                    Change::of(Measure::OfItem(names::CATEGORY_OPEN, last.slug()), 0, 1),
                    round(points.saturating_add(self.last_bonus).saturating_neg()),
                ]
            }),
            E::MoreRolls(rolls) => {
                let before = turn.rolls_left;
                let after = before.saturating_add(rolls);
                vec![Change::of(names::ROLLS_LEFT, before.into(), after.into())]
            }
            E::ExtraDice(dice) => {
                let after = turn.size.saturating_add(dice);
                vec![Change::of(names::DICE_IN_PLAY, turn.size.into(), after.into())]
            }
            E::MultiplyBest(times) => self.best_category().map_or_else(Vec::new, |best| {
                let points = self.card.get(best).unwrap_or(0);
                let after = points.saturating_mul(times);
                vec![
                    Change::of(Measure::OfItem(names::CATEGORY_POINTS, best.slug()), points, after),
                    round(after.saturating_sub(points)),
                ]
            }),
            E::Upgrade(purchases) => self.longest_odds().map_or_else(Vec::new, |colour| {
                let before = self.purchases[colour.index()];
                let after = before.saturating_add(purchases);
                vec![Change::of(
                    Measure::OfItem(names::PURCHASES, colour.slug()),
                    before.into(),
                    after.into(),
                )]
            }),
        }
    }

    /// The codes of the consumables held.
    pub(super) fn list_held(&self) -> String {
        let held: Vec<String> = self.held.keys().map(ToString::to_string).collect();
        if held.is_empty() { "nothing".to_owned() } else { held.join(", ") }
    }
}

/// Uses a consumable.
pub(super) fn use_item(decision: &mut RogueDecision<'_>, named: &str) -> Result<(), Rejection> {
    let rules = Arc::clone(&decision.board.rules);
    let board = &decision.board;
    let held = named.parse::<Slug>().ok().and_then(|code| {
        let count = board.held.get(&code).copied()?;
        Some((count, rules.consumable(code)?))
    });
    let Some((count, item)) = held else {
        let code = named.chars().take(40).collect();
        return Err(Rejection::NotHeld { code, held: board.list_held() });
    };
    board.may_use(item)?;
    let used = Change::of(Measure::OfItem(HELD, item.code), count.into(), i64::from(count) - 1);
    let changes = std::iter::once(used).chain(board.changes_by(item));
    decision.apply_effect(decision.table.turn.seat, EffectSource::Item(USED, item.code), changes);
    settle_upper(decision);
    Ok(())
}
