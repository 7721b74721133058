//! The one way to change a game: a command and the state give events, or a refusal.

use uuid::Uuid;

use crate::{
    Command, DecidedBy, Dice, Event, Game, LeftBecause, Moment, Name, PlayerId, Rejection, SeatNo,
    Stage, Table, TurnEnd, VoidedFor, desk::Desk, fair, games::with_board, rulebook::Rulebook,
    text::ClientSeed,
};

/// What a command makes happen to a game; `None` is a game not created yet.
///
/// Chance and time are arguments: the same ones always give the same events.
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
            decide_with(Desk::new(&game.table, board, now, dice), command)
        }),
    }
}

fn decide_with<B: Rulebook>(
    mut desk: Desk<'_, B>,
    command: &Command,
) -> Result<Vec<Event>, Rejection> {
    use Stage::{Ended, Gathering, Playing};
    match (command, &desk.table.stage) {
        (Command::Create { .. }, _) => Err(Rejection::AlreadyCreated),
        (Command::Void { why, dispute }, _) => void(&mut desk, *why, *dispute),
        (_, Ended(_)) => Err(Rejection::GameOver),

        (Command::Join { player, name, seed }, Gathering) => {
            join(&mut desk, *player, name, seed.as_deref())
        }
        (Command::ChooseSeed { seat, seed }, Gathering) => choose_seed(&mut desk, *seat, seed),
        (Command::ChooseLoadout { seat, dice }, Gathering) => {
            choose_loadout(&mut desk, *seat, dice)
        }
        (Command::ChooseCharacter { seat, character }, Gathering) => is_seated(&desk.table, *seat)
            .and_then(|()| B::choose_character(&mut desk, *seat, character)),
        (Command::Leave { seat }, Gathering) => leave_early(&mut desk, *seat),
        (Command::Start, Gathering) => start(&mut desk),
        (Command::Play { .. } | Command::TimeOut { .. } | Command::Rule { .. }, Gathering) => {
            Err(Rejection::NotStarted)
        }

        (Command::Play { seat, play }, Playing) => {
            its_turn(&desk.table, *seat).and_then(|()| B::play(&mut desk, play))
        }
        (Command::TimeOut { seat }, Playing) => time_out(&mut desk, *seat),
        (Command::Rule { winners, dispute }, Playing) => rule(&mut desk, winners, *dispute),
        (Command::Leave { seat }, Playing) => is_seated(&desk.table, *seat)
            .and_then(|()| forfeit_seat(&mut desk, *seat, LeftBecause::Quit, TurnEnd::Left)),
        (
            Command::Join { .. }
            | Command::ChooseSeed { .. }
            | Command::ChooseLoadout { .. }
            | Command::ChooseCharacter { .. }
            | Command::Start,
            Playing,
        ) => Err(Rejection::AlreadyStarted),

        (Command::Abandon { touched }, Gathering | Playing) => abandon(&mut desk, *touched),
    }?;
    Ok(desk.into_events())
}

fn join<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    player: PlayerId,
    name: &str,
    seed: Option<&str>,
) -> Result<(), Rejection> {
    let name = Name::parse(name)?;
    let seed = seed.map(ClientSeed::parse).transpose()?;
    let table = &desk.table;
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
    desk.record(Event::SeatTaken { seat, player, name });
    if let Some(seed) = seed {
        desk.record(Event::SeedChosen { seat, seed });
    }
    Ok(())
}

/// The lowest seat nobody sits on.
pub(crate) fn free_seat(table: &Table) -> Option<SeatNo> {
    let free = |&seat: &SeatNo| table.seats.get(usize::from(seat)).is_none_or(|s| s.gone);
    (0..table.ruleset.table.max_seats).find(free)
}

fn choose_seed<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    seat: SeatNo,
    seed: &str,
) -> Result<(), Rejection> {
    is_seated(&desk.table, seat)?;
    let seed = ClientSeed::parse(seed)?;
    desk.record(Event::SeedChosen { seat, seed });
    Ok(())
}

fn choose_loadout<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    seat: SeatNo,
    named: &[String],
) -> Result<(), Rejection> {
    is_seated(&desk.table, seat)?;
    let dice = desk.table.ruleset.rules.lawful_loadout(named)?;
    desk.record(Event::LoadoutChosen { seat, dice });
    Ok(())
}

fn leave_early<B: Rulebook>(desk: &mut Desk<'_, B>, seat: SeatNo) -> Result<(), Rejection> {
    is_seated(&desk.table, seat)?;
    desk.record(Event::SeatLeft { seat, why: LeftBecause::Quit });
    Ok(())
}

/// Seals the seeds as they are now and gives the first seat its turn.
fn start<B: Rulebook>(desk: &mut Desk<'_, B>) -> Result<(), Rejection> {
    let seated: Vec<SeatNo> = desk.table.seated().collect();
    let needed = desk.table.ruleset.table.min_seats;
    let count = u8::try_from(seated.len()).unwrap_or(u8::MAX);
    let (Some(&first), true) = (seated.first(), count >= needed) else {
        return Err(Rejection::NotEnoughSeats { seated: count, needed });
    };
    let seeds = fair::seeds_hash(desk.table.seats.iter().map(|seat| seat.seed.as_ref()));
    desk.record(Event::Started { seeds });
    B::begin(desk, first)
}

fn time_out<B: Rulebook>(desk: &mut Desk<'_, B>, seat: SeatNo) -> Result<(), Rejection> {
    its_turn(&desk.table, seat)?;
    let deadline = desk.table.turn.deadline.ok_or(Rejection::NoTimeLimit)?;
    if desk.now < deadline {
        return Err(Rejection::TimeNotUp { deadline, now: desk.now });
    }
    let before = desk.table.seats.get(usize::from(seat)).map_or(0, |seat| seat.time_outs);
    let in_a_row = before.saturating_add(1);
    desk.record(Event::TimedOut { seat, in_a_row });
    if in_a_row >= desk.table.ruleset.table.time_outs_to_forfeit {
        return forfeit_seat(desk, seat, LeftBecause::TimedOut, TurnEnd::TimedOut);
    }
    B::time_out(desk)
}

fn abandon<B: Rulebook>(desk: &mut Desk<'_, B>, touched: Moment) -> Result<(), Rejection> {
    let needed_hours = desk.table.ruleset.table.expiry_hours;
    if desk.now < touched.plus_hours(needed_hours) {
        let since_hours = desk.now.0.saturating_sub(touched.0) / 3_600_000;
        return Err(Rejection::NotStale { since_hours, needed_hours });
    }
    desk.end(DecidedBy::Abandoned, Vec::new())
}

/// A game that is over stays as it was played; one that is not ends here, without a winner.
fn void<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    why: VoidedFor,
    dispute: Option<Uuid>,
) -> Result<(), Rejection> {
    if desk.table.voided.is_some() {
        return Err(Rejection::AlreadyVoid);
    }
    let over = matches!(desk.table.stage, Stage::Ended(_));
    desk.record(Event::Voided { why, dispute });
    if over { Ok(()) } else { desk.end(DecidedBy::Voided, Vec::new()) }
}

/// The game ends as it stands; who wins is said.
fn rule<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    winners: &[SeatNo],
    dispute: Option<Uuid>,
) -> Result<(), Rejection> {
    let mut named = Vec::with_capacity(winners.len());
    for &seat in winners {
        is_seated(&desk.table, seat)?;
        if named.contains(&seat) {
            return Err(Rejection::RepeatedWinner { seat });
        }
        named.push(seat);
    }
    desk.record(Event::Ruled { winners: named.clone(), dispute });
    desk.end(DecidedBy::Ruled, named)
}

/// The others play on; one left wins.
fn forfeit_seat<B: Rulebook>(
    desk: &mut Desk<'_, B>,
    seat: SeatNo,
    why: LeftBecause,
    how: TurnEnd,
) -> Result<(), Rejection> {
    let had_the_turn = desk.table.turn.seat == seat;
    if had_the_turn {
        B::cut_short(desk, how)?;
    }
    desk.record(Event::SeatLeft { seat, why });
    let left: Vec<SeatNo> = desk.table.seated().collect();
    match left.len() {
        0 => desk.end(DecidedBy::Deserted, left),
        1 => desk.end(DecidedBy::LastSeat, left),
        _ if had_the_turn => B::next_turn(desk),
        _ => B::left(desk, seat),
    }
}

fn is_seated(table: &Table, seat: SeatNo) -> Result<(), Rejection> {
    match table.seats.get(usize::from(seat)) {
        None => {
            let seats = u8::try_from(table.seats.len()).unwrap_or(u8::MAX);
            Err(Rejection::NoSuchSeat { seat, seats })
        }
        Some(left) if left.gone => Err(Rejection::SeatGone { seat }),
        Some(_) => Ok(()),
    }
}

fn its_turn(table: &Table, seat: SeatNo) -> Result<(), Rejection> {
    is_seated(table, seat)?;
    let to_move = table.turn.to_move();
    match table.seats.get(usize::from(to_move)) {
        Some(mover) if seat != to_move => {
            Err(Rejection::NotYourTurn { to_move, name: mover.name.clone() })
        }
        _ => Ok(()),
    }
}
