//! Texts and explanations of DiceRogue.

use super::{Colour, names::CATEGORY_OPEN};
use crate::{
    Boost, DecidedBy, Event, Measure, Points, Selection,
    effect::ACTIVE,
    explain::{number, plus, save_lines},
    game_rules::yes_or_no,
    special_dice::Code,
};

/// The text of an event that is specific to DiceRogue.
pub(super) fn describe(event: &Event) -> Option<String> {
    match event {
        Event::Ended(outcome) if outcome.by == DecidedBy::Missed => {
            Some("the target is missed, the run is over".to_owned())
        }
        _ => None,
    }
}

/// The name of a kind of die.
pub(super) fn die_name(code: Code) -> String {
    Colour::of(code).map_or_else(|| code.to_string(), |colour| format!("{} dice", colour.slug()))
}

/// The text of a value.
pub(super) fn shown(what: Measure, value: i64) -> Option<String> {
    let flag = matches!(what, Measure::OfItem(ACTIVE | CATEGORY_OPEN, _));
    if flag { yes_or_no(value) } else { None }
}

/// The effect of a colour: "Red + 9 = 29", "Purple × 2 = 58", "Blue: 55 → 11".
pub(super) fn boost_line(boost: &Boost) -> String {
    let Some(colour) = Colour::of(boost.die.code) else {
        return format!("{}: {} → {}", boost.die.code, number(boost.before), number(boost.after));
    };
    let (name, before, after) = (colour.name(), boost.before, boost.after);
    let whole = |of: Points, by: Points| by != 0 && of % by == 0;
    if colour == Colour::Red {
        format!("{name} + {} = {}", number(after.saturating_sub(before)), number(after))
    } else if after >= before && whole(after, before) {
        format!("{name} × {} = {}", number(after / before), number(after))
    } else {
        format!("{name}: {} → {}", number(before), number(after))
    }
}

/// Explains the points of a category and its further rewards.
pub(super) fn selection_lines(selection: &Selection) -> Vec<String> {
    let gifts = (selection.gifts > 0).then(|| format!("Gifts: {}", selection.gifts));
    let mut lines = save_lines(&selection.combinations, &selection.bonuses, &boost_line);
    lines.extend(plus("Bonus", selection.extra));
    lines.extend(gifts);
    lines
}
