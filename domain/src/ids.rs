//! Names for things that must not be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A game, which is also its stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GameId(pub Uuid);

/// The account of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlayerId(pub Uuid);

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A seat's number: 0, 1, 2 … in join order; before the start a seat that was left is taken again.
pub type SeatNo = u8;

/// Points are whole numbers and may be negative.
pub type Points = i64;

/// Money is whole dollars.
pub type Dollars = u32;

/// A moment: milliseconds since 1970 in UTC. The domain compares moments, it never asks for one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// The moment so many hours later.
    #[must_use]
    pub const fn plus_hours(self, hours: u32) -> Self {
        Self(self.0.saturating_add(hours as u64 * 3_600_000))
    }

    /// The moment so many seconds later.
    #[must_use]
    pub const fn plus_seconds(self, seconds: u32) -> Self {
        Self(self.0.saturating_add(seconds as u64 * 1000))
    }
}
