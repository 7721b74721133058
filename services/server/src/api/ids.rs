//! Global ids: the kind of object and its UUID, `game:0193f3a2-…`.

use async_graphql::ID;
use uuid::Uuid;

/// A parsed global id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Game(Uuid),
    Player(Uuid),
    Dispute(Uuid),
    /// An event: its game and version.
    Event(Uuid, i64),
}

impl Named {
    pub(super) fn id(self) -> ID {
        match self {
            Self::Game(id) => format!("game:{id}").into(),
            Self::Player(id) => format!("player:{id}").into(),
            Self::Dispute(id) => format!("dispute:{id}").into(),
            Self::Event(game, version) => format!("event:{game}:{version}").into(),
        }
    }

    /// The game, or the game of the event.
    pub(super) const fn game(self) -> Option<Uuid> {
        match self {
            Self::Game(game) | Self::Event(game, _) => Some(game),
            Self::Player(_) | Self::Dispute(_) => None,
        }
    }

    fn parse(id: &ID) -> Option<Self> {
        let (kind, uuid) = id.split_once(':')?;
        if kind == "event" {
            let (game, version) = uuid.split_once(':')?;
            return Some(Self::Event(Uuid::try_parse(game).ok()?, version.parse().ok()?));
        }
        let uuid = Uuid::try_parse(uuid).ok()?;
        match kind {
            "game" => Some(Self::Game(uuid)),
            "player" => Some(Self::Player(uuid)),
            "dispute" => Some(Self::Dispute(uuid)),
            _ => None,
        }
    }
}

/// Parses a global id.
pub(super) fn named(id: &ID) -> async_graphql::Result<Named> {
    Named::parse(id)
        .ok_or_else(|| invalid(id, "game:UUID, player:UUID, dispute:UUID or event:UUID:VERSION"))
}

/// Parses the id of a game, global or a plain UUID.
pub(super) fn game_id(id: &ID) -> async_graphql::Result<Uuid> {
    match Named::parse(id) {
        Some(Named::Game(game)) => Ok(game),
        _ => Uuid::try_parse(id).map_err(|_| invalid(id, "game:UUID, as in Game.id")),
    }
}

/// Parses the id of a player, global or a plain UUID.
pub(super) fn player_id(id: &ID) -> async_graphql::Result<Uuid> {
    match Named::parse(id) {
        Some(Named::Player(player)) => Ok(player),
        _ => Uuid::try_parse(id).map_err(|_| invalid(id, "player:UUID, as in Player.id")),
    }
}

fn invalid(id: &ID, expected: &str) -> async_graphql::Error {
    let shown: String = id.chars().take(60).collect();
    super::errors::bad_input(format!("'{shown}' is not a valid id; expected {expected}"))
}
