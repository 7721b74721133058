//! A seat at a table.

use std::sync::Arc;

use async_graphql::{Context, Object};
use domain::{Game, SeatNo};
use store::Loaded;

use super::{
    errors::fault,
    player::Player,
    presence::attendees,
    scalars::{DieCode, Long, int},
    seat_state::SeatState,
};

/// A seat at a table and its player.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) state: Arc<Loaded>,
    pub(super) number: SeatNo,
}

impl Seat {
    /// All seats of a game.
    pub(super) fn all(state: &Arc<Loaded>) -> Vec<Self> {
        let count = state.aggregate.as_ref().map_or(0, |game| game.table.seats.len());
        (0..).take(count).map(|number| Self { state: Arc::clone(state), number }).collect()
    }

    pub(super) fn of(state: &Arc<Loaded>, number: SeatNo) -> Option<Self> {
        let seats = &state.aggregate.as_ref()?.table.seats;
        (usize::from(number) < seats.len()).then(|| Self { state: Arc::clone(state), number })
    }

    fn game(&self) -> Option<&Game> {
        self.state.aggregate.as_ref()
    }

    fn seat(&self) -> Option<&domain::Seat> {
        self.game()?.table.seats.get(usize::from(self.number))
    }
}

/// A seat at a table and its player.
#[Object]
impl Seat {
    /// The seat number, from 0, in the order of joining.
    async fn number(&self) -> i32 {
        self.number.into()
    }

    /// The player of the seat.
    async fn player(&self) -> Option<Player> {
        self.seat().map(|seat| Player::new(seat.player.0))
    }

    /// Whether a client of this player is subscribed to `gameEvents` of this game, on any node.
    async fn connected(&self, ctx: &Context<'_>) -> async_graphql::Result<bool> {
        let Some((game, seat)) = self.game().zip(self.seat()) else { return Ok(false) };
        Ok(attendees(ctx, game.table.id.0).await?.players.contains(&seat.player.0))
    }

    /// The score in points.
    async fn score(&self) -> Long {
        let scores = self.game().map(|game| game.board.scores()).unwrap_or_default();
        Long(scores.get(usize::from(self.number)).copied().unwrap_or(0))
    }

    /// The money earned in this game, in dollars.
    async fn money(&self) -> i32 {
        int(self.seat().map_or(0, |seat| seat.money))
    }

    /// Whether this seat must act now.
    async fn is_to_move(&self) -> bool {
        self.game().and_then(Game::to_move) == Some(self.number)
    }

    /// Whether the player has left. Before the game starts, such a seat is free.
    async fn has_left(&self) -> bool {
        self.seat().is_none_or(|seat| seat.gone)
    }

    /// Consecutive time-outs. The seat is forfeited when they reach `timeOutsToForfeit` of the
    /// rules.
    async fn time_outs_in_a_row(&self) -> i32 {
        int(self.seat().map_or(0, |seat| seat.time_outs))
    }

    /// The codes of the dice of this seat, one per slot; `STANDARD` is an ordinary die.
    async fn dice(&self) -> Vec<DieCode> {
        let codes = self.game().map(|game| game.loadout(self.number)).unwrap_or_default();
        codes.into_iter().map(DieCode::from).collect()
    }

    /// The state of the seat: one type per game.
    async fn state(&self) -> async_graphql::Result<SeatState> {
        let game = self.game().ok_or_else(|| fault("a seat without its game"))?;
        Ok(SeatState::of(game, self.number))
    }

    /// Whether the player has chosen a seed.
    async fn has_seed(&self) -> bool {
        self.seat().is_some_and(|seat| seat.seed.is_some())
    }
}
