//! Global ids: what a thing is and which one, `game:0193f3a2-…`.

use async_graphql::ID;
use uuid::Uuid;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Game(Uuid),
    Player(Uuid),
    Dispute(Uuid),
}

impl Named {
    pub(super) fn id(self) -> ID {
        match self {
            Self::Game(id) => format!("game:{id}").into(),
            Self::Player(id) => format!("player:{id}").into(),
            Self::Dispute(id) => format!("dispute:{id}").into(),
        }
    }

    fn parse(id: &ID) -> Option<Self> {
        let (kind, uuid) = id.split_once(':')?;
        let uuid = Uuid::try_parse(uuid).ok()?;
        match kind {
            "game" => Some(Self::Game(uuid)),
            "player" => Some(Self::Player(uuid)),
            "dispute" => Some(Self::Dispute(uuid)),
            _ => None,
        }
    }
}

/// What an id names; one that names nothing is an error.
pub(super) fn named(id: &ID) -> async_graphql::Result<Named> {
    Named::parse(id).ok_or_else(|| wrong(id, "game:UUID, player:UUID or dispute:UUID"))
}

/// The game of an id.
pub(super) fn game_id(id: &ID) -> async_graphql::Result<Uuid> {
    match Named::parse(id) {
        Some(Named::Game(game)) => Ok(game),
        _ => Uuid::try_parse(id).map_err(|_| wrong(id, "game:UUID, as Game.id gives it")),
    }
}

/// The player of an id.
pub(super) fn player_id(id: &ID) -> async_graphql::Result<Uuid> {
    match Named::parse(id) {
        Some(Named::Player(player)) => Ok(player),
        _ => Uuid::try_parse(id).map_err(|_| wrong(id, "player:UUID, as Player.id gives it")),
    }
}

fn wrong(id: &ID, right: &str) -> async_graphql::Error {
    let shown: String = id.chars().take(60).collect();
    super::errors::bad_input(format!("'{shown}' is no such id; it looks like {right}"))
}
