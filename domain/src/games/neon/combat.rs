//! Combat, the centre and eliminations.
//!
//! The damage of a hit is computed in the order immunity, bonuses, reductions, plate; it is never
//! negative.

use super::{Gift, HEART, InsideHits, Neon, NeonDecision, Passive, SWORD, board::SIPHON, names};
use crate::{
    Change, DecidedBy, EffectSource, Event, Measure, Points, Rejection, SeatNo, Slug, Stage,
    TurnEnd,
    effect::{ACTIVE, ITEM},
};

/// The code of the shield.
pub(super) const SHIELD: Slug = Slug::of("shield");
/// The code of a mark.
const MARK: Slug = Slug::of("mark");

/// A hit on a player.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub(super) by: SeatNo,
    pub(super) target: SeatNo,
    pub(super) damage: i64,
    pub(super) source: EffectSource,
}

pub(super) fn is_over(decision: &NeonDecision<'_>) -> bool {
    matches!(decision.table.stage, Stage::Ended(_))
}

/// After the dice are resolved: a player with swords must attack, or hits at once under rules
/// without a combat phase.
pub(super) fn begin_combat(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    if decision.board.count(SWORD) == 0 {
        return Ok(());
    }
    if decision.board.rules.inside_hits.is_some() {
        decision.apply_effect(seat, names::SWORDS, [Change::of(names::COMBAT, 0, 1)]);
        return Ok(());
    }
    fight(decision, &decision.board.opponents(seat))
}

/// Makes the attack of the combat phase; the market opens afterwards.
pub(super) fn attack(
    decision: &mut NeonDecision<'_>,
    target: Option<SeatNo>,
) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let targets = decision.board.aim_attack(seat, target)?;
    decision.apply_effect(seat, names::ATTACK, [Change::of(names::COMBAT, 1, 0)]);
    fight(decision, &targets)
}

/// Time is up: the pending attack hits the next target in turn order.
pub(super) fn attack_next(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let targets = decision.board.attacks(seat);
    let next = targets.iter().flatten().find(|&&target| target > seat);
    let target =
        if targets.contains(&None) { None } else { next.or(targets.iter().flatten().next()) };
    attack(decision, target.copied())
}

impl Neon {
    /// The seats an attack would hit, or why it is not possible.
    pub(super) fn aim_attack(
        &self,
        seat: SeatNo,
        named: Option<SeatNo>,
    ) -> Result<Vec<SeatNo>, Rejection> {
        let Some(inside_hits) = self.rules.inside_hits else {
            return Err(Rejection::NotNow { why: "swords hit when the dice are resolved" });
        };
        if !self.turn.resolved {
            return Err(Rejection::NotNow { why: "resolve the dice first" });
        }
        if self.count(SWORD) == 0 {
            return Err(Rejection::NoSwords);
        }
        if !self.turn.combat {
            return Err(Rejection::AlreadyAttacked);
        }
        // From outside only the seat inside can be hit, and nobody if the centre is empty.
        let inside = self.inside == Some(seat);
        let there: Vec<SeatNo> =
            if inside { self.opponents(seat) } else { self.inside.into_iter().collect() };
        let seats = || match there.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") {
            nobody if nobody.is_empty() => "none".to_owned(),
            seats => seats,
        };
        let hits_all = inside && inside_hits == InsideHits::All;
        match named {
            Some(target) if hits_all || !there.contains(&target) => {
                let seats = if hits_all { "none: all are hit".to_owned() } else { seats() };
                Err(Rejection::BadTarget { seat: target, seats })
            }
            Some(target) => Ok(vec![target]),
            None if hits_all || there.len() < 2 => Ok(there),
            None => Err(Rejection::TargetNeeded { seats: seats() }),
        }
    }

    /// The targets with which an attack would be accepted now.
    pub(super) fn attacks(&self, seat: SeatNo) -> Vec<Option<SeatNo>> {
        let targets = self.targets(seat).into_iter();
        targets.filter(|&target| self.aim_attack(seat, target).is_ok()).collect()
    }

    /// Rejects other moves while an attack is pending.
    pub(super) fn is_peaceful(&self) -> Result<(), Rejection> {
        if self.turn.combat { Err(Rejection::AttackFirst) } else { Ok(()) }
    }
}

/// All swords hit: from outside the seat inside, from inside the given targets. An empty centre is
/// entered.
fn fight(decision: &mut NeonDecision<'_>, targets: &[SeatNo]) -> Result<(), Rejection> {
    let (seat, swords) = (decision.table.turn.seat, decision.board.count(SWORD));
    let standing = decision.board.alive();
    let hit = |target| Hit { by: seat, target, damage: swords, source: names::SWORDS };
    match decision.board.inside {
        None => enter(decision, seat),
        Some(inside) if inside == seat => {
            for &target in targets {
                strike(decision, hit(target));
            }
            settle(decision, &standing).map(drop)
        }
        Some(occupant) => {
            let taken = strike(decision, hit(occupant));
            if settle(decision, &standing)? {
                Ok(())
            } else if !decision.board.is_alive(occupant) {
                enter(decision, seat)
            } else if taken > 0 {
                let deadline = decision.deadline();
                decision.record(Event::Asked { seat: occupant, deadline });
                Ok(())
            } else {
                Ok(())
            }
        }
    }
}

/// Carries out a hit and returns the damage. Only swords get the attacker's bonuses.
pub(super) fn strike(decision: &mut NeonDecision<'_>, hit: Hit) -> i64 {
    let Hit { by, target, source, .. } = hit;
    let Some(player) = decision.board.player(target).cloned() else { return 0 };
    if player.shielded {
        change_damage(decision, target, EffectSource::Item(ITEM, SHIELD), hit.damage, 0, None);
        return 0;
    }
    let damage = if source == names::SWORDS { with_bonuses(decision, hit) } else { hit.damage };
    let damage = with_mark(decision, target, damage);
    let damage = with_reductions(decision, target, damage);
    if damage == 0 {
        return 0;
    }
    lose_health(decision, target, source, damage);
    on_damage(decision, by, target);
    damage
}

/// The damage with the attacker's bonuses.
fn with_bonuses(decision: &mut NeonDecision<'_>, hit: Hit) -> i64 {
    let (by, target, mut damage) = (hit.by, hit.target, hit.damage);
    for (code, passive) in decision.board.passives(by) {
        if let Passive::Damage(more) = passive {
            let source = EffectSource::Item(ITEM, code);
            damage = change_damage(decision, target, source, damage, damage + more, None);
        }
    }
    let hearts = decision.board.count(HEART);
    if let (Some(Gift::Precision(more)), true, Some(ability)) =
        (decision.board.gift(by), hearts > 0, ability_of(decision, by))
    {
        damage = change_damage(decision, target, ability, damage, damage + more, None);
    }
    damage
}

/// A mark raises the damage of the next hit of any kind.
fn with_mark(decision: &mut NeonDecision<'_>, target: SeatNo, damage: i64) -> i64 {
    let more = decision.board.player(target).map_or(0, |player| player.marked);
    if more == 0 {
        return damage;
    }
    let gone = Change::of(names::MARKED, more, 0);
    let source = EffectSource::Item(ITEM, MARK);
    change_damage(decision, target, source, damage, damage + more, Some(gone))
}

/// Armour reduces the damage first, then the plate.
fn with_reductions(decision: &mut NeonDecision<'_>, target: SeatNo, mut damage: i64) -> i64 {
    for (code, passive) in decision.board.passives(target) {
        if let (Passive::Armour(less), true) = (passive, damage > 0) {
            let after = (damage - less).max(0);
            damage = change_damage(
                decision,
                target,
                EffectSource::Item(ITEM, code),
                damage,
                after,
                None,
            );
        }
    }
    let armed = decision.board.player(target).is_some_and(|player| player.armed);
    if let (Some(Gift::Plate(less)), true, Some(ability)) =
        (decision.board.gift(target), armed && damage > 0, ability_of(decision, target))
    {
        let broken = Change::of(names::ARMED, 1, 0);
        let after = (damage - less).max(0);
        damage = change_damage(decision, target, ability, damage, after, Some(broken));
    }
    damage
}

fn change_damage(
    decision: &mut NeonDecision<'_>,
    target: SeatNo,
    source: EffectSource,
    before: i64,
    after: i64,
    also: Option<Change>,
) -> i64 {
    let damage = Change::of(names::DAMAGE, before, after);
    decision.apply_effect(target, source, std::iter::once(damage).chain(also));
    after
}

/// Reduces health. A player without health is eliminated and leaves the centre.
fn lose_health(decision: &mut NeonDecision<'_>, target: SeatNo, source: EffectSource, damage: i64) {
    let before = decision.board.player(target).map_or(0, |player| player.hp);
    let after = before.saturating_sub(damage).max(0);
    let mut changes = vec![Change::of(names::HP, before, after)];
    if after == 0 {
        changes.push(Change::of(names::ALIVE, 1, 0));
        if decision.board.inside == Some(target) {
            changes.push(Change::of(names::INSIDE, 1, 0));
        }
    }
    decision.apply_effect(target, source, changes);
}

/// Effects triggered by damage: the siphon, energy for the player hit, victory points for an
/// elimination.
fn on_damage(decision: &mut NeonDecision<'_>, by: SeatNo, target: SeatNo) {
    let energy =
        |decision: &NeonDecision<'_>, seat| decision.board.player(seat).map_or(0, |p| p.energy);
    if by != target {
        let there = energy(decision, target);
        if let (Some(Gift::Siphon(most)), false, Some(ability)) =
            (decision.board.gift(by), decision.board.turn.siphoned, ability_of(decision, by))
        {
            let taken = most.min(there);
            if taken > 0 {
                let lost = Change::of(names::ENERGY, there, there - taken);
                decision.apply_effect(target, ability, [lost]);
            }
            let mine = energy(decision, by);
            let got = Change::of(names::ENERGY, mine, mine + taken);
            decision.apply_effect(
                by,
                ability,
                [got, Change::of(Measure::OfItem(ACTIVE, SIPHON), 0, 1)],
            );
        }
    }
    if decision.board.is_alive(target) {
        for (code, passive) in decision.board.passives(target) {
            if let Passive::HitEnergy(more) = passive {
                gain(decision, target, EffectSource::Item(ITEM, code), names::ENERGY, more);
            }
        }
    } else if by != target {
        for (code, passive) in decision.board.passives(by) {
            if let Passive::KillVp(more) = passive {
                gain(decision, by, EffectSource::Item(ITEM, code), names::VP, more);
            }
        }
    }
}

/// Adds to a measure of a seat; health up to its maximum.
pub(super) fn gain(
    decision: &mut NeonDecision<'_>,
    seat: SeatNo,
    source: EffectSource,
    what: Measure,
    more: i64,
) {
    let Some(player) = decision.board.player(seat) else { return };
    let (before, most) = if what == names::HP {
        (player.hp, player.max_hp)
    } else if what == names::ENERGY {
        (player.energy, i64::MAX)
    } else if what == names::MARKED {
        (player.marked, i64::MAX)
    } else {
        (player.vp, i64::MAX)
    };
    let after = before.saturating_add(more).min(most);
    if after > before {
        decision.apply_effect(seat, source, [Change::of(what, before, after)]);
    }
}

/// The ability of a seat's character, as the source of an effect.
pub(super) fn ability_of(decision: &NeonDecision<'_>, seat: SeatNo) -> Option<EffectSource> {
    decision
        .board
        .player(seat)?
        .character
        .map(|character| EffectSource::Item(names::ABILITY, character))
}

/// Enters the empty centre, which scores a point and can damage the opponents.
pub(super) fn enter(decision: &mut NeonDecision<'_>, seat: SeatNo) -> Result<(), Rejection> {
    let (vp, more) =
        (decision.board.player(seat).map_or(0, |p| p.vp), decision.board.rules.enter_vp);
    decision.apply_effect(
        seat,
        names::ENTERED,
        [Change::of(names::INSIDE, 0, 1), Change::of(names::VP, vp, vp.saturating_add(more))],
    );
    if settle(decision, &[])? {
        return Ok(());
    }
    let standing = decision.board.alive();
    for (code, passive) in decision.board.passives(seat) {
        if let Passive::EnterDamage(damage) = passive {
            for target in decision.board.opponents(seat) {
                let source = EffectSource::Item(ITEM, code);
                strike(decision, Hit { by: seat, target, damage, source });
            }
        }
    }
    settle(decision, &standing).map(drop)
}

/// Ends the game if a seat has enough victory points or at most one is left, and returns whether it
/// did. If all remaining seats (`standing`) were eliminated at once, the one with the most victory
/// points wins.
pub(super) fn settle(
    decision: &mut NeonDecision<'_>,
    standing: &[SeatNo],
) -> Result<bool, Rejection> {
    let vp = |seat: SeatNo| decision.board.player(seat).map_or(0, |player| player.vp);
    let alive = decision.board.alive();
    let goal: Points = decision.board.rules.goal;
    let reached: Vec<SeatNo> = alive.iter().copied().filter(|&seat| vp(seat) >= goal).collect();
    let (by, winners) = if !reached.is_empty() {
        (DecidedBy::Goal, reached)
    } else if alive.len() == 1 {
        (DecidedBy::LastAlive, alive)
    } else if alive.is_empty() {
        let most = standing.iter().map(|&seat| vp(seat)).max().unwrap_or(0);
        let best: Vec<SeatNo> = standing.iter().copied().filter(|&s| vp(s) == most).collect();
        if best.len() == 1 { (DecidedBy::Score, best) } else { (DecidedBy::Draw, Vec::new()) }
    } else {
        return Ok(false);
    };
    if decision.board.turn.owner.is_some() {
        decision.end_turn(TurnEnd::Finished, decision.board.turn.vp, 0);
    }
    decision.end(by, winners)?;
    Ok(true)
}
