//! The law of read models: live = rebuilt = a naive fold of the log, whatever happens to whoever folds it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::similar_names,
    reason = "a fold as plain as can be"
)]

use std::{
    collections::BTreeMap,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use cluster::Cluster;
use domain::{
    Command, DecidedBy, Event, Game, GameId, Legal, Moment, Play, PlayerId, Ruleset, decide,
    evolve,
    fair::{FairDice, Secret, commitment, ruleset_hash},
    legal_commands,
};
use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2_rating_period},
};
use sqlx::{Connection, Executor, PgConnection, Row};
use store::{Append, Hash, Head, Settings, Store};
use uuid::Uuid;

use crate::{
    ProjectionError, Runner, Span, Statistics,
    leaderboards::{Board, Measure, Place, Standing, among, around, page},
    lease,
    ratings::ratings_of,
    rebuild, statistics_of, status, verify,
};

const NAME: &str = "player_statistics";

struct Server {
    _folder: tempfile::TempDir,
    cluster: Cluster,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let cluster = Cluster::start(folder.path(), cluster::Settings::Throwaway).unwrap();
    Server { _folder: folder, cluster }
});

async fn database() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    execute(&SERVER.cluster.url("postgres"), &format!("CREATE DATABASE {name}")).await;
    let url = SERVER.cluster.url(&name);
    store::migrate(&url).await.unwrap();
    url
}

async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let done = connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))).await;
    done.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

fn open(url: &str) -> Store {
    Store::open(url, &Settings::default()).unwrap()
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 32) % limit as u64).unwrap()
    }
}

const KINDS: [(&str, &str); 7] = [
    ("farkle", "classic"),
    ("farkle", "challenge-standard"),
    ("zero_hour", "standard"),
    ("last_line", "standard"),
    ("true_grit", "standard"),
    ("dice_rogue", "standard"),
    ("neonpolis", "standard"),
];

fn player(number: usize) -> PlayerId {
    PlayerId(Uuid::from_u128(0xA000 + number as u128))
}

/// A random game of a few players, from the first event to the last; now and then somebody leaves.
fn random_game(number: u64) -> Vec<Event> {
    let mut numbers = Numbers(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (kind, preset) = KINDS[numbers.below(KINDS.len())];
    let mut ruleset = Ruleset::preset(kind, Some(preset)).unwrap();
    if kind == "farkle" {
        let short = serde_json::json!({ "target": 1500 });
        ruleset = Ruleset {
            preset: ruleset.preset.clone(),
            ..ruleset.with(short.as_object().unwrap()).unwrap()
        };
    }
    let (least, most) = (ruleset.table.min_seats, ruleset.table.max_seats.min(4));
    let seats = usize::from(least) + numbers.below(usize::from(most - least) + 1);
    let (game, secret) = (GameId(Uuid::new_v4()), Secret([7; 32]));
    let commitment = commitment(&secret, game, ruleset_hash(&ruleset));
    let first = numbers.below(12);
    let mut commands = vec![Command::Create { game, ruleset: Arc::new(ruleset), commitment }];
    for seat in 0..seats {
        let name = format!("player {seat}");
        commands.push(Command::Join { player: player(first + seat), name, seed: None });
    }
    if preset == "challenge-standard" {
        let dice = vec!["MIDAS".to_owned(), "HOT".to_owned(), "HOT".to_owned()];
        commands.push(Command::ChooseLoadout { seat: 0, dice });
    }
    commands.push(Command::Start);
    let mut log: Vec<Event> = Vec::new();
    let mut state: Option<Game> = None;
    let mut tell = |state: &mut Option<Game>, command: &Command| {
        let decided = match &*state {
            Some(game) => decide(Some(game), command, Moment(0), &mut FairDice::new(secret, game)),
            None => decide(None, command, Moment(0), &mut domain::NoDice),
        };
        for event in decided.unwrap() {
            *state = evolve(state.take(), &event);
            log.push(event);
        }
    };
    for command in &commands {
        tell(&mut state, command);
    }
    while let Some(seat) = state.as_ref().and_then(Game::to_move) {
        let plays: Vec<Play> = legal_commands(state.as_ref())
            .into_iter()
            .filter_map(|legal| if let Legal::Play(_, play) = legal { Some(play) } else { None })
            .collect();
        let command = if numbers.below(400) == 0 {
            Command::Leave { seat }
        } else {
            Command::Play { seat, play: plays[numbers.below(plays.len())].clone() }
        };
        tell(&mut state, &command);
    }
    log
}

/// Appends games as commands would have made them; times go up, but not in the order of appends.
async fn deal(store: &Store, from: u64, count: u64) {
    for number in from..from + count {
        let log = random_game(number);
        let Event::Created { game, .. } = &log[0] else { panic!() };
        let (mut head, stream) = (Head::NEW, game.0);
        // Over some days, and not in the order of appends.
        let began = 1_800_000_000_000 + (number * 7919 % 100) * 3_600_000;
        for (n, events) in log.chunks(40).enumerate() {
            let at = Moment(began + n as u64 * 1000);
            let (command, request) = (Uuid::new_v4(), Hash([1; 32]));
            let append = Append { stream, head, command, request, actor: stream, at, events };
            head = store.append(append).await.unwrap().head.unwrap();
        }
    }
}

/// What the numbers must be, by the plainest fold of everything there is.
async fn naive(store: &Store) -> BTreeMap<(Uuid, String, String), [i64; 12]> {
    let mut connection = store.pool().acquire().await.unwrap();
    let all = "SELECT stream, payload::text, type FROM event ORDER BY stream, version";
    let mut games: BTreeMap<Uuid, Vec<Event>> = BTreeMap::new();
    for row in sqlx::query(all).fetch_all(&mut *connection).await.unwrap() {
        let (payload, kind): (String, String) = (row.get(1), row.get(2));
        let event = serde_json::from_str(&format!("{{\"{kind}\":{payload}}}")).unwrap();
        games.entry(row.get(0)).or_default().push(event);
    }
    let mut sums: BTreeMap<(Uuid, String, String), [i64; 12]> = BTreeMap::new();
    for log in games.values() {
        let Event::Created { ruleset, .. } = &log[0] else { continue };
        let Some(Event::Ended(outcome)) = log.iter().find(|event| matches!(event, Event::Ended(_)))
        else {
            continue;
        };
        if outcome.by == DecidedBy::Abandoned {
            continue;
        }
        for event in log {
            let Event::SeatTaken { seat, player, .. } = event else { continue };
            let key = (player.0, ruleset.rules.game().to_owned(), ruleset.preset.clone());
            let of_seat = |event: &&Event| event.seat() == Some(*seat);
            let count = |name: &str| {
                let events = log.iter().filter(of_seat).filter(|event| event.name() == name);
                i64::try_from(events.count()).unwrap()
            };
            let most = |value: &dyn Fn(&Event) -> Option<i64>| {
                log.iter().filter(of_seat).filter_map(value).max().unwrap_or(0)
            };
            let sum = |value: &dyn Fn(&Event) -> Option<i64>| -> i64 {
                log.iter().filter(of_seat).filter_map(value).sum()
            };
            let score = outcome.scores[usize::from(*seat)];
            let turn = |event: &Event| match event {
                Event::TurnEnded(ended) => Some(ended.points),
                _ => None,
            };
            let save = |event: &Event| match event {
                Event::Saved(saved) => Some(saved.points),
                _ => None,
            };
            let lost = |event: &Event| match event {
                Event::TurnEnded(ended) => Some(ended.forfeited),
                _ => None,
            };
            let money = |event: &Event| match event {
                Event::MoneyAwarded { amount, .. } => Some(i64::from(*amount)),
                _ => None,
            };
            let row = sums.entry(key).or_insert([0, 0, 0, 0, i64::MIN, 0, 0, 0, 0, 0, 0, 0]);
            row[0] += 1;
            row[1] += i64::from(outcome.winners.contains(seat));
            row[2] += count("SeatLeft").min(1);
            row[3] += score;
            row[4] = row[4].max(score);
            row[5] += count("TurnEnded");
            row[6] += count("Farkled");
            row[7] += count("Rolled");
            row[8] = row[8].max(most(&turn)).max(0);
            row[9] = row[9].max(most(&save)).max(0);
            row[10] += sum(&lost);
            row[11] += sum(&money);
        }
    }
    sums
}

fn plain(statistics: &Statistics) -> [i64; 12] {
    [
        statistics.games.into(),
        statistics.wins.into(),
        statistics.left.into(),
        statistics.scores,
        statistics.best_game.unwrap_or(i64::MIN),
        statistics.turns.into(),
        statistics.farkles.into(),
        statistics.rolls.into(),
        statistics.best_turn,
        statistics.biggest_save,
        statistics.forfeited,
        i64::try_from(statistics.money).unwrap(),
    ]
}

/// What reads see now.
async fn live(store: &Store) -> BTreeMap<(Uuid, String, String), Statistics> {
    let players: Vec<Uuid> = (0..20).map(|number| player(number).0).collect();
    let found = statistics_of(store.pool(), &players).await.unwrap();
    let rows = found.into_iter().flat_map(|(player, all)| {
        all.into_iter().map(move |s| ((player, s.kind, s.preset), s.statistics))
    });
    rows.collect()
}

/// Waits until everything is folded.
async fn settled(store: &Store) {
    for _ in 0..600 {
        let heads = store.heads().await.unwrap();
        let all = status(store.pool(), &heads).await.unwrap();
        let mut live = all.iter().filter(|status| status.state == "live").peekable();
        if live.peek().is_some() && live.all(|live| live.behind() == 0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the read models do not get there");
}

/// Streaks by the order in which games ended.
async fn streaks(store: &Store, key: &(Uuid, String, String)) -> (u32, u32) {
    let games = "SELECT won FROM player_game g JOIN projection p USING (generation)
        WHERE p.name = 'player_statistics' AND p.state = 'live' AND player = $1 AND kind = $2 AND preset = $3
        ORDER BY ended_at, game";
    let query = sqlx::query(games).bind(key.0).bind(&key.1).bind(&key.2);
    let rows = query.fetch_all(store.pool()).await.unwrap();
    rows.iter().fold((0, 0), |(streak, best), row| {
        let streak = if row.get::<bool, _>(0) { streak + 1 } else { 0 };
        (streak, best.max(streak))
    })
}

async fn holds(store: &Store) {
    let (expected, found) = (naive(store).await, live(store).await);
    let found_plain: BTreeMap<_, _> =
        found.iter().map(|(key, statistics)| (key.clone(), plain(statistics))).collect();
    assert_eq!(found_plain, expected);
    for (key, statistics) in &found {
        assert_eq!(
            (statistics.streak, statistics.best_streak),
            streaks(store, key).await,
            "{key:?}"
        );
    }
}

/// Ratings are what comes out when all games are taken day by day, from the first one on.
async fn ratings_hold(store: &Store) {
    const RESULTS: &str = "SELECT kind, day, player, opponent, outcome FROM rating_result r JOIN projection p USING (generation)
        WHERE p.name = 'ratings' AND p.state = 'live' ORDER BY kind, day, player, game, opponent";
    type Results = BTreeMap<(String, i32), BTreeMap<Uuid, Vec<(Uuid, i16)>>>;
    let mut results: Results = BTreeMap::new();
    for row in sqlx::query(RESULTS).fetch_all(store.pool()).await.unwrap() {
        let of_day = results.entry((row.get(0), row.get(1))).or_default();
        of_day.entry(row.get(2)).or_default().push((row.get(3), row.get(4)));
    }
    assert!(results.len() > 5, "{}", results.len());
    let mut now: BTreeMap<(String, Uuid), (i32, Glicko2Rating)> = BTreeMap::new();
    for ((kind, day), games) in &results {
        let start = |player: &Uuid| {
            let known = now.get(&(kind.clone(), *player)).copied();
            known.map_or_else(Glicko2Rating::default, |(last, rating)| {
                (last + 1..*day).fold(rating, |rating, _| decay_deviation(&rating))
            })
        };
        let outcomes = [Outcomes::LOSS, Outcomes::DRAW, Outcomes::WIN];
        let rated: Vec<(Uuid, Glicko2Rating)> = games
            .iter()
            .map(|(player, games)| {
                let outcome = |number: i16| outcomes[usize::try_from(number).unwrap()];
                let games: Vec<_> =
                    games.iter().map(|(other, number)| (start(other), outcome(*number))).collect();
                let config = Glicko2Config::default();
                (*player, glicko2_rating_period(&start(player), &games, &config))
            })
            .collect();
        for (player, rating) in rated {
            now.insert((kind.clone(), player), (*day, rating));
        }
    }
    let last = results.keys().map(|(_, day)| *day).max().unwrap();
    let players: Vec<Uuid> = (0..20).map(|number| player(number).0).collect();
    let found = ratings_of(store.pool(), &players, last).await.unwrap();
    let mut count = 0;
    for (player, ratings) in found {
        for rating in ratings {
            let (day, expected) = now[&(rating.kind.clone(), player)];
            let expected = (day..last).fold(expected, |rating, _| decay_deviation(&rating));
            assert!((rating.rating - expected.rating).abs() < 1e-9, "{rating:?} {expected:?}");
            assert!((rating.deviation - expected.deviation).abs() < 1e-9);
            count += 1;
        }
    }
    assert_eq!(count, now.len());
}

/// The games of a player on a board: score, whether it was won, when it ended.
type Plain = BTreeMap<(Board, Uuid), Vec<(i64, bool, i64)>>;

/// Every board is the plain sorted list of what the games say: order, ranks, pages, who stands around whom.
async fn boards_hold(store: &Store) {
    let games = "SELECT kind, preset, player, score, won, ended_at, count(*) OVER (PARTITION BY game) AS seats
        FROM player_game g JOIN projection p USING (generation) WHERE p.name = 'player_statistics' AND p.state = 'live'";
    let mut plain: Plain = BTreeMap::new();
    for row in sqlx::query(games).fetch_all(store.pool()).await.unwrap() {
        let (kind, preset): (String, String) = (row.get(0), row.get(1));
        if row.get::<i64, _>(6) == 1 && kind != "dice_rogue" {
            continue;
        }
        let at: i64 = row.get(5);
        for span in Span::ALL {
            let period = span.of(Moment(u64::try_from(at).unwrap()));
            let board = Board { kind: kind.clone(), preset: preset.clone(), period };
            plain.entry((board, row.get(2))).or_default().push((row.get(3), row.get(4), at));
        }
    }
    let boards: std::collections::BTreeSet<Board> = plain.keys().map(|(b, _)| b.clone()).collect();
    assert!(boards.len() > 20, "{}", boards.len());
    for board in &boards {
        for measure in Measure::ALL {
            board_holds(store, board, measure, &plain).await;
        }
    }
}

async fn board_holds(store: &Store, board: &Board, measure: Measure, plain: &Plain) {
    let mut expected: Vec<(i64, i64, Uuid)> = Vec::new();
    for ((_, player), games) in plain.iter().filter(|((known, _), _)| known == board) {
        let last = games.iter().map(|(_, _, at)| *at).max().unwrap();
        let wins: Vec<i64> =
            games.iter().filter(|(_, won, _)| *won).map(|(_, _, at)| *at).collect();
        let best = games.iter().map(|(score, _, _)| *score).max().unwrap();
        let first = games.iter().filter(|(score, _, _)| *score == best).map(|(_, _, at)| *at).min();
        let total: i64 = games.iter().map(|(score, _, _)| *score).sum();
        let count = i64::try_from(games.len()).unwrap();
        match measure {
            Measure::Wins if wins.is_empty() => {}
            Measure::Wins => {
                let count = i64::try_from(wins.len()).unwrap();
                expected.push((count, wins.into_iter().max().unwrap(), *player));
            }
            Measure::Best => expected.push((best, first.unwrap(), *player)),
            Measure::Average if count < 10 => {}
            Measure::Average => {
                expected.push(((total * 1000).div_euclid(count), last, *player));
            }
        }
    }
    expected.sort_by_key(|(value, at, player)| (-value, *at, *player));
    let rank = |value: i64| {
        1 + i64::try_from(expected.iter().filter(|(other, ..)| *other > value).count()).unwrap()
    };
    let wanted: Vec<(i64, i64, i64, Uuid)> =
        expected.iter().map(|&(value, at, player)| (rank(value), value, at, player)).collect();
    let plainly = |rows: &[Standing]| -> Vec<(i64, i64, i64, Uuid)> {
        rows.iter().map(|row| (row.rank, row.value, row.at, row.player)).collect()
    };
    let pool = store.pool();
    // Page by page, three at a time.
    let mut found: Vec<Standing> = Vec::new();
    loop {
        let after = found.last().map(|&last| Place::from(last));
        let next = page(pool, board, measure, after, 3).await.unwrap();
        if next.is_empty() {
            break;
        }
        found.extend(next);
    }
    assert_eq!(plainly(&found), wanted, "{board:?} {measure:?}");
    for (n, row) in found.iter().enumerate() {
        let near = around(pool, board, measure, row.player, 2).await.unwrap();
        let (from, to) = (n.saturating_sub(2), (n + 3).min(found.len()));
        assert_eq!(plainly(&near), wanted[from..to], "{board:?} {measure:?}");
    }
    let friends: Vec<Uuid> = found.iter().step_by(2).map(|row| row.player).collect();
    let some = among(pool, board, measure, &friends).await.unwrap();
    let every_second: Vec<_> = wanted.iter().step_by(2).copied().collect();
    assert_eq!(plainly(&some), every_second);
}

/// Live = naive = rebuilt, with two nodes at work, games dealt meanwhile, and nodes that vanish.
#[tokio::test(flavor = "multi_thread")]
async fn live_is_rebuilt_is_naive() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 60).await;
    // Nodes that are killed at any moment: their leases run out, and others take over.
    for number in 0..4u64 {
        let doomed = open(&url);
        let work = tokio::spawn(Runner::new(doomed).run());
        tokio::time::sleep(Duration::from_millis(40 * number)).await;
        work.abort();
        let lapse = "UPDATE projection_range SET leased_until = now() - interval '1 second'";
        execute(&url, lapse).await;
    }
    let (one, other) = (open(&url), open(&url));
    let work = [tokio::spawn(Runner::new(one).run()), tokio::spawn(Runner::new(other).run())];
    deal(&store, 61, 60).await;
    settled(&store).await;
    holds(&store).await;
    boards_hold(&store).await;
    ratings_hold(&store).await;
    // Built anew while games go on.
    let dealing = {
        let store = store.clone();
        tokio::spawn(async move { deal(&store, 121, 40).await })
    };
    let built = rebuild(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((built.differing, built.differences), (0, Vec::new()));
    assert_eq!(built.live, 2);
    dealing.await.unwrap();
    settled(&store).await;
    holds(&store).await;
    let same = verify(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((same.live, same.differing), (2, 0));
    for name in ["leaderboards", "ratings"] {
        let built = rebuild(&store, name, |_| {}).await.unwrap();
        assert_eq!((built.differing, built.differences), (0, Vec::new()), "{name}");
    }
    boards_hold(&store).await;
    ratings_hold(&store).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let states: Vec<_> =
        all.iter().map(|status| (status.generation, status.state.as_str())).collect();
    let all = [(1, "old"), (2, "live")].repeat(3);
    assert_eq!(states, all, "the ones before stay for a way back");
    work.iter().for_each(tokio::task::JoinHandle::abort);
}

/// What somebody changed by hand is found by folding anew, and gone with the rebuilt generation.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_row_is_found_and_mended() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 20).await;
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().differing, 0, "both are brought there");
    execute(&url, "UPDATE player_statistics SET statistics = '{}' WHERE (generation, player, kind, preset) IN
        (SELECT generation, player, kind, preset FROM player_statistics WHERE generation = 2 ORDER BY 2, 3, 4 LIMIT 1)").await;
    let found = verify(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((found.differing, found.differences.len()), (1, 1));
    assert_eq!(found.differences[0].live.as_deref(), Some("{}"));
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().differing, 1);
    assert_eq!(verify(&store, NAME, |_| {}).await.unwrap().differing, 0);
    holds(&store).await;
}

/// Whoever lost a range writes nothing any more, whatever they still believe.
#[tokio::test(flavor = "multi_thread")]
async fn an_owner_who_was_replaced_is_fenced_off() {
    let url = database().await;
    let store = open(&url);
    lease::ensure_live(store.pool()).await.unwrap();
    let first = lease::take(store.pool(), Uuid::new_v4(), None).await.unwrap().unwrap();
    execute(&url, "UPDATE projection_range SET leased_until = now() - interval '1 second'").await;
    let mut second = lease::take(store.pool(), Uuid::new_v4(), None).await.unwrap().unwrap();
    assert_eq!((second.range, second.fence), (first.range, first.fence + 1));
    let here = first.positions.clone();
    let mut connection = store.pool().acquire().await.unwrap();
    let mut late = first;
    let refused = late.advance(&mut connection, &here).await;
    assert!(matches!(refused, Err(ProjectionError::Fenced)), "{refused:?}");
    second.advance(&mut connection, &here).await.unwrap();
}

/// A game that cannot be read is parked, the others go on; when it can be read, it is taken in.
#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_game_is_parked_and_taken_in_later() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 10).await;
    let poison = "UPDATE event SET payload = '{\"nonsense\":1}' WHERE type = 'Ended' AND stream = (SELECT min(stream::text)::uuid FROM event)";
    execute(&url, "CREATE TABLE saved AS SELECT shard, stream, version, payload FROM event WHERE type = 'Ended'").await;
    execute(&url, poison).await;
    let work = tokio::spawn(Runner::new(open(&url)).run());
    settled(&store).await;
    let parked = "SELECT count(DISTINCT game) FROM projection_parked";
    let count =
        async || sqlx::query(parked).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0);
    assert_eq!(count().await, 1);
    let games = "SELECT count(DISTINCT game) FROM player_game";
    let taken_in =
        async || sqlx::query(games).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0);
    assert_eq!(taken_in().await, 9);
    work.abort();
    execute(&url, "UPDATE event e SET payload = s.payload FROM saved s WHERE e.shard = s.shard AND e.stream = s.stream AND e.version = s.version").await;
    execute(&url, "UPDATE projection_range SET leased_until = now() - interval '1 second'").await;
    // Parked games are tried again whenever somebody begins to work.
    let work = tokio::spawn(Runner::new(open(&url)).run());
    for _ in 0..200 {
        if count().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((count().await, taken_in().await), (0, 10));
    holds(&store).await;
    work.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_read_model_and_a_second_rebuild_are_refused() {
    let url = database().await;
    let store = open(&url);
    let unknown = rebuild(&store, "nonsense", |_| {}).await.unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no read model 'nonsense'; there are: player_statistics, leaderboards, ratings"
    );
    lease::ensure_live(store.pool()).await.unwrap();
    execute(&url, "INSERT INTO projection VALUES ('player_statistics', 7, 1, 'building')").await;
    execute(
        &url,
        "INSERT INTO projection_range (name, generation, range, positions, leased_until)
        VALUES ('player_statistics', 7, 0, '{0,0,0,0,0,0,0,0}', now() + interval '9 seconds')",
    )
    .await;
    let busy = rebuild(&store, NAME, |_| {}).await.unwrap_err();
    assert!(matches!(busy, ProjectionError::Busy { .. }), "{busy}");
    // Whoever began it is gone: what was begun is dropped.
    execute(&url, "UPDATE projection_range SET leased_until = now() - interval '1 second'").await;
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 2);
}
