//! Failures of single games, and rolling back a generation.

use sqlx::Row;
use store::processor::{Processor, roll_back, status};

use super::{
    NAME,
    games::deal,
    holds, live,
    nodes::{database, execute, node, open, rebuild, settled},
};
use crate::processors;

/// A game at which the fold fails is parked with its reason; the others of its batch are added.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_cannot_be_written_is_parked_alone() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 20).await;
    let chosen = "SELECT min(stream::text) FROM event WHERE type = 'Ended'
        AND stream NOT IN (SELECT stream FROM event WHERE type = 'Voided')";
    let game: String = sqlx::query(chosen).fetch_one(store.pool()).await.unwrap().get(0);
    execute(
        &url,
        &format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW.game = '{game}' THEN RAISE 'this game is cursed'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON player_game FOR EACH ROW EXECUTE FUNCTION refuse()"
        ),
    )
    .await;
    let work = tokio::spawn(node(url.clone()));
    settled(&store).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let parked: Vec<(&str, String, bool)> = all
        .iter()
        .flat_map(|status| status.parked.iter().map(move |parked| (status, parked)))
        .map(|(status, parked)| {
            (
                status.name.as_str(),
                parked.stream.to_string(),
                parked.reason.contains("this game is cursed"),
            )
        })
        .collect();
    assert_eq!(parked, [(NAME, game, true)]);
    let taken = "SELECT count(DISTINCT game) FROM player_game";
    let taken: i64 = sqlx::query(taken).fetch_one(store.pool()).await.unwrap().get(0);
    assert_eq!(taken, 20 - 2 - 1, "all but the void ones and this one");
    work.abort();
}

/// A rebuild can be rolled back, but nothing before the first one.
#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_can_be_rolled_back() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 5).await;
    let all = processors(&store);
    let statistics = Processor::named(&all, NAME).unwrap();
    let refused = roll_back(&store, statistics).await.unwrap_err();
    assert_eq!(refused.to_string(), "'player_statistics' has no earlier generation to go back to");
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 2);
    deal(&store, 6, 5).await;
    // Both concurrently: one after the other, in any order.
    let (back, built) = tokio::join!(roll_back(&store, statistics), rebuild(&store, NAME, |_| {}));
    let (back, built) = (back.unwrap(), built.unwrap());
    assert_eq!((built.live, built.differing), (3, 0));
    assert!([1, 2].contains(&back), "{back}");
    let work = tokio::spawn(node(url.clone()));
    settled(&store).await;
    assert!(!live(&store).await.is_empty());
    holds(&store).await;
    work.abort();
}
