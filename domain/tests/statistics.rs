//! The history of rounds in the state of Farkle.

use domain::{Board, CombinationName, Play, Slots, TurnEnd, farkle::Farkle};
use serde_json::json;
use test_games::{Match, bank, play, roll, save};

fn farkle(table: &Match) -> &Farkle {
    let Board::Farkle(farkle) = &table.game().board else { panic!("this is Farkle") };
    farkle
}

#[test]
fn the_history_of_a_round() {
    let mut table = Match::running("classic", json!({}), 1);
    table.execute(&roll(0), &[1, 2, 2, 2, 3, 6]).unwrap();
    table.execute(&save(0, &[0, 1, 2, 3]), &[]).unwrap();
    table.execute(&roll(0), &[5, 3]).unwrap();

    let round = &farkle(&table).round;
    assert_eq!(round.rolls.len(), 2);
    let first = &round.rolls[0];
    assert_eq!(first.dice().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 2), (3, 2), (4, 3), (5, 6)]);
    assert_eq!((first.max_points, first.points), (300, 300));
    assert_eq!(first.saved, Slots::from_iter([0, 1, 2, 3]));
    let parts: Vec<_> = first.combinations.iter().map(|c| (c.name, c.slots.to_vec())).collect();
    let expected =
        [(CombinationName::ThreeOfAKind, vec![1, 2, 3]), (CombinationName::Single, vec![0])];
    assert_eq!(parts, expected);
    let second = &round.rolls[1];
    assert_eq!(second.dice().collect::<Vec<_>>(), [(4, 5), (5, 3)]);
    assert_eq!((second.max_points, second.points, second.saved), (50, 0, Slots::EMPTY));
    assert!(second.combinations.is_empty());
}

#[test]
fn how_each_round_ended() {
    let mut table = Match::running("classic", json!({ "solo_turn_seconds": 10 }), 1);
    table.execute(&roll(0), &[1, 2, 3, 4, 5, 6]).unwrap();
    table.execute(&save(0, &[0, 1, 2, 3, 4, 5]), &[]).unwrap();
    table.execute(&roll(0), &[5, 2, 2, 3, 3, 4]).unwrap();
    table.execute(&bank(0, Some(&[0])), &[]).unwrap();
    table.execute(&roll(0), &[2, 2, 3, 3, 4, 6]).unwrap();
    table.execute(&roll(0), &[1, 2, 3, 3, 4, 6]).unwrap();
    table.execute(&play(0, Play::Forfeit), &[]).unwrap();
    table.execute(&roll(0), &[1, 2, 3, 3, 4, 6]).unwrap();
    table.execute(&save(0, &[0]), &[]).unwrap();
    table.now = table.game().table.turn.deadline.unwrap();
    table.execute(&domain::Command::TimeOut { seat: 0 }, &[]).unwrap();

    let player = &farkle(&table).players[0];
    let rounds: Vec<_> =
        player.rounds.iter().map(|r| (r.round, r.how, r.points, r.forfeited, r.hot_dice)).collect();
    let expected = [
        (1, TurnEnd::Banked, 2050, 0, 1),
        (2, TurnEnd::Farkled, 0, 0, 0),
        (3, TurnEnd::Forfeited, 0, 0, 0),
        (4, TurnEnd::TimedOut, 0, 100, 0),
    ];
    assert_eq!(rounds, expected);
    assert_eq!((player.hot_dice, player.forfeited, player.best_round), (1, 100, 2050));
    assert_eq!(player.farkles_in_a_row, 2, "a time-out leaves the count");
}
