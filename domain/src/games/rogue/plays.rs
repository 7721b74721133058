//! The moves of a turn, and the end of rounds and runs.

use std::sync::Arc;

use super::{
    Card, Category, Colour, ConsumableEffect, RogueDecision, board::ColouredDie, names,
    rules::names,
};
use crate::{
    Change, ColourDraw, ColoursDrawn, DecidedBy, Draw, Drawn, EffectSource, Event, Faces, Measure,
    Points, Purpose, Rejection, Rolled, Saved, Slots, Slug, TurnEnd,
    effect::{ACTIVE, HELD, ITEM},
    special_dice,
    special_dice::Code,
};

const SHOPPING: Rejection = Rejection::NotNow { why: "you are in the shop; end it to play on" };

/// Rolls all dice, or all but the kept ones.
pub(super) fn roll(decision: &mut RogueDecision<'_>, keep: Option<&[u8]>) -> Result<(), Rejection> {
    let board = &decision.board;
    if board.shopping {
        return Err(SHOPPING);
    }
    let all = Slots::first(board.turn.size);
    let slots = match keep {
        None => all,
        Some(_) if board.turn.dice.is_empty() => return Err(Rejection::NothingRolled),
        Some(kept) => all.without(Slots::parse(kept, board.turn.size)?),
    };
    if board.turn.rolls_left == 0 {
        return Err(Rejection::NoRollsLeft);
    }
    if slots.is_empty() {
        return Err(Rejection::NothingToRoll);
    }
    roll_dice(decision, slots)
}

fn roll_dice(decision: &mut RogueDecision<'_>, slots: Slots) -> Result<(), Rejection> {
    let (draw, raw) = decision.roll(slots.len(), 6)?;
    let loaded = decision.board.loaded();
    let shown: Vec<u8> = raw.iter().map(|&raw| face(raw, loaded.map(|(_, sides)| sides))).collect();
    let colours = colours(decision, draw.number, slots.len())?;
    let mut after = decision.board.turn.dice.clone();
    let codes = colours.iter().flat_map(|colours| &colours.codes).map(|&code| Colour::of(code));
    let codes = codes.chain(std::iter::repeat(None));
    for ((slot, &face), colour) in slots.iter().zip(&shown).zip(codes) {
        let die = ColouredDie { face, colour };
        match after.get_mut(usize::from(slot)) {
            Some(place) => *place = die,
            None => after.push(die),
        }
    }
    let max_points = decision.board.best_of(&after);
    let (seat, faces) = (decision.table.turn.seat, Faces::of(&shown).unwrap_or_default());
    let colours = colours.map(Box::new);
    let rolled = Rolled { seat, draw, slots, raw, faces, max_points, folded: None, colours };
    decision.record(Event::Rolled(rolled));
    if let Some((code, _)) = loaded {
        use_up(decision, code);
    }
    Ok(())
}

/// The face of a raw value.
fn face(raw: u32, sides: Option<[u8; 6]>) -> u8 {
    let plain = u8::try_from(raw).unwrap_or(u8::MAX);
    sides.and_then(|sides| sides.get(usize::from(plain).checked_sub(1)?).copied()).unwrap_or(plain)
}

/// Draws the colours of a roll: each bought colour is tried on each die, the first hit wins. Every
/// roll reserves five draw numbers, one per colour, so that colours not bought do not shift later
/// draws.
fn colours(
    decision: &mut RogueDecision<'_>,
    roll: u64,
    dice: u8,
) -> Result<Option<ColoursDrawn>, Rejection> {
    let rules = Arc::clone(&decision.board.rules);
    if let Some(mut codes) = decision.painted() {
        let on = |code: Code| Colour::of(code).is_some_and(|colour| rules.colours.has(colour));
        codes.iter_mut().filter(|code| !on(**code)).for_each(|code| *code = Code::STANDARD);
        codes.resize(usize::from(dice), Code::STANDARD);
        let painted = codes.iter().any(|&code| code != Code::STANDARD);
        return Ok(painted.then(|| ColoursDrawn { codes, draws: Vec::new() }));
    }
    let mut draws = Vec::new();
    for colour in rules.colours.each() {
        let bought = decision.board.purchases[colour.index()];
        if let Some(sides) = rules.odds(colour, bought) {
            let number = (roll - 1) * 5 + colour.index() as u64 + 1;
            let draw = Draw { purpose: Purpose::Colours, number, sides };
            let raw = decision.draw(draw, dice)?;
            draws.push(ColourDraw { code: colour.code(), draw, raw });
        }
    }
    if draws.is_empty() {
        return Ok(None);
    }
    let code = |die: usize| {
        let hit = draws.iter().find(|draw| draw.raw.get(die) == Some(&1));
        hit.map_or(Code::STANDARD, |draw| draw.code)
    };
    let codes = (0..usize::from(dice)).map(code).collect();
    Ok(Some(ColoursDrawn { codes, draws }))
}

/// Scores the dice in the category named by the player.
pub(super) fn score_named(decision: &mut RogueDecision<'_>, named: &str) -> Result<(), Rejection> {
    let board = &decision.board;
    if board.shopping {
        return Err(SHOPPING);
    }
    let open = || names(board.card.open());
    let category = Category::named(named).ok_or_else(|| Rejection::UnknownCategory {
        category: named.chars().take(40).collect(),
        open: open(),
    })?;
    if board.card.get(category).is_some() {
        return Err(Rejection::CategoryFilled { category: category.slug(), open: open() });
    }
    if board.turn.dice.is_empty() {
        return Err(Rejection::NothingRolled);
    }
    score(decision, category, TurnEnd::Finished)
}

/// Time is up: scores the best category, the first on the card if tied. Dice are rolled first if
/// necessary.
pub(super) fn score_best(decision: &mut RogueDecision<'_>) -> Result<(), Rejection> {
    if decision.board.turn.dice.is_empty() {
        roll(decision, None)?;
    }
    match decision.board.previews().first().map(|best| best.category) {
        Some(best) => score(decision, best, TurnEnd::TimedOut),
        None => Ok(()),
    }
}

fn score(
    decision: &mut RogueDecision<'_>,
    category: Category,
    how: TurnEnd,
) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    let dice = decision.board.turn.dice.clone();
    let scored = decision.board.score_of(&dice, category);
    let (multiplier, coin) = toss_coin(decision)?;
    let points = scored.points.saturating_mul(multiplier);
    decision.record(Event::Saved(Saved {
        seat,
        slots: scored.used,
        combinations: vec![scored.combination(&dice)],
        bonuses: scored.bonuses.clone(),
        multiplier,
        points,
        turn_score: decision.board.round_score.saturating_add(points),
        left: Slots::EMPTY,
    }));
    for boost in scored.bonuses.iter().filter(|boost| boost.before != boost.after) {
        let change = Change::of(special_dice::SAVE_POINTS, boost.before, boost.after);
        decision.apply_effect(seat, EffectSource::Die(boost.die), [change]);
    }
    if let Some(coin) = coin {
        decision.record(Event::Drawn(coin));
    }
    if let Some((die, dollars)) = scored.money {
        let (before, after) = (decision.board.money, decision.board.money.saturating_add(dollars));
        decision.apply_effect(
            seat,
            EffectSource::Die(die),
            [Change::of(names::MONEY, before, after)],
        );
    }
    expire_after_score(decision);
    if scored.extra_yahtzee {
        let more = decision.board.rules.extra_yahtzee;
        add_to_round(decision, names::EXTRA_YAHTZEE, more);
    }
    settle_upper(decision);
    for _ in 0..scored.gifts.map_or(0, |(_, gifts)| gifts) {
        if let Some((die, _)) = scored.gifts {
            grant(decision, EffectSource::Die(die))?;
        }
    }
    decision.end_turn(how, points, 0);
    Ok(())
}

/// The sides of a coin: the first one wins.
const COIN: [Slug; 2] = [Slug::of("heads"), Slug::of("tails")];

/// Tosses the coin, if one is pending; returns the multiplier of the score.
fn toss_coin(decision: &mut RogueDecision<'_>) -> Result<(Points, Option<Drawn>), Rejection> {
    let called = decision.board.active_effects().find_map(|effect| match effect {
        ConsumableEffect::MultiplyOrNothing(times) => Some(times),
        _ => None,
    });
    let Some(times) = called else { return Ok((1, None)) };
    let coin = decision.one_of(Purpose::Grants, decision.board.grants + 1, &COIN, None)?;
    Ok((if coin.item == COIN[0] { times } else { 0 }, Some(coin)))
}

/// Removes the consumables whose effect ended with this score.
fn expire_after_score(decision: &mut RogueDecision<'_>) {
    let waited = |effect| {
        matches!(
            effect,
            ConsumableEffect::AnyScore
                | ConsumableEffect::MultiplyOrNothing(_)
                | ConsumableEffect::MultiplyGreen(_)
                | ConsumableEffect::Sides(_)
        )
    };
    let rules = Arc::clone(&decision.board.rules);
    let items = rules.consumables.iter().filter(|item| waited(item.effect));
    for item in items {
        if decision.board.active.contains_key(&item.code) {
            use_up(decision, item.code);
        }
    }
}

/// Removes a consumable that took effect.
fn use_up(decision: &mut RogueDecision<'_>, code: Slug) {
    let seat = decision.table.turn.seat;
    decision.apply_effect(
        seat,
        EffectSource::Item(ITEM, code),
        [Change::of(Measure::OfItem(ACTIVE, code), 1, 0)],
    );
}

fn add_to_round(decision: &mut RogueDecision<'_>, source: EffectSource, by: Points) {
    let (before, seat) = (decision.board.round_score, decision.table.turn.seat);
    let change = Change::of(Measure::ROUND_SCORE, before, before.saturating_add(by));
    decision.apply_effect(seat, source, [change]);
}

/// Adjusts the bonus of the upper section to its points.
pub(super) fn settle_upper(decision: &mut RogueDecision<'_>) {
    let due = decision.board.card.upper_bonus(&decision.board.rules);
    let missing = due.saturating_sub(decision.board.upper_bonus);
    if missing != 0 {
        add_to_round(decision, names::UPPER_BONUS, missing);
    }
}

/// Grants a random consumable, if there is room for it.
fn grant(decision: &mut RogueDecision<'_>, source: EffectSource) -> Result<(), Rejection> {
    let rules = Arc::clone(&decision.board.rules);
    if decision.board.held_in_all() >= u32::from(rules.slots) || rules.consumables.is_empty() {
        return Ok(());
    }
    let number = decision.board.grants + 1;
    let codes: Vec<Slug> = rules.consumables.iter().map(|item| item.code).collect();
    let drawn = decision.one_of(Purpose::Grants, number, &codes, None)?;
    let item = drawn.item;
    decision.record(Event::Drawn(drawn));
    let before = decision.board.held.get(&item).copied().unwrap_or(0);
    let change = Change::of(Measure::OfItem(HELD, item), before.into(), i64::from(before) + 1);
    decision.apply_effect(decision.table.turn.seat, source, [change]);
    Ok(())
}

/// After a turn: the next one, the shop, or the end of the run.
pub(super) fn next_turn(decision: &mut RogueDecision<'_>) -> Result<(), Rejection> {
    let turn = decision.table.turn;
    // After a turn at least one category of the round is scored.
    if *decision.board.card == Card::default() {
        decision.start_turn(turn.seat, turn.round.saturating_add(1));
        return Ok(());
    }
    if decision.board.card.is_full() {
        return round_over(decision);
    }
    decision.start_turn(turn.seat, turn.round);
    Ok(())
}

/// All categories are scored: the target decides whether the run continues.
fn round_over(decision: &mut RogueDecision<'_>) -> Result<(), Rejection> {
    let turn = decision.table.turn;
    let rules = Arc::clone(&decision.board.rules);
    let Some(goal) = decision.board.goal(turn.round) else {
        return decision.end(DecidedBy::Missed, Vec::new());
    };
    let above = decision.board.round_score.saturating_sub(goal.target);
    let mut insured = false;
    for item in rules.consumables.iter().filter(|i| i.effect == ConsumableEffect::Insurance) {
        if decision.board.active.contains_key(&item.code) {
            insured = true;
            use_up(decision, item.code);
        }
    }
    if above >= 0 {
        let reward = goal.reward.saturating_add(above.min(rules.most_surplus));
        let (before, after) = (decision.board.money, decision.board.money.saturating_add(reward));
        let change = Change::of(names::MONEY, before, after);
        decision.apply_effect(turn.seat, names::REWARD, [change]);
    }
    let last = usize::try_from(turn.round).is_ok_and(|round| round >= rules.rounds.len());
    if above < 0 && (last || !insured) {
        return decision.end(DecidedBy::Missed, Vec::new());
    }
    if last {
        return decision.end(DecidedBy::Goal, vec![turn.seat]);
    }
    decision.start_turn(turn.seat, turn.round);
    Ok(())
}
