//! Types for ids, points, money and time.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A game; also the id of its event stream.
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

/// The number of a seat: 0, 1, 2 … in the order of joining. Before the start a seat that was left
/// can be taken again.
pub type SeatNo = u8;

/// Points are integers and can be negative.
pub type Points = i64;

/// Money is whole dollars.
pub type Dollars = u32;

/// A point in time: milliseconds since 1970, UTC. The domain compares times, it never reads a
/// clock.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// This number of hours later.
    #[must_use]
    pub const fn plus_hours(self, hours: u32) -> Self {
        Self(self.0.saturating_add(hours as u64 * 3_600_000))
    }

    /// This number of seconds later.
    #[must_use]
    pub const fn plus_seconds(self, seconds: u32) -> Self {
        Self(self.0.saturating_add(seconds as u64 * 1000))
    }
}
