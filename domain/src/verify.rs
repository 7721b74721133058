//! Proving a finished game from its events alone: everything is decided again.

use crate::{
    Command, DecidedBy, Event, Game, LeftBecause, Moment, NoDice, Rejection, TurnEnd, decide,
    evolve,
    fair::{FairDice, Secret, commitment},
};

/// What was found to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// Rolls drawn again from the secret and the seeds.
    pub rolls: u64,
    /// Events decided again under the game's own rules.
    pub events: usize,
}

/// Plays a finished game again: the commands are read off its events, the dice are drawn anew from
/// the revealed secret and the sealed seeds, and the rules of its first event decide. The result must
/// be the same events, so nothing in them can be false: no face, no point, no winner.
pub fn verify(log: &[Event]) -> Result<Proven, Unproven> {
    let Some(Event::Created { game: id, ruleset_hash, commitment: promised, .. }) = log.first()
    else {
        return Err(Unproven::NoGame);
    };
    // Behind the end there can only be that the game was made void.
    let secret = log.iter().rev().take(2).find_map(|event| {
        if let Event::SeedRevealed { secret } = event { Some(secret) } else { None }
    });
    let secret = secret.ok_or(Unproven::NotRevealed)?;
    if commitment(secret, *id, *ruleset_hash) != *promised {
        return Err(Unproven::Commitment);
    }
    let mut game = None;
    let mut done = 0;
    while done < log.len() {
        let number = done + 1;
        let decided = decide_again(game.as_ref(), &log[done..], *secret)
            .map_err(|why| Unproven::Impossible { number, event: log[done].name(), why })?;
        for event in decided {
            let found = log.get(done);
            if found != Some(&event) {
                return Err(Unproven::differs(done + 1, &event, found));
            }
            game = evolve(game, &event);
            done += 1;
        }
    }
    let rolls = game.map_or(0, |game| game.table.rolls);
    Ok(Proven { rolls, events: done })
}

/// What the command behind the next events makes happen; `None` if no command begins like this.
fn decide_again(
    game: Option<&Game>,
    log: &[Event],
    secret: Secret,
) -> Result<Vec<Event>, Option<Rejection>> {
    let command = command_behind(game, log).ok_or(None)?;
    match game {
        None => decide(None, &command, Moment(0), &mut NoDice),
        Some(game) => {
            let now = moment_behind(game, &command, log);
            decide(Some(game), &command, now, &mut FairDice::new(secret, game))
        }
    }
    .map_err(Some)
}

/// The command that begins with these events: a move is read off by the game it is of.
fn command_behind(game: Option<&Game>, log: &[Event]) -> Option<Command> {
    if let Some((seat, play)) = game.and_then(|game| game.play_behind(log)) {
        return Some(Command::Play { seat, play });
    }
    Some(match log.first()? {
        Event::Created { game, ruleset, commitment, .. } => {
            let (game, ruleset, commitment) = (*game, ruleset.clone(), *commitment);
            Command::Create { game, ruleset, commitment }
        }
        Event::SeatTaken { player, name, .. } => {
            Command::Join { player: *player, name: name.to_string(), seed: None }
        }
        Event::SeedChosen { seat, seed } => {
            Command::ChooseSeed { seat: *seat, seed: seed.as_str().to_owned() }
        }
        Event::LoadoutChosen { seat, dice } => {
            let dice = dice.iter().map(ToString::to_string).collect();
            Command::ChooseLoadout { seat: *seat, dice }
        }
        Event::CharacterChosen { seat, character } => {
            Command::ChooseCharacter { seat: *seat, character: character.to_string() }
        }
        Event::Voided { why } => Command::Void { why: *why },
        Event::Started { .. } => Command::Start,
        Event::TimedOut { seat, .. } => Command::TimeOut { seat: *seat },
        Event::SeatLeft { seat, why: LeftBecause::Quit } => Command::Leave { seat: *seat },
        Event::TurnEnded(ended) if ended.how == TurnEnd::Left => {
            Command::Leave { seat: ended.seat }
        }
        Event::Ended(outcome) if outcome.by == DecidedBy::Abandoned => {
            Command::Abandon { touched: Moment(0) }
        }
        Event::SeatLeft { .. }
        | Event::TurnStarted { .. }
        | Event::Rolled(_)
        | Event::Saved(_)
        | Event::Banked(_)
        | Event::Drawn(_)
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Farkled(_)
        | Event::EffectApplied(_)
        | Event::MoneyAwarded { .. }
        | Event::TurnEnded(_)
        | Event::Ended(_)
        | Event::SeedRevealed { .. }
        | Event::Account(_)
        | Event::Catalogue(_) => return None,
    })
}

/// When it happened, as far as it matters: a deadline tells when its turn started.
fn moment_behind(game: &Game, command: &Command, log: &[Event]) -> Moment {
    if let Command::Abandon { touched } = command {
        return touched.plus_hours(game.table.ruleset.table.expiry_hours);
    }
    let next_deadline = log.iter().find_map(|event| {
        if let Event::TurnStarted { deadline, .. }
        | Event::Asked { deadline, .. }
        | Event::Answered { deadline, .. } = event
        {
            *deadline
        } else {
            None
        }
    });
    match (next_deadline, game.table.turn_seconds()) {
        (Some(next), Some(seconds)) => Moment(next.0.saturating_sub(u64::from(seconds) * 1000)),
        // No turn follows: at the earliest, the running one had just timed out.
        _ => game.table.turn.deadline.unwrap_or_default(),
    }
}

/// Why a game is not proven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// The events do not begin with a game.
    #[error("these events do not begin with Created")]
    NoGame,
    /// The game is not over.
    #[error("the secret is not revealed yet; it is when the game is over")]
    NotRevealed,
    /// Another secret than the promised one.
    #[error("the revealed secret is not the one that was committed to")]
    Commitment,
    /// Nothing can have made this happen.
    #[error("event {number} ({event}) cannot have happened{}", because(why.as_ref()))]
    Impossible {
        /// The first such event, from 1.
        number: usize,
        /// Its type.
        event: &'static str,
        /// Why the rules refuse it.
        why: Option<Rejection>,
    },
    /// Something else must have happened.
    #[error("event {number} is {found}, but the rules, the secret and the seeds give {expected}")]
    Differs {
        /// The first such event, from 1.
        number: usize,
        /// What must have happened, as JSON.
        expected: String,
        /// What the log says, as JSON.
        found: String,
    },
}

impl Unproven {
    fn differs(number: usize, expected: &Event, found: Option<&Event>) -> Self {
        let json = |event: &Event| serde_json::to_string(event).unwrap_or_default();
        let found = found.map_or_else(|| "missing".to_owned(), json);
        Self::Differs { number, expected: json(expected), found }
    }
}

fn because(why: Option<&Rejection>) -> String {
    why.map_or_else(String::new, |why| format!(": {why}"))
}
