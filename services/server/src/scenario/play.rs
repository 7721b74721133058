//! Plays a scenario.

use std::{collections::VecDeque, sync::Arc};

use domain::{
    Command, Dice, Draw, Event, Game, GameId, Moment, PlayerId, Rejection, Ruleset, Thrown, Word,
    decide, evolve,
    fair::{Secret, commitment, first_ticket, ruleset_hash},
    narrate, replay,
    special_dice::Code,
};
use uuid::Uuid;

use super::{
    Broken,
    expect::{Difference, Seen},
    file::{Refusal, Scenario, Step},
    verb::Verb,
};

/// How a scenario went.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) verdict: Verdict,
    /// What happened, with the line of the step that made it happen.
    pub(super) story: Vec<(usize, String)>,
}

/// Whether a scenario is true.
#[derive(Debug)]
pub(super) enum Verdict {
    Passed,
    /// An expectation is not met.
    Differs {
        line: usize,
        differences: Vec<Difference>,
    },
    /// Something was refused or accepted that should not be.
    Failed {
        line: usize,
        problem: String,
    },
    /// The scenario makes no sense.
    Broken(Broken),
}

/// Thrown dice have no secret; this one stands where a game needs one to end.
const SECRET: Secret = Secret([0; 32]);

/// Dice that fall as the step says. A step rolls once, and all its values are for that roll; only where the house rolls on
/// for who does not, they are for one roll after the other.
struct Script<'a> {
    values: &'a [u32],
    colours: &'a [Code],
    /// Of the dice rolled last.
    painted: &'a [Code],
    one_by_one: bool,
    /// What comes up beside dice; the first of all things where nothing is said.
    things: &'a mut VecDeque<Word>,
    /// What is wrong with what was said.
    problem: Option<String>,
}

impl Script<'_> {
    fn next(&mut self, count: usize) -> Vec<u32> {
        let count = if self.one_by_one { count.min(self.values.len()) } else { self.values.len() };
        let (now, later) = self.values.split_at(count);
        let painted = count.min(self.colours.len());
        self.painted = &self.colours[..painted];
        if self.one_by_one {
            (self.values, self.colours) = (later, &self.colours[painted..]);
        }
        now.to_vec()
    }
}

impl Dice for Script<'_> {
    fn draw(&mut self, _: Draw, count: u8) -> Vec<u32> {
        self.next(count.into())
    }

    /// Dice with weights are written as what they show: two faces are one of 36 rolls.
    fn ticket(&mut self, _: Draw, weights: &[u32]) -> Option<u32> {
        let faces = self.next(2);
        let [first, second] = faces[..] else { return None };
        let face = |value: u32| (1..=6).contains(&value).then_some(value as usize - 1);
        first_ticket(weights, face(first)? * 6 + face(second)?)
    }

    fn one_of(&mut self, _: Draw, things: &[Word]) -> Option<u32> {
        let Some(next) = self.things.pop_front() else { return Some(1) };
        let place = things.iter().position(|&thing| thing == next);
        if place.is_none() {
            let known: Vec<&str> = things.iter().map(Word::as_str).collect();
            let problem = format!("'{next}' cannot come up here; there are: {}", known.join(", "));
            self.problem = Some(problem);
        }
        u32::try_from(place? + 1).ok()
    }

    /// Only scenarios and tests can say which colour a die has.
    fn painted(&mut self) -> Option<Vec<Code>> {
        Some(self.painted.to_vec())
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

/// A game under way: its log, and the events of the last step.
struct Run<'a> {
    scenario: &'a Scenario,
    game: Option<Game>,
    log: Vec<Event>,
    last: Vec<Event>,
    now: Moment,
    things: VecDeque<Word>,
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
            (Err(refused), None) => {
                let problem =
                    format!("the set-up is refused: {refused} ({})", refused.code().name());
                return Err(Verdict::Failed { line, problem });
            }
            (answer, Some(wanted)) => {
                let refused = check_refusal(line, answer.err(), wanted)?;
                self.story.push((line, refused));
                return Ok(());
            }
        }
        for step in &self.scenario.steps {
            match step {
                Step::Act { line, seat, verb, rejected } => {
                    self.act(*line, *seat, verb, rejected.as_ref())?;
                }
                Step::Expect { line, wanted } => {
                    let Some(game) = &self.game else { continue };
                    let seen = Seen { game, seats: &self.scenario.seats, events: &self.last };
                    let mut differences = Vec::new();
                    for wanted in wanted {
                        differences.extend(wanted.compare(&seen).map_err(Verdict::Broken)?);
                    }
                    if !differences.is_empty() {
                        return Err(Verdict::Differs { line: *line, differences });
                    }
                }
            }
        }
        if let Some(unseen) = self.things.front() {
            let problem = format!("'{unseen}' of draws never came up");
            return Err(Verdict::Broken(Broken::at(line, problem)));
        }
        self.check_replay()
    }

    /// Creates the game, seats everybody and starts.
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
        self.tell(scenario.line, &Command::Create { game, ruleset, commitment }, &none)?;
        for (number, seat) in (1..).zip(&scenario.seats) {
            let player = PlayerId(Uuid::from_u128(number));
            let (name, seed) = (seat.name.clone(), seat.seed.clone());
            self.tell(scenario.line, &Command::Join { player, name, seed }, &none)?;
        }
        for (seat, dice) in (0..).zip(scenario.seats.iter().map(|seat| seat.dice.clone())) {
            let Some(dice) = dice else { continue };
            if special || dice.iter().any(|code| code != Code::STANDARD.as_str()) {
                self.tell(scenario.line, &Command::ChooseLoadout { seat, dice }, &none)?;
                continue;
            }
            // Where there are no others, ordinary dice are chosen by choosing none; but nobody has more than the set.
            let slots = self.game.as_ref().map_or(0, |game| game.dice().len());
            if dice.len() > slots {
                let slots = u8::try_from(slots).unwrap_or(u8::MAX);
                return Err(Rejection::TooManyDice { dice: dice.len(), slots });
            }
        }
        for (seat, character) in (0..).zip(scenario.seats.iter().map(|s| s.character.clone())) {
            if let Some(character) = character {
                let choose = Command::ChooseCharacter { seat, character };
                self.tell(scenario.line, &choose, &none)?;
            }
        }
        self.tell(scenario.line, &Command::Start, &none)
    }

    fn act(
        &mut self,
        line: usize,
        seat: usize,
        verb: &Verb,
        rejected: Option<&Refusal>,
    ) -> Result<(), Verdict> {
        let touched = self.now;
        self.now = self.moment_of(verb);
        let none = Thrown::default();
        let scripted = match verb {
            Verb::Play(_, scripted) | Verb::TimeOut(scripted) => scripted,
            Verb::Quit | Verb::Abandon | Verb::Void(_) => &none,
        };
        let command = verb.command(u8::try_from(seat).unwrap_or(u8::MAX), touched);
        let answer = self.tell(line, &command, scripted);
        if let Err(wrong @ Rejection::WrongRoll { .. }) = &answer {
            let problem = self.problem.take().unwrap_or_else(|| wrong.to_string());
            return Err(Verdict::Broken(Broken::at(line, problem)));
        }
        match (answer, rejected) {
            (Ok(()), None) => Ok(()),
            (Err(refused), None) => {
                let problem = format!("refused: {refused} ({})", refused.code().name());
                Err(Verdict::Failed { line, problem })
            }
            (answer, Some(wanted)) => {
                self.last.clear();
                let refused = check_refusal(line, answer.err(), wanted)?;
                self.story.push((line, refused));
                Ok(())
            }
        }
    }

    /// A step takes a second; a time-out and an abandonment come when they are due.
    fn moment_of(&self, verb: &Verb) -> Moment {
        let Some(table) = self.game.as_ref().map(|game| &game.table) else { return self.now };
        let next = self.now.plus_seconds(1);
        match verb {
            Verb::TimeOut(_) => next.max(table.turn.deadline.unwrap_or(next)),
            Verb::Abandon => self.now.plus_hours(table.ruleset.table.expiry_hours),
            Verb::Play(..) | Verb::Quit | Verb::Void(_) => next,
        }
    }

    fn tell(&mut self, line: usize, command: &Command, scripted: &Thrown) -> Result<(), Rejection> {
        let mut dice = Script {
            values: &scripted.raw,
            colours: &scripted.kinds,
            painted: &[],
            one_by_one: matches!(command, Command::TimeOut { .. }),
            things: &mut self.things,
            problem: None,
        };
        let decided = decide(self.game.as_ref(), command, self.now, &mut dice);
        self.problem = dice.problem.take();
        self.last = decided?;
        for event in &self.last {
            self.game = evolve(self.game.take(), event);
            let told = self.game.as_ref().and_then(|game| narrate(event, &game.table));
            self.story.extend(told.map(|told| (line, told)));
        }
        self.log.extend_from_slice(&self.last);
        Ok(())
    }

    /// Whatever was played, its written log folds to the same state.
    fn check_replay(&self) -> Result<(), Verdict> {
        let read = self.log.iter().map(|event| {
            serde_json::to_string(event).and_then(|written| serde_json::from_str::<Event>(&written))
        });
        let replayed = read.collect::<Result<Vec<_>, _>>().map(|events| replay(&events));
        if replayed.is_ok_and(|game| game == self.game) {
            return Ok(());
        }
        let problem = "the replay of the written events gives another state".to_owned();
        Err(Verdict::Failed { line: self.scenario.line, problem })
    }
}

fn check_refusal(
    line: usize,
    refused: Option<Rejection>,
    wanted: &Refusal,
) -> Result<String, Verdict> {
    let Some(refused) = refused else {
        let problem = "accepted, but it should be refused".to_owned();
        return Err(Verdict::Failed { line, problem });
    };
    match wanted {
        Refusal::Code(wanted) if *wanted != refused.code() => {
            let difference = Difference {
                subject: "rejected".to_owned(),
                expected: wanted.name().to_owned(),
                found: format!("{}: {refused}", refused.code().name()),
            };
            Err(Verdict::Differs { line, differences: vec![difference] })
        }
        Refusal::Code(_) | Refusal::Any => Ok(format!("refused: {refused}")),
    }
}
