//! The text form of commands. Each game defines that of its moves.

use uuid::Uuid;

use super::{
    BadRecord,
    draws::Draws,
    lex::{Position, Reader, Token, expected, list, value},
};
use crate::{
    Command, Moment, PlayerId, Purpose, SeatNo, VoidedFor,
    verbs::{known_moves, listed, move_written, read_move},
};

/// The sender of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// No seat in particular: joining and starting.
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
const OF_SEAT: &str = "seed \"TEXT\", dice [CODES], character CODE, leave";

/// The sender of a command and its text. A roll consumes its dice from the draws. `None` for the
/// creation of a game, which is the head of a record.
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
        Command::Play { seat, play } => {
            let mut rolled = || listed(&draws.take_roll().unwrap_or_default());
            (Who::Seat(*seat), move_written(play, &mut rolled)?)
        }
    })
}

/// The dispute that is the reason for a decision of the house.
fn because(dispute: Option<Uuid>) -> String {
    dispute.map_or_else(String::new, |dispute| format!(" because {dispute}"))
}

fn read_because(reader: &mut Reader<'_>) -> Result<Option<Uuid>, BadRecord> {
    let said = reader.accept(&Token::Word("because"))?;
    if said { value(reader, "the id of a dispute").map(Some) } else { Ok(None) }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Reads a command up to its draws; the dice of a roll are part of the move.
pub(super) fn read(
    reader: &mut Reader<'_>,
    who: Who,
    draws: &mut Draws,
) -> Result<(Command, Position), BadRecord> {
    let (sign, place) = reader.next()?;
    let Token::Word(verb) = sign else {
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
        (Who::Seat(seat), _) => match read_move(reader, verb, &[], false)? {
            Some((play, thrown)) => {
                // A plan does not know its dice yet; in a record their absence is reported when
                // they are drawn.
                if let Some(thrown) = thrown {
                    draws.add(Purpose::Dice, thrown.raw);
                }
                Command::Play { seat, play }
            }
            None => return Err(unknown(place, who, verb)),
        },
        _ => return Err(unknown(place, who, verb)),
    };
    Ok((command, place))
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
        Who::Seat(_) => format!("a seat has: {OF_SEAT}, {}", known_moves()),
    }
}

fn unknown(place: Position, who: Who, verb: &str) -> BadRecord {
    place.bad(format!("there is no command {}; {}", Token::Word(verb).shown(), known(who)))
}

fn text(reader: &mut Reader<'_>, what: &str) -> Result<String, BadRecord> {
    match reader.next()? {
        (Token::Text(text), _) => Ok(text),
        (found, place) => Err(expected(place, &format!("{what}, in quotes,"), &found)),
    }
}
