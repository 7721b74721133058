//! The head of a record: which game, its rules, the promise of its dice, and the hash of it all.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{
    BadRecord, FORMAT,
    lex::{Place, Reader, Sign, expected},
};
use crate::{
    Command, GameId, Ruleset,
    fair::{self, Commitment, Secret, from_hex},
};

const NAMES: [&str; 5] = ["game", "rules", "commitment", "secret", "digest"];

/// A value and its place, for each of the names that stands in a record.
type Headers<'a> = [Option<(&'a str, Place)>; NAMES.len()];

/// What stands above the moves.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) game: GameId,
    pub(super) ruleset: Arc<Ruleset>,
    pub(super) commitment: Commitment,
    pub(super) secret: Option<(Secret, Place)>,
    pub(super) digest: (String, Place),
    /// Where the rules stand.
    pub(super) rules_at: Place,
}

impl Head {
    /// The command that created the game.
    pub(super) fn create(&self) -> Command {
        let (game, ruleset, commitment) = (self.game, Arc::clone(&self.ruleset), self.commitment);
        Command::Create { game, ruleset, commitment }
    }

    /// Reads the first line and the headers, up to the first line of moves.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, BadRecord> {
        format(reader)?;
        let (headers, end) = headers(reader)?;
        let [game, rules, commitment, secret, digest] = headers;
        let needed = |line: Option<(_, _)>, name: &str| {
            line.ok_or_else(|| end.bad(format!("the header '{name}:' is missing above")))
        };
        let (game, rules) = (needed(game, "game")?, needed(rules, "rules")?);
        let (commitment, digest) = (needed(commitment, "commitment")?, needed(digest, "digest")?);
        let head = Self {
            game: text_value(game, "the id of a game, as in 01930000-0000-7000-8000-000000000001")?,
            ruleset: Arc::new(ruleset(rules)?),
            commitment: text_value(commitment, "64 hexadecimal digits")?,
            secret: secret
                .map(|line| Ok((text_value(line, "64 hexadecimal digits")?, line.1)))
                .transpose()?,
            digest: (hexadecimal(digest)?, digest.1),
            rules_at: rules.1,
        };
        head.keeps_its_promise()?;
        Ok(head)
    }

    fn keeps_its_promise(&self) -> Result<(), BadRecord> {
        let Some((secret, place)) = self.secret else { return Ok(()) };
        let promised = fair::commitment(&secret, self.game, fair::ruleset_hash(&self.ruleset));
        if promised == self.commitment {
            return Ok(());
        }
        Err(place.bad("this secret is not the one that was committed to"))
    }
}

/// `croupier record 1`.
fn format(reader: &mut Reader<'_>) -> Result<(), BadRecord> {
    let (line, place) = reader.line();
    match line.strip_prefix("croupier record ") {
        Some(FORMAT) => Ok(()),
        Some(other) => {
            let other: String = other.chars().take(20).collect();
            Err(place
                .bad(format!("records of format {FORMAT} are read here, this one is of '{other}'")))
        }
        None => Err(place.bad(format!("a record begins with 'croupier record {FORMAT}'"))),
    }
}

/// What stands behind the names of the headers, in the order of [`NAMES`], and where they end.
fn headers<'a>(reader: &mut Reader<'a>) -> Result<(Headers<'a>, Place), BadRecord> {
    let mut headers = Headers::default();
    loop {
        let (sign, place) = reader.peek()?;
        match sign.word() {
            None if sign == Sign::Newline => drop(reader.next()?),
            Some(name) if !starts_with_digit(name) => {
                reader.next()?;
                let known = NAMES.iter().position(|known| *known == name).ok_or_else(|| {
                    let known = NAMES.join(", ");
                    place.bad(format!("there is no header {}; there are: {known}", sign.shown()))
                })?;
                if headers[known].replace(behind(name, reader)?).is_some() {
                    return Err(place.bad(format!("the header '{name}' stands here twice")));
                }
            }
            _ => return Ok((headers, place)),
        }
    }
}

/// What stands behind the name of a header: rules have braces of their own, everything else is a word.
fn behind<'a>(name: &str, reader: &mut Reader<'a>) -> Result<(&'a str, Place), BadRecord> {
    let (colon, place) = reader.next()?;
    if colon != Sign::Mark(':') {
        return Err(expected(place, &format!("':' behind '{name}'"), &colon));
    }
    if name == "rules" {
        return Ok(reader.line());
    }
    let (sign, place) = reader.next()?;
    let word =
        sign.word().ok_or_else(|| expected(place, &format!("a value of '{name}:'"), &sign))?;
    Ok((word, place))
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn ruleset((text, place): (&str, Place)) -> Result<Ruleset, BadRecord> {
    let ruleset: Ruleset = serde_json::from_str(text).map_err(|error| {
        place.bad(format!("these are no rules of a game, as JSON on one line: {error}"))
    })?;
    ruleset.check().map_err(|why| place.bad(why.to_string()))?;
    Ok(ruleset)
}

/// What is written as a JSON string is written in a head without its quotes.
fn text_value<T: DeserializeOwned>(
    (text, place): (&str, Place),
    what: &str,
) -> Result<T, BadRecord> {
    serde_json::from_value(text.into()).map_err(|_| place.bad(format!("{what} is expected here")))
}

fn hexadecimal((text, place): (&str, Place)) -> Result<String, BadRecord> {
    let read = from_hex(text).map(|bytes| fair::to_hex(&bytes));
    read.ok_or_else(|| place.bad("64 hexadecimal digits are expected here"))
}
