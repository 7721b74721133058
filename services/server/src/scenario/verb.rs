//! The verbs of a step: `roll [1,2,3]`, `save [0]`, `bank`, …

use domain::{Command, Moment, Play, SeatNo};

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Verb {
    /// A move, with the dice scripted for it.
    Play(Play, Vec<u32>),
    /// The clock runs out, and the house ends the turn, with the dice scripted for what it rolls.
    TimeOut(Vec<u32>),
    /// The player leaves.
    Quit,
    /// The house closes the game.
    Abandon,
}

const VERBS: &str = "roll [raw values], save [slots], bank, bank [slots], forfeit, timeout, timeout [raw values], quit; house: abandon";

impl Verb {
    /// A verb as a step writes it, for a seat or for the house.
    pub(super) fn parse(written: &str, by_house: bool) -> Result<Self, String> {
        let (verb, rest) = match written.split_once(char::is_whitespace) {
            Some((verb, rest)) => (verb, rest.trim()),
            None => (written.trim(), ""),
        };
        match (verb, rest, by_house) {
            ("roll", _, false) => Ok(Self::Play(Play::Roll, optional(rest)?.unwrap_or_default())),
            ("save", _, false) => {
                let slots = optional(rest)?.ok_or("save needs slots, as in save [0,2]")?;
                Ok(Self::Play(Play::Save { slots }, Vec::new()))
            }
            ("bank", _, false) => Ok(Self::Play(Play::Bank { slots: optional(rest)? }, Vec::new())),
            ("forfeit", "", false) => Ok(Self::Play(Play::Forfeit, Vec::new())),
            ("timeout", _, false) => Ok(Self::TimeOut(optional(rest)?.unwrap_or_default())),
            ("quit", "", false) => Ok(Self::Quit),
            ("abandon", "", true) => Ok(Self::Abandon),
            _ => Err(format!("'{written}' is no step; there are: {VERBS}")),
        }
    }

    /// The command; `touched` is when the game was last touched.
    pub(super) fn command(&self, seat: SeatNo, touched: Moment) -> Command {
        match self {
            Self::Play(play, _) => Command::Play { seat, play: play.clone() },
            Self::TimeOut(_) => Command::TimeOut { seat },
            Self::Quit => Command::Leave { seat },
            Self::Abandon => Command::Abandon { touched },
        }
    }
}

/// A list of numbers in brackets, or nothing.
fn optional<T: std::str::FromStr>(text: &str) -> Result<Option<Vec<T>>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inside = inside.ok_or_else(|| format!("'{text}' is no list, as in [0,2]"))?;
    if inside.trim().is_empty() {
        return Ok(Some(Vec::new()));
    }
    let numbers = inside.split(',').map(|number| {
        number
            .trim()
            .parse()
            .map_err(|_| format!("'{}' in {text} is no number here", number.trim()))
    });
    numbers.collect::<Result<_, _>>().map(Some)
}
