//! Figures folded from the log: statistics of players.

use serde_json::{Value, json};

use crate::support::*;

const FIGURES: &str = "{ me { statistics(game: \"last_line\") { game preset games wins left streak bestStreak averageGame bestGame turns
    farkleRate secondsPerTurn money mostCommonCombination dice { code } } } }";

/// A game of Last Line to its end: whoever is to move rolls.
async fn last_line(players: [&Player; 2]) -> Value {
    let create = "mutation { createGame(game: \"last_line\") { game { id } } }";
    let created = players[0].ask(create, json!({})).await;
    let game = created["createGame"]["game"]["id"].as_str().unwrap().to_owned();
    accepted(players[1].act("joinGame", &game).await);
    accepted(players[0].act("startGame", &game).await);
    let look = "query($game: ID!) { game(id: $game) { toMove { number } outcome { winners { number } scores } } }";
    loop {
        let mut table = players[0].ask(look, json!({ "game": game })).await["game"].take();
        match table["toMove"]["number"].as_u64() {
            Some(number) => {
                accepted(players[usize::try_from(number).unwrap()].act("roll", &game).await);
            }
            None => return table["outcome"].take(),
        }
    }
}

/// What was played shows a moment later; folding everything anew changes nothing, and reads never stop.
#[tokio::test(flavor = "multi_thread")]
async fn statistics_follow_the_games_and_are_rebuilt_beside_them() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let (ann, bob) = (nodes[0].guest("Ann").await, nodes[1].guest("Bob").await);
    let (mut wins, mut best) = (0, 0);
    for _ in 0..3 {
        let outcome = last_line([&ann, &bob]).await;
        wins += u32::from(outcome["winners"][0]["number"] == 0);
        best = best.max(outcome["scores"][0].as_i64().unwrap());
    }
    let figures = async || ann.ask(FIGURES, json!({})).await["me"]["statistics"][0].take();
    eventually("three games are counted", async || figures().await["games"] == 3).await;
    let before = figures().await;
    assert_eq!((&before["wins"], &before["bestGame"]), (&json!(wins), &json!(best)), "{before}");
    assert_eq!((&before["preset"], &before["left"]), (&json!("standard"), &json!(0)));
    assert_eq!(before["money"], json!(3 * 3 + 5 * wins), "{before}");

    let (code, said, wrong) = house.croupier(&["project", "rebuild", "player_statistics"]);
    assert_eq!(code, 0, "{said}{wrong}");
    assert!(said.contains("the same as the live one") && said.contains("generation 2"), "{said}");
    assert_eq!(figures().await, before);
    // The nodes work on the new generation.
    last_line([&ann, &bob]).await;
    eventually("the fourth game is counted", async || figures().await["games"] == 4).await;
    let (code, said, _) = house.croupier(&["project", "verify", "player_statistics"]);
    assert_eq!(code, 0, "{said}");
    let (code, said, _) = house.croupier(&["project", "status"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("player_statistics") && said.contains("old"), "{said}");
    let (code, said, _) = house.croupier(&["project", "rollback", "player_statistics"]);
    assert_eq!((code, said.contains("generation 1")), (0, true), "{said}");
    eventually("the old one catches up", async || figures().await["games"] == 4).await;
    let (code, said, _) = house.croupier(&["project", "rebuild", "nonsense"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there are: player_statistics"), "{said}");
}
