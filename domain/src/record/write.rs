//! Writing a record.

use super::{
    FORMAT, digest,
    draws::Draws,
    moves::{Who, written},
};
use crate::{
    Command, Event, Game, Moment, Step, VerificationError, evolve,
    explain::number,
    fair::to_hex,
    infer_commands::{infer_commands, revealed},
};

/// Writes a game, running or over, as text. Fails if the log does not follow the rules.
pub fn write_record(log: &[Event]) -> Result<String, VerificationError> {
    let steps = infer_commands(log)?;
    let Some(Event::Created { game, ruleset, commitment, .. }) = log.first() else {
        return Err(VerificationError::NoGame);
    };
    let rules = serde_json::to_string(ruleset).unwrap_or_default();
    let secret = revealed(log).map(|secret| format!("secret: {}", to_hex(&secret.0)));
    let head = [
        format!("croupier record {FORMAT}"),
        format!("game: {game}"),
        format!("rules: {rules}"),
        format!("commitment: {}", to_hex(&commitment.0)),
    ];
    let head: Vec<String> =
        head.into_iter().chain(secret).chain([format!("digest: {}", digest(log))]).collect();
    let mut body = Body::default();
    let mut game: Option<Game> = None;
    for step in &steps {
        let events = log.get(step.events.clone()).unwrap_or_default();
        if let Some(game) = &game {
            body.write(game, step, events);
        }
        game = events.iter().fold(game, evolve);
    }
    if let Some(game) = &game {
        body.end_line(game);
    }
    Ok(format!("{}\n\n{}", head.join("\n"), body.pieces.concat()))
}

/// A command in the notation of records, with its draws: `roll [1,1,1,5,2,3]`.
pub fn in_words(command: &Command, events: &[Event]) -> String {
    if let Command::Create { ruleset, .. } = command {
        return format!("open {} {}", ruleset.rules.game(), ruleset.preset);
    }
    let mut draws = Draws::of(events);
    let words = written(command, &mut draws).map(|(_, words)| words);
    format!("{}{}", words.unwrap_or_default(), draws.written())
}

/// The lines of moves.
#[derive(Default)]
struct Body {
    pieces: Vec<String>,
    /// The current line: its round, and the sender of the last command.
    line: Option<(u32, Who)>,
    last_stamp: Option<Moment>,
}

impl Body {
    fn write(&mut self, game: &Game, step: &Step, events: &[Event]) {
        let mut draws = Draws::of(events);
        let Some((who, words)) = written(&step.command, &mut draws) else { return };
        let round = game.table.turn.round;
        if self.line.is_some_and(|(last, _)| last != round) {
            self.end_line(game);
        }
        self.pieces.push(match self.line {
            None => format!("{round}. {who}: "),
            Some((_, last)) if last != who => format!(" | {who}: "),
            Some(_) => "; ".to_owned(),
        });
        self.line = Some((round, who));
        self.pieces.extend([words, draws.written()]);
        let stamp = step.at.map(|at| self.stamp(at));
        self.pieces.extend(stamp);
    }

    /// The first time is written in full, the others as the difference to the previous one.
    fn stamp(&mut self, at: Moment) -> String {
        match self.last_stamp.replace(at) {
            None => format!(" @{}", at.0),
            Some(last) if last <= at => format!(" @+{}", at.0 - last.0),
            Some(last) => format!(" @-{}", last.0 - at.0),
        }
    }

    /// Every round ends with the scores.
    fn end_line(&mut self, game: &Game) {
        let scores: Vec<String> = game.board.scores().into_iter().map(number).collect();
        self.pieces.extend(self.line.take().map(|(round, _)| match round {
            0 => "\n".to_owned(),
            _ => format!(" {{{}}}\n", scores.join(" : ")),
        }));
    }
}
