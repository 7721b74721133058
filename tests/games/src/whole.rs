//! A random game, from its first event to its last.

use domain::{Command, Event, GameId, Moment, PlayerId, Ruleset, fair::Secret};

use crate::{Match, Numbers, create_as, play, plays};

/// The settings of a random game.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The game's id.
    pub game: GameId,
    /// The dice secret.
    pub secret: Secret,
    /// Its rules.
    pub ruleset: Ruleset,
    /// The players, with their seeds.
    pub players: Vec<(PlayerId, Option<String>)>,
    /// The dice that the first seat chooses; empty if it chooses none.
    pub dice: Vec<String>,
    /// One move in this many is to leave the table.
    pub leaves_one_in: Option<usize>,
    /// After this many moves all players leave.
    pub most_moves: usize,
}

impl Whole {
    /// Two players with these rules, who play to the end.
    pub fn new(game: GameId, secret: Secret, ruleset: Ruleset) -> Self {
        let players = [0, 1].map(|number| (crate::player(number), None)).to_vec();
        let (dice, leaves_one_in, most_moves) = (Vec::new(), None, usize::MAX);
        Self { game, secret, ruleset, players, dice, leaves_one_in, most_moves }
    }

    /// Plays the game. Every move takes a millisecond.
    pub fn play(self, numbers: &mut Numbers) -> Vec<Event> {
        let mut table = Match { secret: self.secret, ..Match::empty() };
        table.execute(&create_as(self.game, &self.secret, self.ruleset), &[]).unwrap();
        for (number, (player, seed)) in self.players.into_iter().enumerate() {
            let name = format!("player {number}");
            table.execute(&Command::Join { player, name, seed }, &[]).unwrap();
        }
        if !self.dice.is_empty() {
            table.execute(&Command::ChooseLoadout { seat: 0, dice: self.dice }, &[]).unwrap();
        }
        table.execute_fairly(&Command::Start).unwrap();
        let mut moves = 0;
        while let Some(seat) = table.game().to_move() {
            moves += 1;
            table.now = Moment(table.now.0 + 1);
            let leaves = self.leaves_one_in.is_some_and(|times| numbers.index(times) == 0);
            let command = if leaves || moves > self.most_moves {
                Command::Leave { seat }
            } else {
                let plays = plays(table.game());
                play(seat, plays[numbers.index(plays.len())].clone())
            };
            table.execute_fairly(&command).unwrap();
        }
        table.log
    }
}
