//! The moves of a turn, and the order of turns.

use super::{
    Gift, NeonDecision, Passive,
    combat::{SHIELD, ability_of, attack_next, enter, gain, is_over, settle},
    names,
    resolve::{resolve, worth},
};
use crate::{
    Change, EffectSource, Event, Faces, Rejection, Rolled, SeatNo, Slots, TurnEnd, effect::ITEM,
};

/// Rolls all dice, or all but the kept ones.
pub(super) fn roll(decision: &mut NeonDecision<'_>, keep: Option<&[u8]>) -> Result<(), Rejection> {
    let (seat, board) = (decision.table.turn.seat, &decision.board);
    let turn = &board.turn;
    let dice = board.dice_of(seat);
    if turn.resolved {
        return Err(Rejection::NotNow { why: "the dice are resolved; end your turn" });
    }
    let slots = match keep {
        None => Slots::first(dice),
        Some(_) if turn.rolls == 0 => return Err(Rejection::NothingRolled),
        Some(kept) => Slots::first(dice).without(Slots::parse(kept, dice)?),
    };
    if turn.rolls >= board.rolls_of(seat) {
        return Err(Rejection::NoRollsLeft);
    }
    if board.gift(seat) == Some(Gift::Copy) && turn.ability_used {
        return Err(Rejection::NotNow { why: "your ability made this roll the final one" });
    }
    if slots.is_empty() {
        return Err(Rejection::NothingToRoll);
    }
    let (draw, raw) = decision.roll(slots.len(), 6)?;
    let faces: Vec<u8> = raw.iter().map(|&raw| u8::try_from(raw).unwrap_or(u8::MAX)).collect();
    let mut after = decision.board.turn.dice.clone();
    for (slot, &face) in slots.iter().zip(&faces) {
        match after.get_mut(usize::from(slot)) {
            Some(place) => *place = face,
            None => after.push(face),
        }
    }
    let (max_points, faces) = (worth(&after), Faces::of(&faces).unwrap_or_default());
    let (folded, colours) = (None, None);
    let rolled = Rolled { seat, draw, slots, raw, faces, max_points, folded, colours };
    decision.record(Event::Rolled(rolled));
    Ok(())
}

/// Resolves the dice; combat or the market follows.
pub(super) fn resolve_dice(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    if decision.board.turn.resolved {
        return Err(Rejection::NotNow { why: "the dice are resolved already" });
    }
    if decision.board.turn.rolls == 0 {
        return Err(Rejection::NothingRolled);
    }
    resolve(decision)
}

/// The seat that was hit inside stays or yields; if it yields, the attacker must enter.
pub(super) fn answer(
    decision: &mut NeonDecision<'_>,
    seat: SeatNo,
    stays: bool,
) -> Result<(), Rejection> {
    let deadline = decision.deadline();
    decision.record(Event::Answered { seat, stays, deadline });
    if !stays {
        // An eliminated player is no longer inside.
        if decision.board.inside == Some(seat) {
            decision.apply_effect(seat, names::YIELDED, [Change::of(names::INSIDE, 1, 0)]);
        }
        enter(decision, decision.table.turn.seat)?;
    }
    if decision.board.turn.timed_out && !is_over(decision) {
        return end(decision, TurnEnd::TimedOut);
    }
    Ok(())
}

pub(super) fn end(decision: &mut NeonDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
    decision.end_turn(how, decision.board.turn.vp, 0);
    next_turn(decision)
}

/// Time is up: a seat that was asked stays; dice are rolled if they were not, then resolved, and a
/// pending attack is made.
pub(super) fn time_out(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    if let Some(asked) = decision.table.turn.asked {
        return answer(decision, asked, true);
    }
    if !decision.board.turn.resolved {
        if decision.board.turn.rolls == 0 {
            roll(decision, None)?;
        }
        resolve(decision)?;
    }
    if decision.board.turn.combat && !is_over(decision) {
        attack_next(decision)?;
    }
    // The seat that was hit is still asked; the turn ends with its answer.
    if is_over(decision) || decision.table.turn.asked.is_some() {
        return Ok(());
    }
    end(decision, TurnEnd::TimedOut)
}

/// The next seat in the game has the turn.
pub(super) fn next_turn(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    if settle(decision, &[])? {
        return Ok(());
    }
    let (turn, alive) = (decision.table.turn, decision.board.alive());
    let later = alive.iter().copied().find(|&seat| seat > turn.seat);
    match (later, alive.first()) {
        (Some(seat), _) => begin_turn(decision, seat, turn.round),
        (None, Some(&first)) => begin_turn(decision, first, turn.round.saturating_add(1)),
        (None, None) => Ok(()),
    }
}

/// Starts a turn: the shield ends, the plate is restored, the centre and cards give their bonuses.
fn begin_turn(decision: &mut NeonDecision<'_>, seat: SeatNo, round: u32) -> Result<(), Rejection> {
    decision.start_turn(seat, round);
    let Some(player) = decision.board.player(seat).cloned() else { return Ok(()) };
    if player.shielded {
        let fallen = Change::of(names::SHIELDED, 1, 0);
        decision.apply_effect(seat, EffectSource::Item(ITEM, SHIELD), [fallen]);
    }
    if let (Some(Gift::Plate(_)), false, Some(ability)) =
        (decision.board.gift(seat), player.armed, ability_of(decision, seat))
    {
        decision.apply_effect(seat, ability, [Change::of(names::ARMED, 0, 1)]);
    }
    let inside = decision.board.inside == Some(seat);
    if inside {
        let more = decision.board.rules.hold_vp;
        gain(decision, seat, names::CENTRE, names::VP, more);
    }
    for (code, passive) in decision.board.passives(seat) {
        let source = EffectSource::Item(ITEM, code);
        match passive {
            Passive::StartEnergy(more) => gain(decision, seat, source, names::ENERGY, more),
            Passive::StartHeal(more) => gain(decision, seat, source, names::HP, more),
            Passive::StartInsideVp(more) if inside => gain(decision, seat, source, names::VP, more),
            _ => {}
        }
    }
    settle(decision, &[]).map(drop)
}
