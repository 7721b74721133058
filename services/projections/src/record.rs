//! The record of a finished game: everything that any read model needs, folded from its events
//! once.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    AwardedFor, CombinationName, Counts, DecidedBy, EffectApplied, Event, Game, Moment, Rules,
    Ruleset, SeatNo, TurnEnded, evolve,
    special_dice::{Code, points_made},
};
use serde::{Deserialize, Serialize};
use store::Recorded;
use uuid::Uuid;

use crate::histogram::{Histogram, bucket};

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The game.
    pub game: Uuid,
    /// The game that was played.
    pub kind: &'static str,
    /// The preset, or `custom`.
    pub preset: String,
    /// The version of the preset.
    pub ruleset_version: u32,
    /// The version of the catalogue of special dice; 0 where there are none.
    pub catalogue_version: u32,
    /// Maximum number of seats; 1 for single-player games.
    pub most_seats: u8,
    /// Whether the lowest score wins.
    pub counts_down: bool,
    /// When it started.
    pub began_at: Moment,
    /// When it ended.
    pub ended_at: Moment,
    /// How it was decided.
    pub by: DecidedBy,
    /// The players, in seat order.
    pub seats: Vec<SeatRecord>,
}

/// Results of a seat in a finished game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatRecord {
    /// The seat number.
    pub seat: SeatNo,
    /// The player.
    pub player: Uuid,
    /// Whether they won.
    pub won: bool,
    /// Whether they left before the end.
    pub left: bool,
    /// The final score.
    pub score: i64,
    /// Number of turns.
    pub turns: u32,
    /// Total duration of turns, in milliseconds.
    pub turn_time: u64,
    /// Turns by duration in seconds.
    pub turn_seconds: Histogram,
    /// Turns by number of rolls.
    pub turn_rolls: Histogram,
    /// Time-outs.
    pub time_outs: u32,
    /// Sum of points of all turns.
    pub points: i64,
    /// The best turn.
    pub best_turn: i64,
    /// Points lost by farkles, time-outs and leaving.
    pub forfeited: i64,
    /// Rolls.
    pub rolls: u32,
    /// Farkles.
    pub farkles: u32,
    /// The highest save.
    pub biggest_save: i64,
    /// Scored combinations and how often.
    pub combinations: BTreeMap<CombinationName, u32>,
    /// Money earned.
    pub money: u64,
    /// Dice used and their contribution.
    pub dice: BTreeMap<String, DieRecord>,
    /// The character.
    pub character: Option<String>,
    /// Game-specific counts, by name.
    pub counts: BTreeMap<String, i64>,
}

/// The contribution of a kind of die in a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DieRecord {
    /// Number of copies.
    pub copies: u32,
    /// Points they added.
    pub points: i64,
    /// Money they earned.
    pub money: u64,
}

/// Why a game has no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRecord {
    /// The game does not count: it was never played, or was abandoned.
    #[error("the game does not count")]
    DoesNotCount,
    /// The events are inconsistent.
    #[error("{0}")]
    Broken(&'static str),
}

impl GameRecord {
    /// The final score of a seat, negated if lower is better.
    pub fn merit(&self, seat: &SeatRecord) -> i64 {
        if self.counts_down { seat.score.saturating_neg() } else { seat.score }
    }

    /// The record of a game from all of its events.
    pub fn of(log: &[Recorded]) -> Result<Self, NoRecord> {
        let Some((first, rest)) = log.split_first() else {
            return Err(NoRecord::Broken("the game has no events"));
        };
        let mut fold =
            RecordFold::begin(first).ok_or(NoRecord::Broken("the first event is not Created"))?;
        for recorded in rest {
            fold.next(recorded);
        }
        fold.record()
    }
}

/// A record that is built event by event.
#[derive(Clone, Debug)]
pub(crate) struct RecordFold {
    game: Uuid,
    version: i64,
    ruleset: Arc<Ruleset>,
    fold: Fold,
    counts: Counts,
    /// The folded game, for kinds whose counts are taken from the state.
    counting: Option<Arc<Game>>,
}

impl RecordFold {
    /// The record after the first event of a game.
    pub(crate) fn begin(first: &Recorded) -> Option<Self> {
        let Event::Created { ruleset, .. } = &first.event else { return None };
        let counting = ruleset.rules.keeps_count().then(|| evolve(None, &first.event)).flatten();
        Some(Self {
            game: first.stream,
            version: first.version,
            ruleset: Arc::clone(ruleset),
            fold: Fold::default(),
            counts: Counts::default(),
            counting: counting.map(Arc::new),
        })
    }

    /// Applies an event; returns whether it was the next one.
    pub(crate) fn next(&mut self, recorded: &Recorded) -> bool {
        if recorded.version != self.version + 1 {
            return false;
        }
        self.version = recorded.version;
        if !self.is_over() {
            let turn = self.fold.turn.map(|(seat, ..)| seat);
            self.ruleset.rules.count(&recorded.event, turn, &mut self.counts);
        }
        self.fold.apply(&recorded.event, recorded.at);
        if let Some(game) = self.counting.take() {
            let game = evolve(Some(Arc::unwrap_or_clone(game)), &recorded.event);
            self.counting = game.map(Arc::new);
        }
        true
    }

    /// Whether the game has ended, so that nothing more is counted.
    pub(crate) fn is_over(&self) -> bool {
        self.fold.ended.is_some()
    }

    /// The finished record.
    pub(crate) fn record(self) -> Result<GameRecord, NoRecord> {
        let Self { game, ruleset, mut fold, counts, counting, .. } = self;
        for record in &mut fold.seats {
            record.counts = counts.of(record.seat);
            let counted = counting.as_ref().map(|game| game.counted(record.seat));
            record.counts.extend(counted.unwrap_or_default());
        }
        let (Some((by, ended_at)), Some(began_at)) = (fold.ended, fold.began_at) else {
            return Err(NoRecord::DoesNotCount);
        };
        if matches!(by, DecidedBy::Abandoned | DecidedBy::Voided) {
            return Err(NoRecord::DoesNotCount);
        }
        Ok(GameRecord {
            game,
            kind: ruleset.rules.game(),
            preset: ruleset.preset.clone(),
            ruleset_version: ruleset.version,
            catalogue_version: ruleset.rules.catalogue().map_or(0, |catalogue| catalogue.version),
            most_seats: ruleset.table.max_seats,
            counts_down: Rules::counts_down(ruleset.rules.game()),
            began_at,
            ended_at,
            by,
            seats: fold.seats,
        })
    }
}

#[derive(Clone, Debug, Default)]
struct Fold {
    seats: Vec<SeatRecord>,
    began_at: Option<Moment>,
    /// The seat whose turn it is, since when, and its number of rolls.
    turn: Option<(SeatNo, Moment, i64)>,
    ended: Option<(DecidedBy, Moment)>,
}

impl Fold {
    fn apply(&mut self, event: &Event, at: Moment) {
        match event {
            Event::SeatTaken { seat, player, .. } => self.seated(*seat, player.0),
            Event::LoadoutChosen { seat, dice } => self.of_seat(*seat, |record| {
                record.dice.clear();
                for code in dice.iter().filter(|&&code| code != Code::STANDARD) {
                    record.dice.entry(code.to_string()).or_default().copies += 1;
                }
            }),
            Event::CharacterChosen { seat, character } => {
                self.of_seat(*seat, |record| record.character = Some(character.to_string()));
            }
            Event::SeatLeft { seat, .. } => self.of_seat(*seat, |record| record.left = true),
            Event::Started { .. } => {
                self.began_at = Some(at);
                // Players who left before the start do not play; the others keep their numbers.
                self.seats.retain(|record| !record.left);
            }
            Event::TurnStarted { seat, .. } => self.turn = Some((*seat, at, 0)),
            Event::TurnEnded(ended) => self.turn_ended(ended, at),
            Event::Rolled(rolled) => {
                if let Some((_, _, rolls)) = &mut self.turn {
                    *rolls += 1;
                }
                self.of_seat(rolled.seat, |record| record.rolls += 1);
            }
            Event::Saved(saved) => {
                self.of_seat(saved.seat, |record| {
                    record.biggest_save = record.biggest_save.max(saved.points);
                    for combination in &saved.combinations {
                        *record.combinations.entry(combination.name).or_default() += 1;
                    }
                });
            }
            Event::Farkled(farkled) => self.of_seat(farkled.seat, |record| record.farkles += 1),
            Event::EffectApplied(effect) => self.effect(effect),
            Event::MoneyAwarded { seat, amount, why } => self.of_seat(*seat, |record| {
                record.money += u64::from(*amount);
                if let AwardedFor::Die(die) = why {
                    let made = record.dice.entry(die.code.to_string()).or_default();
                    made.money += u64::from(*amount);
                }
            }),
            Event::TimedOut { seat, .. } => self.of_seat(*seat, |record| record.time_outs += 1),
            Event::Ended(outcome) => {
                self.ended = Some((outcome.by, at));
                for record in &mut self.seats {
                    let score = outcome.scores.get(usize::from(record.seat));
                    record.score = score.copied().unwrap_or(0);
                    record.won = outcome.winners.contains(&record.seat);
                }
            }
            Event::Created { .. }
            | Event::SeedChosen { .. }
            | Event::Banked(_)
            | Event::Drawn(_)
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::SeedRevealed { .. }
            | Event::Voided { .. }
            | Event::Ruled { .. }
            | Event::Account(_)
            | Event::Catalogue(_)
            | Event::Dispute(_)
            | Event::Staff(_) => {}
        }
    }

    fn turn_ended(&mut self, ended: &TurnEnded, at: Moment) {
        let (since, rolls) = self.turn.take().map_or((at, 0), |(_, since, rolls)| (since, rolls));
        self.of_seat(ended.seat, |record| {
            let time = at.0.saturating_sub(since.0);
            let seconds = i64::try_from(time / 1000).unwrap_or(i64::MAX);
            record.turns += 1;
            record.turn_time += time;
            *record.turn_seconds.entry(bucket(seconds)).or_default() += 1;
            *record.turn_rolls.entry(bucket(rolls)).or_default() += 1;
            record.points = record.points.saturating_add(ended.points);
            record.best_turn = record.best_turn.max(ended.points);
            record.forfeited = record.forfeited.saturating_add(ended.forfeited);
        });
    }

    /// Adds the effects of special dice.
    fn effect(&mut self, effect: &EffectApplied) {
        let Some((code, points)) = points_made(effect) else { return };
        self.of_seat(effect.seat, |record| {
            if let Some(made) = record.dice.get_mut(code.as_str()) {
                made.points = made.points.saturating_add(points);
            }
        });
    }

    fn seated(&mut self, seat: SeatNo, player: Uuid) {
        let record = SeatRecord { seat, player, ..SeatRecord::default() };
        match self.seats.get_mut(usize::from(seat)) {
            Some(free) => *free = record,
            None => self.seats.push(record),
        }
    }

    fn of_seat(&mut self, seat: SeatNo, change: impl FnOnce(&mut SeatRecord)) {
        if let Some(record) = self.seats.iter_mut().find(|record| record.seat == seat) {
            change(record);
        }
    }
}
