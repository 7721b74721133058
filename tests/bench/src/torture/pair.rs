//! Two clients that play each other, game after game, each to its end.

use std::sync::{Arc, PoisonError};

use client::ClientError;
use serde_json::{Value, json};

use super::{
    caller::{Caller, Over, Request, Shared},
    journal::About,
    table::{at, is_over, make_move, moves, to_move},
};

/// The game they play.
#[derive(Clone, Copy, Debug)]
pub(super) enum Playing {
    Farkle,
    LastLine,
    /// With dice from the shop, which earn money.
    Challenge,
}

/// Dice that earn money, and some that do not.
const DICE: [&str; 4] = ["MIDAS", "FARK$", "DOUBLE", "HOT"];

pub(super) async fn play(
    shared: Arc<Shared>,
    number: u64,
    playing: Playing,
) -> Result<(), ClientError> {
    let ann = Caller::guest(&shared, number).await?;
    let bob = Caller::guest(&shared, number + 1).await?;
    let mut pair = Pair { players: [ann, bob], dice: Vec::new(), playing };
    while shared.goes_on() {
        if matches!(playing, Playing::Challenge) {
            pair.shop().await?;
        }
        pair.one_game().await?;
    }
    Ok(())
}

struct Pair {
    players: [Caller; 2],
    /// The special dice of the first player.
    dice: Vec<&'static str>,
    playing: Playing,
}

impl Pair {
    async fn one_game(&mut self) -> Result<(), ClientError> {
        let game = self.sit_down().await?;
        let [ann, bob] = &mut self.players;
        let mut table = ann.send(at(&game, "startGame")).await?.done()?["game"].take();
        while !is_over(&table) {
            let seat = to_move(&table).ok_or_else(|| format!("nobody is to move in {game}"))?;
            let (mover, other) =
                if seat == 0 { (&mut *ann, &mut *bob) } else { (&mut *bob, &mut *ann) };
            if other.chance.one_in(20) {
                other
                    .send(moves(&game, json!({ "roll": {} })))
                    .await?
                    .unless(&["NOT_YOUR_TURN"])?;
            }
            table = make_move(mover, &game, &table).await?;
        }
        let players = [ann.person.clone(), bob.person.clone()];
        let version = table["version"].as_i64().ok_or("a game without a version")?;
        let over = Over { game, version, players };
        ann.shared.over.lock().unwrap_or_else(PoisonError::into_inner).push_back(over);
        Ok(())
    }

    /// Creates a table and seats both players.
    async fn sit_down(&mut self) -> Result<String, ClientError> {
        let [ann, bob] = &mut self.players;
        let create = Request::new("createGame", About::Game);
        let short = json!({ "target": 1500 });
        let create = match self.playing {
            Playing::Farkle => create.with("rules", json!({ "farkle": { "custom": short } })),
            Playing::LastLine => create.with("rules", json!({ "other": { "kind": "LAST_LINE" } })),
            Playing::Challenge => {
                let rules = json!({ "preset": "challenge-standard", "custom": short });
                create.with("rules", json!({ "farkle": rules }))
            }
        };
        let created = ann.send(create).await?.done()?;
        let game = created["game"]["id"].as_str().ok_or("a game without an id")?.to_owned();
        ann.shared.begun.lock().unwrap_or_else(PoisonError::into_inner).push_back(game.clone());
        bob.send(at(&game, "joinGame").with("seed", json!("bob"))).await?.done()?;
        if matches!(self.playing, Playing::Challenge) {
            let dice: Vec<Value> = self.dice.iter().map(|code| json!(code)).collect();
            let choose = at(&game, "chooseLoadout").with("dice", json!(dice));
            ann.send(choose).await?.done()?;
        }
        Ok(game)
    }

    /// Buys missing dice, sometimes after selling one.
    async fn shop(&mut self) -> Result<(), ClientError> {
        let ann = &mut self.players[0];
        if !self.dice.is_empty() && ann.chance.one_in(2) {
            let place = ann.chance.place(self.dice.len());
            let code = self.dice.remove(place);
            ann.send(trade("sellDie", code)).await?.done()?;
        }
        for code in DICE {
            if !self.dice.contains(&code)
                && ann.send(trade("buyDie", code)).await?.unless(&["NOT_ENOUGH_MONEY"])?
            {
                self.dice.push(code);
            }
        }
        // Nobody owns a thousand of them.
        let too_many = trade("sellDie", "MIDAS").with("quantity", json!(1000));
        if ann.chance.one_in(4) {
            ann.send(too_many).await?.unless(&["NOT_OWNED"])?;
        }
        Ok(())
    }
}

fn trade(mutation: &'static str, code: &'static str) -> Request {
    Request::new(mutation, About::Wallet).with("code", json!(code))
}
