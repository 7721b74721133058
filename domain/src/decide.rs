//! The only way to change a game: a command and the state produce events or a rejection.

use uuid::Uuid;

use crate::{
    Command, DecidedBy, Dice, Event, Game, LeftBecause, Moment, Name, PlayerId, Rejection, SeatNo,
    Stage, Table, TurnEnd, VoidedFor, decision::Decision, fair, game_rules::GameRules,
    games::with_board, text::ClientSeed,
};

/// Decides a command to a game; `game` is `None` before it is created.
///
/// Randomness and time are arguments: the same arguments always produce the same events.
pub fn decide(
    game: Option<&Game>,
    command: &Command,
    now: Moment,
    dice: &mut impl Dice,
) -> Result<Vec<Event>, Rejection> {
    match (game, command) {
        (None, Command::Create { game, ruleset, commitment }) => {
            ruleset.check()?;
            Ok(vec![Event::Created {
                game: *game,
                ruleset: ruleset.clone(),
                ruleset_hash: fair::ruleset_hash(ruleset),
                commitment: *commitment,
            }])
        }
        (None, _) => Err(Rejection::NoSuchGame),
        (Some(game), command) => with_board!(&game.board, board => {
            decide_with(Decision::new(&game.table, board, now, dice), command)
        }),
    }
}

fn decide_with<B: GameRules>(
    mut decision: Decision<'_, B>,
    command: &Command,
) -> Result<Vec<Event>, Rejection> {
    use Stage::{Ended, Gathering, Playing};
    match (command, &decision.table.stage) {
        (Command::Create { .. }, _) => Err(Rejection::AlreadyCreated),
        (Command::Void { why, dispute }, _) => void(&mut decision, *why, *dispute),
        (_, Ended(_)) => Err(Rejection::GameOver),

        (Command::Join { player, name, seed }, Gathering) => {
            join(&mut decision, *player, name, seed.as_deref())
        }
        (Command::ChooseSeed { seat, seed }, Gathering) => choose_seed(&mut decision, *seat, seed),
        (Command::ChooseLoadout { seat, dice }, Gathering) => {
            choose_loadout(&mut decision, *seat, dice)
        }
        (Command::ChooseCharacter { seat, character }, Gathering) => {
            check_seated(&decision.table, *seat)
                .and_then(|()| B::choose_character(&mut decision, *seat, character))
        }
        (Command::Leave { seat }, Gathering) => leave_before_start(&mut decision, *seat),
        (Command::Start, Gathering) => start(&mut decision),
        (Command::Play { .. } | Command::TimeOut { .. } | Command::Rule { .. }, Gathering) => {
            Err(Rejection::NotStarted)
        }

        (Command::Play { seat, play }, Playing) => {
            check_turn(&decision.table, *seat).and_then(|()| B::play(&mut decision, play))
        }
        (Command::TimeOut { seat }, Playing) => time_out(&mut decision, *seat),
        (Command::Rule { winners, dispute }, Playing) => rule(&mut decision, winners, *dispute),
        (Command::Leave { seat }, Playing) => check_seated(&decision.table, *seat)
            .and_then(|()| forfeit_seat(&mut decision, *seat, LeftBecause::Quit, TurnEnd::Left)),
        (
            Command::Join { .. }
            | Command::ChooseSeed { .. }
            | Command::ChooseLoadout { .. }
            | Command::ChooseCharacter { .. }
            | Command::Start,
            Playing,
        ) => Err(Rejection::AlreadyStarted),

        (Command::Abandon { touched }, Gathering | Playing) => abandon(&mut decision, *touched),
    }?;
    Ok(decision.into_events())
}

fn join<B: GameRules>(
    decision: &mut Decision<'_, B>,
    player: PlayerId,
    name: &str,
    seed: Option<&str>,
) -> Result<(), Rejection> {
    let name = Name::parse(name)?;
    let seed = seed.map(ClientSeed::parse).transpose()?;
    let table = &decision.table;
    for seat in table.seated() {
        let other = &table.seats[usize::from(seat)];
        if other.player == player {
            return Err(Rejection::AlreadySeated { seat });
        }
        if other.name == name {
            return Err(Rejection::NameTaken { name });
        }
    }
    let seat =
        free_seat(table).ok_or(Rejection::TableFull { seats: table.ruleset.table.max_seats })?;
    decision.record(Event::SeatTaken { seat, player, name });
    if let Some(seed) = seed {
        decision.record(Event::SeedChosen { seat, seed });
    }
    Ok(())
}

/// The lowest free seat.
pub(crate) fn free_seat(table: &Table) -> Option<SeatNo> {
    let free = |&seat: &SeatNo| table.seats.get(usize::from(seat)).is_none_or(|s| s.gone);
    (0..table.ruleset.table.max_seats).find(free)
}

fn choose_seed<B: GameRules>(
    decision: &mut Decision<'_, B>,
    seat: SeatNo,
    seed: &str,
) -> Result<(), Rejection> {
    check_seated(&decision.table, seat)?;
    let seed = ClientSeed::parse(seed)?;
    decision.record(Event::SeedChosen { seat, seed });
    Ok(())
}

fn choose_loadout<B: GameRules>(
    decision: &mut Decision<'_, B>,
    seat: SeatNo,
    named: &[String],
) -> Result<(), Rejection> {
    check_seated(&decision.table, seat)?;
    let dice = decision.table.ruleset.rules.lawful_loadout(named)?;
    decision.record(Event::LoadoutChosen { seat, dice });
    Ok(())
}

fn leave_before_start<B: GameRules>(
    decision: &mut Decision<'_, B>,
    seat: SeatNo,
) -> Result<(), Rejection> {
    check_seated(&decision.table, seat)?;
    decision.record(Event::SeatLeft { seat, why: LeftBecause::Quit });
    Ok(())
}

/// Seals the current seeds and starts the turn of the first seat.
fn start<B: GameRules>(decision: &mut Decision<'_, B>) -> Result<(), Rejection> {
    let seated: Vec<SeatNo> = decision.table.seated().collect();
    let needed = decision.table.ruleset.table.min_seats;
    let count = u8::try_from(seated.len()).unwrap_or(u8::MAX);
    let (Some(&first), true) = (seated.first(), count >= needed) else {
        return Err(Rejection::NotEnoughSeats { seated: count, needed });
    };
    let seeds = fair::seeds_hash(decision.table.seats.iter().map(|seat| seat.seed.as_ref()));
    decision.record(Event::Started { seeds });
    B::begin(decision, first)
}

fn time_out<B: GameRules>(decision: &mut Decision<'_, B>, seat: SeatNo) -> Result<(), Rejection> {
    check_turn(&decision.table, seat)?;
    let deadline = decision.table.turn.deadline.ok_or(Rejection::NoTimeLimit)?;
    if decision.now < deadline {
        return Err(Rejection::TimeNotUp { deadline, now: decision.now });
    }
    let before = decision.table.seats.get(usize::from(seat)).map_or(0, |seat| seat.time_outs);
    let in_a_row = before.saturating_add(1);
    decision.record(Event::TimedOut { seat, in_a_row });
    if in_a_row >= decision.table.ruleset.table.time_outs_to_forfeit {
        return forfeit_seat(decision, seat, LeftBecause::TimedOut, TurnEnd::TimedOut);
    }
    B::time_out(decision)
}

fn abandon<B: GameRules>(decision: &mut Decision<'_, B>, touched: Moment) -> Result<(), Rejection> {
    let needed_hours = decision.table.ruleset.table.expiry_hours;
    if decision.now < touched.plus_hours(needed_hours) {
        let since_hours = decision.now.0.saturating_sub(touched.0) / 3_600_000;
        return Err(Rejection::NotStale { since_hours, needed_hours });
    }
    decision.end(DecidedBy::Abandoned, Vec::new())
}

/// A game that is over keeps its outcome; a running one ends without a winner.
fn void<B: GameRules>(
    decision: &mut Decision<'_, B>,
    why: VoidedFor,
    dispute: Option<Uuid>,
) -> Result<(), Rejection> {
    if decision.table.voided.is_some() {
        return Err(Rejection::AlreadyVoid);
    }
    let over = matches!(decision.table.stage, Stage::Ended(_));
    decision.record(Event::Voided { why, dispute });
    if over { Ok(()) } else { decision.end(DecidedBy::Voided, Vec::new()) }
}

/// Ends a running game with the given winners.
fn rule<B: GameRules>(
    decision: &mut Decision<'_, B>,
    winners: &[SeatNo],
    dispute: Option<Uuid>,
) -> Result<(), Rejection> {
    let mut named = Vec::with_capacity(winners.len());
    for &seat in winners {
        check_seated(&decision.table, seat)?;
        if named.contains(&seat) {
            return Err(Rejection::RepeatedWinner { seat });
        }
        named.push(seat);
    }
    decision.record(Event::Ruled { winners: named.clone(), dispute });
    decision.end(DecidedBy::Ruled, named)
}

/// The others play on; the last seat wins.
fn forfeit_seat<B: GameRules>(
    decision: &mut Decision<'_, B>,
    seat: SeatNo,
    why: LeftBecause,
    how: TurnEnd,
) -> Result<(), Rejection> {
    let had_the_turn = decision.table.turn.seat == seat;
    if had_the_turn {
        B::cut_short(decision, how)?;
    }
    decision.record(Event::SeatLeft { seat, why });
    let left: Vec<SeatNo> = decision.table.seated().collect();
    match left.len() {
        0 => decision.end(DecidedBy::Deserted, left),
        1 => decision.end(DecidedBy::LastSeat, left),
        _ if had_the_turn => B::next_turn(decision),
        _ => B::left(decision, seat),
    }
}

fn check_seated(table: &Table, seat: SeatNo) -> Result<(), Rejection> {
    match table.seats.get(usize::from(seat)) {
        None => {
            let seats = u8::try_from(table.seats.len()).unwrap_or(u8::MAX);
            Err(Rejection::NoSuchSeat { seat, seats })
        }
        Some(left) if left.gone => Err(Rejection::SeatGone { seat }),
        Some(_) => Ok(()),
    }
}

fn check_turn(table: &Table, seat: SeatNo) -> Result<(), Rejection> {
    check_seated(table, seat)?;
    let to_move = table.turn.to_move();
    match table.seats.get(usize::from(to_move)) {
        Some(mover) if seat != to_move => {
            Err(Rejection::NotYourTurn { to_move, name: mover.name.clone() })
        }
        _ => Ok(()),
    }
}
