//! The text form of moves, shared by records, scenarios and plans. Each game lists the verbs of its
//! moves; the common ones are defined here.

#![expect(clippy::wildcard_enum_match_arm, reason = "a verb handles only its own moves")]

use std::{collections::BTreeMap, str::FromStr};

use serde_json::Value;

use crate::{
    BadRecord, Play, SeatNo, Slug, games,
    record::lex::{Position, Reader, Token, expected, list, value},
    special_dice::Code,
};

/// The text form of a kind of move: `save [0,2]`.
#[derive(Debug)]
pub(crate) struct Verb {
    /// Its first word.
    pub(crate) name: &'static str,
    /// Its syntax, for help texts.
    pub(crate) forms: &'static str,
    /// Parses the arguments of the verb into a move.
    pub(crate) read: fn(&mut Arguments<'_, '_>) -> Result<Play, BadRecord>,
    /// Writes a move, if it is one of this verb; the closure gives the dice of a roll.
    pub(crate) write: fn(&Play, &mut dyn FnMut() -> String) -> Option<String>,
}

/// The arguments of a verb.
pub(crate) struct Arguments<'a, 't> {
    reader: &'a mut Reader<'t>,
    /// Names of seats, accepted besides their numbers.
    names: &'a [&'a str],
    /// Whether dice can have a letter for the kind, such as a colour, in which they come up.
    letters: bool,
    thrown: Option<Thrown>,
}

/// The dice of a roll in a script: raw values, and the kind of each die.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thrown {
    /// The raw values of the random source.
    pub raw: Vec<u32>,
    /// The kinds, such as colours.
    pub kinds: Vec<Code>,
}

/// Roll the dice in hand.
pub(crate) const ROLL: Verb = Verb {
    name: "roll",
    forms: "roll [VALUES]",
    read: |words| {
        words.dice()?;
        let keeps = words.accept("keep")?;
        Ok(if keeps { Play::Reroll { keep: words.list("keep", "slots")? } } else { Play::Roll })
    },
    write: |play, dice| match play {
        Play::Roll => Some(format!("roll {}", dice())),
        Play::Reroll { keep } => Some(format!("roll {} keep {}", dice(), listed(keep))),
        _ => None,
    },
};

/// Roll the dice in hand, or all but some.
pub(crate) const ROLL_OR_KEEP: Verb =
    Verb { forms: "roll [VALUES], roll [VALUES] keep [SLOTS]", ..ROLL };

/// Add the points of a turn to the score.
pub(crate) const BANK: Verb = Verb {
    name: "bank",
    forms: "bank",
    read: |words| {
        let slots = if words.is_list()? { Some(words.list("bank", "slots")?) } else { None };
        Ok(Play::Bank { slots })
    },
    write: |play, _| match play {
        Play::Bank { slots: None } => Some("bank".to_owned()),
        Play::Bank { slots: Some(slots) } => Some(format!("bank {}", listed(slots))),
        _ => None,
    },
};

/// Buy something, with a target if it needs one.
pub(crate) const BUY: Verb = Verb {
    name: "buy",
    forms: "buy CODE",
    read: |words| {
        let code = words.code("what is bought")?;
        Ok(Play::Buy { code, target: words.target()? })
    },
    write: |play, _| match play {
        Play::Buy { code, target: None } => Some(format!("buy {}", quoted(code))),
        Play::Buy { code, target: Some(seat) } => Some(format!("buy {} -> {seat}", quoted(code))),
        _ => None,
    },
};

/// End one's turn.
pub(crate) const END: Verb = Verb {
    name: "end",
    forms: "end",
    read: |_| Ok(Play::End),
    write: |play, _| (*play == Play::End).then(|| "end".to_owned()),
};

impl Arguments<'_, '_> {
    /// Consumes a word if it is the next one; returns whether it was.
    pub(crate) fn accept(&mut self, word: &str) -> Result<bool, BadRecord> {
        self.reader.accept(&Token::Word(word))
    }

    /// Whether a list is next.
    pub(crate) fn is_list(&self) -> Result<bool, BadRecord> {
        Ok(self.reader.peek()?.0 == Token::Mark('['))
    }

    /// A number.
    pub(crate) fn value<T: FromStr>(&mut self, what: &str) -> Result<T, BadRecord> {
        value(self.reader, what)
    }

    /// The code of an item, in quotes if it is not a plain word.
    pub(crate) fn code(&mut self, what: &str) -> Result<String, BadRecord> {
        match self.reader.next()? {
            (Token::Word(word), _) => Ok(word.to_owned()),
            (Token::Text(text), _) => Ok(text),
            (found, place) => Err(expected(place, what, &found)),
        }
    }

    /// `[0,2]`.
    pub(crate) fn list<T: FromStr>(&mut self, behind: &str, of: &str) -> Result<Vec<T>, BadRecord> {
        list(self.reader, behind, of)
    }

    /// `->`.
    pub(crate) fn arrow(&mut self) -> Result<bool, BadRecord> {
        self.reader.accept(&Token::Arrow)
    }

    /// `-> 1`, or by name; `None` if absent.
    pub(crate) fn target(&mut self) -> Result<Option<SeatNo>, BadRecord> {
        if !self.arrow()? {
            return Ok(None);
        }
        let (sign, place) = self.reader.next()?;
        let named = |word: &str| self.names.iter().position(|&name| name == word);
        let seat = sign.word().and_then(|word| match named(word) {
            Some(seat) => u8::try_from(seat).ok(),
            None => word.parse().ok(),
        });
        seat.map(Some).ok_or_else(|| expected(place, "a seat", &sign))
    }

    /// The dice of the roll, if given: a plan does not know them yet.
    pub(crate) fn dice(&mut self) -> Result<(), BadRecord> {
        if !self.is_list()? {
            return Ok(());
        }
        let (_, place) = self.reader.peek()?;
        let mut thrown = Thrown::default();
        if self.letters {
            for written in self.list::<String>("roll", "values of dice")? {
                let (raw, kind) =
                    with_letter(&written).ok_or_else(|| bad_value(place, &written))?;
                thrown.raw.push(raw);
                thrown.kinds.push(kind);
            }
        } else {
            thrown.raw = self.list("roll", "values of dice")?;
        }
        self.thrown = Some(thrown);
        Ok(())
    }
}

/// `3` or `3g`.
fn with_letter(written: &str) -> Option<(u32, Code)> {
    let number = written.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let kind = match &written[number.len()..] {
        "" => Code::STANDARD,
        letter => games::kind_by_letter(letter)?,
    };
    Some((number.parse().ok()?, kind))
}

fn bad_value(place: Position, written: &str) -> BadRecord {
    place.bad(format!("'{written}' is no value of a die, as in 3 or 3g"))
}

/// A code as the parser expects it: in quotes if it is not a plain word.
pub(crate) fn quoted(code: &str) -> String {
    if code.parse::<Slug>().is_ok() { code.to_owned() } else { Value::from(code).to_string() }
}

pub(crate) fn listed(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", items.join(","))
}

/// Writes a move.
pub(crate) fn move_written(play: &Play, dice: &mut dyn FnMut() -> String) -> Option<String> {
    games::verbs().find_map(|verb| (verb.write)(play, dice))
}

/// Parses the arguments of a verb and the dice of its roll; `None` if no game has the verb.
pub(crate) fn read_move(
    reader: &mut Reader<'_>,
    verb: &str,
    names: &[&str],
    letters: bool,
) -> Result<Option<(Play, Option<Thrown>)>, BadRecord> {
    let Some(verb) = games::verbs().find(|known| known.name == verb) else { return Ok(None) };
    let mut words = Arguments { reader, names, letters, thrown: None };
    let play = (verb.read)(&mut words)?;
    Ok(Some((play, words.thrown)))
}

/// Parses a move of a script and its dice: `roll [3g,4,2r]`, `attack -> bob`. Seats are given by
/// name or number.
pub fn parse_step(text: &str, names: &[&str]) -> Result<Option<(Play, Option<Thrown>)>, BadRecord> {
    let mut reader = Reader::new(text);
    let (sign, _) = reader.next()?;
    let Some(verb) = sign.word() else { return Ok(None) };
    let read = read_move(&mut reader, verb, names, true)?;
    match reader.next()? {
        (Token::End, _) => Ok(read),
        (found, place) => Err(expected(place, "the end of the move", &found)),
    }
}

/// Parses a move of a player, who cannot choose the dice: `save [0,2]`, `attack -> 1`.
pub fn parse_play(text: &str) -> Result<Play, String> {
    match parse_step(text, &[]) {
        Ok(Some((play, None))) => Ok(play),
        Ok(Some((_, Some(_)))) => {
            Err(format!("'{text}' has values of dice; the server rolls them"))
        }
        Ok(None) => Err(format!("'{text}' is not a move; moves are: {}", known_moves())),
        Err(why) => Err(format!("'{text}' is not a move: {}", why.problem)),
    }
}

/// The text form of a move: `save [0,2]`, `roll`.
pub fn write_play(play: &Play) -> Option<String> {
    let text = move_written(play, &mut String::new)?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Parses the dice of a roll in brackets: `[3g,4,2r]`.
pub fn parse_dice(text: &str) -> Result<Thrown, BadRecord> {
    let mut reader = Reader::new(text);
    let mut words = Arguments { reader: &mut reader, names: &[], letters: true, thrown: None };
    words.dice()?;
    let thrown = words.thrown.unwrap_or_default();
    match reader.next()? {
        (Token::End, _) => Ok(thrown),
        (found, place) => Err(expected(place, "a list of values, as in [1,2],", &found)),
    }
}

/// The syntax of the moves of all games.
pub fn known_moves() -> String {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for verb in games::verbs() {
        let forms = known.entry(verb.name).or_default();
        if verb.forms.len() > forms.len() {
            *forms = verb.forms;
        }
    }
    known.into_values().collect::<Vec<_>>().join(", ")
}
