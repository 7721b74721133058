//! Read models: how fast they are folded anew, how fresh they are, and what a leaderboard of a million players costs.

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use cluster::Cluster;
use domain::{
    Command, Event, Game, GameId, Legal, Moment, Play, PlayerId, Ruleset, decide, evolve,
    fair::{FairDice, commitment, ruleset_hash},
    legal_commands,
};
use projections::{
    MODELS, Runner,
    leaderboards::{Board, Measure, Place, around, page},
    rebuild, status,
};
use serde_json::json;
use store::{Append, Hash, Head, Store};
use uuid::Uuid;

use crate::{growth::psql, play::secret, read_load};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// A log of 250,000 events and boards of 100,000 players, in place of 5,000,000 and 1,000,000.
    #[arg(long)]
    quick: bool,
    /// One JSON object on the last line.
    #[arg(long)]
    json: bool,
}

/// How many different games are played; the log has copies of them, by other players.
const PLAYED: u64 = 400;
/// Games from this number on are dealt while we watch.
const WATCHED: u64 = 1_000_000;
/// How many players there are.
const PLAYERS: u64 = 20_000;

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-bench-").tempdir()?;
    let cluster = Cluster::start(folder.path(), cluster::Settings::Durable)?;
    let url = cluster.url("postgres");
    store::migrate(&url).await?;
    let store = Store::open(&url, &store::Settings::default())?;
    let (wanted, many) = if options.quick { (250_000, 100_000) } else { (5_000_000, 1_000_000) };

    let games: Arc<Vec<Vec<Event>>> = Arc::new((1..=PLAYED).map(random_game).collect());
    let start = Instant::now();
    fill(&store, &games, wanted).await?;
    psql(&url, "ANALYZE; CHECKPOINT")?;
    let events = store.heads().await?.total();
    println!("a log of {events} events, written in {:.0} s", start.elapsed().as_secs_f64());

    let limit = read_load::through_the_reader(&store).await?;
    println!("\n{:<22} {:>12} {:>8}", "read and decoded", "events/s", "ratio");
    println!("{:<22} {limit:>12.0} {:>8.2}", "plainly", 1.0);
    let rate = |since: Instant| -> Result<f64, Box<dyn Error>> {
        Ok(f64::from(u32::try_from(events)?) / since.elapsed().as_secs_f64())
    };
    let mut ratios = serde_json::Map::new();
    let start = Instant::now();
    let work = tokio::spawn(Runner::new(store.clone()).run());
    while behind(&store).await? {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    work.abort();
    psql(&url, "UPDATE projection_range SET owner = NULL, leased_until = NULL")?;
    let all = rate(start)?;
    println!("{:<22} {all:>12.0} {:>8.2}", "all live, one node", all / limit);
    ratios.insert("live".to_owned(), json!(all / limit));
    for model in MODELS {
        let start = Instant::now();
        let built = rebuild(&store, model.name, |_| {}).await?;
        assert_eq!(built.differing, 0, "{:?}", built.differences);
        let rate = rate(start)?;
        println!("{:<22} {rate:>12.0} {:>8.2}", model.name, rate / limit);
        ratios.insert(model.name.to_owned(), json!(rate / limit));
    }

    let fresh = freshness(&store, &games).await?;
    println!("\na finished game shows after: p50 {:.0} ms, p99 {:.0} ms", fresh.0, fresh.1);

    let small = board(&store, &url, 1_000).await?;
    let large = board(&store, &url, many).await?;
    println!("\n{:<12} {:>12} {:>12}", "players", "page µs", "around µs");
    println!("{:<12} {:>12.0} {:>12.0}", 1_000, small.0, small.1);
    println!("{many:<12} {:>12.0} {:>12.0}", large.0, large.1);
    let (page, around) = (large.0 / small.0, large.1 / small.1);
    println!("{:<12} {page:>12.2} {around:>12.2}", "ratio");
    if options.json {
        let fresh = json!({ "p50_ms": fresh.0, "p99_ms": fresh.1 });
        let boards = json!({ "page_ratio": page, "around_ratio": around });
        println!("{}", json!({ "rebuild": ratios, "freshness": fresh, "leaderboard": boards }));
    }
    store.close().await;
    cluster.stop();
    Ok(())
}

/// Whether a live generation is not there yet.
async fn behind(store: &Store) -> Result<bool, Box<dyn Error>> {
    let all = status(store.pool(), &store.heads().await?).await?;
    Ok(all.len() < MODELS.len() || all.iter().any(|s| s.state == "live" && s.behind() > 0))
}

/// Adds copies of games, by players drawn anew, until there are so many events.
async fn fill(
    store: &Store,
    games: &Arc<Vec<Vec<Event>>>,
    wanted: usize,
) -> Result<(), Box<dyn Error>> {
    const WRITERS: usize = 64;
    let tasks: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, games) = (store.clone(), Arc::clone(games));
            tokio::spawn(async move {
                let (mut written, mut number) = (0, writer);
                while written < wanted / WRITERS {
                    let log = &games[number % games.len()];
                    deal(&store, log, u64::try_from(number).unwrap_or(0)).await?;
                    written += log.len();
                    number += WRITERS;
                }
                Ok::<(), store::AppendError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// Appends a copy of a game under an id of its own; gives the id.
async fn deal(store: &Store, log: &[Event], number: u64) -> Result<Uuid, store::AppendError> {
    let (stream, mut head) = (Uuid::now_v7(), Head::NEW);
    let log: Vec<Event> = log.iter().map(|event| by_others(event, number)).collect();
    // A month of games; those that are dealt while we watch end today.
    let month = 2_592_000_000;
    let began = 1_800_000_000_000 + if number < WATCHED { number * 31_337 % month } else { month };
    for (n, events) in (0..).zip(log.chunks(200)) {
        let at = Moment(began + n * 1000);
        let (command, request) = (Uuid::new_v4(), Hash::ZERO);
        let append = Append { stream, head, command, request, actor: stream, at, events };
        head = store.append(append).await?.head.unwrap_or(head);
    }
    Ok(stream)
}

/// The same event, with another player on each seat.
fn by_others(event: &Event, number: u64) -> Event {
    let mut event = event.clone();
    if let Event::SeatTaken { seat, player, .. } = &mut event {
        let player_number =
            number.wrapping_mul(0x9E37_79B9).wrapping_add(u64::from(*seat) * 7) % PLAYERS;
        *player = PlayerId(Uuid::from_u128(u128::from(player_number) + 1));
    }
    event
}

/// How long it takes until a finished game is taken in, while others are dealt: p50 and p99 in milliseconds.
async fn freshness(
    store: &Store,
    games: &Arc<Vec<Vec<Event>>>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let work = tokio::spawn(Runner::new(store.clone()).run());
    let background = {
        let (store, games) = (store.clone(), Arc::clone(games));
        tokio::spawn(async move {
            for number in WATCHED.. {
                let log = &games[usize::try_from(number).unwrap_or(0) % games.len()];
                if deal(&store, log, number).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
    };
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut delays = Vec::new();
    for number in 0..200u64 {
        let log = &games[usize::try_from(number)? % games.len()];
        let game = deal(store, log, 2 * WATCHED + number).await?;
        let start = Instant::now();
        while !is_taken_in(store, game).await? {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        delays.push(start.elapsed().as_secs_f64() * 1e3);
    }
    background.abort();
    work.abort();
    delays.sort_by(f64::total_cmp);
    Ok((delays[delays.len() / 2], delays[delays.len() * 99 / 100]))
}

/// Whether every read model has folded the end of a game.
async fn is_taken_in(store: &Store, game: Uuid) -> Result<bool, Box<dyn Error>> {
    const DONE: &str = "
SELECT bool_and((r.positions)[e.shard % 8 + 1] >= e.position)
  FROM event e, projection p JOIN projection_range r USING (name, generation)
 WHERE e.shard = (get_byte(sha256(uuid_send($1)), 0) & 63) AND e.stream = $1 AND e.type = 'Ended'
   AND p.state = 'live' AND r.range = e.shard / 8";
    use sqlx::Row;
    let row = sqlx::query(DONE).bind(game).fetch_one(store.pool()).await?;
    Ok(row.try_get::<Option<bool>, _>(0)?.unwrap_or(false))
}

/// What a page of twenty and the twenty-one around somebody cost on a board of so many players: medians in microseconds.
async fn board(store: &Store, url: &str, players: u32) -> Result<(f64, f64), Box<dyn Error>> {
    let live = "(SELECT generation FROM projection WHERE name = 'leaderboards' AND state = 'live')";
    psql(url, &format!("
        INSERT INTO leaderboard SELECT {live}, 'bench', '{players}', 'all', ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
               10, n, n % 500 + 1, n, n, n, (n::bigint * 7919) % 10000000, n FROM generate_series(1, {players}) n;
        INSERT INTO leaderboard_count
        SELECT {live}, 'bench', '{players}', 'all', 'average', level, average >> (7 * level), count(*)
          FROM leaderboard, generate_series(0, 2) level WHERE kind = 'bench' AND preset = '{players}' GROUP BY 6, 7;
        ANALYZE leaderboard; ANALYZE leaderboard_count"))?;
    let board =
        Board { kind: "bench".to_owned(), preset: players.to_string(), period: "all".to_owned() };
    let (mut pages, mut arounds) = (Vec::new(), Vec::new());
    for number in 1..=300u32 {
        let somebody = number.wrapping_mul(2_654_435_761) % players + 1;
        let player = Uuid::try_parse(&format!("00000000-0000-4000-8000-{somebody:012x}"))?;
        let start = Instant::now();
        let near = around(store.pool(), &board, Measure::Average, player, 10).await?;
        arounds.push(start.elapsed().as_secs_f64() * 1e6);
        let place = near.first().map(|&first| Place::from(first));
        let start = Instant::now();
        page(store.pool(), &board, Measure::Average, place, 20).await?;
        pages.push(start.elapsed().as_secs_f64() * 1e6);
    }
    pages.sort_by(f64::total_cmp);
    arounds.sort_by(f64::total_cmp);
    Ok((pages[pages.len() / 2], arounds[arounds.len() / 2]))
}

/// A game of some kind by random moves, from the first event to the last.
fn random_game(number: u64) -> Vec<Event> {
    const KINDS: [(&str, &str); 4] = [
        ("farkle", "classic"),
        ("farkle", "challenge-standard"),
        ("last_line", "standard"),
        ("neonpolis", "standard"),
    ];
    let mut numbers = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |limit: usize| {
        numbers ^= numbers << 13;
        numbers ^= numbers >> 7;
        numbers ^= numbers << 17;
        usize::try_from(numbers >> 33).unwrap_or(0) % limit
    };
    let (kind, preset) = KINDS[below(KINDS.len())];
    let mut ruleset = Ruleset::preset(kind, Some(preset)).unwrap_or_else(|error| panic!("{error}"));
    if let Some(short) = json!({ "target": 1000 }).as_object().filter(|_| kind == "farkle") {
        let short = ruleset.with(short).unwrap_or_else(|error| panic!("{error}"));
        // It counts as what it is short for.
        ruleset = Ruleset { preset: ruleset.preset, ..short };
    }
    let stream = Uuid::from_u128(number.into());
    let (game, secret) = (GameId(stream), secret(stream));
    let commitment = commitment(&secret, game, ruleset_hash(&ruleset));
    let mut commands = vec![Command::Create { game, ruleset: Arc::new(ruleset), commitment }];
    for seat in 0..2u128 {
        let player = PlayerId(Uuid::from_u128(seat + 1));
        commands.push(Command::Join { player, name: format!("player {seat}"), seed: None });
    }
    commands.push(Command::Start);
    let mut commands = commands.into_iter();
    let (mut log, mut state): (Vec<Event>, Option<Game>) = (Vec::new(), None);
    loop {
        let next = commands.next().or_else(|| {
            let seat = state.as_ref()?.to_move()?;
            let plays: Vec<Play> = legal_commands(state.as_ref())
                .into_iter()
                .filter_map(
                    |legal| if let Legal::Play(_, play) = legal { Some(play) } else { None },
                )
                .collect();
            Some(Command::Play { seat, play: plays[below(plays.len())].clone() })
        });
        let Some(command) = next else { return log };
        let decided = match &state {
            Some(game) => decide(Some(game), &command, Moment(0), &mut FairDice::new(secret, game)),
            None => decide(None, &command, Moment(0), &mut domain::NoDice),
        };
        for event in decided.unwrap_or_else(|error| panic!("{error}")) {
            state = evolve(state, &event);
            log.push(event);
        }
    }
}
