//! The law of read models: live = rebuilt = a naive fold of the log, whatever happens to whoever folds it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::similar_names,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fold as plain as can be"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use cluster::Cluster;
use domain::{
    Command, DecidedBy, Event, Game, GameId, Legal, Moment, Play, PlayerId, Ruleset, VoidedFor,
    decide, evolve,
    fair::{FairDice, Secret, commitment, ruleset_hash},
    legal_commands,
};
use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2_rating_period},
};
use sqlx::{Connection, Executor, PgConnection, Row};
use store::{
    Append, Hash, Head, Settings, Store,
    processor::{Consumer, Outcome, Processor, ProcessorError, Progress, Status, status},
};
use uuid::Uuid;

use crate::{
    MODELS, Season, Span, Statistics,
    balance::{Band, By, Dimension, Question, ask},
    boards::{Board, Measure, Place, Standing, among, around, page},
    processors,
    ratings::ratings_of,
    seasons, statistics_of,
};

pub(crate) mod games_by_day;
mod plain;
mod sharing;

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
    execute(&url, games_by_day::TABLE).await;
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

/// A node that keeps the read models, for ever.
async fn node(url: String) {
    let store = open(&url);
    let processors = processors(&store);
    Consumer::new(store, processors, Uuid::new_v4()).run_until(std::future::pending()).await;
}

/// What a process of its own does, if a test started it: it is a node, until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn process() {
    if let Ok(url) = std::env::var("CROUPIER_TEST_NODE") {
        node(url).await;
    }
}

/// A node in a process of its own, which can be killed at any moment.
struct Process(std::process::Child);

impl Process {
    fn start(url: &str) -> Self {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "tests::process"]).env("CROUPIER_TEST_NODE", url);
        let quiet = || std::process::Stdio::null();
        Self(command.stdout(quiet()).stderr(quiet()).spawn().unwrap())
    }
}

impl Drop for Process {
    /// As a crash would.
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Nobody waits for the leases of nodes that are gone.
async fn forget_nodes(url: &str) {
    execute(url, "DELETE FROM processor_node").await;
}

fn named(store: &Store, name: &str) -> Vec<Processor> {
    vec![Processor::named(&processors(store), name).unwrap().clone()]
}

async fn rebuild(
    store: &Store,
    name: &str,
    progress: impl Fn(Progress),
) -> Result<Outcome, ProcessorError> {
    let built = store::processor::rebuild(store, &named(store, name), progress).await;
    built.map(|mut outcomes| outcomes.pop().unwrap())
}

async fn verify(
    store: &Store,
    name: &str,
    progress: impl Fn(Progress),
) -> Result<Outcome, ProcessorError> {
    let built = store::processor::verify(store, &named(store, name), progress).await;
    built.map(|mut outcomes| outcomes.pop().unwrap())
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

/// A random game of a few players, from the first event to the last; now and then a player leaves.
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
    // Few enough that some ratings become certain.
    let first = numbers.below(6);
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

/// Appends games as commands would have made them; times go up, but not in the order of appends. Some are void.
async fn deal(store: &Store, from: u64, count: u64) {
    for number in from..from + count {
        let mut log = random_game(number);
        if number.is_multiple_of(9) {
            log.push(Event::Voided { why: VoidedFor::Malfunction, dispute: None });
        }
        let Event::Created { game, .. } = &log[0] else { panic!() };
        let (mut head, stream) = (Head::NEW, game.0);
        // Over some days, and not in the order of appends.
        let began = 1_800_000_000_000 + (number * 7919 % 100) * 3_600_000;
        for (n, events) in log.chunks(40).enumerate() {
            let at = Moment(began + n as u64 * 1000);
            let (command, request) = (Uuid::new_v4(), Hash([1; 32]));
            let append = Append { stream, head, command, request, actor: stream, at, events };
            head = store.append(append).await.unwrap().head;
        }
    }
}

/// Makes some of the games void that are not yet.
async fn void_some(store: &Store, every: usize) {
    let over = "SELECT stream FROM event e WHERE type = 'Ended'
        AND NOT EXISTS (SELECT 1 FROM event v WHERE v.shard = e.shard AND v.stream = e.stream AND v.type = 'Voided') ORDER BY 1";
    let games = sqlx::query(over).fetch_all(store.pool()).await.unwrap();
    for row in games.iter().step_by(every) {
        let stream: Uuid = row.get(0);
        let head = store.games.fresh(stream).await.unwrap().head;
        let (command, request) = (Uuid::new_v4(), Hash([2; 32]));
        let events = &[Event::Voided { why: VoidedFor::Cheating, dispute: None }];
        let at = Moment(1_900_000_000_000);
        let append = Append { stream, head, command, request, actor: Uuid::nil(), at, events };
        store.append(append).await.unwrap();
    }
}

/// A seat of a game that counts, plainly.
struct PlainSeat {
    game: Uuid,
    kind: String,
    preset: String,
    player: Uuid,
    seats: usize,
    position: usize,
    won: bool,
    left: bool,
    score: i64,
    at: i64,
    dice: Vec<String>,
    character: Option<String>,
}

impl PlainSeat {
    /// In Zero Hour less is more.
    fn merit(&self) -> i64 {
        if self.kind == "zero_hour" { -self.score } else { self.score }
    }
}

/// Every seat of every game that counts, read off the log.
async fn plain_seats(store: &Store) -> Vec<PlainSeat> {
    let mut found = Vec::new();
    for log in logs(store).await.values() {
        let (Event::Created { ruleset, game, .. }, at) = &log[0].clone() else { continue };
        let _ = at;
        let Some((Event::Ended(outcome), at)) =
            log.iter().find(|(event, _)| matches!(event, Event::Ended(_)))
        else {
            continue;
        };
        if !counts(log, outcome.by) {
            continue;
        }
        let taken: Vec<(u8, Uuid)> = log
            .iter()
            .filter_map(|(event, _)| match event {
                Event::SeatTaken { seat, player, .. } => Some((*seat, player.0)),
                _ => None,
            })
            .collect();
        for (place, (seat, player)) in taken.iter().enumerate() {
            let mut dice = Vec::new();
            let mut character = None;
            for (event, _) in log.iter().filter(|(event, _)| event.seat() == Some(*seat)) {
                if let Event::LoadoutChosen { dice: chosen, .. } = event {
                    dice = chosen.iter().map(ToString::to_string).collect();
                }
                if let Event::CharacterChosen { character: chosen, .. } = event {
                    character = Some(chosen.to_string());
                }
            }
            dice.retain(|code| code != "STANDARD");
            found.push(PlainSeat {
                game: game.0,
                kind: ruleset.rules.game().to_owned(),
                preset: ruleset.preset.clone(),
                player: *player,
                seats: taken.len(),
                position: place + 1,
                won: outcome.winners.contains(seat),
                left: log
                    .iter()
                    .any(|(event, _)| event.name() == "SeatLeft" && event.seat() == Some(*seat)),
                score: outcome.scores[usize::from(*seat)],
                at: *at,
                dice,
                character,
            });
        }
    }
    found
}

/// Whether a game counts: it was played, and is not void.
fn counts(log: &[(Event, i64)], by: DecidedBy) -> bool {
    by != DecidedBy::Abandoned && !log.iter().any(|(event, _)| event.name() == "Voided")
}

/// Every game of the log: events and when they were recorded, in milliseconds.
async fn logs(store: &Store) -> BTreeMap<Uuid, Vec<(Event, i64)>> {
    let all = "SELECT stream, payload::text, type, (extract(epoch FROM recorded_at) * 1000)::bigint FROM event ORDER BY stream, version";
    let mut games: BTreeMap<Uuid, Vec<(Event, i64)>> = BTreeMap::new();
    for row in sqlx::query(all).fetch_all(store.pool()).await.unwrap() {
        let (payload, kind): (String, String) = (row.get(1), row.get(2));
        let event = serde_json::from_str(&format!("{{\"{kind}\":{payload}}}")).unwrap();
        games.entry(row.get(0)).or_default().push((event, row.get(3)));
    }
    games
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
    for _ in 0..600 * scale() {
        let heads = store.heads().await.unwrap();
        let all = status(store.pool(), &heads).await.unwrap();
        let ours = |status: &&Status| MODELS.iter().any(|model| model.name == status.name);
        let mut live = all.iter().filter(ours).filter(|status| status.state == "live").peekable();
        let due = "SELECT (SELECT count(*) FROM rating_due JOIN processor USING (generation) WHERE name = 'ratings' AND state = 'live')
            + (SELECT count(*) FROM balance_due JOIN processor USING (generation) WHERE name = 'balance' AND state = 'live')";
        let due: i64 = sqlx::query(due).fetch_one(store.pool()).await.unwrap().get(0);
        let uncounted = "SELECT count(*) FROM season s, processor p WHERE p.state = 'live' AND p.name IN ('leaderboards', 'ratings')
            AND NOT EXISTS (SELECT 1 FROM season_counted c WHERE (c.name, c.generation, c.season) = (p.name, p.generation, s.code))";
        let uncounted: i64 = sqlx::query(uncounted).fetch_one(store.pool()).await.unwrap().get(0);
        let waiting = due + uncounted;
        if live.peek().is_some() && live.all(|live| live.behind() == 0) && waiting == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the read models do not get there");
}

async fn holds(store: &Store) {
    let found = live(store).await.into_iter();
    let found = found.map(|(key, statistics)| (key, serde_json::to_value(statistics).unwrap()));
    let found: BTreeMap<plain::Key, serde_json::Value> = found.collect();
    let expected = plain::statistics(store).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (key, expected) in expected {
        assert_eq!(found[&key], expected, "{key:?}");
    }
}

/// A rating behind a day.
type Rated = BTreeMap<(String, Uuid), Vec<(i32, Glicko2Rating)>>;

/// The rating that a player has on the morning of a day.
fn morning(rated: &Rated, kind: &str, player: Uuid, day: i32) -> Glicko2Rating {
    let all = rated.get(&(kind.to_owned(), player)).map_or(&[][..], Vec::as_slice);
    let last = all.iter().rev().find(|(rated, _)| *rated < day);
    last.map_or_else(Glicko2Rating::default, |(last, rating)| {
        (last + 1..day).fold(*rating, |rating, _| decay_deviation(&rating))
    })
}

fn day(at: i64) -> i32 {
    i32::try_from(at / 86_400_000).unwrap()
}

/// Ratings that come out when all games are taken day by day, from the first one on.
fn naive_ratings(seats: &[PlainSeat]) -> Rated {
    let order = |seat: &PlainSeat| {
        // Who wins, then who stays, by score; in Zero Hour less is more.
        (seat.won, !seat.left, if seat.won || seat.left { 0 } else { seat.merit() })
    };
    let mut days: BTreeMap<(i32, &str), Vec<&PlainSeat>> = BTreeMap::new();
    for seat in seats {
        days.entry((day(seat.at), &seat.kind)).or_default().push(seat);
    }
    let mut rated = Rated::new();
    for ((day, kind), seats) in days {
        let mut games: BTreeMap<Uuid, Vec<(Uuid, Uuid, Outcomes)>> = BTreeMap::new();
        for seat in &seats {
            for other in seats.iter().filter(|o| o.game == seat.game && o.player != seat.player) {
                let how = match order(seat).cmp(&order(other)) {
                    std::cmp::Ordering::Less => Outcomes::LOSS,
                    std::cmp::Ordering::Equal => Outcomes::DRAW,
                    std::cmp::Ordering::Greater => Outcomes::WIN,
                };
                games.entry(seat.player).or_default().push((seat.game, other.player, how));
            }
        }
        let mut today = Vec::new();
        for (player, mut games) in games {
            games.sort_by_key(|(game, other, _)| (*game, *other));
            let against: Vec<_> = games
                .iter()
                .map(|(_, other, how)| (morning(&rated, kind, *other, day), *how))
                .collect();
            let config = Glicko2Config::default();
            let start = morning(&rated, kind, player, day);
            today.push((player, glicko2_rating_period(&start, &against, &config)));
        }
        for (player, rating) in today {
            rated.entry((kind.to_owned(), player)).or_default().push((day, rating));
        }
    }
    rated
}

/// Ratings, boards by rating and balance are what comes out when everything is worked out from the log.
async fn ratings_hold(store: &Store, seasons: &[Season]) {
    let seats = plain_seats(store).await;
    let rated = naive_ratings(&seats);
    let last = seats.iter().map(|seat| day(seat.at)).max().unwrap();
    let players: Vec<Uuid> = (0..20).map(|number| player(number).0).collect();
    let found = ratings_of(store.pool(), &players, last).await.unwrap();
    let mut count = 0;
    for (player, ratings) in found {
        for rating in ratings {
            let expected = morning(&rated, &rating.kind, player, last + 1);
            assert!((rating.rating - expected.rating).abs() < 1e-9, "{rating:?} {expected:?}");
            assert!((rating.deviation - expected.deviation).abs() < 1e-9);
            count += 1;
        }
    }
    assert_eq!(count, rated.len());
    rating_boards_hold(store, &rated, seasons).await;
    balance_holds(store, &seats, &rated).await;
}

async fn rating_boards_hold(store: &Store, rated: &Rated, seasons: &[Season]) {
    // Within a period the last rating counts, unless it is provisional.
    let mut boards: BTreeMap<(String, String), BTreeMap<Uuid, (i32, Glicko2Rating)>> =
        BTreeMap::new();
    for ((kind, player), days) in rated {
        for (day, rating) in days {
            for period in periods(*day, seasons) {
                boards.entry((kind.clone(), period)).or_default().insert(*player, (*day, *rating));
            }
        }
    }
    let mut ranked = 0;
    for ((kind, period), players) in boards {
        let mut expected: Vec<(i64, i32, Uuid)> = players
            .into_iter()
            .filter(|(_, (_, rating))| rating.deviation <= 110.0)
            .map(|(player, (day, rating))| ((rating.rating * 1000.0).round() as i64, day, player))
            .collect();
        expected.sort_by_key(|(rating, day, player)| (-rating, *day, *player));
        let board = Board { kind, preset: String::new(), period };
        let found = page(store.pool(), &board, Measure::Rating, None, 100).await.unwrap();
        let plain: Vec<(i64, i32, Uuid)> =
            found.iter().map(|row| (row.value, day(row.at), row.player)).collect();
        assert_eq!(plain, expected, "{board:?}");
        for row in &found {
            let better = expected.iter().filter(|(rating, ..)| *rating > row.value).count();
            assert_eq!(row.rank, i64::try_from(better).unwrap() + 1);
            assert!(row.games > 0);
            ranked += 1;
        }
    }
    assert!(ranked > 0, "nobody is ranked");
}

/// The names of all periods that a day is in.
fn periods(day: i32, seasons: &[Season]) -> Vec<String> {
    let at = Moment(u64::try_from(day).unwrap() * 86_400_000);
    let mut names: Vec<String> = Span::ALL.iter().map(|span| span.of(at)).collect();
    names.extend(seasons.iter().filter(|s| s.first <= day && day <= s.last).map(Season::period));
    names
}

/// Games and wins by everything that can be asked for are plain counts.
async fn balance_holds(store: &Store, seats: &[PlainSeat], rated: &Rated) {
    type Names = fn(&PlainSeat, &Glicko2Rating) -> Vec<String>;
    let asked: [(By, Names); 9] = [
        (By::Trait(Dimension::Die), |seat, _| {
            let codes: BTreeSet<&String> = seat.dice.iter().collect();
            codes.into_iter().cloned().collect()
        }),
        (By::Trait(Dimension::Pair), |seat, _| {
            let mut pairs = BTreeSet::new();
            for (n, one) in seat.dice.iter().enumerate() {
                for other in &seat.dice[n + 1..] {
                    let (one, other) = (one.min(other), one.max(other));
                    pairs.insert(format!("{one}+{other}"));
                }
            }
            pairs.into_iter().collect()
        }),
        (By::Trait(Dimension::Loadout), |seat, _| {
            let special = seat.preset == "challenge-standard";
            special.then(|| seat.dice.len().to_string()).into_iter().collect()
        }),
        (By::Trait(Dimension::Character), |seat, _| seat.character.clone().into_iter().collect()),
        (By::Trait(Dimension::Position), |seat, _| {
            (seat.seats > 1).then(|| seat.position.to_string()).into_iter().collect()
        }),
        (By::Game, |seat, _| vec![seat.kind.clone()]),
        (By::Preset, |seat, _| vec![format!("{} {}", seat.kind, seat.preset)]),
        (By::Seats, |seat, _| vec![seat.seats.to_string()]),
        (By::Band, |_, rating| vec![Band::of(rating).words().to_owned()]),
    ];
    let days: Vec<i32> = seats.iter().map(|seat| day(seat.at)).collect();
    let middle = (days.iter().min().unwrap() + days.iter().max().unwrap()) / 2;
    for (by, names) in asked {
        for first in [None, Some(middle)] {
            let question = Question { first, histograms: true, weeks: true, ..question(by) };
            let answer = ask(store.pool(), &question).await.unwrap();
            assert_eq!(answer.as_of.behind, 0);
            let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
            let chosen =
                seats.iter().filter(|seat| first.is_none_or(|first| day(seat.at) >= first));
            for seat in chosen.clone() {
                let rating = morning(rated, &seat.kind, seat.player, day(seat.at));
                for name in names(seat, &rating) {
                    let (games, wins) = expected.entry(name).or_default();
                    (*games, *wins) = (*games + 1, *wins + i64::from(seat.won));
                }
            }
            let found: BTreeMap<String, (i64, i64)> = answer
                .lines
                .iter()
                .map(|line| (line.name.clone(), (line.games, line.wins)))
                .collect();
            assert_eq!(found, expected, "{by:?}");
            assert_eq!(answer.total.games, i64::try_from(chosen.clone().count()).unwrap());
            for line in &answer.lines {
                let weeks: i64 = line.weeks.iter().map(|week| week.games).sum();
                let scores: u64 = line.histograms[0].values().sum();
                let turns: u64 = line.histograms[1].values().sum();
                assert_eq!((weeks, i64::try_from(scores).unwrap()), (line.games, line.games));
                assert_eq!(i64::try_from(turns).unwrap(), line.turns);
            }
        }
    }
}

fn question(by: By) -> Question {
    Question {
        kind: None,
        preset: None,
        ruleset_version: None,
        catalogue_version: None,
        seats: None,
        band: None,
        first: None,
        last: None,
        by,
        names: None,
        histograms: false,
        weeks: false,
    }
}

/// The games of a player on a board: score, whether it was won, when it ended.
type Plain = BTreeMap<(Board, Uuid), Vec<(i64, bool, i64)>>;

/// Every board is the plain sorted list of what the games say: order, ranks, pages, who stands around whom.
async fn boards_hold(store: &Store, seasons: &[Season]) {
    let mut plain: Plain = BTreeMap::new();
    for seat in plain_seats(store).await {
        if seat.seats == 1 && seat.kind != "dice_rogue" {
            continue;
        }
        for period in periods(day(seat.at), seasons) {
            let (kind, preset) = (seat.kind.clone(), seat.preset.clone());
            let board = Board { kind, preset, period };
            plain.entry((board, seat.player)).or_default().push((seat.merit(), seat.won, seat.at));
        }
    }
    let boards: std::collections::BTreeSet<Board> = plain.keys().map(|(b, _)| b.clone()).collect();
    assert!(boards.len() > 20, "{}", boards.len());
    for board in &boards {
        for measure in Measure::OF_GAMES {
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
            Measure::Rating => panic!("it does not follow from games alone"),
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

fn season(code: &str, first: i32, last: i32) -> Season {
    Season { code: code.to_owned(), title: code.to_owned(), first, last }
}

/// How many times more games than usual are dealt: `CROUPIER_LAW=15` makes thousands of them.
fn scale() -> u64 {
    std::env::var("CROUPIER_LAW").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Live = naive = rebuilt, with two nodes at work, games dealt and made void meanwhile, seasons named, and nodes that vanish.
#[tokio::test(flavor = "multi_thread")]
async fn live_is_rebuilt_is_naive() {
    let url = database().await;
    let (store, more) = (open(&url), 60 * scale());
    deal(&store, 1, more).await;
    // Games end from day 20833 to day 20837. One season is named before anything is folded, one behind it.
    let mut named = vec![season("early", 20_833, 20_834), season("late", 20_835, 30_000)];
    assert!(seasons::create(store.pool(), &named[0], Uuid::nil()).await.unwrap());
    // Processes that are killed at any moment: others take over.
    for number in 0..4u64 {
        let doomed = Process::start(&url);
        tokio::time::sleep(Duration::from_millis(150 + 150 * number)).await;
        drop(doomed);
        forget_nodes(&url).await;
    }
    let mut work = [Process::start(&url), Process::start(&url)];
    deal(&store, 1 + more, more / 2).await;
    // One of two dies while games are dealt; another one comes.
    work[0] = Process::start(&url);
    deal(&store, 1 + more + more / 2, more - more / 2).await;
    settled(&store).await;
    assert!(seasons::create(store.pool(), &named[1], Uuid::nil()).await.unwrap());
    assert!(!seasons::create(store.pool(), &named[1], Uuid::nil()).await.unwrap());
    settled(&store).await;
    everything_holds(&store, &named).await;
    void_some(&store, 5).await;
    settled(&store).await;
    everything_holds(&store, &named).await;
    // Built again while games go on, and are made void.
    let dealing = {
        let store = store.clone();
        tokio::spawn(async move {
            deal(&store, 1 + 2 * more, more).await;
            void_some(&store, 11).await;
        })
    };
    let built = rebuild(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((built.differing, built.differences), (0, Vec::new()));
    assert_eq!(built.live, 2);
    dealing.await.unwrap();
    named.push(season("whole", 0, 40_000));
    assert!(seasons::create(store.pool(), &named[2], Uuid::nil()).await.unwrap());
    settled(&store).await;
    everything_holds(&store, &named).await;
    let same = verify(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((same.live, same.differing), (2, 0));
    let all = processors(&store);
    for built in store::processor::rebuild(&store, &all, |_| {}).await.unwrap() {
        assert_eq!((built.differing, built.differences), (0, Vec::new()), "{}", built.name);
    }
    everything_holds(&store, &named).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let states: Vec<_> = all
        .iter()
        .filter(|status| MODELS.iter().any(|model| model.name == status.name))
        .map(|status| (status.generation, status.state.as_str()))
        .collect();
    let old_and_new = [(1, "old"), (2, "live"), (2, "old"), (3, "live"), (1, "old"), (2, "live")];
    assert_eq!(states.len(), 2 * MODELS.len(), "the ones before stay for a way back: {states:?}");
    assert!(old_and_new.iter().all(|state| states.contains(state)), "{states:?}");
    // Without its games, nothing is left of anybody.
    void_some(&store, 1).await;
    settled(&store).await;
    let left = "SELECT (SELECT count(*) FROM player_statistics JOIN processor p USING (generation) WHERE p.name = 'player_statistics' AND p.state = 'live')
        + (SELECT count(*) FROM leaderboard JOIN processor p USING (generation) WHERE p.name = 'leaderboards' AND p.state = 'live')
        + (SELECT coalesce(sum(players), 0) FROM leaderboard_count JOIN processor p USING (generation) WHERE p.name = 'leaderboards' AND p.state = 'live')::bigint
        + (SELECT count(*) FROM rating JOIN processor p USING (generation) WHERE p.name = 'ratings' AND p.state = 'live')
        + (SELECT count(*) FROM rating_board JOIN processor p USING (generation) WHERE p.name = 'ratings' AND p.state = 'live')
        + (SELECT count(*) FROM balance_cell JOIN processor p USING (generation) WHERE p.name = 'balance' AND p.state = 'live')";
    assert_eq!(sqlx::query(left).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0), 0);
    drop(work);
}

async fn everything_holds(store: &Store, seasons: &[Season]) {
    holds(store).await;
    let mut days: BTreeMap<(String, i32), i64> = BTreeMap::new();
    for seat in plain_seats(store).await.into_iter().filter(|seat| seat.position == 1) {
        *days.entry((seat.kind, day(seat.at))).or_default() += 1;
    }
    for ((kind, day), games) in days {
        assert_eq!(games_by_day::games_on(store.pool(), &kind, day).await.unwrap(), games);
    }
    boards_hold(store, seasons).await;
    ratings_hold(store, seasons).await;
}

/// Games whose winners are drawn with a known advantage of a die: what balance says of it holds the advantage.
#[tokio::test(flavor = "multi_thread")]
async fn a_planted_effect_is_found_in_the_log() {
    const EFFECT: f64 = 0.12;
    let url = database().await;
    let store = open(&url);
    let ruleset = Arc::new(Ruleset::preset("farkle", Some("challenge-standard")).unwrap());
    let mut numbers = Numbers(0x1234_5678_9ABC_DEF1);
    for number in 0..1_500u64 {
        let (game, secret) = (GameId(Uuid::new_v4()), Secret([7; 32]));
        let ruleset_hash = ruleset_hash(&ruleset);
        let commitment = commitment(&secret, game, ruleset_hash);
        let with_die: u8 = u8::try_from(numbers.below(2)).unwrap();
        // The other one has ordinary dice; who has the die wins so much more often than half of the games.
        let lucky = numbers.below(10_000) < 5_000 + (EFFECT * 5_000.0) as usize;
        let winner = if lucky { with_die } else { 1 - with_die };
        let taken = |seat: u8| Event::SeatTaken {
            seat,
            player: player(usize::from(seat) + numbers_of(number)),
            name: domain::Name::parse(&format!("player {seat}")).unwrap(),
        };
        let dice = vec!["MIDAS".parse().unwrap(); 1];
        let outcome =
            domain::Outcome { by: DecidedBy::Score, winners: vec![winner], scores: vec![0; 2] };
        let events = [
            Event::Created { game, ruleset: Arc::clone(&ruleset), ruleset_hash, commitment },
            taken(0),
            taken(1),
            Event::LoadoutChosen { seat: with_die, dice },
            Event::Started { seeds: domain::fair::seeds_hash([None, None].into_iter()) },
            Event::Ended(outcome),
            Event::SeedRevealed { secret },
        ];
        let (stream, command, request) = (game.0, Uuid::new_v4(), Hash([1; 32]));
        let at = Moment(1_800_000_000_000 + number);
        let append = Append {
            stream,
            head: Head::NEW,
            command,
            request,
            actor: stream,
            at,
            events: &events,
        };
        store.append(append).await.unwrap();
    }
    rebuild(&store, "balance", |_| {}).await.unwrap();
    let answer = ask(store.pool(), &question(By::Trait(Dimension::Die))).await.unwrap();
    let [midas] = &answer.lines[..] else { panic!("{answer:?}") };
    assert_eq!((midas.name.as_str(), midas.games, answer.total.games), ("MIDAS", 1_500, 3_000));
    let (rate, uplift) = (midas.win_rate.unwrap(), midas.uplift.unwrap());
    assert!((midas.pick_rate.unwrap() - 0.5).abs() < 1e-9);
    assert!(rate.low < 0.5 + EFFECT / 2.0 && 0.5 + EFFECT / 2.0 < rate.high, "{rate:?}");
    assert!(uplift.low < EFFECT && EFFECT < uplift.high && uplift.low > 0.0, "{uplift:?}");
    assert!((uplift.value - EFFECT).abs() < 0.05, "{uplift:?}");
    let none = Question { last: Some(3), ..question(By::Trait(Dimension::Die)) };
    let nothing = ask(store.pool(), &none).await.unwrap();
    assert_eq!((nothing.lines.len(), nothing.total.games, nothing.total.win_rate), (0, 0, None));
}

/// Other players in every game.
fn numbers_of(number: u64) -> usize {
    usize::try_from(number).unwrap() * 2
}

/// A row that was changed by hand is found by folding again, and gone with the rebuilt generation.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_row_is_found_and_repaired() {
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

/// A game that cannot be read is parked, the others go on; when it can be read, it is taken in.
#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_game_is_parked_and_taken_in_later() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 10).await;
    // One that counts, and one that is void.
    let poison = "UPDATE event SET payload = '{\"nonsense\":1}' WHERE type = 'Ended' AND stream IN (
        (SELECT stream FROM event WHERE type = 'Voided'),
        (SELECT min(stream::text)::uuid FROM event WHERE stream NOT IN (SELECT stream FROM event WHERE type = 'Voided')))";
    execute(&url, "CREATE TABLE saved AS SELECT shard, stream, version, payload FROM event WHERE type = 'Ended'").await;
    execute(&url, poison).await;
    let work = tokio::spawn(node(url.clone()));
    settled(&store).await;
    let parked = "SELECT count(DISTINCT stream) FROM processor_parked";
    let count =
        async || sqlx::query(parked).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0);
    assert_eq!(count().await, 2);
    let games = "SELECT count(DISTINCT game) FROM player_game";
    let taken_in =
        async || sqlx::query(games).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0);
    assert_eq!(taken_in().await, 8);
    work.abort();
    execute(&url, "UPDATE event e SET payload = s.payload FROM saved s WHERE e.shard = s.shard AND e.stream = s.stream AND e.version = s.version").await;
    forget_nodes(&url).await;
    // Parked games are tried again when a worker starts.
    let work = tokio::spawn(node(url.clone()));
    for _ in 0..200 {
        if count().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((count().await, taken_in().await), (0, 9));
    holds(&store).await;
    work.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_read_model_and_a_second_rebuild_are_refused() {
    let url = database().await;
    let store = open(&url);
    let all = processors(&store);
    let unknown = Processor::named(&all, "nonsense").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no processor 'nonsense'; there are: player_statistics, leaderboards, ratings, balance, games_by_day"
    );
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 2);
    let begun = "INSERT INTO processor (name, generation, version, state, ranges) VALUES ('player_statistics', 7, 1, 'building', 1);
        INSERT INTO processor_node (node, works) VALUES ('00000000-0000-0000-0000-000000000007', false);
        INSERT INTO processor_range (name, generation, range, positions, owner)
        VALUES ('player_statistics', 7, 0, array_fill(0, ARRAY[64]), '00000000-0000-0000-0000-000000000007')";
    execute(&url, begun).await;
    let busy = rebuild(&store, NAME, |_| {}).await.unwrap_err();
    assert!(matches!(busy, ProcessorError::Busy { .. }), "{busy}");
    // Whoever began it is gone: what was begun is dropped.
    forget_nodes(&url).await;
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 3);
}
