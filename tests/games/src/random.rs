//! Random games.

use domain::{Command, Game, Legal, Moment, Play, Ruleset, VoidedFor, legal_commands};

use crate::{Match, Numbers, join, play};

/// A running game with a random number of seats.
pub fn begun(ruleset: &Ruleset, numbers: &mut Numbers) -> Match {
    let mut table = Match::under(ruleset);
    let rules = &table.game().table.ruleset.table;
    let (least, most) = (usize::from(rules.min_seats), usize::from(rules.max_seats));
    let seats = least + numbers.index(most - least + 1);
    for seat in 0..u8::try_from(seats).unwrap() {
        table.execute(&join(seat), &[]).unwrap();
    }
    table.execute_fairly(&Command::Start).unwrap();
    table
}

/// One of the legal moves; sometimes a timeout.
pub fn choose(table: &Match, numbers: &mut Numbers, disturbed: bool) -> Command {
    let seat = table.game().to_move().unwrap();
    if disturbed && numbers.index(30) == 0 && table.game().table.turn.deadline.is_some() {
        return Command::TimeOut { seat };
    }
    if disturbed && numbers.index(150) == 0 {
        let seated: Vec<u8> = table.game().table.seated().collect();
        return Command::Leave { seat: numbers.one_of(&seated) };
    }
    let moves = plays(table.game());
    play(seat, moves[numbers.index(moves.len())].clone())
}

/// All legal moves.
pub fn plays(game: &Game) -> Vec<Play> {
    let play = |legal| if let Legal::Play(_, play) = legal { Some(play) } else { None };
    legal_commands(Some(game)).into_iter().filter_map(play).collect()
}

/// A game of at most this many commands in which anything may happen: players take and leave seats
/// and make choices, clocks run out, the house closes or voids it. It may still be running.
pub fn eventful(ruleset: &Ruleset, numbers: &mut Numbers, most_commands: usize) -> Match {
    let mut table = gathered(ruleset, numbers);
    if table.execute_fairly(&Command::Start).is_err() {
        return table;
    }
    let commands = 1 + numbers.index(most_commands);
    let disturbed = numbers.index(2) == 0;
    for _ in 0..commands {
        if table.game().to_move().is_none() {
            break;
        }
        let command = choose(&table, numbers, disturbed);
        if let Command::TimeOut { .. } = command {
            table.now = table.game().table.turn.deadline.unwrap();
        }
        table.now = Moment(table.now.0 + u64::from(numbers.below(5_000)));
        table.execute_fairly(&command).unwrap();
    }
    if numbers.index(3) == 0 && table.game().to_move().is_some() {
        table.execute_fairly(&Command::Abandon { touched: Moment(0) }).unwrap();
    }
    if numbers.index(5) == 0 {
        let why = numbers.one_of(&VoidedFor::ALL);
        table.execute_fairly(&Command::Void { why, dispute: None }).unwrap();
    }
    table
}

/// A table at which seats were taken, left and taken again, and choices were made.
pub fn gathered(ruleset: &Ruleset, numbers: &mut Numbers) -> Match {
    let mut table = Match::under(ruleset);
    let seats = ruleset.table.max_seats;
    for newcomer in 0..seats {
        table.execute(&join(newcomer), &[]).unwrap();
        if newcomer + 1 >= ruleset.table.min_seats && numbers.index(3) == 0 {
            break;
        }
    }
    for newcomer in 20..20 + u8::try_from(numbers.index(8)).unwrap() {
        let seat = u8::try_from(numbers.index(usize::from(seats))).unwrap();
        let free = legal_commands(table.game.as_ref()).into_iter().filter_map(|legal| {
            let Legal::ChooseCharacter(seat, character) = legal else { return None };
            Some((seat, character))
        });
        let free: Vec<_> = free.collect();
        let command = match numbers.index(6) {
            0 => Command::Leave { seat },
            1 => join(newcomer),
            2 => Command::ChooseSeed { seat, seed: format!("{{{newcomer}}} \"; | ü") },
            3 | 4 => Command::ChooseLoadout { seat, dice: some_dice(ruleset, numbers) },
            _ if free.is_empty() => continue,
            _ => {
                let (seat, character) = numbers.one_of(&free);
                Command::ChooseCharacter { seat, character: character.to_string() }
            }
        };
        // Refused if the seat is gone, the table is full, or there is nothing to choose.
        table.execute(&command, &[]).ok();
    }
    for newcomer in 40.. {
        if table.game().table.seated().count() >= usize::from(ruleset.table.min_seats) {
            break;
        }
        table.execute(&join(newcomer), &[]).unwrap();
    }
    table
}

/// A few special dice, if the game has any.
pub fn some_dice(ruleset: &Ruleset, numbers: &mut Numbers) -> Vec<String> {
    let kinds = ruleset.rules.catalogue().map_or(&[][..], |catalogue| &catalogue.dice);
    let count = if kinds.is_empty() { 0 } else { 1 + numbers.index(4) };
    (0..count).map(|_| kinds[numbers.index(kinds.len())].code.to_string()).collect()
}
