//! Hits, the centre, and who is left.
//!
//! A hit goes through immunities, bonuses to damage, reductions and plates, in this order, and is never below 0.

use super::{Gift, HEART, InsideHits, Neon, NeonDesk, Passive, SWORD, board::SIPHON, names};
use crate::{
    Change, DecidedBy, EffectSource, Event, Measure, Points, Rejection, SeatNo, Stage, TurnEnd,
    Word,
    effect::{ACTIVE, ITEM},
};

/// The shield, as a thing that can be named.
pub(super) const SHIELD: Word = Word::of("shield");
/// A mark, as a thing that can be named.
const MARK: Word = Word::of("mark");

/// Somebody is hit.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub(super) by: SeatNo,
    pub(super) target: SeatNo,
    pub(super) damage: i64,
    pub(super) source: EffectSource,
}

/// Whether the game is over.
pub(super) fn is_over(desk: &NeonDesk<'_>) -> bool {
    matches!(desk.table.stage, Stage::Ended(_))
}

/// The dice are resolved: whoever has swords must attack now, or hits at once where combat is no phase of its own.
pub(super) fn begin_combat(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    if desk.board.count(SWORD) == 0 {
        return Ok(());
    }
    if desk.board.rules.inside_hits.is_some() {
        desk.apply_effect(seat, names::SWORDS, [Change::of(names::COMBAT, 0, 1)]);
        return Ok(());
    }
    fight(desk, &desk.board.opponents(seat))
}

/// Attacks, after which the market is open.
pub(super) fn attack(desk: &mut NeonDesk<'_>, target: Option<SeatNo>) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let targets = desk.board.aim_attack(seat, target)?;
    desk.apply_effect(seat, names::ATTACK, [Change::of(names::COMBAT, 1, 0)]);
    fight(desk, &targets)
}

/// Time is up: the attack that is due hits the next one in the order of turns.
pub(super) fn attack_next(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let targets = desk.board.attacks(seat);
    let next = targets.iter().flatten().find(|&&target| target > seat);
    let target =
        if targets.contains(&None) { None } else { next.or(targets.iter().flatten().next()) };
    attack(desk, target.copied())
}

impl Neon {
    /// Whom an attack hits from where one is, or why it cannot be made.
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
        // From outside only who is inside can be hit, and nobody where the centre is empty.
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

    /// The targets with which an attack is accepted now.
    pub(super) fn attacks(&self, seat: SeatNo) -> Vec<Option<SeatNo>> {
        let targets = self.targets(seat).into_iter();
        targets.filter(|&target| self.aim_attack(seat, target).is_ok()).collect()
    }

    /// What is due before anything else, if an attack is.
    pub(super) fn is_peaceful(&self) -> Result<(), Rejection> {
        if self.turn.combat { Err(Rejection::AttackFirst) } else { Ok(()) }
    }
}

/// All swords hit: from outside whoever is inside, from inside these. An empty centre is entered.
fn fight(desk: &mut NeonDesk<'_>, targets: &[SeatNo]) -> Result<(), Rejection> {
    let (seat, swords) = (desk.table.turn.seat, desk.board.count(SWORD));
    let standing = desk.board.alive();
    let hit = |target| Hit { by: seat, target, damage: swords, source: names::SWORDS };
    match desk.board.inside {
        None => enter(desk, seat),
        Some(inside) if inside == seat => {
            for &target in targets {
                strike(desk, hit(target));
            }
            settle(desk, &standing).map(drop)
        }
        Some(occupant) => {
            let taken = strike(desk, hit(occupant));
            if settle(desk, &standing)? {
                Ok(())
            } else if !desk.board.is_alive(occupant) {
                enter(desk, seat)
            } else if taken > 0 {
                let deadline = desk.deadline();
                desk.record(Event::Asked { seat: occupant, deadline });
                Ok(())
            } else {
                Ok(())
            }
        }
    }
}

/// The damage that a hit does; swords have the attacker's bonuses.
pub(super) fn strike(desk: &mut NeonDesk<'_>, hit: Hit) -> i64 {
    let Hit { by, target, source, .. } = hit;
    let Some(player) = desk.board.player(target).cloned() else { return 0 };
    if player.shielded {
        change_damage(desk, target, EffectSource::Thing(ITEM, SHIELD), hit.damage, 0, None);
        return 0;
    }
    let damage = if source == names::SWORDS { raised(desk, hit) } else { hit.damage };
    let damage = marked(desk, target, damage);
    let damage = lowered(desk, target, damage);
    if damage == 0 {
        return 0;
    }
    take(desk, target, source, damage);
    on_damage(desk, by, target);
    damage
}

/// Bonuses of an attack: what the attacker has.
fn raised(desk: &mut NeonDesk<'_>, hit: Hit) -> i64 {
    let (by, target, mut damage) = (hit.by, hit.target, hit.damage);
    for (code, passive) in desk.board.passives(by) {
        if let Passive::Damage(more) = passive {
            let source = EffectSource::Thing(ITEM, code);
            damage = change_damage(desk, target, source, damage, damage + more, None);
        }
    }
    let hearts = desk.board.count(HEART);
    if let (Some(Gift::Precision(more)), true, Some(ability)) =
        (desk.board.gift(by), hearts > 0, ability_of(desk, by))
    {
        damage = change_damage(desk, target, ability, damage, damage + more, None);
    }
    damage
}

/// A mark makes the next hit worse, whatever it comes from.
fn marked(desk: &mut NeonDesk<'_>, target: SeatNo, damage: i64) -> i64 {
    let more = desk.board.player(target).map_or(0, |player| player.marked);
    if more == 0 {
        return damage;
    }
    let gone = Change::of(names::MARKED, more, 0);
    let source = EffectSource::Thing(ITEM, MARK);
    change_damage(desk, target, source, damage, damage + more, Some(gone))
}

/// Reductions, then the plate.
fn lowered(desk: &mut NeonDesk<'_>, target: SeatNo, mut damage: i64) -> i64 {
    for (code, passive) in desk.board.passives(target) {
        if let (Passive::Armour(less), true) = (passive, damage > 0) {
            let after = (damage - less).max(0);
            damage =
                change_damage(desk, target, EffectSource::Thing(ITEM, code), damage, after, None);
        }
    }
    let armed = desk.board.player(target).is_some_and(|player| player.armed);
    if let (Some(Gift::Plate(less)), true, Some(ability)) =
        (desk.board.gift(target), armed && damage > 0, ability_of(desk, target))
    {
        let broken = Change::of(names::ARMED, 1, 0);
        let after = (damage - less).max(0);
        damage = change_damage(desk, target, ability, damage, after, Some(broken));
    }
    damage
}

fn change_damage(
    desk: &mut NeonDesk<'_>,
    target: SeatNo,
    source: EffectSource,
    before: i64,
    after: i64,
    also: Option<Change>,
) -> i64 {
    let damage = Change::of(names::DAMAGE, before, after);
    desk.apply_effect(target, source, std::iter::once(damage).chain(also));
    after
}

/// Health goes; who has none left is out, and not inside any more.
fn take(desk: &mut NeonDesk<'_>, target: SeatNo, source: EffectSource, damage: i64) {
    let before = desk.board.player(target).map_or(0, |player| player.hp);
    let after = before.saturating_sub(damage).max(0);
    let mut changes = vec![Change::of(names::HP, before, after)];
    if after == 0 {
        changes.push(Change::of(names::ALIVE, 1, 0));
        if desk.board.inside == Some(target) {
            changes.push(Change::of(names::INSIDE, 1, 0));
        }
    }
    desk.apply_effect(target, source, changes);
}

/// What damage sets off: a siphon, energy for who was hit, a bounty.
fn on_damage(desk: &mut NeonDesk<'_>, by: SeatNo, target: SeatNo) {
    let energy = |desk: &NeonDesk<'_>, seat| desk.board.player(seat).map_or(0, |p| p.energy);
    if by != target {
        let there = energy(desk, target);
        if let (Some(Gift::Siphon(most)), false, Some(ability)) =
            (desk.board.gift(by), desk.board.turn.siphoned, ability_of(desk, by))
        {
            let taken = most.min(there);
            if taken > 0 {
                let lost = Change::of(names::ENERGY, there, there - taken);
                desk.apply_effect(target, ability, [lost]);
            }
            let mine = energy(desk, by);
            let got = Change::of(names::ENERGY, mine, mine + taken);
            desk.apply_effect(
                by,
                ability,
                [got, Change::of(Measure::OfThing(ACTIVE, SIPHON), 0, 1)],
            );
        }
    }
    if desk.board.is_alive(target) {
        for (code, passive) in desk.board.passives(target) {
            if let Passive::HitEnergy(more) = passive {
                gain(desk, target, EffectSource::Thing(ITEM, code), names::ENERGY, more);
            }
        }
    } else if by != target {
        for (code, passive) in desk.board.passives(by) {
            if let Passive::KillVp(more) = passive {
                gain(desk, by, EffectSource::Thing(ITEM, code), names::VP, more);
            }
        }
    }
}

/// A seat gets more of something; health up to its maximum.
pub(super) fn gain(
    desk: &mut NeonDesk<'_>,
    seat: SeatNo,
    source: EffectSource,
    what: Measure,
    more: i64,
) {
    let Some(player) = desk.board.player(seat) else { return };
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
        desk.apply_effect(seat, source, [Change::of(what, before, after)]);
    }
}

/// The ability of a seat's character, as a source.
pub(super) fn ability_of(desk: &NeonDesk<'_>, seat: SeatNo) -> Option<EffectSource> {
    desk.board
        .player(seat)?
        .character
        .map(|character| EffectSource::Thing(names::ABILITY, character))
}

/// Enters the centre, which is empty; it is worth a point, and may hurt the others.
pub(super) fn enter(desk: &mut NeonDesk<'_>, seat: SeatNo) -> Result<(), Rejection> {
    let (vp, more) = (desk.board.player(seat).map_or(0, |p| p.vp), desk.board.rules.enter_vp);
    desk.apply_effect(
        seat,
        names::ENTERED,
        [Change::of(names::INSIDE, 0, 1), Change::of(names::VP, vp, vp.saturating_add(more))],
    );
    if settle(desk, &[])? {
        return Ok(());
    }
    let standing = desk.board.alive();
    for (code, passive) in desk.board.passives(seat) {
        if let Passive::EnterDamage(damage) = passive {
            for target in desk.board.opponents(seat) {
                let source = EffectSource::Thing(ITEM, code);
                strike(desk, Hit { by: seat, target, damage, source });
            }
        }
    }
    settle(desk, &standing).map(drop)
}

/// Whether this ends the game: enough victory points, or nobody else left. Of those who fell together, `standing` until
/// then, the one with the most victory points wins.
pub(super) fn settle(desk: &mut NeonDesk<'_>, standing: &[SeatNo]) -> Result<bool, Rejection> {
    let vp = |seat: SeatNo| desk.board.player(seat).map_or(0, |player| player.vp);
    let alive = desk.board.alive();
    let goal: Points = desk.board.rules.goal;
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
    if desk.board.turn.owner.is_some() {
        desk.end_turn(TurnEnd::Finished, desk.board.turn.vp, 0);
    }
    desk.end(by, winners)?;
    Ok(true)
}
