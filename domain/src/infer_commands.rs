//! Reconstructs the commands of a game from its events.
//!
//! Events do not record the command that produced them, but it can be inferred from them. Deciding
//! the inferred commands again must produce the same events.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use crate::{
    Command, DecidedBy, Dice, Draw, Event, Game, LeftBecause, Moment, NoDice, Rejection, TurnEnd,
    VerificationError, decide, evolve, fair::Secret,
};

/// A command and the events it produced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command.
    pub command: Command,
    /// When it was decided, if a deadline reveals it; otherwise the time has no effect.
    pub at: Option<Moment>,
    /// The range of its events in the log.
    pub events: Range<usize>,
}

/// The commands of a game, in order and without gaps. Each is decided again with the recorded
/// draws, so this also works before the secret is revealed: it then proves that the rules were
/// followed, but nothing about the dice.
pub fn infer_commands(log: &[Event]) -> Result<Vec<Step>, VerificationError> {
    let recalled = Recalled::of(log);
    walk(log, |_| recalled.clone()).map(|walked| walked.steps)
}

/// Dice that repeat the draws of a log.
#[derive(Clone, Debug, Default)]
pub struct Recalled {
    values: Arc<BTreeMap<(u8, u64), Vec<u32>>>,
    secret: Option<Secret>,
}

impl Recalled {
    /// All draws of a log, and the secret if it was revealed.
    pub fn of(log: &[Event]) -> Self {
        let draws = log.iter().flat_map(draws_of);
        let values = draws.map(|(draw, raw)| ((draw.purpose as u8, draw.number), raw)).collect();
        Self { values: Arc::new(values), secret: revealed(log) }
    }
}

impl Dice for Recalled {
    fn draw(&mut self, draw: Draw, _: u8) -> Vec<u32> {
        self.values.get(&(draw.purpose as u8, draw.number)).cloned().unwrap_or_default()
    }

    fn secret(&self) -> Option<Secret> {
        self.secret
    }
}

/// The secret revealed at the end of a game, if it is over.
pub(crate) fn revealed(log: &[Event]) -> Option<Secret> {
    log.iter().rev().find_map(|event| {
        if let Event::SeedRevealed { secret } = event { Some(*secret) } else { None }
    })
}

/// The draws recorded in an event, in order.
pub fn draws_of(event: &Event) -> Vec<(Draw, Vec<u32>)> {
    if let Event::Rolled(rolled) = event {
        let colours = rolled.colours.iter().flat_map(|colours| &colours.draws);
        let colours = colours.map(|colour| (colour.draw, colour.raw.clone()));
        std::iter::once((rolled.draw, rolled.raw.clone())).chain(colours).collect()
    } else if let Event::Drawn(drawn) = event {
        vec![(drawn.draw, vec![drawn.raw])]
    } else {
        Vec::new()
    }
}

/// The result of deciding a whole log again.
pub(crate) struct Walked {
    pub(crate) steps: Vec<Step>,
    pub(crate) game: Option<Game>,
}

/// Decides a log again with the dice given for each state. Fails at the first event that differs.
pub(crate) fn walk<D: Dice>(
    log: &[Event],
    mut dice: impl FnMut(&Game) -> D,
) -> Result<Walked, VerificationError> {
    let Some(Event::Created { .. }) = log.first() else { return Err(VerificationError::NoGame) };
    let (mut game, mut steps, mut done) = (None, Vec::new(), 0);
    while done < log.len() {
        let (command, events) =
            decide_again(game.as_ref(), &log[done..], &mut dice).map_err(|why| {
                VerificationError::Impossible { number: done + 1, event: log[done].name(), why }
            })?;
        let first = done;
        let at = game.as_ref().and_then(|game| moment_from_deadline(game, &events));
        for event in events {
            let found = log.get(done);
            if found != Some(&event) {
                return Err(VerificationError::differs(done + 1, &event, found));
            }
            game = evolve(game, &event);
            done += 1;
        }
        steps.push(Step { command, at, events: first..done });
    }
    Ok(Walked { steps, game })
}

/// The command that produced the next events, and the events it produces; `Err(None)` if no command
/// can.
fn decide_again<D: Dice>(
    game: Option<&Game>,
    log: &[Event],
    dice: &mut impl FnMut(&Game) -> D,
) -> Result<(Command, Vec<Event>), Option<Rejection>> {
    let command = infer_command(game, log).ok_or(None)?;
    let events = match game {
        None => decide(None, &command, Moment(0), &mut NoDice),
        Some(game) => {
            let now = infer_moment(game, &command, log);
            decide(Some(game), &command, now, &mut dice(game))
        }
    };
    let events = events.map_err(Some)?;
    if events.is_empty() { Err(None) } else { Ok((command, events)) }
}

/// The command that begins with these events; the kind of game infers moves.
fn infer_command(game: Option<&Game>, log: &[Event]) -> Option<Command> {
    if let Some((seat, play)) = game.and_then(|game| game.infer_play(log)) {
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
        Event::Voided { why, dispute } => Command::Void { why: *why, dispute: *dispute },
        Event::Ruled { winners, dispute } => {
            Command::Rule { winners: winners.clone(), dispute: *dispute }
        }
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
        | Event::Catalogue(_)
        | Event::Dispute(_)
        | Event::Staff(_) => return None,
    })
}

/// The time of the command, or one that has the same effect.
fn infer_moment(game: &Game, command: &Command, log: &[Event]) -> Moment {
    moment_from_deadline(game, log).unwrap_or_else(|| moment_untold(game, command))
}

/// The time of the command, computed from the first deadline among its events.
fn moment_from_deadline(game: &Game, events: &[Event]) -> Option<Moment> {
    let deadline = events.iter().find_map(|event| {
        if let Event::TurnStarted { deadline, .. }
        | Event::Asked { deadline, .. }
        | Event::Answered { deadline, .. } = event
        {
            *deadline
        } else {
            None
        }
    })?;
    let seconds = game.table.turn_seconds()?;
    Some(Moment(deadline.0.saturating_sub(u64::from(seconds) * 1000)))
}

/// A time at which the command is accepted, if no deadline reveals it: a game is abandoned, and a
/// turn times out, as early as possible.
pub(crate) fn moment_untold(game: &Game, command: &Command) -> Moment {
    if let Command::Abandon { touched } = command {
        return touched.plus_hours(game.table.ruleset.table.expiry_hours);
    }
    game.table.turn.deadline.unwrap_or_default()
}
