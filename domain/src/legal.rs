//! The legal commands: a command is listed if and only if it would be accepted.

use crate::{
    Command, Game, Moment, Play, SeatNo, Slug, Stage, Table, decide::free_seat,
    game_rules::GameRules, games::with_board,
};

/// A command that would be accepted, or a family of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Legal {
    /// Create the game, under any valid ruleset.
    Create,
    /// Join with a player and a name that are new to the table.
    Join,
    /// Set or replace the seed of this seat.
    ChooseSeed(SeatNo),
    /// Choose the dice of this seat: any loadout within the limits of the game.
    ChooseLoadout(SeatNo),
    /// Choose this character for this seat.
    ChooseCharacter(SeatNo, Slug),
    /// Leave this seat.
    Leave(SeatNo),
    /// Start the game.
    Start,
    /// This move of this seat.
    Play(SeatNo, Play),
    /// End the turn of this seat, from this time on.
    TimeOut(SeatNo, Moment),
    /// Close the game after this many hours without activity.
    Abandon(u32),
    /// Void the game.
    Void,
    /// End the game with any winners among the seated.
    Rule,
}

/// Every command that would be accepted; `game` is `None` before it is created.
pub fn legal_commands(game: Option<&Game>) -> Vec<Legal> {
    game.map_or_else(|| vec![Legal::Create], Game::legal_commands)
}

impl Game {
    /// Every command that would be accepted now.
    pub fn legal_commands(&self) -> Vec<Legal> {
        with_board!(&self.board, board => legal_with(&self.table, board))
    }
}

fn legal_with<B: GameRules>(table: &Table, board: &B) -> Vec<Legal> {
    let mut legal = Vec::new();
    if table.voided.is_none() {
        legal.push(Legal::Void);
    }
    match table.stage {
        Stage::Ended(_) => return legal,
        Stage::Gathering => {
            legal.extend(free_seat(table).map(|_| Legal::Join));
            legal.extend(table.seated().map(Legal::ChooseSeed));
            if table.ruleset.rules.catalogue().is_some() {
                legal.extend(table.seated().map(Legal::ChooseLoadout));
            }
            for seat in table.seated() {
                let free = board.characters_free(seat).into_iter();
                legal.extend(free.map(|character| Legal::ChooseCharacter(seat, character)));
            }
            if table.seated().count() >= usize::from(table.ruleset.table.min_seats) {
                legal.push(Legal::Start);
            }
        }
        Stage::Playing => {
            legal.push(Legal::Rule);
            let seat = table.turn.to_move();
            legal.extend(board.plays(table).into_iter().map(|play| Legal::Play(seat, play)));
            legal.extend(table.turn.deadline.map(|from| Legal::TimeOut(seat, from)));
        }
    }
    legal.extend(table.seated().map(Legal::Leave));
    legal.push(Legal::Abandon(table.ruleset.table.expiry_hours));
    legal
}

impl Legal {
    /// The seat that can send it; `None` for joining, starting and commands of the house.
    pub const fn seat(&self) -> Option<SeatNo> {
        match self {
            Self::ChooseSeed(seat)
            | Self::ChooseLoadout(seat)
            | Self::ChooseCharacter(seat, _)
            | Self::Leave(seat)
            | Self::Play(seat, _)
            | Self::TimeOut(seat, _) => Some(*seat),
            Self::Create
            | Self::Join
            | Self::Start
            | Self::Abandon(_)
            | Self::Void
            | Self::Rule => None,
        }
    }

    /// Whether only the house can send it.
    pub const fn is_of_house(&self) -> bool {
        matches!(self, Self::TimeOut(..) | Self::Abandon(_) | Self::Void | Self::Rule)
    }

    /// Whether a command is the listed one or belongs to the listed family.
    pub fn covers(&self, command: &Command, now: Moment) -> bool {
        match (self, command) {
            (Self::Create, Command::Create { .. })
            | (Self::Join, Command::Join { .. })
            | (Self::Start, Command::Start)
            | (Self::Void, Command::Void { .. }) => true,
            // A family: any distinct seated winners, like any new name for joining.
            (Self::Rule, Command::Rule { .. }) => true,
            (Self::Abandon(hours), Command::Abandon { touched }) => {
                now >= touched.plus_hours(*hours)
            }
            (Self::ChooseSeed(listed), Command::ChooseSeed { seat, .. })
            | (Self::ChooseLoadout(listed), Command::ChooseLoadout { seat, .. })
            | (Self::Leave(listed), Command::Leave { seat }) => listed == seat,
            (Self::ChooseCharacter(listed, free), Command::ChooseCharacter { seat, character }) => {
                listed == seat && free.as_str() == character
            }
            (Self::TimeOut(listed, from), Command::TimeOut { seat }) => {
                listed == seat && now >= *from
            }
            (Self::Play(listed, play), Command::Play { seat, play: wanted }) => {
                listed == seat && play.same_as(wanted)
            }
            _ => false,
        }
    }
}

impl Play {
    /// Whether both are the same move; the order of dice does not matter.
    fn same_as(&self, other: &Self) -> bool {
        let sorted = |slots: &[u8]| {
            let mut slots = slots.to_vec();
            slots.sort_unstable();
            slots
        };
        match (self, other) {
            (Self::Save { slots: a }, Self::Save { slots: b })
            | (Self::Bank { slots: Some(a) }, Self::Bank { slots: Some(b) })
            | (Self::Reroll { keep: a }, Self::Reroll { keep: b }) => sorted(a) == sorted(b),
            _ => self == other,
        }
    }
}
