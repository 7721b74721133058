//! Reading a record: every command is decided again.

use super::{
    BadRecord, digest,
    draws::Draws,
    head::Head,
    lex::{Position, Reader, Stamp, Token, expected},
    moves::{self, Who},
};
use crate::{
    Command, Event, Game, Moment, NoDice, Play, Rejection, SeatNo, decide, evolve,
    fair::Secret,
    infer_commands::{moment_untold, revealed},
};

/// The events of a recorded game: exactly those it was written from.
pub fn parse_record(text: &str) -> Result<Vec<Event>, BadRecord> {
    let mut reader = Reader::new(text);
    let head = Head::read(&mut reader)?;
    let mut replayed = Replayed::created(&head)?;
    loop {
        match reader.next()? {
            (Token::End, _) => break,
            (Token::Newline, _) => {}
            (Token::Word(word), position) => {
                replayed.check_round(word, position)?;
                match reader.next()? {
                    (Token::Mark('.'), _) => replayed.line(&mut reader)?,
                    (found, position) => {
                        return Err(expected(position, "'.' behind the number of a round", &found));
                    }
                }
            }
            (found, position) => {
                return Err(expected(position, "the number of a round, as in '1.',", &found));
            }
        }
    }
    replayed.check_head(&head)?;
    Ok(replayed.log)
}

/// A planned move, with the raw values of its dice if they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The seat.
    pub seat: SeatNo,
    /// The move.
    pub play: Play,
    /// The raw values of its dice.
    pub raw: Option<Vec<u32>>,
}

/// Parses moves in the notation of records: `0: roll; save [0,1] | 1: roll [6,6,6,2,3,4]; bank`.
pub fn parse_moves(text: &str) -> Result<Vec<Planned>, BadRecord> {
    let (mut reader, mut moves) = (Reader::new(text), Vec::new());
    let mut who = read_who(&mut reader)?;
    loop {
        let mut draws = Draws::default();
        let (command, position) = moves::read(&mut reader, who, &mut draws)?;
        let Command::Play { seat, play } = command else {
            return Err(position.bad("only moves of seats can be planned"));
        };
        moves.push(Planned { seat, play, raw: draws.take_roll() });
        match reader.next()? {
            (Token::Mark(';'), _) => {}
            (Token::Mark('|'), _) => who = read_who(&mut reader)?,
            (Token::Newline, _) if reader.peek()?.0 == Token::End => return Ok(moves),
            (Token::End, _) => return Ok(moves),
            (found, position) => return Err(expected(position, "';', '|' or the end", &found)),
        }
    }
}

/// The game up to the current position.
struct Replayed {
    game: Game,
    log: Vec<Event>,
    secret: Option<Secret>,
    last_stamp: Option<Moment>,
}

impl Replayed {
    fn created(head: &Head) -> Result<Self, BadRecord> {
        let refused = |why: Rejection| head.rules_at.bad(why.to_string());
        let log = decide(None, &head.create(), Moment(0), &mut NoDice).map_err(refused)?;
        let game = log.iter().fold(None, evolve).ok_or_else(|| refused(Rejection::NoSuchGame))?;
        let secret = head.secret.map(|(secret, _)| secret);
        Ok(Self { game, log, secret, last_stamp: None })
    }

    fn check_round(&self, word: &str, position: Position) -> Result<(), BadRecord> {
        let round = self.game.table.turn.round;
        if word.parse() == Ok(round) {
            return Ok(());
        }
        Err(position
            .bad(format!("the game is in round {round}, not in {}", Token::Word(word).shown())))
    }

    /// `0: roll [..]; save [..] | 1: …`
    fn line(&mut self, reader: &mut Reader<'_>) -> Result<(), BadRecord> {
        let round = self.game.table.turn.round;
        let mut who = read_who(reader)?;
        loop {
            let (_, position) = reader.peek()?;
            if self.game.table.turn.round != round {
                let now = self.game.table.turn.round;
                return Err(
                    position.bad(format!("round {now} has begun; it needs a line of its own"))
                );
            }
            self.command(reader, who)?;
            match reader.next()? {
                (Token::Mark(';'), _) => {}
                (Token::Mark('|'), _) => who = read_who(reader)?,
                (Token::Newline | Token::End, _) => return Ok(()),
                (found, position) => {
                    return Err(expected(position, "';', '|' or the end of the line", &found));
                }
            }
        }
    }

    fn command(&mut self, reader: &mut Reader<'_>, who: Who) -> Result<(), BadRecord> {
        let mut draws = Draws::default().with_secret(self.secret);
        let (command, position) = moves::read(reader, who, &mut draws)?;
        draws.read(reader)?;
        let now = match self.stamp(reader)? {
            Some(at) => at,
            None => moment_untold(&self.game, &command),
        };
        let events = decide(Some(&self.game), &command, now, &mut draws);
        // A missing draw is a better message than the rejection it causes.
        if events.is_ok() || matches!(events, Err(Rejection::WrongRoll { .. })) {
            draws.check(position)?;
        }
        let events = events.map_err(|why| position.bad(refusal(&command, &why)))?;
        for event in &events {
            self.game.apply(event);
        }
        self.log.extend(events);
        Ok(())
    }

    fn stamp(&mut self, reader: &mut Reader<'_>) -> Result<Option<Moment>, BadRecord> {
        let (Token::Stamp(stamp), position) = reader.peek()? else { return Ok(None) };
        reader.next()?;
        let at = match (stamp, self.last_stamp) {
            (Stamp::At(at), _) => Some(at),
            (_, None) => {
                return Err(
                    position.bad("the first stamp is a moment in full, as in @1800000000000")
                );
            }
            (Stamp::Later(by), Some(last)) => last.0.checked_add(by),
            (Stamp::Earlier(by), Some(last)) => last.0.checked_sub(by),
        };
        let at = at.map(Moment).ok_or_else(|| position.bad("there is no such moment"))?;
        self.last_stamp = Some(at);
        Ok(Some(at))
    }

    fn check_head(&self, head: &Head) -> Result<(), BadRecord> {
        if let (Some((_, position)), None) = (head.secret, revealed(&self.log)) {
            return Err(position.bad("a secret is revealed when the game is over; this one is not"));
        }
        let (written, position) = &head.digest;
        let found = digest(&self.log);
        if found == *written {
            return Ok(());
        }
        Err(position
            .bad(format!("this is the digest of another game; the moves below give {found}")))
    }
}

/// `0:`, `table:`, `house:`.
fn read_who(reader: &mut Reader<'_>) -> Result<Who, BadRecord> {
    let (sign, position) = reader.next()?;
    let who = sign.word().and_then(|word| match word {
        "table" => Some(Who::Table),
        "house" => Some(Who::House),
        seat => seat.parse().ok().map(Who::Seat),
    });
    let who =
        who.ok_or_else(|| expected(position, "a seat's number, 'table' or 'house'", &sign))?;
    match reader.next()? {
        (Token::Mark(':'), _) => Ok(who),
        (found, position) => Err(expected(position, &format!("':' behind '{who}'"), &found)),
    }
}

fn refusal(command: &Command, why: &Rejection) -> String {
    match (command, why) {
        (_, Rejection::WrongSecret) => {
            "the game ends here; the header 'secret:' is missing above".to_owned()
        }
        _ => why.to_string(),
    }
}
