//! A client that uses quick match.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use client::ClientError;
use serde_json::json;

use super::{
    caller::{Caller, Request, Shared},
    journal::About,
    table::{is_over, look, make_move, to_move},
};

/// How long to wait for an opponent who may have left.
const WAIT: Duration = Duration::from_secs(5);

pub(super) async fn play(shared: Arc<Shared>, number: u64) -> Result<(), ClientError> {
    let mut me = Caller::guest(&shared, number).await?;
    while shared.goes_on() {
        let request = Request::new("quickMatch", About::Game)
            .with("rules", json!({ "farkle": { "target": 1000 } }));
        let matched = me.send(request).await?.done()?;
        let game = matched["game"]["id"].as_str().ok_or("a match without a game")?.to_owned();
        one_game(&mut me, &game).await?;
    }
    Ok(())
}

/// Plays one seat, until the game is over or the opponent is gone.
async fn one_game(me: &mut Caller, game: &str) -> Result<(), ClientError> {
    let mut moved = Instant::now();
    let mut table = look(me, game).await?;
    let seat = table["mySeat"]["number"].as_u64().and_then(|seat| usize::try_from(seat).ok());
    let seat = seat.ok_or_else(|| format!("matched to {game}, but not seated there"))?;
    while !is_over(&table) {
        if to_move(&table) == Some(seat) {
            table = make_move(me, game, &table).await?;
            moved = Instant::now();
            continue;
        }
        if !me.shared.goes_on() && moved.elapsed() > WAIT {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(60)).await;
        table = look(me, game).await?;
    }
    Ok(())
}
