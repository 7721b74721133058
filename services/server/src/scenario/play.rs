//! Runs a scenario.

use std::{collections::VecDeque, sync::Arc};

use domain::{
    Command, Dice, Draw, Event, Game, GameId, Moment, PlayerId, Rejection, Ruleset, Slug, Thrown,
    decide, evolve,
    fair::{Secret, commitment, first_ticket, ruleset_hash},
    narrate, replay,
    special_dice::Code,
};
use uuid::Uuid;

use super::{
    Broken,
    expect::{Context, Difference},
    file::{ExpectedRejection, Scenario, Step},
    verb::Verb,
};

/// The result of a scenario.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) verdict: Verdict,
    /// The events in words, each with the line of its step.
    pub(super) story: Vec<(usize, String)>,
}

#[derive(Debug)]
pub(super) enum Verdict {
    Passed,
    /// An expectation is not met.
    Differs {
        line: usize,
        differences: Vec<Difference>,
    },
    /// A command was refused or accepted unexpectedly.
    Failed {
        line: usize,
        problem: String,
    },
    /// The scenario is invalid.
    Broken(Broken),
}

/// Scripted dice have no secret, but a game needs one to end.
const SECRET: Secret = Secret([0; 32]);

/// Scripted dice. All values of a step are for its single roll; only after a time-out, when the
/// house plays on for the seat, they are consumed by several rolls.
struct Script<'a> {
    values: &'a [u32],
    colours: &'a [Code],
    /// The colours of the last roll.
    painted: &'a [Code],
    consume: bool,
    /// The results of other random draws; without an entry, the first of all things is drawn.
    things: &'a mut VecDeque<Slug>,
    /// What is wrong with the script.
    problem: Option<String>,
}

impl Script<'_> {
    fn next(&mut self, count: usize) -> Vec<u32> {
        let count = if self.consume { count.min(self.values.len()) } else { self.values.len() };
        let (now, later) = self.values.split_at(count);
        let painted = count.min(self.colours.len());
        self.painted = &self.colours[..painted];
        if self.consume {
            (self.values, self.colours) = (later, &self.colours[painted..]);
        }
        now.to_vec()
    }
}

impl Dice for Script<'_> {
    fn draw(&mut self, _: Draw, count: u8) -> Vec<u32> {
        self.next(count.into())
    }

    /// Weighted dice are scripted by their faces: two faces are one of 36 rolls.
    fn ticket(&mut self, _: Draw, weights: &[u32]) -> Option<u32> {
        let faces = self.next(2);
        let [first, second] = faces[..] else { return None };
        let face = |value: u32| (1..=6).contains(&value).then_some(value as usize - 1);
        first_ticket(weights, face(first)? * 6 + face(second)?)
    }

    fn one_of(&mut self, _: Draw, things: &[Slug]) -> Option<u32> {
        let Some(next) = self.things.pop_front() else { return Some(1) };
        let index = things.iter().position(|&thing| thing == next);
        if index.is_none() {
            let known: Vec<&str> = things.iter().map(Slug::as_str).collect();
            let problem =
                format!("'{next}' cannot be drawn here; expected one of: {}", known.join(", "));
            self.problem = Some(problem);
        }
        u32::try_from(index? + 1).ok()
    }

    /// Only scenarios and tests can script colours.
    fn painted(&mut self) -> Option<Vec<Code>> {
        Some(self.painted.to_vec())
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

/// A running scenario.
struct Run<'a> {
    scenario: &'a Scenario,
    game: Option<Game>,
    log: Vec<Event>,
    last: Vec<Event>,
    now: Moment,
    things: VecDeque<Slug>,
    problem: Option<String>,
    story: Vec<(usize, String)>,
}

pub(super) fn play(scenario: &Scenario) -> Played {
    let mut run = Run {
        scenario,
        game: None,
        log: Vec::new(),
        last: Vec::new(),
        now: Moment(1_000_000_000_000),
        things: scenario.draws.iter().copied().collect(),
        problem: None,
        story: Vec::new(),
    };
    let verdict = run.play().err().unwrap_or(Verdict::Passed);
    Played { verdict, story: run.story }
}

impl Run<'_> {
    fn play(&mut self) -> Result<(), Verdict> {
        let line = self.scenario.line;
        match (self.set_up(), &self.scenario.rejected) {
            (Ok(()), None) => {}
            (Err(rejection), None) => {
                let problem =
                    format!("the set-up is refused: {rejection} ({})", rejection.code().name());
                return Err(Verdict::Failed { line, problem });
            }
            (result, Some(expected)) => {
                let rejection = check_rejection(line, result.err(), expected)?;
                self.story.push((line, rejection));
                return Ok(());
            }
        }
        for step in &self.scenario.steps {
            match step {
                Step::Act { line, seat, verb, rejected } => {
                    self.act(*line, *seat, verb, rejected.as_ref())?;
                }
                Step::Expect { line, expected } => {
                    let Some(game) = &self.game else { continue };
                    let context = Context { game, seats: &self.scenario.seats, events: &self.last };
                    let mut differences = Vec::new();
                    for expected in expected {
                        differences.extend(expected.compare(&context).map_err(Verdict::Broken)?);
                    }
                    if !differences.is_empty() {
                        return Err(Verdict::Differs { line: *line, differences });
                    }
                }
            }
        }
        if let Some(unused) = self.things.front() {
            let problem = format!("'{unused}' in draws was never drawn");
            return Err(Verdict::Broken(Broken::at(line, problem)));
        }
        self.check_replay()
    }

    /// Creates the game, seats all players and starts.
    fn set_up(&mut self) -> Result<(), Rejection> {
        let scenario = self.scenario;
        let mut preset = Ruleset::preset(&scenario.game, scenario.preset.as_deref())?;
        if let Some(version) = scenario.version {
            preset = preset.in_version(version)?;
        }
        let ruleset = Arc::new(preset.with(&scenario.rules)?);
        let special = ruleset.rules.catalogue().is_some();
        let (game, none) = (GameId(Uuid::nil()), Thrown::default());
        let commitment = commitment(&SECRET, game, ruleset_hash(&ruleset));
        self.execute(scenario.line, &Command::Create { game, ruleset, commitment }, &none)?;
        for (number, seat) in (1..).zip(&scenario.seats) {
            let player = PlayerId(Uuid::from_u128(number));
            let (name, seed) = (seat.name.clone(), seat.seed.clone());
            self.execute(scenario.line, &Command::Join { player, name, seed }, &none)?;
        }
        for (seat, dice) in (0..).zip(scenario.seats.iter().map(|seat| seat.dice.clone())) {
            let Some(dice) = dice else { continue };
            if special || dice.iter().any(|code| code != Code::STANDARD.as_str()) {
                self.execute(scenario.line, &Command::ChooseLoadout { seat, dice }, &none)?;
                continue;
            }
            // Games without special dice have no loadout command, but the number of dice is
            // checked.
            let slots = self.game.as_ref().map_or(0, |game| game.dice().len());
            if dice.len() > slots {
                let slots = u8::try_from(slots).unwrap_or(u8::MAX);
                return Err(Rejection::TooManyDice { dice: dice.len(), slots });
            }
        }
        for (seat, character) in (0..).zip(scenario.seats.iter().map(|s| s.character.clone())) {
            if let Some(character) = character {
                let choose = Command::ChooseCharacter { seat, character };
                self.execute(scenario.line, &choose, &none)?;
            }
        }
        self.execute(scenario.line, &Command::Start, &none)
    }

    fn act(
        &mut self,
        line: usize,
        seat: usize,
        verb: &Verb,
        rejected: Option<&ExpectedRejection>,
    ) -> Result<(), Verdict> {
        let touched = self.now;
        self.now = self.moment_of(verb);
        let none = Thrown::default();
        let scripted = match verb {
            Verb::Play(_, scripted) | Verb::TimeOut(scripted) => scripted,
            Verb::Quit | Verb::Abandon | Verb::Void(_) => &none,
        };
        let command = verb.command(u8::try_from(seat).unwrap_or(u8::MAX), touched);
        let result = self.execute(line, &command, scripted);
        if let Err(wrong @ Rejection::WrongRoll { .. }) = &result {
            let problem = self.problem.take().unwrap_or_else(|| wrong.to_string());
            return Err(Verdict::Broken(Broken::at(line, problem)));
        }
        match (result, rejected) {
            (Ok(()), None) => Ok(()),
            (Err(rejection), None) => {
                let problem = format!("refused: {rejection} ({})", rejection.code().name());
                Err(Verdict::Failed { line, problem })
            }
            (result, Some(expected)) => {
                self.last.clear();
                let rejection = check_rejection(line, result.err(), expected)?;
                self.story.push((line, rejection));
                Ok(())
            }
        }
    }

    /// A step takes one second; time-outs and abandonment happen when they are due.
    fn moment_of(&self, verb: &Verb) -> Moment {
        let Some(table) = self.game.as_ref().map(|game| &game.table) else { return self.now };
        let next = self.now.plus_seconds(1);
        match verb {
            Verb::TimeOut(_) => next.max(table.turn.deadline.unwrap_or(next)),
            Verb::Abandon => self.now.plus_hours(table.ruleset.table.expiry_hours),
            Verb::Play(..) | Verb::Quit | Verb::Void(_) => next,
        }
    }

    fn execute(
        &mut self,
        line: usize,
        command: &Command,
        scripted: &Thrown,
    ) -> Result<(), Rejection> {
        let mut dice = Script {
            values: &scripted.raw,
            colours: &scripted.kinds,
            painted: &[],
            consume: matches!(command, Command::TimeOut { .. }),
            things: &mut self.things,
            problem: None,
        };
        let decided = decide(self.game.as_ref(), command, self.now, &mut dice);
        self.problem = dice.problem.take();
        self.last = decided?;
        for event in &self.last {
            self.game = evolve(self.game.take(), event);
            let text = self.game.as_ref().and_then(|game| narrate(event, &game.table));
            self.story.extend(text.map(|text| (line, text)));
        }
        self.log.extend_from_slice(&self.last);
        Ok(())
    }

    /// Replaying the serialized events must give the same state.
    fn check_replay(&self) -> Result<(), Verdict> {
        let read = self.log.iter().map(|event| {
            serde_json::to_string(event).and_then(|written| serde_json::from_str::<Event>(&written))
        });
        let replayed = read.collect::<Result<Vec<_>, _>>().map(|events| replay(&events));
        if replayed.is_ok_and(|game| game == self.game) {
            return Ok(());
        }
        let problem = "replaying the serialized events gives a different state".to_owned();
        Err(Verdict::Failed { line: self.scenario.line, problem })
    }
}

fn check_rejection(
    line: usize,
    rejection: Option<Rejection>,
    expected: &ExpectedRejection,
) -> Result<String, Verdict> {
    let Some(rejection) = rejection else {
        let problem = "accepted, but it should be refused".to_owned();
        return Err(Verdict::Failed { line, problem });
    };
    match expected {
        ExpectedRejection::Code(expected) if *expected != rejection.code() => {
            let difference = Difference {
                subject: "rejected".to_owned(),
                expected: expected.name().to_owned(),
                found: format!("{}: {rejection}", rejection.code().name()),
            };
            Err(Verdict::Differs { line, differences: vec![difference] })
        }
        ExpectedRejection::Code(_) | ExpectedRejection::Any => Ok(format!("refused: {rejection}")),
    }
}
