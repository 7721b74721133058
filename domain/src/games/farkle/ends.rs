//! The order of turns, and the end of a game of Farkle.

use super::Farkle;
use crate::{DecidedBy, Points, Rejection, SeatNo, decision::Decision};

/// The next seat of the round; after the last one the game ends or a new round starts.
pub(super) fn next_turn(decision: &mut Decision<'_, Farkle>) -> Result<(), Rejection> {
    let turn = decision.table.turn;
    if let Some(next) = decision.table.next_in_round(turn.seat) {
        decision.start_turn(next, turn.round);
        return Ok(());
    }
    let seated: Vec<SeatNo> = decision.table.seated().collect();
    match (verdict(&decision.board, &seated, turn.round), seated.first()) {
        (Some((by, winners)), _) => decision.end(by, winners),
        (None, Some(&first)) => {
            decision.start_turn(first, turn.round.saturating_add(1));
            Ok(())
        }
        (None, None) => decision.end(DecidedBy::Deserted, Vec::new()),
    }
}

/// The outcome after a full round of the table, if it decides the game.
///
/// The game ends when a player still seated has reached the target, or after the last round; the
/// highest score wins. If players tie for the lead, all of them play on. If overtime is limited,
/// the best single round decides after it; if that is tied too, the win is shared.
fn verdict(board: &Farkle, seated: &[SeatNo], round: u32) -> Option<(DecidedBy, Vec<SeatNo>)> {
    let by_rounds = board.rules.rounds.filter(|&rounds| round >= rounds);
    let by_target = seated.iter().filter_map(|&seat| board.player(seat).reached_target_in).min();
    let end = [by_target, by_rounds].into_iter().flatten().min()?;
    let leaders = best(seated, |seat| board.player(seat).game_score);
    if leaders.len() <= 1 {
        return Some((DecidedBy::Score, leaders));
    }
    let overtime_played = round.saturating_sub(end);
    if board.rules.overtime_rounds.is_none_or(|most| overtime_played < most) {
        return None;
    }
    let leaders = best(&leaders, |seat| board.player(seat).best_round);
    let by = if leaders.len() == 1 { DecidedBy::BestRound } else { DecidedBy::SharedWin };
    Some((by, leaders))
}

/// The seats with the most points.
fn best(seats: &[SeatNo], points: impl Fn(SeatNo) -> Points) -> Vec<SeatNo> {
    let most = seats.iter().map(|&seat| points(seat)).max();
    seats.iter().copied().filter(|&seat| Some(points(seat)) == most).collect()
}
