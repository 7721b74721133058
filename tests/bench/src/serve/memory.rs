//! The memory cost of a live game and of an idle subscriber.

use std::{error::Error, time::Duration};

use client::{Http, Socket};
use serde_json::{Value, json};

use super::{
    node::Node,
    player::{Player, Way},
};

pub(crate) async fn measure(node: &Node, quick: bool) -> Result<Value, Box<dyn Error>> {
    let count: u32 = if quick { 1000 } else { 4000 };
    let game = games(node, count).await?;
    println!("memory: {game:.1} KiB per live game ({count} running games)");
    let listener = listeners(node, count).await?;
    println!(
        "memory: {listener:.1} KiB per idle subscriber ({count} sockets, each on its own game)"
    );
    Ok(json!({ "kib_per_game": game, "kib_per_listener": listener }))
}

/// Two-player games after some moves. All use the same connection.
async fn games(node: &Node, count: u32) -> Result<f64, Box<dyn Error>> {
    let mut player = Player::new(node.address, Way::Http, "classic").await.map_err(plain)?;
    for _ in 0..200 {
        moves(&mut player).await?;
    }
    let before = node.memory()?;
    for _ in 0..count {
        moves(&mut player).await?;
    }
    Ok((node.memory()? - before) / f64::from(count))
}

async fn moves(player: &mut Player) -> Result<(), Box<dyn Error>> {
    player.sit_down().await.map_err(plain)?;
    player.some_moves(8).await.map_err(plain)
}

async fn listeners(node: &Node, count: u32) -> Result<f64, Box<dyn Error>> {
    let mut http = Http::connect(node.address).await.map_err(plain)?;
    let signed =
        http.ask("mutation { signInAsGuest { accessToken } }", json!({})).await.map_err(plain)?;
    let token = signed["signInAsGuest"]["accessToken"].as_str().ok_or("no token")?.to_owned();
    let mut http = http.with_token(&token);
    let mut games = Vec::new();
    for _ in 0..count {
        let created = http
            .ask(
                "mutation { createGame(input: { rules: { farkle: {} } }) { game { id } } }",
                json!({}),
            )
            .await
            .map_err(plain)?;
        games.push(created["createGame"]["game"]["id"].clone());
    }
    let listen = "subscription($g: ID!) { gameEvents(gameId: $g, afterVersion: 2) { version type summary } }";
    let before = node.memory()?;
    let mut sockets = Vec::new();
    for game in games {
        let mut socket = Socket::connect(node.address, &token).await.map_err(plain)?;
        socket.subscribe("1", listen, json!({ "g": game })).await.map_err(plain)?;
        sockets.push(socket);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let each = (node.memory()? - before) / f64::from(count);
    drop(sockets);
    Ok(each)
}

/// An error that need not cross threads.
pub(super) fn plain(trouble: client::ClientError) -> Box<dyn Error> {
    trouble
}
