//! The moves of a turn: roll, score; and what ends a round.

use std::sync::Arc;

use super::{
    Card, Category, Colour, ConsumableEffect, RogueDesk, board::ColouredDie, names, rules::names,
};
use crate::{
    Change, ColourDraw, ColoursDrawn, DecidedBy, Draw, Drawn, EffectSource, Event, Faces, Measure,
    Points, Purpose, Rejection, Rolled, Saved, Slots, TurnEnd, Word,
    effect::{ACTIVE, HELD, ITEM},
    special_dice,
    special_dice::Code,
};

const SHOPPING: Rejection = Rejection::NotNow { why: "you are in the shop; end it to play on" };

/// Rolls the whole set, or all dice but those kept.
pub(super) fn roll(desk: &mut RogueDesk<'_>, keep: Option<&[u8]>) -> Result<(), Rejection> {
    let board = &desk.board;
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
    roll_dice(desk, slots)
}

fn roll_dice(desk: &mut RogueDesk<'_>, slots: Slots) -> Result<(), Rejection> {
    let (draw, raw) = desk.roll(slots.len(), 6)?;
    let loaded = desk.board.loaded();
    let shown: Vec<u8> = raw.iter().map(|&raw| face(raw, loaded.map(|(_, sides)| sides))).collect();
    let colours = colours(desk, draw.number, slots.len())?;
    let mut after = desk.board.turn.dice.clone();
    let codes = colours.iter().flat_map(|colours| &colours.codes).map(|&code| Colour::of(code));
    let codes = codes.chain(std::iter::repeat(None));
    for ((slot, &face), colour) in slots.iter().zip(&shown).zip(codes) {
        let die = ColouredDie { face, colour };
        match after.get_mut(usize::from(slot)) {
            Some(place) => *place = die,
            None => after.push(die),
        }
    }
    let max_points = desk.board.best_of(&after);
    let (seat, faces) = (desk.table.turn.seat, Faces::of(&shown).unwrap_or_default());
    let colours = colours.map(Box::new);
    let rolled = Rolled { seat, draw, slots, raw, faces, max_points, folded: None, colours };
    desk.record(Event::Rolled(rolled));
    if let Some((code, _)) = loaded {
        use_up(desk, code);
    }
    Ok(())
}

/// What a side shows.
fn face(raw: u32, sides: Option<[u8; 6]>) -> u8 {
    let plain = u8::try_from(raw).unwrap_or(u8::MAX);
    sides.and_then(|sides| sides.get(usize::from(plain).checked_sub(1)?).copied()).unwrap_or(plain)
}

/// The colours the dice of a roll come up in: each colour that was bought is tried on each die, the first hit wins. Every
/// roll has five numbers of draws to itself, one a colour, so what was not bought shifts nothing.
fn colours(
    desk: &mut RogueDesk<'_>,
    roll: u64,
    dice: u8,
) -> Result<Option<ColoursDrawn>, Rejection> {
    let rules = Arc::clone(&desk.board.rules);
    if let Some(mut codes) = desk.painted() {
        let on = |code: Code| Colour::of(code).is_some_and(|colour| rules.colours.has(colour));
        codes.iter_mut().filter(|code| !on(**code)).for_each(|code| *code = Code::STANDARD);
        codes.resize(usize::from(dice), Code::STANDARD);
        let painted = codes.iter().any(|&code| code != Code::STANDARD);
        return Ok(painted.then(|| ColoursDrawn { codes, draws: Vec::new() }));
    }
    let mut draws = Vec::new();
    for colour in rules.colours.each() {
        let bought = desk.board.purchases[colour.index()];
        if let Some(sides) = rules.odds(colour, bought) {
            let number = (roll - 1) * 5 + colour.index() as u64 + 1;
            let draw = Draw { purpose: Purpose::Colours, number, sides };
            let raw = desk.draw(draw, dice)?;
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

/// Scores the dice in a category, named by the player.
pub(super) fn score_named(desk: &mut RogueDesk<'_>, named: &str) -> Result<(), Rejection> {
    let board = &desk.board;
    if board.shopping {
        return Err(SHOPPING);
    }
    let open = || names(board.card.open());
    let category = Category::named(named).ok_or_else(|| Rejection::UnknownCategory {
        category: named.chars().take(40).collect(),
        open: open(),
    })?;
    if board.card.get(category).is_some() {
        return Err(Rejection::CategoryFilled { category: category.word(), open: open() });
    }
    if board.turn.dice.is_empty() {
        return Err(Rejection::NothingRolled);
    }
    score(desk, category, TurnEnd::Finished)
}

/// Scores the best category, for who does not: of equals the first on the card. Without dice they are rolled once.
pub(super) fn score_best(desk: &mut RogueDesk<'_>) -> Result<(), Rejection> {
    if desk.board.turn.dice.is_empty() {
        roll(desk, None)?;
    }
    match desk.board.previews().first().map(|best| best.category) {
        Some(best) => score(desk, best, TurnEnd::TimedOut),
        None => Ok(()),
    }
}

fn score(desk: &mut RogueDesk<'_>, category: Category, how: TurnEnd) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let dice = desk.board.turn.dice.clone();
    let scored = desk.board.score_of(&dice, category);
    let (multiplier, coin) = throw_coin(desk)?;
    let points = scored.points.saturating_mul(multiplier);
    desk.record(Event::Saved(Saved {
        seat,
        slots: scored.used,
        combinations: vec![scored.combination(&dice)],
        bonuses: scored.bonuses.clone(),
        multiplier,
        points,
        turn_score: desk.board.round_score.saturating_add(points),
        left: Slots::EMPTY,
    }));
    for boost in scored.bonuses.iter().filter(|boost| boost.before != boost.after) {
        let change = Change::of(special_dice::SAVE_POINTS, boost.before, boost.after);
        desk.apply_effect(seat, EffectSource::Die(boost.die), [change]);
    }
    if let Some(coin) = coin {
        desk.record(Event::Drawn(coin));
    }
    if let Some((die, dollars)) = scored.money {
        let (before, after) = (desk.board.money, desk.board.money.saturating_add(dollars));
        desk.apply_effect(seat, EffectSource::Die(die), [Change::of(names::MONEY, before, after)]);
    }
    used_by_score(desk);
    if scored.extra_yahtzee {
        let more = desk.board.rules.extra_yahtzee;
        raise_round(desk, names::EXTRA_YAHTZEE, more);
    }
    settle_upper(desk);
    for _ in 0..scored.gifts.map_or(0, |(_, gifts)| gifts) {
        if let Some((die, _)) = scored.gifts {
            grant(desk, EffectSource::Die(die))?;
        }
    }
    desk.end_turn(how, points, 0);
    Ok(())
}

/// The sides of a coin: the first one wins.
const COIN: [Word; 2] = [Word::of("heads"), Word::of("tails")];

/// A coin that was called decides how many times the score counts.
fn throw_coin(desk: &mut RogueDesk<'_>) -> Result<(Points, Option<Drawn>), Rejection> {
    let called = desk.board.active_effects().find_map(|effect| match effect {
        ConsumableEffect::MultiplyOrNothing(times) => Some(times),
        _ => None,
    });
    let Some(times) = called else { return Ok((1, None)) };
    let coin = desk.one_of(Purpose::Grants, desk.board.grants + 1, &COIN, None)?;
    Ok((if coin.item == COIN[0] { times } else { 0 }, Some(coin)))
}

/// Consumables that waited for a score have had it.
fn used_by_score(desk: &mut RogueDesk<'_>) {
    let waited = |effect| {
        matches!(
            effect,
            ConsumableEffect::AnyScore
                | ConsumableEffect::MultiplyOrNothing(_)
                | ConsumableEffect::MultiplyGreen(_)
                | ConsumableEffect::Sides(_)
        )
    };
    let rules = Arc::clone(&desk.board.rules);
    let items = rules.consumables.iter().filter(|item| waited(item.effect));
    for item in items {
        if desk.board.active.contains_key(&item.code) {
            use_up(desk, item.code);
        }
    }
}

/// A consumable has taken effect.
fn use_up(desk: &mut RogueDesk<'_>, code: Word) {
    let seat = desk.table.turn.seat;
    desk.apply_effect(
        seat,
        EffectSource::Thing(ITEM, code),
        [Change::of(Measure::OfThing(ACTIVE, code), 1, 0)],
    );
}

fn raise_round(desk: &mut RogueDesk<'_>, source: EffectSource, by: Points) {
    let (before, seat) = (desk.board.round_score, desk.table.turn.seat);
    let change = Change::of(Measure::ROUND_SCORE, before, before.saturating_add(by));
    desk.apply_effect(seat, source, [change]);
}

/// The bonus of the upper part comes and goes with its points.
pub(super) fn settle_upper(desk: &mut RogueDesk<'_>) {
    let due = desk.board.card.upper_bonus(&desk.board.rules);
    let missing = due.saturating_sub(desk.board.upper_bonus);
    if missing != 0 {
        raise_round(desk, names::UPPER_BONUS, missing);
    }
}

/// A random consumable, if there is room for it.
fn grant(desk: &mut RogueDesk<'_>, source: EffectSource) -> Result<(), Rejection> {
    let rules = Arc::clone(&desk.board.rules);
    if desk.board.held_in_all() >= u32::from(rules.slots) || rules.consumables.is_empty() {
        return Ok(());
    }
    let number = desk.board.grants + 1;
    let codes: Vec<Word> = rules.consumables.iter().map(|item| item.code).collect();
    let drawn = desk.one_of(Purpose::Grants, number, &codes, None)?;
    let item = drawn.item;
    desk.record(Event::Drawn(drawn));
    let before = desk.board.held.get(&item).copied().unwrap_or(0);
    let change = Change::of(Measure::OfThing(HELD, item), before.into(), i64::from(before) + 1);
    desk.apply_effect(desk.table.turn.seat, source, [change]);
    Ok(())
}

/// A turn is over: the next one, the shop, or the end of the run.
pub(super) fn next_turn(desk: &mut RogueDesk<'_>) -> Result<(), Rejection> {
    let turn = desk.table.turn;
    // Whoever comes from a turn has scored something in this round.
    if *desk.board.card == Card::default() {
        desk.start_turn(turn.seat, turn.round.saturating_add(1));
        return Ok(());
    }
    if desk.board.card.is_full() {
        return round_over(desk);
    }
    desk.start_turn(turn.seat, turn.round);
    Ok(())
}

/// All categories are scored: the target decides whether the run goes on.
fn round_over(desk: &mut RogueDesk<'_>) -> Result<(), Rejection> {
    let turn = desk.table.turn;
    let rules = Arc::clone(&desk.board.rules);
    let Some(goal) = desk.board.goal(turn.round) else {
        return desk.end(DecidedBy::Missed, Vec::new());
    };
    let above = desk.board.round_score.saturating_sub(goal.target);
    let mut insured = false;
    for item in rules.consumables.iter().filter(|i| i.effect == ConsumableEffect::Insurance) {
        if desk.board.active.contains_key(&item.code) {
            insured = true;
            use_up(desk, item.code);
        }
    }
    if above >= 0 {
        let reward = goal.reward.saturating_add(above.min(rules.most_surplus));
        let (before, after) = (desk.board.money, desk.board.money.saturating_add(reward));
        let change = Change::of(names::MONEY, before, after);
        desk.apply_effect(turn.seat, names::REWARD, [change]);
    }
    let last = usize::try_from(turn.round).is_ok_and(|round| round >= rules.rounds.len());
    if above < 0 && (last || !insured) {
        return desk.end(DecidedBy::Missed, Vec::new());
    }
    if last {
        return desk.end(DecidedBy::Goal, vec![turn.seat]);
    }
    desk.start_turn(turn.seat, turn.round);
    Ok(())
}
