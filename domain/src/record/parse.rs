//! Reading a record: every command is decided again.

use super::{
    BadRecord, digest,
    draws::Draws,
    head::Head,
    lex::{Place, Reader, Sign, Stamp, expected},
    moves::{self, Who},
};
use crate::{
    Command, Event, Game, Moment, NoDice, Play, Rejection, SeatNo, decide, evolve,
    fair::Secret,
    recount::{moment_untold, revealed},
};

/// The events of a game that was written down: exactly those it was written from, or what is wrong.
pub fn parse_record(text: &str) -> Result<Vec<Event>, BadRecord> {
    let mut reader = Reader::new(text);
    let head = Head::read(&mut reader)?;
    let mut replayed = Replayed::created(&head)?;
    loop {
        match reader.next()? {
            (Sign::End, _) => break,
            (Sign::Newline, _) => {}
            (Sign::Word(word), place) => {
                replayed.is_in_round(word, place)?;
                match reader.next()? {
                    (Sign::Mark('.'), _) => replayed.line(&mut reader)?,
                    (found, place) => {
                        return Err(expected(place, "'.' behind the number of a round", &found));
                    }
                }
            }
            (found, place) => {
                return Err(expected(place, "the number of a round, as in '1.',", &found));
            }
        }
    }
    replayed.is_the_game_of(&head)?;
    Ok(replayed.log)
}

/// A move that somebody plans, with the values of its dice if they are said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Whose move.
    pub seat: SeatNo,
    /// The move.
    pub play: Play,
    /// What its dice shall fall as.
    pub raw: Option<Vec<u32>>,
}

/// Moves in the words of records: `0: roll; save [0,1] | 1: roll [6,6,6,2,3,4]; bank`.
pub fn parse_moves(text: &str) -> Result<Vec<Planned>, BadRecord> {
    let (mut reader, mut moves) = (Reader::new(text), Vec::new());
    let mut who = read_who(&mut reader)?;
    loop {
        let mut draws = Draws::default();
        let (command, place) = moves::read(&mut reader, who, &mut draws)?;
        let Command::Play { seat, play } = command else {
            return Err(place.bad("only moves of seats can be planned"));
        };
        moves.push(Planned { seat, play, raw: draws.take_roll() });
        match reader.next()? {
            (Sign::Mark(';'), _) => {}
            (Sign::Mark('|'), _) => who = read_who(&mut reader)?,
            (Sign::Newline, _) if reader.peek()?.0 == Sign::End => return Ok(moves),
            (Sign::End, _) => return Ok(moves),
            (found, place) => return Err(expected(place, "';', '|' or the end", &found)),
        }
    }
}

/// The game as far as it is read.
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

    fn is_in_round(&self, word: &str, place: Place) -> Result<(), BadRecord> {
        let round = self.game.table.turn.round;
        if word.parse() == Ok(round) {
            return Ok(());
        }
        Err(place.bad(format!("the game is in round {round}, not in {}", Sign::Word(word).shown())))
    }

    /// `0: roll [..]; save [..] | 1: …`
    fn line(&mut self, reader: &mut Reader<'_>) -> Result<(), BadRecord> {
        let round = self.game.table.turn.round;
        let mut who = read_who(reader)?;
        loop {
            let (_, place) = reader.peek()?;
            if self.game.table.turn.round != round {
                let now = self.game.table.turn.round;
                return Err(place.bad(format!("round {now} has begun; it needs a line of its own")));
            }
            self.command(reader, who)?;
            match reader.next()? {
                (Sign::Mark(';'), _) => {}
                (Sign::Mark('|'), _) => who = read_who(reader)?,
                (Sign::Newline | Sign::End, _) => return Ok(()),
                (found, place) => {
                    return Err(expected(place, "';', '|' or the end of the line", &found));
                }
            }
        }
    }

    fn command(&mut self, reader: &mut Reader<'_>, who: Who) -> Result<(), BadRecord> {
        let mut draws = Draws::default().with_secret(self.secret);
        let (command, place) = moves::read(reader, who, &mut draws)?;
        draws.read(reader)?;
        let now = match self.stamp(reader)? {
            Some(at) => at,
            None => moment_untold(&self.game, &command),
        };
        let events = decide(Some(&self.game), &command, now, &mut draws);
        // What was not drawn says more than the refusal that comes of it.
        if events.is_ok() || matches!(events, Err(Rejection::WrongRoll { .. })) {
            draws.check(place)?;
        }
        let events = events.map_err(|why| place.bad(refusal(&command, &why)))?;
        for event in &events {
            self.game.apply(event);
        }
        self.log.extend(events);
        Ok(())
    }

    fn stamp(&mut self, reader: &mut Reader<'_>) -> Result<Option<Moment>, BadRecord> {
        let (Sign::Stamp(stamp), place) = reader.peek()? else { return Ok(None) };
        reader.next()?;
        let at = match (stamp, self.last_stamp) {
            (Stamp::At(at), _) => Some(at),
            (_, None) => {
                return Err(place.bad("the first stamp is a moment in full, as in @1800000000000"));
            }
            (Stamp::Later(by), Some(last)) => last.0.checked_add(by),
            (Stamp::Earlier(by), Some(last)) => last.0.checked_sub(by),
        };
        let at = at.map(Moment).ok_or_else(|| place.bad("there is no such moment"))?;
        self.last_stamp = Some(at);
        Ok(Some(at))
    }

    fn is_the_game_of(&self, head: &Head) -> Result<(), BadRecord> {
        if let (Some((_, place)), None) = (head.secret, revealed(&self.log)) {
            return Err(place.bad("a secret is revealed when the game is over; this one is not"));
        }
        let (written, place) = &head.digest;
        let found = digest(&self.log);
        if found == *written {
            return Ok(());
        }
        Err(place.bad(format!("this is the digest of another game; the moves below give {found}")))
    }
}

/// `0:`, `table:`, `house:`.
fn read_who(reader: &mut Reader<'_>) -> Result<Who, BadRecord> {
    let (sign, place) = reader.next()?;
    let who = sign.word().and_then(|word| match word {
        "table" => Some(Who::Table),
        "house" => Some(Who::House),
        seat => seat.parse().ok().map(Who::Seat),
    });
    let who = who.ok_or_else(|| expected(place, "a seat's number, 'table' or 'house'", &sign))?;
    match reader.next()? {
        (Sign::Mark(':'), _) => Ok(who),
        (found, place) => Err(expected(place, &format!("':' behind '{who}'"), &found)),
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
