//! The words of commands: how each is written, and how it is read.

use std::str::FromStr;

use uuid::Uuid;

use super::{
    BadRecord,
    draws::Draws,
    lex::{Place, Reader, Sign},
};
use crate::{Ability, Command, Exchange, Moment, Play, PlayerId, Purpose, SeatNo, VoidedFor};

/// Who a command is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Nobody in particular: seats are taken, the game begins.
    Table,
    /// The house.
    House,
    /// A seat.
    Seat(SeatNo),
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Table => f.write_str("table"),
            Self::House => f.write_str("house"),
            Self::Seat(seat) => seat.fmt(f),
        }
    }
}

const OF_TABLE: &str = "join ID \"NAME\", start";
const OF_HOUSE: &str =
    "timeout SEAT, abandon, void REASON, rule [SEATS], both perhaps because DISPUTE";
const OF_SEAT: &str = "seed \"TEXT\", dice [CODES], character CODE, leave, roll [VALUES], roll [VALUES] keep [SLOTS], \
     save [SLOTS], bank, forfeit, score CATEGORY, resolve, ability HOW, stay, yield, buy CODE, buy CODE -> SEAT, renew, \
     use CODE, evolve CODE, end";

/// Who a command is of, and its words. A roll takes its dice out of what was drawn. The creation of
/// a game has no words: it is the head of a record.
pub(super) fn written(command: &Command, draws: &mut Draws) -> Option<(Who, String)> {
    Some(match command {
        Command::Create { .. } => return None,
        Command::Join { player, name, .. } => {
            (Who::Table, format!("join {player} {}", quoted(name)))
        }
        Command::Start => (Who::Table, "start".to_owned()),
        Command::TimeOut { seat } => (Who::House, format!("timeout {seat}")),
        Command::Abandon { .. } => (Who::House, "abandon".to_owned()),
        Command::Void { why, dispute } => {
            let why = serde_json::to_value(why).unwrap_or_default();
            let because = because(*dispute);
            (Who::House, format!("void {}{because}", why.as_str().unwrap_or_default()))
        }
        Command::Rule { winners, dispute } => {
            (Who::House, format!("rule {}{}", listed(winners), because(*dispute)))
        }
        Command::ChooseSeed { seat, seed } => (Who::Seat(*seat), format!("seed {}", quoted(seed))),
        Command::ChooseLoadout { seat, dice } => {
            (Who::Seat(*seat), format!("dice {}", listed(dice)))
        }
        Command::ChooseCharacter { seat, character } => {
            (Who::Seat(*seat), format!("character {character}"))
        }
        Command::Leave { seat } => (Who::Seat(*seat), "leave".to_owned()),
        Command::Play { seat, play } => (Who::Seat(*seat), move_written(play, draws)),
    })
}

fn move_written(play: &Play, draws: &mut Draws) -> String {
    let mut rolled = || listed(&draws.take_roll().unwrap_or_default());
    match play {
        Play::Roll => format!("roll {}", rolled()),
        Play::Reroll { keep } => format!("roll {} keep {}", rolled(), listed(keep)),
        Play::Save { slots } => format!("save {}", listed(slots)),
        Play::Bank { slots: None } => "bank".to_owned(),
        Play::Bank { slots: Some(slots) } => format!("bank {}", listed(slots)),
        Play::Forfeit => "forfeit".to_owned(),
        Play::Score { category } => format!("score {category}"),
        Play::Resolve => "resolve".to_owned(),
        Play::Ability(ability) => match ability {
            Ability::Copy { from, onto } => format!("ability {from} -> {onto}"),
            Ability::Store(slot) => format!("ability store {slot}"),
            Ability::Place(slot) => format!("ability place {slot}"),
            Ability::Convert(hearts) => format!("ability {hearts}"),
            Ability::Exchange(Exchange::Heal) => "ability heal".to_owned(),
            Ability::Exchange(Exchange::Charge) => "ability charge".to_owned(),
        },
        Play::Answer { stay: true } => "stay".to_owned(),
        Play::Answer { stay: false } => "yield".to_owned(),
        Play::Buy { code, target: None } => format!("buy {code}"),
        Play::Buy { code, target: Some(seat) } => format!("buy {code} -> {seat}"),
        Play::Renew => "renew".to_owned(),
        Play::Use { code } => format!("use {code}"),
        Play::Evolve { code } => format!("evolve {code}"),
        Play::End => "end".to_owned(),
    }
}

/// The dispute behind a decision of the house.
fn because(dispute: Option<Uuid>) -> String {
    dispute.map_or_else(String::new, |dispute| format!(" because {dispute}"))
}

fn read_because(reader: &mut Reader<'_>) -> Result<Option<Uuid>, BadRecord> {
    let said = reader.accept(&Sign::Word("because"))?;
    if said { value(reader, "the id of a dispute").map(Some) } else { Ok(None) }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn listed(items: &[impl ToString]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", items.join(","))
}

/// Reads a command of somebody up to what was drawn in it; the dice of a roll are among its words.
pub(super) fn read(
    reader: &mut Reader<'_>,
    who: Who,
    draws: &mut Draws,
) -> Result<(Command, Place), BadRecord> {
    let (sign, place) = reader.next()?;
    let Sign::Word(verb) = sign else {
        return Err(place.bad(format!(
            "a command is expected, not {}; {}",
            sign.shown(),
            known(who)
        )));
    };
    let command = match (who, verb) {
        (Who::Table, "join") => {
            let player = value(reader, "the id of a player").map(PlayerId)?;
            Command::Join { player, name: text(reader, "the name of the player")?, seed: None }
        }
        (Who::Table, "start") => Command::Start,
        (Who::House, "timeout") => Command::TimeOut { seat: value(reader, "a seat")? },
        (Who::House, "abandon") => Command::Abandon { touched: Moment(0) },
        (Who::House, "void") => {
            Command::Void { why: reason(reader)?, dispute: read_because(reader)? }
        }
        (Who::House, "rule") => Command::Rule {
            winners: list(reader, "rule", "seats that win")?,
            dispute: read_because(reader)?,
        },
        (Who::Seat(seat), "seed") => Command::ChooseSeed { seat, seed: text(reader, "a seed")? },
        (Who::Seat(seat), "dice") => {
            Command::ChooseLoadout { seat, dice: list(reader, "dice", "codes of dice")? }
        }
        (Who::Seat(seat), "character") => {
            Command::ChooseCharacter { seat, character: value(reader, "a character")? }
        }
        (Who::Seat(seat), "leave") => Command::Leave { seat },
        (Who::Seat(seat), _) => match read_move(reader, verb, draws)? {
            Some(play) => Command::Play { seat, play },
            None => return Err(unknown(place, who, verb)),
        },
        _ => return Err(unknown(place, who, verb)),
    };
    Ok((command, place))
}

fn read_move(
    reader: &mut Reader<'_>,
    verb: &str,
    draws: &mut Draws,
) -> Result<Option<Play>, BadRecord> {
    Ok(Some(match verb {
        "roll" => {
            // What a plan rolls is not known yet; in a record it is missed when the dice are wanted.
            if reader.peek()?.0 == Sign::Mark('[') {
                draws.add(Purpose::Dice, list(reader, "roll", "values of dice")?);
            }
            if reader.accept(&Sign::Word("keep"))? {
                Play::Reroll { keep: list(reader, "keep", "slots")? }
            } else {
                Play::Roll
            }
        }
        "save" => Play::Save { slots: list(reader, "save", "slots")? },
        "bank" => {
            let names_dice = reader.peek()?.0 == Sign::Mark('[');
            let slots = if names_dice { Some(list(reader, "bank", "slots")?) } else { None };
            Play::Bank { slots }
        }
        "forfeit" => Play::Forfeit,
        "score" => Play::Score { category: value(reader, "a category")? },
        "resolve" => Play::Resolve,
        "ability" => Play::Ability(ability(reader)?),
        "stay" => Play::Answer { stay: true },
        "yield" => Play::Answer { stay: false },
        "buy" => {
            let code = value(reader, "what is bought")?;
            let aimed = reader.accept(&Sign::Arrow)?;
            let target = if aimed { Some(value(reader, "a seat")?) } else { None };
            Play::Buy { code, target }
        }
        "renew" => Play::Renew,
        "use" => Play::Use { code: value(reader, "what is used")? },
        "evolve" => Play::Evolve { code: value(reader, "an evolution")? },
        "end" => Play::End,
        _ => return Ok(None),
    }))
}

fn ability(reader: &mut Reader<'_>) -> Result<Ability, BadRecord> {
    const HOW: &str = "an ability, as in 2 -> 0, store 3, place 0, 2, heal, charge";
    let slot = |reader: &mut Reader<'_>| value(reader, "a slot");
    if reader.accept(&Sign::Word("store"))? {
        slot(reader).map(Ability::Store)
    } else if reader.accept(&Sign::Word("place"))? {
        slot(reader).map(Ability::Place)
    } else if reader.accept(&Sign::Word("heal"))? {
        Ok(Ability::Exchange(Exchange::Heal))
    } else if reader.accept(&Sign::Word("charge"))? {
        Ok(Ability::Exchange(Exchange::Charge))
    } else {
        let first = value(reader, HOW)?;
        let copies = reader.accept(&Sign::Arrow)?;
        if copies {
            Ok(Ability::Copy { from: first, onto: slot(reader)? })
        } else {
            Ok(Ability::Convert(first))
        }
    }
}

fn reason(reader: &mut Reader<'_>) -> Result<VoidedFor, BadRecord> {
    const REASONS: &str = "a reason: malfunction, cheating, collusion, mistake";
    let (sign, place) = reader.next()?;
    let found = sign.word().and_then(|word| serde_json::from_value(word.into()).ok());
    found.ok_or_else(|| expected(place, REASONS, &sign))
}

fn known(who: Who) -> String {
    match who {
        Who::Table => format!("the table has: {OF_TABLE}"),
        Who::House => format!("the house has: {OF_HOUSE}"),
        Who::Seat(_) => format!("a seat has: {OF_SEAT}"),
    }
}

fn unknown(place: Place, who: Who, verb: &str) -> BadRecord {
    place.bad(format!("there is no command {}; {}", Sign::Word(verb).shown(), known(who)))
}

pub(super) fn expected(place: Place, what: &str, found: &Sign<'_>) -> BadRecord {
    place.bad(format!("{what} is expected, not {}", found.shown()))
}

/// A number, a code, an id: whatever is read from a word.
pub(super) fn value<T: FromStr>(reader: &mut Reader<'_>, what: &str) -> Result<T, BadRecord> {
    let (sign, place) = reader.next()?;
    let read = sign.word().and_then(|word| word.parse().ok());
    read.ok_or_else(|| expected(place, what, &sign))
}

fn text(reader: &mut Reader<'_>, what: &str) -> Result<String, BadRecord> {
    match reader.next()? {
        (Sign::Text(text), _) => Ok(text),
        (found, place) => Err(expected(place, &format!("{what}, in quotes,"), &found)),
    }
}

/// `[1,2,3]`, behind a word.
pub(super) fn list<T: FromStr>(
    reader: &mut Reader<'_>,
    behind: &str,
    of: &str,
) -> Result<Vec<T>, BadRecord> {
    let (open, place) = reader.next()?;
    if open != Sign::Mark('[') {
        return Err(expected(
            place,
            &format!("a list of {of} behind '{behind}', as in [1,2],"),
            &open,
        ));
    }
    let mut items = Vec::new();
    if reader.accept(&Sign::Mark(']'))? {
        return Ok(items);
    }
    loop {
        items.push(value(reader, &format!("one of the {of} of '{behind}'"))?);
        match reader.next()? {
            (Sign::Mark(','), _) => {}
            (Sign::Mark(']'), _) => return Ok(items),
            (found, place) => return Err(expected(place, "',' or ']'", &found)),
        }
    }
}
