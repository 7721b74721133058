//! Dice do what they show: victory points, hearts, energy, swords, eliminations, in this order.

use super::{
    ENERGY, Gift, HEART, NeonDesk, Passive,
    combat::{ability_of, begin_combat, gain, settle},
    names,
};
use crate::{
    Change, Combination, CombinationName, EffectSource, Event, Faces, Points, Rejection, Saved,
    Slots, effect::ITEM,
};

/// The sets among dice: three of a number are worth it, each further one adds 1.
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

/// What the sets among dice are worth.
pub(super) fn worth(dice: &[u8]) -> Points {
    sets(dice).iter().map(|set| set.points).sum()
}

pub(super) fn resolve(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    score_sets(desk);
    if settle(desk, &[])? {
        return Ok(());
    }
    heal(desk);
    charge(desk);
    begin_combat(desk)
}

fn score_sets(desk: &mut NeonDesk<'_>) {
    let seat = desk.table.turn.seat;
    let combinations = sets(&desk.board.turn.dice);
    let points: Points = combinations.iter().map(|set| set.points).sum();
    let vp = desk.board.player(seat).map_or(0, |player| player.vp);
    let dice = u8::try_from(desk.board.turn.dice.len()).unwrap_or(u8::MAX);
    desk.record(Event::Saved(Saved {
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
        for (code, passive) in desk.board.passives(seat) {
            if let Passive::SetVp(more) = passive {
                gain(desk, seat, EffectSource::Thing(ITEM, code), names::VP, more);
            }
        }
    }
}

/// Hearts heal up to the maximum, none inside; those that heal nothing are spare. Enough of them unlock an evolution.
fn heal(desk: &mut NeonDesk<'_>) {
    let (seat, hearts) = (desk.table.turn.seat, desk.board.count(HEART));
    let Some(player) = desk.board.player(seat) else { return };
    if hearts == 0 {
        return;
    }
    let passives = desk.board.passives(seat);
    let barred = desk.board.is_barred(seat);
    let missing = if barred { 0 } else { player.max_hp - player.hp };
    let healed = hearts.min(missing);
    let unlocked = hearts >= i64::from(desk.board.rules.evolution_hearts)
        && desk.board.rules.evolutions.iter().any(|known| !player.things.contains(&known.code));
    let changes = [
        Change::of(names::HP, player.hp, player.hp + healed),
        Change::of(names::SPARE_HEARTS, 0, hearts - healed),
        Change::of(names::EVOLUTION, 0, i64::from(unlocked)),
    ];
    desk.apply_effect(seat, names::HEARTS, changes);
    if !barred {
        for (code, passive) in passives {
            if let Passive::MoreHealing(more) = passive {
                gain(desk, seat, EffectSource::Thing(ITEM, code), names::HP, more);
            }
        }
    }
}

fn charge(desk: &mut NeonDesk<'_>) {
    let (seat, energy) = (desk.table.turn.seat, desk.board.count(ENERGY));
    if energy == 0 {
        return;
    }
    gain(desk, seat, names::ENERGY_RULE, names::ENERGY, energy);
    if let (Some(Gift::MoreEnergy(more)), Some(ability)) =
        (desk.board.gift(seat), ability_of(desk, seat))
    {
        gain(desk, seat, ability, names::ENERGY, more);
    }
    for (code, passive) in desk.board.passives(seat) {
        if let Passive::MoreEnergy(more) = passive {
            gain(desk, seat, EffectSource::Thing(ITEM, code), names::ENERGY, more);
        }
    }
}
