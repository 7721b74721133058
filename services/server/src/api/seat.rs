//! A seat at a table.

use std::sync::Arc;

use async_graphql::{Json, Object, SimpleObject};
use domain::{Fact, Game, SeatNo};
use serde_json::Value;
use store::Loaded;

use super::{
    player::Player,
    rules::camel_case,
    scalars::{Long, int},
};

/// A seat at a table and who sits there.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) state: Arc<Loaded>,
    pub(super) number: SeatNo,
}

impl Seat {
    /// All seats of a game.
    pub(super) fn all(state: &Arc<Loaded>) -> Vec<Self> {
        let count = state.now.as_ref().map_or(0, |game| game.table.seats.len());
        (0..).take(count).map(|number| Self { state: Arc::clone(state), number }).collect()
    }

    pub(super) fn of(state: &Arc<Loaded>, number: SeatNo) -> Option<Self> {
        let seats = &state.now.as_ref()?.table.seats;
        (usize::from(number) < seats.len()).then(|| Self { state: Arc::clone(state), number })
    }

    fn game(&self) -> Option<&Game> {
        self.state.now.as_ref()
    }

    fn seat(&self) -> Option<&domain::Seat> {
        self.game()?.table.seats.get(usize::from(self.number))
    }
}

/// A seat at a table and who sits there.
#[Object]
impl Seat {
    /// Its number, from 0, in the order of joining.
    async fn number(&self) -> i32 {
        self.number.into()
    }

    /// Who sits there.
    async fn player(&self) -> Option<Player> {
        self.seat().map(|seat| Player::new(seat.player.0))
    }

    /// The points so far.
    async fn score(&self) -> Long {
        let scores = self.game().map(|game| game.board.scores()).unwrap_or_default();
        Long(scores.get(usize::from(self.number)).copied().unwrap_or(0))
    }

    /// The money earned in this game, in dollars.
    async fn money(&self) -> i32 {
        int(self.seat().map_or(0, |seat| seat.money))
    }

    /// Whether it is this seat's turn.
    async fn is_to_move(&self) -> bool {
        self.game().and_then(Game::to_move) == Some(self.number)
    }

    /// Whether the player has left. Before the start such a seat is free.
    async fn has_left(&self) -> bool {
        self.seat().is_none_or(|seat| seat.gone)
    }

    /// How often in a row time ran out. Too often forfeits the seat.
    async fn time_outs_in_a_row(&self) -> i32 {
        int(self.seat().map_or(0, |seat| seat.time_outs))
    }

    /// The dice of this seat, one a slot: codes, `STANDARD` for an ordinary die.
    async fn dice(&self) -> Vec<String> {
        let codes = self.game().map(|game| game.loadout(self.number)).unwrap_or_default();
        codes.iter().map(ToString::to_string).collect()
    }

    /// The turn as a client shows it; the numbers of a seat that is not to move are those it would begin with.
    async fn turn(&self) -> Option<TurnState> {
        self.game().map(|game| TurnState::of(&game.facts(self.number)))
    }

    /// Whether the client of this seat has added a seed to the dice.
    async fn has_seed(&self) -> bool {
        self.seat().is_some_and(|seat| seat.seed.is_some())
    }

    /// Everything else there is to know about this seat, by name: in Farkle `turnScore`, `roundScore`,
    /// `farklesInARow`, `hotDice`, `bestRound` …; in DiceRogue `money`, `scores`, `rollsLeft`, `held`, `odds`, `blue` …; in NeonPolis
    /// `vp`, `hp`, `energy`, `inside`, `character`, `cards` …
    async fn facts(&self) -> Json<Value> {
        let facts = self.game().map(|game| game.facts(self.number)).unwrap_or_default();
        Json(facts.into_iter().map(|(name, fact)| (camel_case(name), json(&fact))).collect())
    }
}

/// The numbers of a turn, as a client shows them.
#[derive(Clone, Debug, SimpleObject)]
struct TurnState {
    /// Points of the saves of this hand, before the multiplier.
    turn_score: Long,
    /// How many times the turn score counts.
    multiplier: Long,
    /// Points of the completed hands of this round, multiplied.
    round_score: Long,
    /// What the round is worth now: the round score and the turn score times the multiplier.
    unbanked: Long,
    /// Saves of this round with a hot die in them.
    hot_counter: i32,
    /// What the next bank is worth on top.
    dare_bonus: Long,
    /// Farkles since the last bank.
    farkles_in_a_row: i32,
    /// Dice saved this round.
    dice_saved: i32,
    /// What a bank will cost the opponents.
    pending_penalty: Long,
}

impl TurnState {
    fn of(facts: &[(&'static str, Fact)]) -> Self {
        let number = |wanted: &str| {
            facts.iter().find(|(name, _)| *name == wanted).map_or(0, |(_, fact)| match fact {
                Fact::Number(number) => *number,
                Fact::Flag(_)
                | Fact::Text(_)
                | Fact::Money(_)
                | Fact::Word(_)
                | Fact::List(_)
                | Fact::Map(_) => 0,
            })
        };
        // Special dice multiply a hand, doubles the rolls of a turn: no game has both.
        let multiplier = number("double").max(number("multiplier")).max(1);
        Self {
            turn_score: Long(number("turn_score")),
            multiplier: Long(multiplier),
            round_score: Long(number("round_score")),
            unbanked: Long(number("unbanked")),
            hot_counter: int(number("hot")),
            dare_bonus: Long(number("dare")),
            farkles_in_a_row: int(number("farkles_in_a_row")),
            dice_saved: int(number("dice_saved")),
            pending_penalty: Long(number("pending_penalty")),
        }
    }
}

fn json(fact: &Fact) -> Value {
    match fact {
        Fact::Number(number) | Fact::Money(number) => (*number).into(),
        Fact::Flag(flag) => (*flag).into(),
        Fact::Text(text) => (*text).into(),
        Fact::Word(word) => word.as_str().into(),
        Fact::List(facts) => facts.iter().map(json).collect(),
        Fact::Map(facts) => {
            facts.iter().map(|(word, fact)| (word.to_string(), json(fact))).collect()
        }
    }
}
