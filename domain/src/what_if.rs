//! What-if: a game replayed with changes from some point on.
//!
//! A fork is a game of its own, without money and with its own commitment; the original is never
//! changed. It can have different rules, loadouts, moves and dice. A command of the original that
//! the fork rejects is marked and skipped.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use crate::{
    Command, Event, Game, Moment, NoDice, Play, Rejection, Ruleset, SeatNo, Step,
    VerificationError, decide, evolve,
    fair::{Secret, commitment, ruleset_hash, sha256},
    infer_commands::{infer_commands, moment_untold, revealed},
    other_dice::{ForkDice, OtherDice},
    replay,
};

/// The changes to a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Different rules of the same kind of game; `None` keeps those of the original.
    pub rules: Option<Arc<Ruleset>>,
    /// Different loadouts by seat, chosen before the start.
    pub loadouts: BTreeMap<SeatNo, Vec<String>>,
    /// How many events of the original are kept; a command is kept if all of its events are.
    pub from: usize,
    /// What follows the kept events.
    pub then: Then,
    /// The dice of rolls that are not in the original.
    pub dice: OtherDice,
}

/// What follows the kept events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// The rest of the original.
    Original,
    /// These moves instead.
    Moves(Vec<(SeatNo, Play)>),
}

/// The result of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// Every command, in order.
    pub steps: Vec<ForkedStep>,
    /// The final state.
    pub game: Game,
}

/// A command of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedStep {
    /// The events that it produced in the original; `None` if it is new.
    pub original: Option<Range<usize>>,
    /// The command.
    pub command: Command,
    /// The events that it produces in the fork.
    pub events: Vec<Event>,
    /// Why the fork rejected it; then it has no events.
    pub refused: Option<Rejection>,
    /// The game after it.
    pub game: Game,
}

/// Why a fork is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFork {
    /// The log does not begin with `Created`.
    #[error("these events do not begin with Created")]
    NoGame,
    /// The original does not follow its rules.
    #[error("the original is not proven: {0}")]
    VerificationError(VerificationError),
    /// The original has fewer events.
    #[error("the game has {events} events, it cannot be forked behind event {from}")]
    VersionAhead {
        /// The number of events to keep.
        from: usize,
        /// The number of events of the original.
        events: usize,
    },
    /// The rules are of another kind of game.
    #[error("these are rules of {rules}, the game is {game}")]
    OtherGame {
        /// The kind of the original.
        game: &'static str,
        /// The kind of the given rules.
        rules: &'static str,
    },
    /// The rules are invalid.
    #[error("these rules cannot be played by: {0}")]
    BadRules(Rejection),
    /// A seat cannot play with these dice.
    #[error("seat {seat} cannot have these dice: {why}")]
    BadLoadout {
        /// The seat.
        seat: SeatNo,
        /// The reason.
        why: Rejection,
    },
    /// Dice of the original would reveal future rolls of a running game.
    #[error("the game still runs, and its dice would describe its future; choose other ones")]
    StillRunning,
}

/// Replays a game with changes.
pub fn what_if(log: &[Event], fork: &Fork) -> Result<WhatIf, NoFork> {
    let steps = infer_commands(log).map_err(|why| {
        if why == VerificationError::NoGame {
            NoFork::NoGame
        } else {
            NoFork::VerificationError(why)
        }
    })?;
    let original = replay(log).ok_or(NoFork::NoGame)?;
    if fork.from > log.len() {
        return Err(NoFork::VersionAhead { from: fork.from, events: log.len() });
    }
    let revealed = revealed(log);
    let moves = match &fork.then {
        Then::Original => &[][..],
        Then::Moves(_) if fork.dice == OtherDice::Same && revealed.is_none() => {
            return Err(NoFork::StillRunning);
        }
        Then::Moves(moves) => moves,
    };
    let kept = |step: &Step| fork.then == Then::Original || step.events.end <= fork.from;
    let secret = secret_of(&original);
    let dice = ForkDice::new(&fork.dice, &original, revealed, secret);
    let mut played = Played::create(&original, fork, dice, secret)?;
    for step in steps.iter().skip(1).filter(|step| kept(step)) {
        if step.command == Command::Start {
            played.choose_loadouts()?;
        }
        played.run_original(step, log)?;
    }
    played.choose_loadouts()?;
    for (seat, play) in moves {
        if !played.run_new(Command::Play { seat: *seat, play: play.clone() }) {
            break;
        }
    }
    Ok(WhatIf { steps: played.steps, game: played.game })
}

/// A fork in progress.
struct Played<'a> {
    game: Game,
    steps: Vec<ForkedStep>,
    /// Loadouts that are not chosen yet.
    loadouts: BTreeMap<SeatNo, &'a [String]>,
    dice: ForkDice,
    /// The latest known time of the original.
    now: Moment,
}

impl<'a> Played<'a> {
    fn create(
        original: &Game,
        fork: &'a Fork,
        dice: ForkDice,
        secret: Secret,
    ) -> Result<Self, NoFork> {
        let mut ruleset = Ruleset::clone(fork.rules.as_ref().unwrap_or(&original.table.ruleset));
        let (game, rules) = (original.table.ruleset.rules.game(), ruleset.rules.game());
        if game != rules {
            return Err(NoFork::OtherGame { game, rules });
        }
        ruleset.table.practice = true;
        let id = original.table.id;
        let commitment = commitment(&secret, id, ruleset_hash(&ruleset));
        let command = Command::Create { game: id, ruleset: Arc::new(ruleset), commitment };
        let events = decide(None, &command, Moment(0), &mut NoDice).map_err(NoFork::BadRules)?;
        let game = events.iter().fold(None, evolve).ok_or(NoFork::NoGame)?;
        let first =
            ForkedStep { original: Some(0..1), command, events, refused: None, game: game.clone() };
        let loadouts = fork.loadouts.iter().map(|(seat, dice)| (*seat, dice.as_slice())).collect();
        Ok(Self { game, steps: vec![first], loadouts, dice, now: Moment(0) })
    }

    /// Called right before the start, so these loadouts override those of the original.
    fn choose_loadouts(&mut self) -> Result<(), NoFork> {
        for (seat, dice) in std::mem::take(&mut self.loadouts) {
            let refused = |why| NoFork::BadLoadout { seat, why };
            self.game.lawful_loadout(dice).map_err(refused)?;
            self.dice.play_on();
            let command = Command::ChooseLoadout { seat, dice: dice.to_vec() };
            self.run(command, None, self.now);
            if let Some(why) = self.steps.last().and_then(|step| step.refused.clone()) {
                return Err(refused(why));
            }
        }
        Ok(())
    }

    /// Runs a command of the original, with the dice that it drew there.
    fn run_original(&mut self, step: &Step, log: &[Event]) -> Result<(), NoFork> {
        self.now = step.at.unwrap_or(self.now);
        // The log does not record when the house closed a turn or game: take the earliest time
        // allowed.
        let waits = matches!(step.command, Command::TimeOut { .. } | Command::Abandon { .. });
        let at = if waits && step.at.is_none() {
            moment_untold(&self.game, &step.command)
        } else {
            self.now
        };
        self.dice.replay(log.get(step.events.clone()).unwrap_or_default());
        self.run(step.command.clone(), Some(step.events.clone()), at);
        if self.dice.starved() { Err(NoFork::StillRunning) } else { Ok(()) }
    }

    /// Runs a new command; returns whether it was accepted.
    fn run_new(&mut self, command: Command) -> bool {
        self.dice.play_on();
        self.run(command, None, self.now);
        self.steps.last().is_some_and(|step| step.refused.is_none())
    }

    fn run(&mut self, command: Command, original: Option<Range<usize>>, at: Moment) {
        let (events, refused) = match decide(Some(&self.game), &command, at, &mut self.dice) {
            Ok(events) => (events, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        for event in &events {
            self.game.apply(event);
        }
        let game = self.game.clone();
        self.steps.push(ForkedStep { original, command, events, refused, game });
    }
}

/// The secret behind the commitment of a fork. It is public: it only lets the fork end like a game.
fn secret_of(original: &Game) -> Secret {
    Secret(sha256("croupier/what-if/1", &[original.table.id.0.as_bytes()]))
}
