//! What if: a game that was played, played otherwise from some point on.
//!
//! A fork is a game of its own, without money, under its own promise; the original is never touched. It can
//! have other rules, other loadouts, other moves, other dice. What the original did and the fork
//! cannot is marked and left out, and play goes on.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use crate::{
    Command, Event, Game, Moment, NoDice, Play, Rejection, Ruleset, SeatNo, Step, Unproven, decide,
    evolve,
    fair::{Secret, commitment, ruleset_hash, sha256},
    other_dice::{ForkDice, OtherDice},
    recount::{moment_untold, recount, revealed},
    replay,
};

/// How a game is to be played otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Other rules of the same kind of game; `None` is those of the original.
    pub rules: Option<Arc<Ruleset>>,
    /// Other dice of some seats, chosen before the start.
    pub loadouts: BTreeMap<SeatNo, Vec<String>>,
    /// How many events of the original stand; a command stands if all its events do.
    pub from: usize,
    /// What comes then.
    pub then: Then,
    /// The dice of what is not in the original.
    pub dice: OtherDice,
}

/// What comes behind the events that stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// The rest as it was played.
    Original,
    /// These moves instead.
    Moves(Vec<(SeatNo, Play)>),
}

/// A game that was played otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// Every command, in order.
    pub steps: Vec<ForkedStep>,
    /// The game at the end of them.
    pub game: Game,
}

/// A command of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedStep {
    /// The events of the original that it made there, if it is in it.
    pub original: Option<Range<usize>>,
    /// What was asked.
    pub command: Command,
    /// What it makes happen here.
    pub events: Vec<Event>,
    /// Why it cannot be here, if it cannot: then nothing happens.
    pub refused: Option<Rejection>,
    /// The game after it.
    pub game: Game,
}

/// Why there is no such fork.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFork {
    /// The events do not begin with a game.
    #[error("these events do not begin with Created")]
    NoGame,
    /// The original cannot have happened.
    #[error("the original is not proven: {0}")]
    Unproven(Unproven),
    /// There are not so many events.
    #[error("the game has {events} events, it cannot be forked behind event {from}")]
    VersionAhead {
        /// How many were to stand.
        from: usize,
        /// How many there are.
        events: usize,
    },
    /// Rules of another kind of game.
    #[error("these are rules of {rules}, the game is {game}")]
    OtherGame {
        /// The kind of the original.
        game: &'static str,
        /// The kind the rules are of.
        rules: &'static str,
    },
    /// Rules that make no sense.
    #[error("these rules cannot be played by: {0}")]
    BadRules(Rejection),
    /// Dice that a seat cannot play with.
    #[error("seat {seat} cannot have these dice: {why}")]
    BadLoadout {
        /// The seat.
        seat: SeatNo,
        /// Why not.
        why: Rejection,
    },
    /// The same dice would tell what a running game will roll.
    #[error("the game still runs, and its dice would tell its future; choose other ones")]
    StillRunning,
}

/// Plays a game otherwise.
pub fn what_if(log: &[Event], fork: &Fork) -> Result<WhatIf, NoFork> {
    let steps = recount(log).map_err(|why| {
        if why == Unproven::NoGame { NoFork::NoGame } else { NoFork::Unproven(why) }
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
    let stand = |step: &Step| fork.then == Then::Original || step.events.end <= fork.from;
    let secret = secret_of(&original);
    let dice = ForkDice::new(&fork.dice, &original, revealed, secret);
    let mut played = Played::create(&original, fork, dice, secret)?;
    for step in steps.iter().skip(1).filter(|step| stand(step)) {
        if step.command == Command::Start {
            played.choose_loadouts()?;
        }
        played.again(step, log)?;
    }
    played.choose_loadouts()?;
    for (seat, play) in moves {
        if !played.on(Command::Play { seat: *seat, play: play.clone() }) {
            break;
        }
    }
    Ok(WhatIf { steps: played.steps, game: played.game })
}

/// A fork under way.
struct Played<'a> {
    game: Game,
    steps: Vec<ForkedStep>,
    /// Those that are not chosen yet.
    loadouts: BTreeMap<SeatNo, &'a [String]>,
    dice: ForkDice,
    /// The last moment that the original tells.
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

    /// Seats choose their other dice last, so whatever they chose in the original does not matter.
    fn choose_loadouts(&mut self) -> Result<(), NoFork> {
        for (seat, dice) in std::mem::take(&mut self.loadouts) {
            let refused = |why| NoFork::BadLoadout { seat, why };
            self.game.lawful_loadout(dice).map_err(refused)?;
            self.dice.play_on();
            let command = Command::ChooseLoadout { seat, dice: dice.to_vec() };
            self.tell(command, None, self.now);
            if let Some(why) = self.steps.last().and_then(|step| step.refused.clone()) {
                return Err(refused(why));
            }
        }
        Ok(())
    }

    /// A step of the original, with what fell in it.
    fn again(&mut self, step: &Step, log: &[Event]) -> Result<(), NoFork> {
        self.now = step.at.unwrap_or(self.now);
        // Where no moment is told, the house waited as long as it must.
        let waits = matches!(step.command, Command::TimeOut { .. } | Command::Abandon { .. });
        let at = if waits && step.at.is_none() {
            moment_untold(&self.game, &step.command)
        } else {
            self.now
        };
        self.dice.replay(log.get(step.events.clone()).unwrap_or_default());
        self.tell(step.command.clone(), Some(step.events.clone()), at);
        if self.dice.starved() { Err(NoFork::StillRunning) } else { Ok(()) }
    }

    /// A move that is not in the original; says whether it was accepted.
    fn on(&mut self, command: Command) -> bool {
        self.dice.play_on();
        self.tell(command, None, self.now);
        self.steps.last().is_some_and(|step| step.refused.is_none())
    }

    fn tell(&mut self, command: Command, original: Option<Range<usize>>, at: Moment) {
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

/// What a fork promises instead of the secret of the original, so that it can end: nobody's secret.
fn secret_of(original: &Game) -> Secret {
    Secret(sha256("croupier/what-if/1", &[original.table.id.0.as_bytes()]))
}
