//! The head of a record: the game, its rules, its commitment, and the hash of all events.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{
    BadRecord, FORMAT,
    lex::{Position, Reader, Token, expected},
};
use crate::{
    Command, GameId, Ruleset,
    fair::{self, Commitment, Secret, from_hex},
};

const NAMES: [&str; 5] = ["game", "rules", "commitment", "secret", "digest"];

/// The value and position of each header, in the order of [`NAMES`].
type Headers<'a> = [Option<(&'a str, Position)>; NAMES.len()];

/// The headers of a record.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) game: GameId,
    pub(super) ruleset: Arc<Ruleset>,
    pub(super) commitment: Commitment,
    pub(super) secret: Option<(Secret, Position)>,
    pub(super) digest: (String, Position),
    /// The position of the rules.
    pub(super) rules_at: Position,
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
        head.check_commitment()?;
        Ok(head)
    }

    fn check_commitment(&self) -> Result<(), BadRecord> {
        let Some((secret, position)) = self.secret else { return Ok(()) };
        let promised = fair::commitment(&secret, self.game, fair::ruleset_hash(&self.ruleset));
        if promised == self.commitment {
            return Ok(());
        }
        Err(position.bad("this secret is not the one that was committed to"))
    }
}

/// `croupier record 1`.
fn format(reader: &mut Reader<'_>) -> Result<(), BadRecord> {
    let (line, position) = reader.line();
    match line.strip_prefix("croupier record ") {
        Some(FORMAT) => Ok(()),
        Some(other) => {
            let other: String = other.chars().take(20).collect();
            Err(position
                .bad(format!("records of format {FORMAT} are read here, this one is of '{other}'")))
        }
        None => Err(position.bad(format!("a record begins with 'croupier record {FORMAT}'"))),
    }
}

/// Reads the headers in the order of [`NAMES`], and the position of their end.
fn headers<'a>(reader: &mut Reader<'a>) -> Result<(Headers<'a>, Position), BadRecord> {
    let mut headers = Headers::default();
    loop {
        let (sign, position) = reader.peek()?;
        match sign.word() {
            None if sign == Token::Newline => drop(reader.next()?),
            Some(name) if !starts_with_digit(name) => {
                reader.next()?;
                let known = NAMES.iter().position(|known| *known == name).ok_or_else(|| {
                    let known = NAMES.join(", ");
                    position.bad(format!("there is no header {}; there are: {known}", sign.shown()))
                })?;
                if headers[known].replace(header_value(name, reader)?).is_some() {
                    return Err(position.bad(format!("the header '{name}' stands here twice")));
                }
            }
            _ => return Ok((headers, position)),
        }
    }
}

/// Reads the value of a header: rules extend over braces of their own, everything else is a word.
fn header_value<'a>(name: &str, reader: &mut Reader<'a>) -> Result<(&'a str, Position), BadRecord> {
    let (colon, position) = reader.next()?;
    if colon != Token::Mark(':') {
        return Err(expected(position, &format!("':' behind '{name}'"), &colon));
    }
    if name == "rules" {
        return Ok(reader.line());
    }
    let (sign, position) = reader.next()?;
    let word =
        sign.word().ok_or_else(|| expected(position, &format!("a value of '{name}:'"), &sign))?;
    Ok((word, position))
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn ruleset((text, position): (&str, Position)) -> Result<Ruleset, BadRecord> {
    let ruleset: Ruleset = serde_json::from_str(text).map_err(|error| {
        position.bad(format!("these are no rules of a game, as JSON on one line: {error}"))
    })?;
    ruleset.check().map_err(|why| position.bad(why.to_string()))?;
    Ok(ruleset)
}

/// Values that are JSON strings are written without quotes in the head.
fn text_value<T: DeserializeOwned>(
    (text, position): (&str, Position),
    what: &str,
) -> Result<T, BadRecord> {
    serde_json::from_value(text.into())
        .map_err(|_| position.bad(format!("{what} is expected here")))
}

fn hexadecimal((text, position): (&str, Position)) -> Result<String, BadRecord> {
    let read = from_hex(text).map(|bytes| fair::to_hex(&bytes));
    read.ok_or_else(|| position.bad("64 hexadecimal digits are expected here"))
}
