//! A client that plays both seats of a game as fast as possible: saves all it can, banks from 300
//! points on.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use client::{ClientError, Http, Socket};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Way {
    /// A keep-alive connection, one request at a time.
    Http,
    /// A WebSocket.
    Socket,
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Http => "http",
            Self::Socket => "socket",
        })
    }
}

/// The connection of a seat.
enum Line {
    Http(Http),
    Socket(Box<Socket>),
}

/// A document for every move, as in a generated client; after a roll it also asks what to save.
const PLAY: &str = "mutation Play($input: PlayInput!) { play(input: $input) { game { stage toMove { number } } userErrors { code } } }";
const ROLL: &str = "mutation Roll($input: PlayInput!) { play(input: $input) { game { stage toMove { number } bestSelection { slots points } } userErrors { code } } }";

/// Both players of a game.
pub(crate) struct Player {
    lines: [Line; 2],
    game: String,
    /// The preset; in a challenge the first player has special dice.
    preset: String,
}

/// The dice of the first player in a challenge.
const DICE: [&str; 6] = ["MIDAS", "FARK$", "DOUBLE", "HOT", "TRIPLE", "JACKPOT"];

/// The payload of any of the mutations.
#[derive(Deserialize)]
struct Data {
    play: Payload,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    game: Option<Game>,
    user_errors: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Game {
    stage: String,
    to_move: Option<Seat>,
    best_selection: Option<Selection>,
}

#[derive(Deserialize)]
struct Seat {
    number: usize,
}

#[derive(Deserialize)]
struct Selection {
    slots: Vec<u8>,
    points: i64,
}

impl Player {
    /// Signs in two guests and seats them at a table.
    pub(crate) async fn new(
        address: SocketAddr,
        way: Way,
        preset: &str,
    ) -> Result<Self, ClientError> {
        let mut one = Line::connect(address, way).await?;
        let other = Line::connect(address, way).await?;
        let preset = preset.to_owned();
        if preset != "classic" {
            let buy =
                "mutation($c: DieCode!) { buyDie(input: { code: $c }) { userErrors { code } } }";
            for code in DICE {
                one.ask(buy, json!({ "c": code })).await?;
            }
        }
        let mut player = Self { lines: [one, other], game: String::new(), preset };
        player.sit_down().await?;
        Ok(player)
    }

    /// Starts a new game of the same two players.
    pub(crate) async fn sit_down(&mut self) -> Result<(), ClientError> {
        let [ann, bob] = &mut self.lines;
        let create = "mutation($p: PresetName) { createGame(input: { rules: { farkle: { preset: $p } } }) { game { id } } }";
        let created = ann.ask(create, json!({ "p": self.preset })).await?;
        let game = created["createGame"]["game"]["id"].as_str().ok_or("no game")?;
        game.clone_into(&mut self.game);
        let join = "mutation($g: ID!) { joinGame(input: { gameId: $g, seed: \"bob\" }) { userErrors { code } } }";
        bob.ask(join, json!({ "g": game })).await?;
        if self.preset != "classic" {
            let choose = "mutation($g: ID!, $d: [DieCode!]) { chooseLoadout(input: { gameId: $g, dice: $d }) { userErrors { code } } }";
            ann.ask(choose, json!({ "g": game, "d": DICE })).await?;
        }
        let start =
            "mutation($g: ID!) { startGame(input: { gameId: $g }) { userErrors { code } } }";
        ann.ask(start, json!({ "g": game })).await?;
        Ok(())
    }

    /// Plays game after game; returns the latency of each action, in microseconds.
    pub(crate) async fn play_until(mut self, until: Instant) -> Result<Vec<u32>, ClientError> {
        let mut micros = Vec::new();
        while Instant::now() < until {
            self.play(|_| Instant::now() < until, &mut micros).await?;
            if Instant::now() < until {
                self.sit_down().await?;
            }
        }
        Ok(micros)
    }

    /// Makes this many moves of a new game.
    pub(crate) async fn some_moves(&mut self, count: usize) -> Result<(), ClientError> {
        let mut micros = Vec::new();
        self.play(|micros| micros.len() < count, &mut micros).await
    }

    /// Plays to the end of the game, or until `go_on` returns false.
    async fn play(
        &mut self,
        go_on: impl Fn(&[u32]) -> bool,
        micros: &mut Vec<u32>,
    ) -> Result<(), ClientError> {
        let (mut seat, mut unbanked, mut chosen) = (0, 0, None::<Selection>);
        while go_on(micros) {
            let (verb, play) = match &chosen {
                Some(best) => ("save", json!({ "slots": best.slots })),
                None if unbanked >= 300 => ("bank", json!({})),
                None => ("roll", json!({})),
            };
            let input = json!({ "gameId": self.game, "move": { verb: play } });
            let before = Instant::now();
            let line = self.lines.get_mut(seat).ok_or("a seat too many")?;
            let document = if verb == "roll" { ROLL } else { PLAY };
            let data: Data = line.ask_as(document, json!({ "input": input })).await?;
            micros.push(took(before.elapsed()));
            let game = data.play.game.filter(|_| data.play.user_errors.is_empty());
            let game = game.ok_or_else(|| format!("{verb} was refused"))?;
            unbanked += chosen.take().map_or(0, |best| best.points);
            if game.stage == "ENDED" {
                return Ok(());
            }
            let next = game.to_move.map_or(0, |seat| seat.number);
            if next != seat {
                (seat, unbanked) = (next, 0);
            }
            chosen = game.best_selection;
        }
        Ok(())
    }
}

fn took(elapsed: Duration) -> u32 {
    u32::try_from(elapsed.as_micros()).unwrap_or(u32::MAX)
}

impl Line {
    async fn connect(address: SocketAddr, way: Way) -> Result<Self, ClientError> {
        let mut http = Http::connect(address).await?;
        let signed = http.ask("mutation { signInAsGuest { accessToken } }", json!({})).await?;
        let token = signed["signInAsGuest"]["accessToken"].as_str().ok_or("no token")?;
        Ok(match way {
            Way::Http => Self::Http(http.with_token(token)),
            Way::Socket => Self::Socket(Box::new(Socket::connect(address, token).await?)),
        })
    }

    async fn ask_as<T: DeserializeOwned>(
        &mut self,
        document: &str,
        variables: Value,
    ) -> Result<T, ClientError> {
        match self {
            Self::Http(http) => http.ask_as(document, variables).await,
            Self::Socket(socket) => socket.ask_as(document, variables).await,
        }
    }

    async fn ask(&mut self, document: &str, variables: Value) -> Result<Value, ClientError> {
        match self {
            Self::Http(http) => http.ask(document, variables).await,
            Self::Socket(socket) => socket.ask(document, variables).await,
        }
    }
}
