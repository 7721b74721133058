//! The head of a record: which game, its rules, the promise of its dice, and the hash of it all.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{
    BadRecord, FORMAT,
    lex::{Place, Reader, Sign},
    moves::expected,
};
use crate::{
    Command, GameId, Ruleset,
    fair::{self, Commitment, Secret, from_hex},
};

const NAMES: [&str; 5] = ["game", "rules", "commitment", "secret", "digest"];

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
        let mut lines: [Option<(&str, Place)>; NAMES.len()] = Default::default();
        let end = loop {
            match reader.peek()? {
                (Sign::Newline, _) => drop(reader.next()?),
                (Sign::Word(word), place) if !starts_with_digit(word) => {
                    reader.next()?;
                    let known = NAMES.iter().position(|name| *name == word).ok_or_else(|| {
                        let problem =
                            format!("there is no header '{word}'; there are: {}", NAMES.join(", "));
                        place.bad(problem)
                    })?;
                    let (colon, at) = reader.next()?;
                    if colon != Sign::Mark(':') {
                        return Err(expected(at, &format!("':' behind '{word}'"), &colon));
                    }
                    if lines[known].replace(reader.line()).is_some() {
                        return Err(place.bad(format!("the header '{word}' stands here twice")));
                    }
                }
                (_, place) => break place,
            }
        };
        let [game, rules, commitment, secret, digest] = lines;
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
