//! Who is next, and when a game of Farkle is over.

use super::Farkle;
use crate::{DecidedBy, Points, Rejection, SeatNo, desk::Desk};

/// The next seat of the round; behind the last one the game ends or a new round begins.
pub(super) fn next_turn(desk: &mut Desk<'_, Farkle>) -> Result<(), Rejection> {
    let turn = desk.table.turn;
    if let Some(next) = desk.table.next_in_round(turn.seat) {
        desk.start_turn(next, turn.round);
        return Ok(());
    }
    let seated: Vec<SeatNo> = desk.table.seated().collect();
    match (verdict(&desk.board, &seated, turn.round), seated.first()) {
        (Some((by, winners)), _) => desk.end(by, winners),
        (None, Some(&first)) => {
            desk.start_turn(first, turn.round.saturating_add(1));
            Ok(())
        }
        (None, None) => desk.end(DecidedBy::Deserted, Vec::new()),
    }
}

/// How the game is decided after a full round of the table, if it is.
///
/// The end comes with the target, reached by somebody still seated, or with the last round, and the
/// highest score wins. A tie for the lead
/// is played on by all; where overtime is limited, the best single round decides after it, and at
/// last the win is shared.
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
