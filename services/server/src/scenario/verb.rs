//! Actions of steps: a move in the syntax of records, or another command.

use domain::{
    Command, Moment, Play, SeatNo, Thrown, VoidedFor, known_moves, parse_dice, parse_step,
};

/// The action of a step.
#[derive(Clone, Debug)]
pub(super) enum Verb {
    /// A move with its scripted dice.
    Play(Play, Thrown),
    /// The time of the turn is up; the house ends it, with these scripted dice if it rolls.
    TimeOut(Thrown),
    Quit,
    /// The house closes the game.
    Abandon,
    /// The house voids the game.
    Void(VoidedFor),
}

const OTHER_STEPS: &str = "timeout, timeout [VALUES], quit; house: abandon, void REASON";

impl Verb {
    /// Parses the action of a seat or of the house.
    pub(super) fn parse(written: &str, by_house: bool, seats: &[&str]) -> Result<Self, String> {
        let written = written.trim();
        let (verb, rest) = match written.split_once(char::is_whitespace) {
            Some((verb, rest)) => (verb, rest.trim()),
            None => (written, ""),
        };
        let unknown = || {
            format!("unknown step '{written}'; expected one of: {}, {OTHER_STEPS}", known_moves())
        };
        match (verb, rest, by_house) {
            ("timeout", _, false) => {
                parse_dice(rest).map(Self::TimeOut).map_err(|wrong| wrong.problem)
            }
            ("quit", "", false) => Ok(Self::Quit),
            ("abandon", "", true) => Ok(Self::Abandon),
            ("void", why, true) => serde_json::from_value(why.into())
                .map(Self::Void)
                .map_err(|_| format!("'{why}' is not a reason to void a game")),
            (_, _, false) => match parse_step(written, seats) {
                Ok(Some((play, thrown))) => Ok(Self::Play(play, thrown.unwrap_or_default())),
                Ok(None) => Err(unknown()),
                Err(wrong) => Err(format!("'{written}': {}", wrong.problem)),
            },
            (_, _, true) => Err(unknown()),
        }
    }

    /// The command; `touched` is the time of the last command.
    pub(super) fn command(&self, seat: SeatNo, touched: Moment) -> Command {
        match self {
            Self::Play(play, _) => Command::Play { seat, play: play.clone() },
            Self::TimeOut(_) => Command::TimeOut { seat },
            Self::Quit => Command::Leave { seat },
            Self::Abandon => Command::Abandon { touched },
            Self::Void(why) => Command::Void { why: *why, dispute: None },
        }
    }
}
