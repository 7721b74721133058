//! A seat at a table.

use std::sync::Arc;

use async_graphql::{Json, Object};
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
        let count = state.game.as_ref().map_or(0, |game| game.table.seats.len());
        (0..).take(count).map(|number| Self { state: Arc::clone(state), number }).collect()
    }

    pub(super) fn of(state: &Arc<Loaded>, number: SeatNo) -> Option<Self> {
        let seats = &state.game.as_ref()?.table.seats;
        (usize::from(number) < seats.len()).then(|| Self { state: Arc::clone(state), number })
    }

    fn game(&self) -> Option<&Game> {
        self.state.game.as_ref()
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

    /// Whether the client of this seat has added a seed to the dice.
    async fn has_seed(&self) -> bool {
        self.seat().is_some_and(|seat| seat.seed.is_some())
    }

    /// Everything else there is to know about this seat, by name: in Farkle `turnScore`, `roundScore`,
    /// `farklesInARow`, `hotDice`, `bestRound` …
    async fn facts(&self) -> Json<Value> {
        let facts = self.game().map(|game| game.facts(self.number)).unwrap_or_default();
        Json(facts.into_iter().map(|(name, fact)| (camel_case(name), json(&fact))).collect())
    }
}

fn json(fact: &Fact) -> Value {
    match fact {
        Fact::Number(number) => (*number).into(),
        Fact::Flag(flag) => (*flag).into(),
        Fact::Text(text) => (*text).into(),
    }
}
