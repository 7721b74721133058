//! The moves of a turn, and whose turn is next.

use super::{
    Gift, NeonDesk, Passive,
    combat::{SHIELD, ability_of, attack_next, enter, gain, is_over, settle},
    names,
    resolve::{resolve, worth},
};
use crate::{
    Change, EffectSource, Event, Faces, Rejection, Rolled, SeatNo, Slots, TurnEnd, effect::ITEM,
};

/// Rolls all dice, or all but those kept.
pub(super) fn roll(desk: &mut NeonDesk<'_>, keep: Option<&[u8]>) -> Result<(), Rejection> {
    let (seat, board) = (desk.table.turn.seat, &desk.board);
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
    let (draw, raw) = desk.roll(slots.len(), 6)?;
    let faces: Vec<u8> = raw.iter().map(|&raw| u8::try_from(raw).unwrap_or(u8::MAX)).collect();
    let mut after = desk.board.turn.dice.clone();
    for (slot, &face) in slots.iter().zip(&faces) {
        match after.get_mut(usize::from(slot)) {
            Some(place) => *place = face,
            None => after.push(face),
        }
    }
    let (max_points, faces) = (worth(&after), Faces::of(&faces).unwrap_or_default());
    let (folded, colours) = (None, None);
    let rolled = Rolled { seat, draw, slots, raw, faces, max_points, folded, colours };
    desk.record(Event::Rolled(rolled));
    Ok(())
}

/// Resolves the dice, after which the market is open.
pub(super) fn resolve_dice(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    if desk.board.turn.resolved {
        return Err(Rejection::NotNow { why: "the dice are resolved already" });
    }
    if desk.board.turn.rolls == 0 {
        return Err(Rejection::NothingRolled);
    }
    resolve(desk)
}

/// Whoever was hit inside stays or gives way, and then the attacker must enter.
pub(super) fn answer(desk: &mut NeonDesk<'_>, seat: SeatNo, stays: bool) -> Result<(), Rejection> {
    let deadline = desk.deadline();
    desk.record(Event::Answered { seat, stays, deadline });
    if !stays {
        // Who has left the game is not inside any more.
        if desk.board.inside == Some(seat) {
            desk.apply_effect(seat, names::YIELDED, [Change::of(names::INSIDE, 1, 0)]);
        }
        enter(desk, desk.table.turn.seat)?;
    }
    if desk.board.turn.timed_out && !is_over(desk) {
        return end(desk, TurnEnd::TimedOut);
    }
    Ok(())
}

/// Ends the turn.
pub(super) fn end(desk: &mut NeonDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
    desk.end_turn(how, desk.board.turn.vp, 0);
    next_turn(desk)
}

/// Time is up: who was asked stays; dice are rolled once if they were not, and resolved, and an attack that is due is made.
pub(super) fn time_out(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    if let Some(asked) = desk.table.turn.asked {
        return answer(desk, asked, true);
    }
    if !desk.board.turn.resolved {
        if desk.board.turn.rolls == 0 {
            roll(desk, None)?;
        }
        resolve(desk)?;
    }
    if desk.board.turn.combat && !is_over(desk) {
        attack_next(desk)?;
    }
    // Whoever was hit is still asked; the turn ends with the answer.
    if is_over(desk) || desk.table.turn.asked.is_some() {
        return Ok(());
    }
    end(desk, TurnEnd::TimedOut)
}

/// The next one in the game has the turn.
pub(super) fn next_turn(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    if settle(desk, &[])? {
        return Ok(());
    }
    let (turn, alive) = (desk.table.turn, desk.board.alive());
    let later = alive.iter().copied().find(|&seat| seat > turn.seat);
    match (later, alive.first()) {
        (Some(seat), _) => begin_turn(desk, seat, turn.round),
        (None, Some(&first)) => begin_turn(desk, first, turn.round.saturating_add(1)),
        (None, None) => Ok(()),
    }
}

/// A turn begins: shields fall, plates are ready again, the centre pays, and so do cards.
fn begin_turn(desk: &mut NeonDesk<'_>, seat: SeatNo, round: u32) -> Result<(), Rejection> {
    desk.start_turn(seat, round);
    let Some(player) = desk.board.player(seat).cloned() else { return Ok(()) };
    if player.shielded {
        let fallen = Change::of(names::SHIELDED, 1, 0);
        desk.apply_effect(seat, EffectSource::Thing(ITEM, SHIELD), [fallen]);
    }
    if let (Some(Gift::Plate(_)), false, Some(ability)) =
        (desk.board.gift(seat), player.armed, ability_of(desk, seat))
    {
        desk.apply_effect(seat, ability, [Change::of(names::ARMED, 0, 1)]);
    }
    let inside = desk.board.inside == Some(seat);
    if inside {
        let more = desk.board.rules.hold_vp;
        gain(desk, seat, names::CENTRE, names::VP, more);
    }
    for (code, passive) in desk.board.passives(seat) {
        let source = EffectSource::Thing(ITEM, code);
        match passive {
            Passive::StartEnergy(more) => gain(desk, seat, source, names::ENERGY, more),
            Passive::StartHeal(more) => gain(desk, seat, source, names::HP, more),
            Passive::StartInsideVp(more) if inside => gain(desk, seat, source, names::VP, more),
            _ => {}
        }
    }
    settle(desk, &[]).map(drop)
}
