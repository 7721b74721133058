//! Properties of every game, for random commands.

use crate::measures;
use std::collections::BTreeSet;

use domain::{
    Board, Combination, Command, Event, Game, Legal, Moment, NoDice, Play, Proven, Rejection,
    Slots, Stage, VoidedFor, decide, fair::FairDice, legal_commands, replay,
    special_dice::Catalogue, verify,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use test_games::{Match, NOW, SECRET, bank, create, join, play, roll, ruleset, save};

/// Every command for a table of this size, valid or not; names and seeds are valid.
fn universe(seats: u8) -> Vec<Command> {
    let mut all = vec![create(ruleset("classic", json!({}))), Command::Start];
    all.extend([NOW, Moment(0)].map(|touched| Command::Abandon { touched }));
    all.extend([join(100), Command::Void { why: VoidedFor::Mistake, dispute: None }]);
    for seat in 0..=seats {
        all.push(Command::ChooseSeed { seat, seed: "another".into() });
        all.push(Command::ChooseLoadout { seat, dice: vec!["MIDAS".into()] });
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

/// A listed command is accepted, an unlisted one rejected.
fn check_legal_commands(table: &Match) {
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

/// A state survives a JSON round trip, and is the fold of its log, serialized or not.
fn check_fold_of_log(table: &Match) {
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

/// Every point is accounted for: saved points are banked or forfeited, and a score is the banked
/// points less the penalties.
fn check_points(table: &Match) {
    let Board::Farkle(farkle) = &table.game().board else { panic!("this is Farkle") };
    let seats = farkle.players.len();
    let (mut scores, mut forfeited, mut saved) = (vec![0; seats], vec![0; seats], 0);
    let mut hand = 0;
    let times = |seat| -> i64 {
        1 << table.game().loadout(seat).iter().filter(|die| die.as_str() == "DOUBLE").count()
    };
    for event in &table.log {
        if let Event::Saved(save) = event {
            let laid: i64 = save.combinations.iter().map(Combination::total).sum();
            let added: i64 = save.bonuses.iter().map(|bonus| bonus.after - bonus.before).sum();
            assert_eq!(laid + added, save.points);
            saved += save.points;
            hand += save.points;
        } else if let Event::Rolled(roll) = event {
            hand = if roll.folded.is_some() { 0 } else { hand };
        } else if let Event::Banked(bank) = event {
            assert_eq!(hand, bank.turn_score);
            let counted = bank.turn_score * bank.multiplier;
            assert_eq!(bank.points, bank.round_score + counted + bank.bonus);
            hand = 0;
            scores[usize::from(bank.seat)] += bank.points;
            assert_eq!(bank.game_score, scores[usize::from(bank.seat)]);
        } else if let Event::EffectApplied(effect) = event {
            for change in &effect.changes {
                if matches!(change.what, measures::HAND_POINTS | measures::BANK_POINTS) {
                    saved += change.after - change.before;
                }
                if change.what == measures::GAME_SCORE {
                    assert_eq!(change.before, scores[usize::from(effect.seat)]);
                    scores[usize::from(effect.seat)] += change.after - change.before;
                }
            }
        } else if let Event::Farkled(farkle) = event {
            saved += farkle.awarded;
        } else if let Event::TurnEnded(turn) = event {
            // Lost points include the multiplier, as shown to the player.
            let made = saved + hand * (times(turn.seat) - 1);
            assert_eq!(turn.points + turn.forfeited, made, "what the round made, won or lost");
            hand = 0;
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

/// Plays by a list of numbers: each selects one of the accepted commands. The first few affect the
/// seats.
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
        table.execute(&join(seat), &[]).unwrap();
        at_each(&table);
    }
    for (&choice, new_player) in choices.iter().zip(20..23) {
        let seat = u8::try_from(choice).unwrap_or(7) % seats;
        let command = match choice % 6 {
            5 => Command::ChooseLoadout { seat, dice: loadout(choice) },
            0 => Command::Leave { seat },
            1 => Command::ChooseSeed { seat, seed: format!("{choice}") },
            2 => join(new_player),
            _ => continue,
        };
        // Rejected if the seat is empty or the table is full.
        table.execute(&command, &[]).ok();
        at_each(&table);
    }
    for (&choice, seat) in choices.iter().zip(0..seats) {
        // Rejected if the seat is empty, or the game has no special dice.
        table.execute(&Command::ChooseLoadout { seat, dice: loadout(choice) }, &[]).ok();
    }
    at_each(&table);
    if table.execute(&Command::Start, &[]).is_err() {
        return table;
    }
    for &choice in choices {
        at_each(&table);
        let Some(command) = choose(&table, choice) else { break };
        if let Command::TimeOut { .. } = command {
            table.now = table.game().table.turn.deadline.unwrap();
        }
        table.now = Moment(table.now.0 + 1);
        table.execute_fairly(&command).unwrap();
    }
    if table.game().to_move().is_some() {
        table.execute_fairly(&Command::Abandon { touched: Moment(0) }).unwrap();
    }
    at_each(&table);
    table
}

/// Some special dice, selected by a number.
fn loadout(choice: u16) -> Vec<String> {
    let kinds = &Catalogue::builtin().dice;
    let any = |n: u16| kinds[usize::from(choice >> n) % kinds.len()].code.to_string();
    [0, 3, 5, 8].map(any).to_vec()
}

/// Mostly moves, often a bank so that games end, sometimes a time-out or a player who leaves.
fn choose(table: &Match, choice: u16) -> Option<Command> {
    let seat = table.game().to_move()?;
    let moves: Vec<Play> = legal_commands(table.game.as_ref())
        .into_iter()
        .filter_map(|legal| if let Legal::Play(_, play) = legal { Some(play) } else { None })
        .filter(|play| *play != Play::Forfeit || choice.is_multiple_of(29))
        .collect();
    let time_out = table.game().table.turn.deadline.map(|_| Command::TimeOut { seat });
    let bank_now = Play::Bank { slots: None };
    let any = || play(seat, moves[usize::from(choice) % moves.len()].clone());
    Some(match choice % 23 {
        0..=2 => time_out.unwrap_or_else(any),
        3 => {
            let seated: Vec<_> = table.game().table.seated().collect();
            Command::Leave { seat: seated[usize::from(choice / 23) % seated.len()] }
        }
        4..=12 if moves.contains(&bank_now) => play(seat, bank_now),
        _ => any(),
    })
}

fn rules() -> impl Strategy<Value = (&'static str, Value, u8)> {
    let presets = ["classic", "ten-round", "house-750", "challenge-standard", "competitive"];
    let preset = prop::sample::select(presets.to_vec());
    (preset, 1i64..3000, 0i64..600, 1u8..=6, 0u32..2, 1u32..4, 1u8..=8).prop_map(
        |(preset, target, break_in, dice, clock, rounds, seats)| {
            let mut rules = json!({
                "break_in": break_in, "dice": dice, "penalty_farkles": rounds, "turn_seconds": clock * 30,
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
        play_by(&choices, rules, preset, seats, check_legal_commands);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_state_is_the_fold_of_its_log(
        choices in prop::collection::vec(any::<u16>(), 0..120),
        (preset, rules, seats) in rules(),
    ) {
        play_by(&choices, rules, preset, seats, |table| {
            check_fold_of_log(table);
            check_points(table);
        });
    }

    #[test]
    fn every_finished_game_verifies(
        choices in prop::collection::vec(any::<u16>(), 0..200),
        (preset, rules, seats) in rules(),
    ) {
        let table = play_by(&choices, rules, preset, seats, |_| {});
        let Stage::Ended(_) = table.game().table.stage else { return Ok(()) };
        let proven = Proven { rolls: table.game().table.rolls, events: table.log.len() };
        prop_assert_eq!(verify(&table.log), Ok(proven));
        prop_assert_eq!(legal_commands(table.game.as_ref()), [Legal::Void]);
        let void = |command: &Command| matches!(command, Command::Void { .. });
        for command in universe(2).into_iter().skip(1).filter(|command| !void(command)) {
            prop_assert_eq!(table.decide(&command, &[]), Err(Rejection::GameOver));
        }
    }

    /// A fold is total: no log, in whatever order, causes a panic.
    #[test]
    fn a_scrambled_log_does_not_panic(
        choices in prop::collection::vec(any::<u16>(), 0..60),
        (preset, rules, seats) in rules(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        huge in any::<bool>(),
    ) {
        let log = play_by(&choices, rules, preset, seats, |_| {}).log;
        let mut scrambled = vec![log[0].clone()];
        scrambled.extend(order.iter().map(|index| index.get(&log).clone()));
        if huge {
            let largest = [i64::MAX, 200].map(|number| number.to_string());
            scrambled = scrambled.iter().map(|event| exaggerate(event, &largest)).collect();
        }
        let game = replay(&scrambled);
        let legal = legal_commands(game.as_ref());
        let mut dice = FairDice::new(SECRET, game.as_ref().unwrap());
        for command in universe(3) {
            let answer = decide(game.as_ref(), &command, NOW, &mut dice);
            for event in answer.into_iter().flatten() {
                std::hint::black_box(domain::narrate(&event, &game.as_ref().unwrap().table));
            }
        }
        std::hint::black_box(legal);
    }
}

/// The event with the largest possible points and seats.
fn exaggerate(event: &Event, [points, seat]: &[String; 2]) -> Event {
    let mut written = serde_json::to_value(event).unwrap();
    let fields = written.as_object_mut().unwrap().values_mut().next().unwrap();
    for (key, value) in fields.as_object_mut().unwrap() {
        let number = match key.as_str() {
            "seat" => seat,
            "points" | "forfeited" | "turn_score" | "folded" | "game_score" => points,
            _ => continue,
        };
        *value = serde_json::from_str(number).unwrap();
    }
    serde_json::from_value(written).unwrap()
}

/// The random games above reach every kind of event.
#[test]
fn random_games_reach_every_event_type_and_end() {
    let (mut events, mut ends) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..400u16 {
        let choices: Vec<u16> = (0..150u16)
            .map(|n| n.wrapping_mul(7919).wrapping_add(number * 163) ^ (n << 5))
            .collect();
        let (preset, rules) = match number % 4 {
            0 => ("classic", json!({ "target": 600 })),
            1 => ("ten-round", json!({ "rounds": 3, "overtime_rounds": number % 2, "dice": 2 })),
            2 => ("classic", json!({ "target": 9000, "solo_turn_seconds": 10, "dice": 2 })),
            _ => ("challenge-standard", json!({ "target": 3000, "solo_turn_seconds": 10 })),
        };
        let table = play_by(&choices, rules, preset, u8::try_from(number % 4 + 1).unwrap(), |_| {});
        events.extend(table.log.iter().map(Event::name));
        if let Stage::Ended(outcome) = &table.game().table.stage {
            ends.insert(format!("{:?}", outcome.by));
        }
    }
    // These belong to other games, or to the house.
    let others = ["CharacterChosen", "Drawn", "Asked", "Answered", "Voided", "Ruled"];
    let of_farkle = Event::NAMES.into_iter().filter(|name| !others.contains(name));
    assert_eq!(events, of_farkle.collect());
    // A tie decided by the best round is too rare; a scenario plays it.
    let common = ["Abandoned", "Deserted", "LastSeat", "Score", "SharedWin"].map(str::to_owned);
    assert!(BTreeSet::from(common).is_subset(&ends), "{ends:?}");
}

#[test]
fn a_game_must_be_created_first() {
    check_legal_commands(&Match::empty());
}
