//! The state of a game: a fold of its events.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AwardedFor, Dollars, Event, GameId, Moment, Name, Outcome, PlayerId, Ruleset, SeatNo, TurnEnd,
    VoidedFor,
    fair::{Commitment, RulesetHash},
    games::Board,
    text::ClientSeed,
};

/// A game: what every game has, and what this kind of game has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Game {
    /// Seats, turn and end.
    pub table: Table,
    /// The dice and points of this kind of game.
    pub board: Board,
}

/// What every game has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The game.
    pub id: GameId,
    /// How many events it has.
    pub version: u64,
    /// Its rules.
    pub ruleset: Arc<Ruleset>,
    /// The hash of its rules.
    pub ruleset_hash: RulesetHash,
    /// The promise of its dice.
    pub commitment: Commitment,
    /// The seats, by number.
    pub seats: Vec<Seat>,
    /// How far it is.
    pub stage: Stage,
    /// Whose turn it is, or was last.
    pub turn: Turn,
    /// How often dice were rolled.
    pub rolls: u64,
    /// Why it counts no more, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voided: Option<VoidedFor>,
}

/// How far a game is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Seats can be taken.
    Gathering,
    /// It is played.
    Playing,
    /// It is over.
    Ended(Outcome),
}

/// A seat and who sits there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The account.
    pub player: PlayerId,
    /// The name shown.
    pub name: Name,
    /// What the client added to the dice.
    pub seed: Option<ClientSeed>,
    /// Whether the player has left. Before the start such a seat is free.
    pub gone: bool,
    /// Time-outs in a row.
    pub time_outs: u32,
    /// Money earned in this game.
    pub money: Dollars,
}

/// A turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Whose it is.
    pub seat: SeatNo,
    /// In which round of the table, from 1.
    pub round: u32,
    /// When it may be ended by the house.
    pub deadline: Option<Moment>,
    /// Who must say something before it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<SeatNo>,
}

impl Turn {
    /// Who must act: who was asked, otherwise whose turn it is.
    pub fn to_move(&self) -> SeatNo {
        self.asked.unwrap_or(self.seat)
    }
}

/// The state after one more event. Total: an event that makes no sense changes nothing.
pub fn evolve(game: Option<Game>, event: &Event) -> Option<Game> {
    match game {
        Some(mut game) => {
            game.apply(event);
            Some(game)
        }
        None => Game::created(event),
    }
}

/// The state after all events of a game.
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

    /// The seat to move, while the game is played.
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
                // Whoever ends a turn in time begins to count anew.
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

    /// A seed goes with its player as long as the list is not sealed.
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

    /// What an end pays in favour of these: everybody who is still seated, and the winners on top. Nothing in a game without money.
    pub fn awards(&self, winners: &[SeatNo]) -> Vec<(SeatNo, Dollars, AwardedFor)> {
        let rules = &self.ruleset.table;
        if rules.practice {
            return Vec::new();
        }
        let finished = self.seated().map(|seat| (seat, rules.finish_award, AwardedFor::Finishing));
        let won = winners.iter().map(|&seat| (seat, rules.win_award, AwardedFor::Winning));
        finished.chain(won).collect()
    }

    /// How long a turn may take; `None` is as long as it takes.
    pub fn turn_seconds(&self) -> Option<u32> {
        let rules = &self.ruleset.table;
        let solo = self.seated().count() == 1;
        let seconds = if solo { rules.solo_turn_seconds } else { rules.turn_seconds };
        (seconds > 0).then_some(seconds)
    }

    /// The seated seat that follows, if there is one behind this seat in the same round.
    pub fn next_in_round(&self, seat: SeatNo) -> Option<SeatNo> {
        self.seated().find(|&next| next > seat)
    }
}
