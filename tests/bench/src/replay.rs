//! Replays: a long game with all its states, verifying many games, viewing an old version of a very
//! long one.

use std::{
    error::Error,
    path::Path,
    process::Command as Process,
    time::{Duration, Instant},
};

use cluster::Cluster;
use domain::{
    Command, Event, Game, GameId, Legal, Moment, NoDice, Play, PlayerId, Ruleset, decide, evolve,
    fair::{FairDice, commitment, ruleset_hash},
    infer_commands, legal_commands,
};
use serde_json::{Value, json};
use store::{Append, Hash, Head, Store};
use uuid::Uuid;

use crate::{growth::psql, play::secret, serve::Node};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Use 5,000 games instead of 100,000.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object on the last line.
    #[arg(long)]
    json: bool,
}

/// Number of writers that fill the log.
const WRITERS: u64 = 64;

pub(crate) async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("croupier-bench-").tempdir()?;
    let cluster = Cluster::start(folder.path(), cluster::Settings::Durable)?;
    let url = cluster.url("postgres");
    store::migrate(&url).await?;
    let store = Store::open(&url, &store::Settings::default())?;
    // Few games at first: a node that folds a hundred thousand of them is too busy to be measured.
    let long = deal(&store, &game_of(900_000_001, 500)).await?;
    let very_long = deal(&store, &game_of(900_000_002, 10_000)).await?;
    let node = Node::start(&url, folder.path())?;
    let token = support_token(&url, folder.path())?;
    let mut http = client::Http::connect(node.address).await.map_err(to_text)?.with_token(&token);
    let runs = if options.quick { 30 } else { 100 };
    let mut lines = 0;
    let whole = times(runs, async || {
        lines = replay(&mut http, long).await?;
        Ok(())
    })
    .await?;
    println!(
        "\nreplay of a game of 500 events, {lines} steps with states, differences and explanations: {whole}"
    );
    let look = "query($game: ID!, $version: Int!) { game(id: $game) { at(version: $version) { version seats { score } dice { face } } } }";
    // The last version is cached; the one before it is not.
    let version = store.games.latest(very_long).await?.head.version - 1;
    let back = times(runs, async || {
        let asked = json!({ "game": format!("game:{very_long}"), "version": version });
        http.ask(look, asked).await.map(|_| ())
    })
    .await?;
    println!("viewing the last version but one of a game of {version} events: {back}");
    drop(node);

    let games = if options.quick { 5_000 } else { 100_000 };
    let start = Instant::now();
    fill(&store, games).await?;
    psql(&url, "ANALYZE; CHECKPOINT")?;
    let events = store.heads().await?.total();
    println!("\n{games} games, {events} events, written in {:.0} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let verified = croupier(&url, folder.path(), &["verify", "--games"])?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = f64::from(u32::try_from(games)?) / seconds;
    println!("{}\n{rate:.0} games/s verified with all cores", verified.trim());
    if options.json {
        println!(
            "{}",
            json!({
                "replay_ms": { "p50": whole.p50, "p99": whole.p99 }, "at_ms": { "p50": back.p50, "p99": back.p99 },
                "verified_games_per_s": rate,
            })
        );
    }
    store.close().await;
    cluster.stop();
    Ok(())
}

fn to_text(trouble: client::ClientError) -> String {
    trouble.to_string()
}

/// Latencies in milliseconds.
struct Times {
    p50: f64,
    p99: f64,
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p50 {:.1} ms, p99 {:.1} ms", self.p50, self.p99)
    }
}

async fn times(
    runs: usize,
    mut once: impl AsyncFnMut() -> Result<(), client::ClientError>,
) -> Result<Times, Box<dyn Error>> {
    let mut all = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        once().await.map_err(to_text)?;
        all.push(start.elapsed().as_secs_f64() * 1e3);
    }
    all.sort_by(f64::total_cmp);
    Ok(Times { p50: all[runs / 2], p99: all[runs * 99 / 100] })
}

/// Reads the whole timeline of a game, page by page; returns the number of lines.
async fn replay(http: &mut client::Http, game: Uuid) -> Result<usize, client::ClientError> {
    const REPLAY: &str = "query($game: ID!, $after: String) { replay(gameId: $game) { entries(first: 100, after: $after) {
        nodes { number kind at versionAfter clockLeft command commandId events { type summary scoreBreakdown payload } before { version round }
            after { version round seats { score } dice { slot face place } } differences { path before after } draws { purpose number raw } }
        pageInfo { hasNextPage endCursor } } } }";
    let (mut lines, mut after) = (0, Value::Null);
    loop {
        let asked = json!({ "game": format!("game:{game}"), "after": after });
        let mut page = http.ask(REPLAY, asked).await?["replay"]["entries"].take();
        lines += page["nodes"].as_array().map_or(0, Vec::len);
        if page["pageInfo"]["hasNextPage"] != true {
            return Ok(lines);
        }
        after = page["pageInfo"]["endCursor"].take();
    }
}

fn support_token(url: &str, folder: &Path) -> Result<String, Box<dyn Error>> {
    let token = croupier(url, folder, &["token", "issue", "--role", "support", "--name", "Sue"])?;
    Ok(token.trim().to_owned())
}

/// Runs the binary next to this one.
fn croupier(url: &str, folder: &Path, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let binary = std::env::current_exe()?.parent().ok_or("no folder")?.join("croupier");
    let mut run = Process::new(binary);
    run.args(arguments).env("DATABASE_URL", url).env("CROUPIER_DATA", folder.join("data"));
    let output = run.stderr(std::process::Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

async fn fill(store: &Store, games: u64) -> Result<(), Box<dyn Error>> {
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut number = writer;
                while number < games {
                    deal(&store, &game_of(number + 1, 40)).await?;
                    number += WRITERS;
                }
                Ok::<(), store::AppendError>(())
            })
        })
        .collect();
    for writer in writers {
        writer.await??;
    }
    Ok(())
}

/// Appends a game with one command id per command, many commands at once.
async fn deal(store: &Store, log: &[Event]) -> Result<Uuid, store::AppendError> {
    let stream = match log.first() {
        Some(Event::Created { game, .. }) => game.0,
        _ => Uuid::nil(),
    };
    let mut head = Head::NEW;
    let steps = infer_commands(log).unwrap_or_else(|unproven| panic!("{unproven}"));
    // A very long game is appended in fewer pieces than it has commands.
    let ends: Vec<usize> = steps.iter().map(|step| step.events.end).collect();
    let ends = ends
        .iter()
        .copied()
        .enumerate()
        .filter(|(n, end)| log.len() <= 1_000 || n % 50 == 0 || *end == log.len());
    let mut from = 0;
    for (n, (_, to)) in (0u64..).zip(ends) {
        let events = &log[from..to];
        from = to;
        let at = Moment(1_700_000_000_000 + n * 1000);
        let (command, request) = (Uuid::new_v4(), Hash::ZERO);
        let append = Append { stream, head, command, request, actor: stream, at, events };
        head = store.append(append).await?.head;
    }
    Ok(stream)
}

/// A game of Farkle by sensible moves that ends after about this many events: then a player leaves.
fn game_of(number: u64, events: usize) -> Vec<Event> {
    let rules = json!({ "target": 1_000_000 });
    let ruleset = Ruleset::preset("farkle", Some("classic")).and_then(|classic| {
        rules.as_object().map_or(Ok(classic.clone()), |rules| classic.with(rules))
    });
    let ruleset = ruleset.unwrap_or_else(|error| panic!("{error}"));
    let stream = Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(number));
    let (game, secret) = (GameId(stream), secret(stream));
    let commitment = commitment(&secret, game, ruleset_hash(&ruleset));
    let mut commands =
        vec![Command::Create { game, ruleset: std::sync::Arc::new(ruleset), commitment }];
    for seat in 0..2u128 {
        let player = PlayerId(Uuid::from_u128(seat + 1));
        commands.push(Command::Join { player, name: format!("player {seat}"), seed: None });
    }
    commands.push(Command::Start);
    let mut commands = commands.into_iter();
    let (mut log, mut state): (Vec<Event>, Option<Game>) = (Vec::new(), None);
    let turn = Duration::from_secs(3).as_millis();
    loop {
        let next = commands.next().or_else(|| {
            let table = state.as_ref()?;
            let seat = table.to_move()?;
            if log.len() + 6 >= events {
                return Some(Command::Leave { seat });
            }
            let plays = legal_commands(state.as_ref()).into_iter().filter_map(|legal| {
                if let Legal::Play(_, play) = legal { Some(play) } else { None }
            });
            let plays: Vec<Play> = plays.filter(|play| *play != Play::Forfeit).collect();
            let bank = plays.iter().find(|play| matches!(play, Play::Bank { slots: None }));
            Some(Command::Play { seat, play: bank.or(plays.first())?.clone() })
        });
        let Some(command) = next else { return log };
        let now = Moment(1_700_000_000_000 + u64::try_from(turn).unwrap_or(0) * log.len() as u64);
        let decided = match &state {
            Some(game) => decide(Some(game), &command, now, &mut FairDice::new(secret, game)),
            None => decide(None, &command, now, &mut NoDice),
        };
        for event in decided.unwrap_or_else(|error| panic!("{error}")) {
            state = evolve(state, &event);
            log.push(event);
        }
    }
}
