//! The verbs of a step: `roll [1,2,3]`, `save [0]`, `bank`, …

use domain::{
    Ability, Command, Exchange, Moment, Play, SeatNo, VoidedFor, rogue::Colour, special_dice::Code,
};

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Verb {
    /// A move, with the dice scripted for it.
    Play(Play, Scripted),
    /// The clock runs out, and the house ends the turn, with the dice scripted for what it rolls.
    TimeOut(Scripted),
    /// The player leaves.
    Quit,
    /// The house closes the game.
    Abandon,
    /// The house makes the game void.
    Void(VoidedFor),
}

/// How dice fall: raw values, and the colours they come up in.
#[derive(Clone, Debug, Default)]
pub(super) struct Scripted {
    pub(super) raw: Vec<u32>,
    pub(super) colours: Vec<Code>,
}

const VERBS: &str = "roll [raw values], roll [raw values] keep [slots], save [slots], bank, bank [slots], forfeit, score <category>, resolve, \
     ability <how>, stay, yield, buy <code>, buy <code> -> <seat>, renew, use <code>, evolve <code>, end, timeout, timeout [raw values], quit; \
     house: abandon, void <why>";

impl Verb {
    /// A verb as a step writes it, for a seat or for the house.
    pub(super) fn parse(written: &str, by_house: bool, seats: &[&str]) -> Result<Self, String> {
        let (verb, rest) = match written.split_once(char::is_whitespace) {
            Some((verb, rest)) => (verb, rest.trim()),
            None => (written.trim(), ""),
        };
        let play = |play| Ok(Self::Play(play, Scripted::default()));
        let named = || rest.to_owned();
        match (verb, rest, by_house) {
            ("roll", _, false) => roll(rest),
            ("save", _, false) => {
                let slots = optional(rest)?.ok_or("save needs slots, as in save [0,2]")?;
                play(Play::Save { slots })
            }
            ("bank", _, false) => play(Play::Bank { slots: optional(rest)? }),
            ("forfeit", "", false) => play(Play::Forfeit),
            ("score", category, false) if !category.is_empty() => {
                play(Play::Score { category: named() })
            }
            ("resolve", "", false) => play(Play::Resolve),
            ("ability", _, false) => play(Play::Ability(ability(rest)?)),
            ("stay", "", false) => play(Play::Answer { stay: true }),
            ("yield", "", false) => play(Play::Answer { stay: false }),
            ("buy", code, false) if !code.is_empty() => play(buy(rest, seats)?),
            ("renew", "", false) => play(Play::Renew),
            ("use", code, false) if !code.is_empty() => play(Play::Use { code: named() }),
            ("evolve", code, false) if !code.is_empty() => play(Play::Evolve { code: named() }),
            ("end", "", false) => play(Play::End),
            ("timeout", _, false) => Ok(Self::TimeOut(dice(rest)?)),
            ("quit", "", false) => Ok(Self::Quit),
            ("abandon", "", true) => Ok(Self::Abandon),
            ("void", why, true) => serde_json::from_value(why.into())
                .map(Self::Void)
                .map_err(|_| format!("'{why}' is no reason to make a game void")),
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
            Self::Void(why) => Command::Void { why: *why, dispute: None },
        }
    }
}

/// `[1,2,3]`, or `[2,3] keep [0]`.
fn roll(rest: &str) -> Result<Verb, String> {
    let (values, kept) = match rest.split_once("keep") {
        Some((values, kept)) => (values.trim(), optional(kept.trim())?),
        None => (rest, None),
    };
    let keep = kept.filter(|kept: &Vec<u8>| !kept.is_empty());
    let play = keep.map_or(Play::Roll, |keep| Play::Reroll { keep });
    Ok(Verb::Play(play, dice(values)?))
}

/// Raw values, each perhaps with the letter of a colour: `[3g,4r,2p,5b,6y,1]`.
fn dice(text: &str) -> Result<Scripted, String> {
    let mut scripted = Scripted::default();
    for value in optional::<String>(text)?.unwrap_or_default() {
        let number = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let bad = || format!("'{value}' in {text} is no value of a die, as in 3 or 3g");
        scripted.raw.push(number.parse().map_err(|_| bad())?);
        scripted.colours.push(match &value[number.len()..] {
            "" => Code::STANDARD,
            letter => colour(letter).ok_or_else(bad)?.code(),
        });
    }
    Ok(scripted)
}

/// A colour by its first letter.
fn colour(letter: &str) -> Option<Colour> {
    Colour::ALL.into_iter().find(|colour| colour.word().as_str().get(..1) == Some(letter))
}

/// `2 -> 0`, `store 3`, `place 0`, `2`, `heal`, `charge`.
fn ability(text: &str) -> Result<Ability, String> {
    const HOW: &str = "2 -> 0, store 3, place 0, 2, heal, charge";
    let bad = || format!("'{text}' is no ability; write it as one of: {HOW}");
    let number = |text: &str| text.trim().parse::<u8>().map_err(|_| bad());
    match text.split_once(char::is_whitespace) {
        None if text == "heal" => Ok(Ability::Exchange(Exchange::Heal)),
        None if text == "charge" => Ok(Ability::Exchange(Exchange::Charge)),
        None => number(text).map(Ability::Convert),
        Some(("store", slot)) => number(slot).map(Ability::Store),
        Some(("place", slot)) => number(slot).map(Ability::Place),
        Some(_) => {
            let (from, onto) = text.split_once("->").ok_or_else(bad)?;
            Ok(Ability::Copy { from: number(from)?, onto: number(onto)? })
        }
    }
}

/// `aegis`, or `target_lock -> bob`.
fn buy(text: &str, seats: &[&str]) -> Result<Play, String> {
    let Some((code, aimed)) = text.split_once("->") else {
        return Ok(Play::Buy { code: text.to_owned(), target: None });
    };
    let name = aimed.trim();
    let seat = seats.iter().position(|&known| known == name);
    // A number stands for a seat that nobody has.
    let target = seat.and_then(|seat| u8::try_from(seat).ok()).or_else(|| name.parse().ok());
    let target = target.ok_or_else(|| format!("nobody is called '{name}'"))?;
    Ok(Play::Buy { code: code.trim().to_owned(), target: Some(target) })
}

/// A list in brackets, or nothing.
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
