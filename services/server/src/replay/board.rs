//! Draws a step of a game: the board on the left, what happened and why on the right.

use anstyle::{AnsiColor, Color, Style};
use domain::{DiePlace, Fact, Game, Stage, differences, snapshot};

use super::{
    cli::{headline, story},
    source::Source,
};
use crate::{
    clock,
    terminal::{BAD, FAINT, GOOD},
};

/// The size of the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// The width of the board.
const BOARD: usize = 38;
/// Dice on the table and saved dice; dice in hand are faint.
const ROLLED: Style = background(AnsiColor::BrightYellow);
const SAVED: Style = background(AnsiColor::Green);
const TO_MOVE: Style = AnsiColor::Cyan.on_default().bold();

const fn background(colour: AnsiColor) -> Style {
    AnsiColor::Black.on_default().bg_color(Some(Color::Ansi(colour)))
}

const KEYS: &str = "← → step   PgUp PgDn ten   Home End   next: f farkle  b bank  e effect  t time-out  r refused   q quit";

/// The lines of the screen for the entry at an index.
pub(super) fn draw(source: &Source, index: usize, size: Size) -> Vec<String> {
    let Some(entry) = source.replay.entries.get(index) else { return Vec::new() };
    let room = size.width.saturating_sub(BOARD + 3).max(20);
    let version_after = entry.before + source.replay.events_of(entry).len();
    let mut states = source.replay.states([entry.before, version_after]).into_iter();
    let (before, after) = (states.next().flatten(), states.next().flatten());
    let left = after.as_ref().map(|game| board(source, game)).unwrap_or_default();
    let mut right = vec![(format!("{TO_MOVE}{}{TO_MOVE:#}", headline(source, entry)), 0)];
    for (line, why) in story(source, entry) {
        right.push((String::new(), 0));
        right.push((line, 0));
        right.extend(why.into_iter().map(|line| (format!("{GOOD}{line}{GOOD:#}"), 3)));
    }
    let tree = |game: &Option<Game>| game.as_ref().map(snapshot).unwrap_or_default();
    let changed = differences(&tree(&before), &tree(&after));
    if before.is_some() && !changed.is_empty() {
        right.push((String::new(), 0));
        for change in changed {
            let text = format!("{} {} → {}", change.path, change.before, change.after);
            let text = console::truncate_str(&text, room - 1, "…");
            right.push((format!("{FAINT}{text}{FAINT:#}"), 0));
        }
    }
    let right: Vec<String> =
        right.into_iter().flat_map(|(line, indent)| wrap(&line, room, indent)).collect();
    let at = if entry.at.0 == 0 { String::new() } else { clock::rfc3339(entry.at) };
    let (number, of) = (index + 1, source.replay.entries.len());
    let title = format!(
        "game {}   step {number} of {of}   version {version_after}   {at}",
        source.replay.game
    );
    let mut lines = vec![format!("{FAINT}{title}{FAINT:#}"), String::new()];
    let rows = left.len().max(right.len()).min(size.height.saturating_sub(5));
    for row in 0..rows {
        let board = left.get(row).cloned().unwrap_or_default();
        let text_line = right.get(row).map_or("", String::as_str);
        let gap = BOARD.saturating_sub(console::measure_text_width(&board));
        let board = console::truncate_str(&board, BOARD, "…");
        lines.push(format!("{board}{} │ {text_line}", " ".repeat(gap)));
    }
    lines.extend([String::new(), format!("{FAINT}{KEYS}{FAINT:#}")]);
    lines
}

/// Seats with their scores and facts, and the dice.
fn board(source: &Source, game: &Game) -> Vec<String> {
    let table = source.named(&game.table);
    let scores = game.board.scores();
    let round = table.turn.round;
    let mut lines =
        vec![format!("{} {}, round {round}", table.ruleset.rules.game(), table.ruleset.preset)];
    lines.push(String::new());
    for (number, seat) in (0u8..).zip(&table.seats) {
        let score = scores.get(usize::from(number)).copied().unwrap_or(0);
        let mark = if game.to_move() == Some(number) { "▶" } else { " " };
        let gone = if seat.gone { " (left)" } else { "" };
        let line = format!("{mark} {:<20} {score:>8}{gone}", seat.name.to_string());
        let style = if game.to_move() == Some(number) { TO_MOVE } else { Style::new() };
        lines.push(format!("{style}{line}{style:#}"));
        if game.to_move() == Some(number) {
            let facts =
                game.facts(number).into_iter().filter_map(|(name, fact)| small_fact(name, &fact));
            let facts: Vec<String> = facts.take(8).collect();
            lines.extend(
                facts.chunks(2).map(|two| format!("{FAINT}    {}{FAINT:#}", two.join("  "))),
            );
        }
    }
    lines.push(String::new());
    lines.extend(dice(game));
    if let Stage::Ended(outcome) = &table.stage {
        let names = outcome.winners.iter().filter_map(|seat| table.seats.get(usize::from(*seat)));
        let names: Vec<String> = names.map(|seat| seat.name.to_string()).collect();
        let winners = if names.is_empty() {
            "nobody wins".to_owned()
        } else {
            format!("{} wins", names.join(" and "))
        };
        lines.extend([String::new(), format!("{GOOD}{winners}{GOOD:#}")]);
    }
    if let Some(why) = table.voided {
        lines.push(format!("{BAD}void: {}{BAD:#}", why.words()));
    }
    lines
}

/// A fact that is short enough for the board.
fn small_fact(name: &str, fact: &Fact) -> Option<String> {
    match fact {
        Fact::Number(value) if *value != 0 => Some(format!("{} {value}", name.replace('_', " "))),
        Fact::Money(value) if *value != 0 => Some(format!("{} ${value}", name.replace('_', " "))),
        Fact::Flag(true) => Some(name.replace('_', " ")),
        Fact::Number(_)
        | Fact::Money(_)
        | Fact::Flag(_)
        | Fact::Text(_)
        | Fact::Slug(_)
        | Fact::List(_)
        | Fact::Map(_) => None,
    }
}

/// The dice of the seat to move: face and place of each.
fn dice(game: &Game) -> Vec<String> {
    let all = game.dice();
    let die = |die: &domain::DieOnTable| {
        let name = die.face.and_then(|face| game.table.ruleset.rules.face_name(face));
        let face = match (name, die.face) {
            (Some(name), _) => name.chars().take(2).collect(),
            (None, Some(face)) => face.to_string(),
            (None, None) => "·".to_owned(),
        };
        let style = match die.place {
            DiePlace::Table => ROLLED,
            DiePlace::Saved => SAVED,
            DiePlace::Hand => FAINT,
        };
        format!("{style} {face} {style:#}")
    };
    let mut lines: Vec<String> =
        all.chunks(8).map(|some| some.iter().map(die).collect::<Vec<_>>().join(" ")).collect();
    let special = all.iter().filter(|die| die.code.as_str() != "STANDARD");
    let special: Vec<String> = special.map(|die| format!("{} {}", die.slot, die.code)).collect();
    if !special.is_empty() {
        lines.extend(special.chunks(3).map(|some| format!("{FAINT}{}{FAINT:#}", some.join(", "))));
    }
    lines
}

/// Wraps a line to a width; continuation lines are indented.
fn wrap(line: &str, room: usize, indent: usize) -> Vec<String> {
    let (mut lines, mut now) = (Vec::new(), " ".repeat(indent));
    for word in line.split(' ') {
        let wide = console::measure_text_width(&now) + console::measure_text_width(word);
        if wide >= room && console::measure_text_width(&now) > indent {
            lines.push(std::mem::replace(&mut now, " ".repeat(indent + 2)));
        }
        now.push_str(word);
        now.push(' ');
    }
    lines.push(now.trim_end().to_owned());
    lines.iter().map(|line| console::truncate_str(line, room - 1, "…").into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::source::open;

    /// Every step fits the screen and shows the board, the story and the keys.
    #[test]
    fn a_game_is_drawn_step_by_step() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/game.ndjson");
        let source = open(file, None, std::path::Path::new("/nowhere")).unwrap();
        let size = Size { width: 120, height: 30 };
        for index in 0..source.replay.entries.len() {
            let lines = draw(&source, index, size);
            assert!(lines.len() <= size.height, "{index}");
            let wide = lines.iter().map(|line| console::measure_text_width(line)).max();
            assert!(wide <= Some(size.width), "{index}: {lines:?}");
            assert!(lines[0].contains(&format!("step {} of", index + 1)), "{lines:?}");
        }
        let rolled = draw(&source, 7, size).join("\n");
        let rolled = console::strip_ansi_codes(&rolled);
        for expected in ["ann rolls 3 2 5 6 2 3", "▶ ann", " 3   2   5   6   2   3 ", "q quit"] {
            assert!(rolled.contains(expected), "{expected}: {rolled}");
        }
        assert!(draw(&source, 10_000, size).is_empty());
        assert!(open("nonsense", None, std::path::Path::new("/nowhere")).is_err());
    }
}
