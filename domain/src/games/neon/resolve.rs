//! Resolves the dice: victory points, hearts, energy, swords, eliminations, in this order.

use super::{
    ENERGY, Gift, HEART, NeonDecision, Passive,
    combat::{ability_of, begin_combat, gain, settle},
    names,
};
use crate::{
    Change, Combination, CombinationName, EffectSource, Event, Faces, Points, Rejection, Saved,
    Slots, effect::ITEM,
};

/// The sets among the dice: three of a number score that number, each further one adds 1.
pub(super) fn sets(dice: &[u8]) -> Vec<Combination> {
    let set = |number: u8| {
        let slots: Slots =
            (0..).zip(dice).filter(|(_, shown)| **shown == number).map(|(slot, _)| slot).collect();
        let more = slots.len().checked_sub(3)?;
        let faces = Faces::of(&vec![number; usize::from(slots.len())])?;
        let points = Points::from(number) + Points::from(more);
        Some(Combination { name: CombinationName::Set, slots, faces, points, effects: Vec::new() })
    };
    [3, 2, 1].into_iter().filter_map(set).collect()
}

/// The victory points of the sets.
pub(super) fn worth(dice: &[u8]) -> Points {
    sets(dice).iter().map(|set| set.points).sum()
}

pub(super) fn resolve(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    score_sets(decision);
    if settle(decision, &[])? {
        return Ok(());
    }
    heal(decision);
    charge(decision);
    begin_combat(decision)
}

fn score_sets(decision: &mut NeonDecision<'_>) {
    let seat = decision.table.turn.seat;
    let combinations = sets(&decision.board.turn.dice);
    let points: Points = combinations.iter().map(|set| set.points).sum();
    let vp = decision.board.player(seat).map_or(0, |player| player.vp);
    let dice = u8::try_from(decision.board.turn.dice.len()).unwrap_or(u8::MAX);
    decision.record(Event::Saved(Saved {
        seat,
        slots: Slots::first(dice),
        combinations,
        bonuses: Vec::new(),
        multiplier: 1,
        points,
        turn_score: vp.saturating_add(points),
        left: Slots::EMPTY,
    }));
    if points > 0 {
        for (code, passive) in decision.board.passives(seat) {
            if let Passive::SetVp(more) = passive {
                gain(decision, seat, EffectSource::Item(ITEM, code), names::VP, more);
            }
        }
    }
}

/// Hearts heal up to the maximum, but not inside; hearts that cannot heal are spare. Enough hearts
/// unlock an evolution.
fn heal(decision: &mut NeonDecision<'_>) {
    let (seat, hearts) = (decision.table.turn.seat, decision.board.count(HEART));
    let Some(player) = decision.board.player(seat) else { return };
    if hearts == 0 {
        return;
    }
    let passives = decision.board.passives(seat);
    let barred = decision.board.is_barred(seat);
    let missing = if barred { 0 } else { player.max_hp - player.hp };
    let healed = hearts.min(missing);
    let unlocked = hearts >= i64::from(decision.board.rules.evolution_hearts)
        && decision.board.rules.evolutions.iter().any(|known| !player.things.contains(&known.code));
    let changes = [
        Change::of(names::HP, player.hp, player.hp + healed),
        Change::of(names::SPARE_HEARTS, 0, hearts - healed),
        Change::of(names::EVOLUTION, 0, i64::from(unlocked)),
    ];
    decision.apply_effect(seat, names::HEARTS, changes);
    if !barred {
        for (code, passive) in passives {
            if let Passive::MoreHealing(more) = passive {
                gain(decision, seat, EffectSource::Item(ITEM, code), names::HP, more);
            }
        }
    }
}

fn charge(decision: &mut NeonDecision<'_>) {
    let (seat, energy) = (decision.table.turn.seat, decision.board.count(ENERGY));
    if energy == 0 {
        return;
    }
    gain(decision, seat, names::ENERGY_RULE, names::ENERGY, energy);
    if let (Some(Gift::MoreEnergy(more)), Some(ability)) =
        (decision.board.gift(seat), ability_of(decision, seat))
    {
        gain(decision, seat, ability, names::ENERGY, more);
    }
    for (code, passive) in decision.board.passives(seat) {
        if let Passive::MoreEnergy(more) = passive {
            gain(decision, seat, EffectSource::Item(ITEM, code), names::ENERGY, more);
        }
    }
}
