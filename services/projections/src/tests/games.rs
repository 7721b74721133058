//! Random games, appended as commands would have done.

use domain::{Event, GameId, Moment, Ruleset, VoidedFor, fair::Secret};
use sqlx::Row;
use store::{Append, Hash, Head, Store};
use test_games::{Numbers, Whole, player};
use uuid::Uuid;

pub(super) const KINDS: [(&str, &str); 7] = [
    ("farkle", "classic"),
    ("farkle", "challenge-standard"),
    ("zero_hour", "standard"),
    ("last_line", "standard"),
    ("true_grit", "standard"),
    ("dice_rogue", "standard"),
    ("neonpolis", "standard"),
];

/// A random game of a few players, from the first event to the last; sometimes a player leaves.
pub(super) fn random_game(number: u64) -> Vec<Event> {
    let mut numbers = Numbers::of(number);
    let (kind, preset) = numbers.one_of(&KINDS);
    let mut ruleset = Ruleset::preset(kind, Some(preset)).unwrap();
    if kind == "farkle" {
        let short = serde_json::json!({ "target": 1500 });
        ruleset = Ruleset {
            preset: ruleset.preset.clone(),
            ..ruleset.with(short.as_object().unwrap()).unwrap()
        };
    }
    let (least, most) = (ruleset.table.min_seats, ruleset.table.max_seats.min(4));
    let seats = usize::from(least) + numbers.index(usize::from(most - least) + 1);
    // Few players, so that some ratings stop being provisional.
    let first = u8::try_from(numbers.index(6)).unwrap();
    let special = preset == "challenge-standard";
    let dice =
        if special { ["MIDAS", "HOT", "HOT"].map(str::to_owned).to_vec() } else { Vec::new() };
    let whole = Whole {
        players: (first..).take(seats).map(|number| (player(number), None)).collect(),
        dice,
        leaves_one_in: Some(400),
        ..Whole::new(GameId(Uuid::new_v4()), Secret([7; 32]), ruleset)
    };
    whole.play(&mut numbers)
}

/// Appends games as commands would have done; their times are not in the order of appends. Some are
/// void.
pub(super) async fn deal(store: &Store, from: u64, count: u64) {
    for number in from..from + count {
        let mut log = random_game(number);
        if number.is_multiple_of(9) {
            log.push(Event::Voided { why: VoidedFor::Malfunction, dispute: None });
        }
        let Event::Created { game, .. } = &log[0] else { panic!() };
        let (mut head, stream) = (Head::NEW, game.0);
        // Spread over some days, not in the order of appends.
        let began = 1_800_000_000_000 + (number * 7919 % 100) * 3_600_000;
        for (n, events) in log.chunks(40).enumerate() {
            let at = Moment(began + n as u64 * 1000);
            let (command, request) = (Uuid::new_v4(), Hash([1; 32]));
            let append = Append { stream, head, command, request, actor: stream, at, events };
            head = store.append(append).await.unwrap().head;
        }
    }
}

/// Voids some of the games that are not void yet.
pub(super) async fn void_some(store: &Store, every: usize) {
    let over = "SELECT stream FROM event e WHERE type = 'Ended'
        AND NOT EXISTS (SELECT 1 FROM event v WHERE v.shard = e.shard AND v.stream = e.stream AND v.type = 'Voided') ORDER BY 1";
    let games = sqlx::query(over).fetch_all(store.pool()).await.unwrap();
    for row in games.iter().step_by(every) {
        let stream: Uuid = row.get(0);
        let head = store.games.latest(stream).await.unwrap().head;
        let (command, request) = (Uuid::new_v4(), Hash([2; 32]));
        let events = &[Event::Voided { why: VoidedFor::Cheating, dispute: None }];
        let at = Moment(1_900_000_000_000);
        let append = Append { stream, head, command, request, actor: Uuid::nil(), at, events };
        store.append(append).await.unwrap();
    }
}
