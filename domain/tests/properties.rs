//! Laws that hold for every game, whatever is played.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Match, SECRET, bank, create, join, play, roll, ruleset, save};
use domain::{
    Board, Command, Event, Game, Legal, Measure, Moment, NoDice, Play, Rejection, Slots, Stage,
    decide,
    fair::{FairDice, verify},
    legal_commands, replay,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every command there is at a table of this size, right or wrong; names and seeds are lawful.
fn universe(seats: u8) -> Vec<Command> {
    let mut all = vec![create(ruleset("classic", json!({}))), Command::Start, Command::Abandon];
    all.push(join(100));
    for seat in 0..=seats {
        all.push(Command::ChooseSeed { seat, seed: "another".into() });
        all.push(Command::Leave { seat });
        all.push(Command::TimeOut { seat });
        all.extend([roll(seat), bank(seat, None), play(seat, Play::Forfeit)]);
        for slots in Slots::first(6).subsets() {
            all.extend([save(seat, &slots.to_vec()), bank(seat, Some(&slots.to_vec()))]);
        }
        for wrong in [&[][..], &[0, 0], &[6], &[0, 255]] {
            all.extend([save(seat, wrong), bank(seat, Some(wrong))]);
        }
    }
    all
}

/// A listed command is accepted, an unlisted one refused.
fn listed_if_and_only_if_accepted(table: &Match) {
    let legal = legal_commands(table.game.as_ref());
    let seats = table.game.as_ref().map_or(1, |game| u8::try_from(game.table.seats.len()).unwrap());
    let mut dice = table.game.as_ref().map(|game| FairDice::new(SECRET, game));
    for command in universe(seats) {
        let listed = legal.iter().any(|l| l.covers(&command, table.now));
        let answer = match &mut dice {
            Some(dice) => decide(table.game.as_ref(), &command, table.now, dice),
            None => decide(None, &command, table.now, &mut NoDice),
        };
        assert_eq!(listed, answer.is_ok(), "{command:?}: {answer:?} in {:?}", table.game);
    }
}

/// A state survives being written and read, and equals the fold of its log, also of its written log.
fn is_the_fold_of_its_log(table: &Match) {
    let game = table.game();
    let written = serde_json::to_string(game).unwrap();
    assert_eq!(serde_json::from_str::<Game>(&written).unwrap(), *game);
    let read: Vec<Event> = table
        .log
        .iter()
        .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap())
        .collect();
    assert_eq!(read, table.log);
    assert_eq!(replay(&read).unwrap(), *game);
    assert_eq!(game.table.version, table.log.len() as u64);
}

/// Every point is explained: saved points are banked or forfeited, and a score is what was banked
/// less the penalties.
fn points_are_conserved(table: &Match) {
    let Board::Farkle(farkle) = &table.game().board;
    let seats = farkle.players.len();
    let (mut scores, mut forfeited, mut saved) = (vec![0; seats], vec![0; seats], 0);
    for event in &table.log {
        if let Event::Saved(save) = event {
            let explained: i64 = save.combinations.iter().map(|c| c.points).sum();
            assert_eq!(explained, save.points);
            saved += save.points;
        } else if let Event::Banked(bank) = event {
            assert_eq!(bank.points, bank.round_score + bank.turn_score);
            scores[usize::from(bank.seat)] += bank.points;
            assert_eq!(bank.game_score, scores[usize::from(bank.seat)]);
        } else if let Event::EffectApplied(effect) = event {
            for change in &effect.changes {
                if change.what == Measure::GameScore {
                    assert_eq!(change.before, scores[usize::from(effect.seat)]);
                    scores[usize::from(effect.seat)] += change.after - change.before;
                }
            }
        } else if let Event::TurnEnded(turn) = event {
            assert_eq!(turn.points + turn.forfeited, saved, "the round's saves, won or lost");
            forfeited[usize::from(turn.seat)] += turn.forfeited;
            saved = 0;
        }
    }
    assert_eq!(table.game().board.scores(), scores);
    if table.game().to_move().is_some() {
        assert_eq!(saved, farkle.round.unbanked());
    }
    for (player, forfeited) in farkle.players.iter().zip(forfeited) {
        assert_eq!(player.forfeited, forfeited);
        assert_eq!(player.best_round, player.rounds.iter().map(|r| r.points).max().unwrap_or(0));
        let hot: u32 = player.rounds.iter().map(|r| r.hot_dice).sum();
        assert!(hot <= player.hot_dice, "a round under way may have added some");
    }
}

/// Plays by a list of numbers: each picks one of the accepted commands.
fn play_by(
    choices: &[u16],
    rules: Value,
    preset: &str,
    seats: u8,
    at_each: impl Fn(&Match),
) -> Match {
    let mut table = Match::open(preset, rules);
    at_each(&table);
    for seat in 0..seats {
        table.tell(&join(seat), &[]).unwrap();
        at_each(&table);
    }
    table.tell(&Command::Start, &[]).unwrap();
    for &choice in choices {
        at_each(&table);
        if let Stage::Ended(_) = table.game().table.stage {
            break;
        }
        let Some(command) = choose(&table, choice) else { continue };
        if let Command::TimeOut { .. } = command {
            table.now = table.game().table.turn.deadline.unwrap();
        }
        table.now = Moment(table.now.0 + 1);
        table.tell_fairly(&command).unwrap();
    }
    if table.game().to_move().is_some() {
        table.tell_fairly(&Command::Abandon).unwrap();
    }
    at_each(&table);
    table
}

/// Mostly moves, sometimes a time-out, rarely somebody leaves.
fn choose(table: &Match, choice: u16) -> Option<Command> {
    let seat = table.game().to_move()?;
    let Board::Farkle(farkle) = &table.game().board;
    let moves: Vec<Play> = legal_commands(table.game.as_ref())
        .into_iter()
        .filter_map(|legal| if let Legal::Play(_, play) = legal { Some(play) } else { None })
        .filter(|play| *play != Play::Forfeit || choice.is_multiple_of(29))
        .collect();
    match choice % 97 {
        0 => table.game().table.turn.deadline.map(|_| Command::TimeOut { seat }),
        1 if choice > 50_000 => Some(Command::Leave { seat: table.game().table.seated().last()? }),
        // A bank now and then, so that games end.
        n if n % 3 == 0
            && farkle.round.unbanked() > 0
            && moves.contains(&Play::Bank { slots: None }) =>
        {
            Some(bank(seat, None))
        }
        _ => Some(play(seat, moves.get(usize::from(choice) % moves.len().max(1))?.clone())),
    }
}

fn rules() -> impl Strategy<Value = (&'static str, Value, u8)> {
    let preset = prop::sample::select(vec!["classic", "ten-round", "house-750"]);
    (preset, 1i64..3000, 0i64..600, 1u8..=6, 0u32..2, 1u32..4, 1u8..=8).prop_map(
        |(preset, target, break_in, dice, clock, rounds, seats)| {
            let mut rules = json!({
                "break_in": break_in, "dice": dice, "turn_seconds": clock * 30,
                "solo_turn_seconds": clock * 30,
            });
            if preset == "ten-round" {
                rules["rounds"] = json!(rounds);
                rules["overtime_rounds"] = json!(rounds % 3);
            } else {
                rules["target"] = json!(target);
            }
            (preset, rules, seats)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_command_is_accepted_if_and_only_if_listed(
        choices in prop::collection::vec(any::<u16>(), 0..60),
        (preset, rules, seats) in rules(),
    ) {
        play_by(&choices, rules, preset, seats, listed_if_and_only_if_accepted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_state_is_explained_by_its_log(
        choices in prop::collection::vec(any::<u16>(), 0..120),
        (preset, rules, seats) in rules(),
    ) {
        play_by(&choices, rules, preset, seats, |table| {
            is_the_fold_of_its_log(table);
            points_are_conserved(table);
        });
    }

    #[test]
    fn every_finished_game_proves_its_rolls(
        choices in prop::collection::vec(any::<u16>(), 0..200),
        (preset, rules, seats) in rules(),
    ) {
        let table = play_by(&choices, rules, preset, seats, |_| {});
        prop_assert!(matches!(table.game().table.stage, Stage::Ended(_)));
        prop_assert_eq!(verify(&table.log), Ok(table.game().table.rolls));
        prop_assert!(legal_commands(table.game.as_ref()).is_empty());
        for command in universe(2).into_iter().skip(1) {
            prop_assert_eq!(table.decide(&command, &[]), Err(Rejection::GameOver));
        }
    }
}

#[test]
fn before_a_game_there_is_only_its_creation() {
    listed_if_and_only_if_accepted(&Match::empty());
}
