//! A client that listens to games, resumes after each disconnect, and must receive every event once
//! and in order.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use client::{ClientError, Heard as Said, Socket};
use serde_json::{Value, json};

use super::{
    caller::{Caller, PASSING, Shared},
    journal::{Heard, count, log_name, note, stream_of},
};

const LISTEN: &str = "subscription($game: ID!, $after: Int!) { gameEvents(gameId: $game, afterVersion: $after) { version type } }";
/// A listener that receives nothing for this long reconnects; the players may be waiting as well.
const SILENCE: Duration = Duration::from_secs(5);
/// Maximum time without any event of a game.
const PERSISTENCE: Duration = Duration::from_mins(1);

pub(super) async fn listen(shared: Arc<Shared>, number: u64) -> Result<(), ClientError> {
    let mut me = Caller::guest(&shared, number).await?;
    while shared.goes_on() {
        let newest = {
            let mut begun = shared.begun.lock().unwrap_or_else(PoisonError::into_inner);
            let newest = begun.pop_back();
            begun.clear();
            newest
        };
        match newest {
            Some(game) => whole_game(&mut me, &game).await?,
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Ok(())
}

/// Listens from the first event to the last one, across disconnects.
async fn whole_game(me: &mut Caller, game: &str) -> Result<(), ClientError> {
    let mut events: Vec<(i64, String)> = Vec::new();
    let mut news = Instant::now();
    while events.last().is_none_or(|(_, kind)| kind != "SeedRevealed") {
        let before = events.len();
        let lost = for_a_while(me, game, &mut events).await?;
        if events.len() > before {
            news = Instant::now();
        }
        if news.elapsed() > PERSISTENCE {
            let known = events.len();
            return Err(format!("no event of {game} after version {known}: {lost}").into());
        }
        if !lost.is_empty() {
            count(&me.shared.journal.resumed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let game = stream_of(&json!(game)).ok_or("a game without an id")?;
    note(&me.shared.journal.heard, Heard { game, events });
    Ok(())
}

/// Listens on one node until the game is over or the connection breaks; returns why it broke.
async fn for_a_while(
    me: &mut Caller,
    game: &str,
    events: &mut Vec<(i64, String)>,
) -> Result<String, ClientError> {
    let place = me.chance.place(me.shared.nodes.len());
    let connect = Socket::connect(me.shared.nodes[place], &me.person.token);
    let mut socket = match tokio::time::timeout(SILENCE, connect).await {
        Ok(Ok(socket)) => socket,
        Ok(Err(trouble)) => return Ok(trouble.to_string()),
        Err(_) => return Ok("no response".to_owned()),
    };
    let asked = json!({ "game": game, "after": events.len() });
    if let Err(trouble) = socket.subscribe("1", LISTEN, asked).await {
        return Ok(trouble.to_string());
    }
    loop {
        let message = match tokio::time::timeout(SILENCE, socket.hear()).await {
            Ok(Ok(Said::Message(message))) => message,
            Ok(Ok(Said::Closed(code, reason))) => return Ok(format!("closed: {code} {reason}")),
            Ok(Err(trouble)) => return Ok(trouble.to_string()),
            Err(_) => return Ok("silence".to_owned()),
        };
        match message["type"].as_str() {
            Some("complete") => return Ok("the subscription was completed".to_owned()),
            Some("next") if message["payload"].get("errors").is_none() => {
                take(&message["payload"]["data"]["gameEvents"], events)
                    .map_err(|wrong| format!("{game}: {wrong}"))?;
            }
            _ => return passing(&message),
        }
        if events.last().is_some_and(|(_, kind)| kind == "SeedRevealed") {
            return Ok(String::new());
        }
    }
}

/// Checks that the event is the next one.
fn take(event: &Value, events: &mut Vec<(i64, String)>) -> Result<(), String> {
    let due = events.len() + 1;
    let (version, kind) = (event["version"].as_i64(), event["type"].as_str().map(log_name));
    match (version, kind) {
        (Some(version), Some(kind)) if usize::try_from(version) == Ok(due) => {
            events.push((version, kind));
            Ok(())
        }
        _ => Err(format!("expected version {due}, received {event}")),
    }
}

/// Transient errors count as a disconnect; others are errors.
fn passing(message: &Value) -> Result<String, ClientError> {
    let payload = &message["payload"];
    let error = if payload.is_array() { &payload[0] } else { &payload["errors"][0] };
    let code = &error["extensions"]["code"];
    let passes = PASSING.iter().any(|passing| code == *passing);
    if passes {
        Ok(message.to_string())
    } else {
        Err(format!("unexpected message {message}").into())
    }
}
