//! The state of a game, folded from events.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AwardedFor, Dollars, Event, GameId, Moment, Name, Outcome, PlayerId, Ruleset, SeatNo, TurnEnd,
    VoidedFor,
    fair::{Commitment, RulesetHash},
    games::Board,
    text::ClientSeed,
};

/// The state of a game: the part common to all games, and the part of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Game {
    /// Seats, turn and end.
    pub table: Table,
    /// The state that is specific to the kind of game.
    pub board: Board,
}

/// The state common to all games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The game.
    pub id: GameId,
    /// The number of its events.
    pub version: u64,
    /// Its rules.
    pub ruleset: Arc<Ruleset>,
    /// The hash of its rules.
    pub ruleset_hash: RulesetHash,
    /// The commitment of the house to its dice.
    pub commitment: Commitment,
    /// The seats, by number.
    pub seats: Vec<Seat>,
    /// The stage of the game.
    pub stage: Stage,
    /// The current turn, or the last one.
    pub turn: Turn,
    /// The number of rolls.
    pub rolls: u64,
    /// Why it was voided, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voided: Option<VoidedFor>,
}

/// The stage of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Players can join.
    Gathering,
    /// The game is running.
    Playing,
    /// The game is over.
    Ended(Outcome),
}

/// A seat and its player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The account.
    pub player: PlayerId,
    /// The name shown at the table.
    pub name: Name,
    /// The client's contribution to the dice.
    pub seed: Option<ClientSeed>,
    /// Whether the player has left. Before the start such a seat is free.
    pub gone: bool,
    /// Consecutive time-outs.
    pub time_outs: u32,
    /// Money earned in this game.
    pub money: Dollars,
}

/// A turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The seat.
    pub seat: SeatNo,
    /// The round of the table, starting at 1.
    pub round: u32,
    /// When the house may end it.
    pub deadline: Option<Moment>,
    /// The seat that must answer before the turn continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<SeatNo>,
}

impl Turn {
    /// The seat that must act: the one asked, otherwise the one whose turn it is.
    pub fn to_move(&self) -> SeatNo {
        self.asked.unwrap_or(self.seat)
    }
}

/// Folds an event. Total: an event that makes no sense changes nothing.
pub fn evolve(game: Option<Game>, event: &Event) -> Option<Game> {
    match game {
        Some(mut game) => {
            game.apply(event);
            Some(game)
        }
        None => Game::created(event),
    }
}

/// Folds all events of a game.
pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Game> {
    events.into_iter().fold(None, evolve)
}

impl Game {
    fn created(event: &Event) -> Option<Self> {
        let Event::Created { game, ruleset, ruleset_hash, commitment } = event else {
            return None;
        };
        let table = Table {
            id: *game,
            version: 1,
            ruleset: Arc::clone(ruleset),
            ruleset_hash: *ruleset_hash,
            commitment: *commitment,
            seats: Vec::new(),
            stage: Stage::Gathering,
            turn: Turn::default(),
            rolls: 0,
            voided: None,
        };
        Some(Self { board: Board::new(&ruleset.rules), table })
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        self.table.apply(event);
        self.board.apply(event);
    }

    /// The seat to move, while the game is running.
    pub fn to_move(&self) -> Option<SeatNo> {
        (self.table.stage == Stage::Playing).then_some(self.table.turn.to_move())
    }
}

impl Table {
    pub(crate) fn apply(&mut self, event: &Event) {
        self.version += 1;
        match event {
            Event::SeatTaken { seat, player, name } => self.seat_taken(*seat, *player, name),
            Event::SeedChosen { seat, seed } => {
                self.change_seat(*seat, |s| s.seed = Some(seed.clone()));
            }
            Event::SeatLeft { seat, .. } => self.seat_left(*seat),
            Event::Started { .. } => self.stage = Stage::Playing,
            Event::TurnStarted { seat, round, deadline } => {
                self.turn = Turn { seat: *seat, round: *round, deadline: *deadline, asked: None };
            }
            Event::Rolled(rolled) => self.rolls = rolled.draw.number,
            Event::MoneyAwarded { seat, amount, .. } => {
                self.change_seat(*seat, |s| s.money = s.money.saturating_add(*amount));
            }
            Event::TimedOut { seat, in_a_row } => {
                self.change_seat(*seat, |s| s.time_outs = *in_a_row);
            }
            Event::Asked { seat, deadline } => {
                (self.turn.asked, self.turn.deadline) = (Some(*seat), *deadline);
            }
            Event::Answered { deadline, .. } => {
                (self.turn.asked, self.turn.deadline) = (None, *deadline);
            }
            Event::TurnEnded(ended) => {
                self.turn.asked = None;
                // A turn that ends in time resets the count.
                if ended.how != TurnEnd::TimedOut {
                    self.change_seat(ended.seat, |s| s.time_outs = 0);
                }
            }
            Event::Ended(outcome) => self.stage = Stage::Ended(outcome.clone()),
            Event::Voided { why, .. } => self.voided = Some(*why),
            Event::Created { .. }
            | Event::LoadoutChosen { .. }
            | Event::CharacterChosen { .. }
            | Event::Saved(_)
            | Event::Banked(_)
            | Event::Farkled(_)
            | Event::EffectApplied(_)
            | Event::Drawn(_)
            | Event::SeedRevealed { .. }
            | Event::Ruled { .. }
            | Event::Account(_)
            | Event::Catalogue(_)
            | Event::Dispute(_)
            | Event::Staff(_) => {}
        }
    }

    fn seat_taken(&mut self, seat: SeatNo, player: PlayerId, name: &Name) {
        let taken =
            Seat { player, name: name.clone(), seed: None, gone: false, time_outs: 0, money: 0 };
        let seat = usize::from(seat);
        if seat == self.seats.len() {
            self.seats.push(taken);
        } else if let Some(free) = self.seats.get_mut(seat) {
            *free = taken;
        }
    }

    /// Until the seeds are sealed, the seed of a player leaves with them.
    fn seat_left(&mut self, seat: SeatNo) {
        let sealed = self.stage != Stage::Gathering;
        self.change_seat(seat, |s| {
            s.gone = true;
            if !sealed {
                s.seed = None;
            }
        });
    }

    fn change_seat(&mut self, seat: SeatNo, change: impl FnOnce(&mut Seat)) {
        if let Some(seat) = self.seats.get_mut(usize::from(seat)) {
            change(seat);
        }
    }

    /// The seats still in the game, in order.
    pub fn seated(&self) -> impl Iterator<Item = SeatNo> {
        (0..).zip(&self.seats).filter(|(_, seat)| !seat.gone).map(|(number, _)| number)
    }

    /// The awards at the end: one for every seat still taken, and one more for each winner. Empty
    /// in a game without money.
    pub fn awards(&self, winners: &[SeatNo]) -> Vec<(SeatNo, Dollars, AwardedFor)> {
        let rules = &self.ruleset.table;
        if rules.practice {
            return Vec::new();
        }
        let finished = self.seated().map(|seat| (seat, rules.finish_award, AwardedFor::Finishing));
        let won = winners.iter().map(|&seat| (seat, rules.win_award, AwardedFor::Winning));
        finished.chain(won).collect()
    }

    /// The time limit of a turn; `None` for no limit.
    pub fn turn_seconds(&self) -> Option<u32> {
        let rules = &self.ruleset.table;
        let solo = self.seated().count() == 1;
        let seconds = if solo { rules.solo_turn_seconds } else { rules.turn_seconds };
        (seconds > 0).then_some(seconds)
    }

    /// The next taken seat after this one in the same round, if any.
    pub fn next_in_round(&self, seat: SeatNo) -> Option<SeatNo> {
        self.seated().find(|&next| next > seat)
    }
}
