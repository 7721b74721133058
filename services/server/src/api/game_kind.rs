//! The kinds of games.

use std::borrow::Cow;

use domain::GAMES;

use super::listed_enum::{Listed, listed_enum};

/// A game, by its name in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GameKind(pub(super) &'static str);

impl GameKind {
    /// The game with this name in the log.
    pub(super) fn named(name: &str) -> Option<Self> {
        GAMES.iter().find(|game| **game == name).copied().map(Self)
    }
}

impl Listed for GameKind {
    const TYPE: &'static str = "GameKind";
    const DESCRIPTION: &'static str = "A kind of game.";

    fn all() -> Vec<Self> {
        GAMES.iter().copied().map(Self).collect()
    }

    fn name(self) -> Cow<'static, str> {
        self.0.to_ascii_uppercase().into()
    }

    fn description(self) -> String {
        format!("`{}` in the log.", self.0)
    }
}

listed_enum!(GameKind);
