//! What a step does: a move in the language of records, or something that is no move.

use domain::{
    Command, Moment, Play, SeatNo, Thrown, VoidedFor, known_moves, parse_dice, parse_step,
};

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Verb {
    /// A move, with the dice scripted for it.
    Play(Play, Thrown),
    /// The clock runs out, and the house ends the turn, with the dice scripted for what it rolls.
    TimeOut(Thrown),
    /// The player leaves.
    Quit,
    /// The house closes the game.
    Abandon,
    /// The house makes the game void.
    Void(VoidedFor),
}

const NO_MOVES: &str = "timeout, timeout [VALUES], quit; house: abandon, void REASON";

impl Verb {
    /// A verb as a step writes it, for a seat or for the house.
    pub(super) fn parse(written: &str, by_house: bool, seats: &[&str]) -> Result<Self, String> {
        let written = written.trim();
        let (verb, rest) = match written.split_once(char::is_whitespace) {
            Some((verb, rest)) => (verb, rest.trim()),
            None => (written, ""),
        };
        let unknown =
            || format!("'{written}' is no step; there are: {}, {NO_MOVES}", known_moves());
        match (verb, rest, by_house) {
            ("timeout", _, false) => {
                parse_dice(rest).map(Self::TimeOut).map_err(|wrong| wrong.problem)
            }
            ("quit", "", false) => Ok(Self::Quit),
            ("abandon", "", true) => Ok(Self::Abandon),
            ("void", why, true) => serde_json::from_value(why.into())
                .map(Self::Void)
                .map_err(|_| format!("'{why}' is no reason to make a game void")),
            (_, _, false) => match parse_step(written, seats) {
                Ok(Some((play, thrown))) => Ok(Self::Play(play, thrown.unwrap_or_default())),
                Ok(None) => Err(unknown()),
                Err(wrong) => Err(format!("'{written}': {}", wrong.problem)),
            },
            (_, _, true) => Err(unknown()),
        }
    }

    /// The command; `touched` is when the game was last touched.
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
