//! A client that plays both seats of a game, as fast as it is answered: saves all it can, banks from 300 points on.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use client::{Http, Socket, Trouble};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Way {
    /// A connection that is kept open, a request at a time.
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

/// A connection of a seat.
enum Line {
    Http(Http),
    Socket(Box<Socket>),
}

const ROLL: &str = "mutation($g: ID!) { roll(gameId: $g) { game { stage toMove { number } bestSelection { slots points } } errors { code } } }";
const SAVE: &str = "mutation($g: ID!, $s: [Int!]!) { save(gameId: $g, slots: $s) { game { stage toMove { number } } errors { code } } }";
const BANK: &str =
    "mutation($g: ID!) { bank(gameId: $g) { game { stage toMove { number } } errors { code } } }";

/// Both players of a game.
pub(crate) struct Player {
    lines: [Line; 2],
    game: String,
    /// What is played; in a challenge the first one has special dice.
    preset: String,
}

/// What the first one plays a challenge with.
const DICE: [&str; 6] = ["MIDAS", "FARK$", "DOUBLE", "HOT", "TRIPLE", "JACKPOT"];

/// The payload of whichever mutation it was.
#[derive(Deserialize)]
struct Data {
    #[serde(alias = "roll", alias = "save", alias = "bank")]
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    game: Option<Game>,
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
    /// Signs two guests in; they sit down at a table.
    pub(crate) async fn new(address: SocketAddr, way: Way, preset: &str) -> Result<Self, Trouble> {
        let mut one = Line::connect(address, way).await?;
        let other = Line::connect(address, way).await?;
        let preset = preset.to_owned();
        if preset != "classic" {
            let buy = "mutation($c: String!) { buyDie(code: $c) { errors { code } } }";
            for code in DICE {
                one.ask(buy, json!({ "c": code })).await?;
            }
        }
        let mut player = Self { lines: [one, other], game: String::new(), preset };
        player.sit_down().await?;
        Ok(player)
    }

    /// A new game of the same two.
    pub(crate) async fn sit_down(&mut self) -> Result<(), Trouble> {
        let [ann, bob] = &mut self.lines;
        let create = "mutation($p: String) { createGame(preset: $p) { game { id } } }";
        let created = ann.ask(create, json!({ "p": self.preset })).await?;
        let game = created["createGame"]["game"]["id"].as_str().ok_or("no game")?;
        game.clone_into(&mut self.game);
        let join = "mutation($g: ID!) { joinGame(gameId: $g, seed: \"bob\") { errors { code } } }";
        bob.ask(join, json!({ "g": game })).await?;
        if self.preset != "classic" {
            let choose = "mutation($g: ID!, $d: [String!]) { chooseLoadout(gameId: $g, dice: $d) { errors { code } } }";
            ann.ask(choose, json!({ "g": game, "d": DICE })).await?;
        }
        let start = "mutation($g: ID!) { startGame(gameId: $g) { errors { code } } }";
        ann.ask(start, json!({ "g": game })).await?;
        Ok(())
    }

    /// Plays, one game after the other; gives how long each action took, in microseconds.
    pub(crate) async fn play_until(mut self, until: Instant) -> Result<Vec<u32>, Trouble> {
        let mut micros = Vec::new();
        while Instant::now() < until {
            self.play(|_| Instant::now() < until, &mut micros).await?;
            if Instant::now() < until {
                self.sit_down().await?;
            }
        }
        Ok(micros)
    }

    /// Makes so many moves of a new game.
    pub(crate) async fn some_moves(&mut self, count: usize) -> Result<(), Trouble> {
        let mut micros = Vec::new();
        self.play(|micros| micros.len() < count, &mut micros).await
    }

    /// Plays to the end of the game, or as long as it should go on.
    async fn play(
        &mut self,
        go_on: impl Fn(&[u32]) -> bool,
        micros: &mut Vec<u32>,
    ) -> Result<(), Trouble> {
        let (mut seat, mut unbanked, mut chosen) = (0, 0, None::<Selection>);
        while go_on(micros) {
            let (verb, document, variables) = match &chosen {
                Some(best) => ("save", SAVE, json!({ "g": self.game, "s": best.slots })),
                None if unbanked >= 300 => ("bank", BANK, json!({ "g": self.game })),
                None => ("roll", ROLL, json!({ "g": self.game })),
            };
            let before = Instant::now();
            let line = self.lines.get_mut(seat).ok_or("a seat too many")?;
            let data: Data = line.ask_as(document, variables).await?;
            micros.push(took(before.elapsed()));
            let game = data.payload.game.ok_or_else(|| format!("{verb} was refused"))?;
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
    async fn connect(address: SocketAddr, way: Way) -> Result<Self, Trouble> {
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
    ) -> Result<T, Trouble> {
        match self {
            Self::Http(http) => http.ask_as(document, variables).await,
            Self::Socket(socket) => socket.ask_as(document, variables).await,
        }
    }

    async fn ask(&mut self, document: &str, variables: Value) -> Result<Value, Trouble> {
        match self {
            Self::Http(http) => http.ask(document, variables).await,
            Self::Socket(socket) => socket.ask(document, variables).await,
        }
    }
}
