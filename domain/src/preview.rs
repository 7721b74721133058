//! What a command would do, without recording it.

use crate::{
    Command, Dice, Draw, Event, Game, Moment, Rejection, decide,
    fair::{Secret, commitment},
};

/// Decides a command that draws nothing, such as a bank. The events of one that ends the game reveal
/// a placeholder, not the secret of the game.
pub fn preview(game: &Game, command: &Command) -> Result<Vec<Event>, Rejection> {
    let mut game = game.clone();
    let table = &mut game.table;
    table.commitment = commitment(&PLACEHOLDER, table.id, table.ruleset_hash);
    decide(Some(&game), command, Moment::default(), &mut Undrawn)
}

const PLACEHOLDER: Secret = Secret([0; 32]);

/// Dice that cannot be rolled.
struct Undrawn;

impl Dice for Undrawn {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        Vec::new()
    }

    fn secret(&self) -> Option<Secret> {
        Some(PLACEHOLDER)
    }
}
