//! Accounts and the catalogue through the log, and finding events by type.

use std::{collections::BTreeSet, sync::Arc};

use domain::{
    Account, AccountCommand, Moment, PlayerId, Rejection,
    special_dice::{Catalogue, CatalogueCommand},
};
use uuid::Uuid;

use super::support::{append, database, store};
use crate::{
    ExecuteError, Executed, Head, Positions, Request, Settings, Shard, Store, StreamId,
    codec::encode,
};

async fn ask(
    store: &Store,
    stream: StreamId,
    id: Uuid,
    command: &AccountCommand,
) -> Result<Executed<Account>, ExecuteError> {
    let (actor, now, expected) = (Uuid::nil(), Moment(1_800_000_000_000), None);
    let context = Arc::new(Catalogue::builtin());
    store.execute(&Request { stream, command, id, actor, now, context, expected }).await
}

fn open(stream: StreamId) -> AccountCommand {
    AccountCommand::Open { account: PlayerId(stream), grant: 10 }
}

fn buy(code: &str) -> AccountCommand {
    AccountCommand::Buy { code: code.to_owned(), quantity: 1 }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_the_fold_of_its_stream_on_every_node() {
    let url = database().await;
    let nodes: Vec<Store> =
        (0..2).map(|_| Store::open(&url, &Settings::default()).unwrap()).collect();
    let stream = Uuid::now_v7();
    let refused = ask(&nodes[0], stream, Uuid::new_v4(), &buy("LUCKY")).await.unwrap_err();
    assert!(matches!(refused, ExecuteError::Rejected(Rejection::NoWallet)));
    ask(&nodes[0], stream, Uuid::new_v4(), &open(stream)).await.unwrap();
    let id = Uuid::new_v4();
    assert!(!ask(&nodes[1], stream, id, &buy("LUCKY")).await.unwrap().repeated);
    assert!(ask(&nodes[0], stream, id, &buy("LUCKY")).await.unwrap().repeated);
    for node in &nodes {
        let state = node.accounts.latest(stream).await.unwrap();
        let account = state.aggregate.clone().unwrap();
        assert_eq!((account.balance, account.version), (8, 2));
        // The stream is not a game.
        assert_eq!(node.games.latest(stream).await.unwrap().aggregate, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_dollars_are_spent_once() {
    let url = database().await;
    let nodes: Vec<Store> =
        (0..2).map(|_| Store::open(&url, &Settings::default()).unwrap()).collect();
    let stream = Uuid::now_v7();
    ask(&nodes[0], stream, Uuid::new_v4(), &open(stream)).await.unwrap();
    let buyers: Vec<_> = (0..16)
        .map(|n| {
            let node = nodes[n % 2].clone();
            tokio::spawn(async move { ask(&node, stream, Uuid::new_v4(), &buy("DOUBLE")).await })
        })
        .collect();
    let mut bought = 0;
    for buyer in buyers {
        match buyer.await.unwrap() {
            Ok(_) => bought += 1,
            Err(ExecuteError::Rejected(Rejection::NotEnoughMoney { cost: 10, balance: 0 })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(bought, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalogue_starts_with_the_builtin_dice() {
    let store = store().await;
    let stream = Uuid::now_v7();
    assert_eq!(store.catalogues.latest(stream).await.unwrap().aggregate, None);
    let request = Request::<Catalogue> {
        stream,
        command: &CatalogueCommand::Retire { code: "HOT".to_owned() },
        id: Uuid::new_v4(),
        actor: Uuid::from_u128(7),
        now: Moment(1),
        context: (),
        expected: None,
    };
    let done = store.execute(&request).await.unwrap();
    let names: Vec<_> = done.events.iter().map(domain::Event::name).collect();
    assert_eq!(names, ["CatalogueOpened", "DieRetired"]);
    assert!(encode(&done.events[1]).unwrap().starts_with(r#"{"code":"HOT","#));
    let catalogue = store.catalogues.latest(stream).await.unwrap().aggregate.clone().unwrap();
    assert_eq!((catalogue.version, catalogue.dice.len()), (2, 16));
}

/// A few events among many: each is found once, and positions advance where there are none.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_found_by_type_without_loss() {
    let store = store().await;
    let mut wanted = BTreeSet::new();
    for number in 0..60 {
        let stream = Uuid::now_v7();
        if number % 3 == 0 {
            ask(&store, stream, Uuid::new_v4(), &open(stream)).await.unwrap();
            ask(&store, stream, Uuid::new_v4(), &buy("LUCKY")).await.unwrap();
            wanted.extend([(stream, 1), (stream, 2)]);
        } else {
            append(&store, stream, Head::NEW, number).await.unwrap();
        }
    }
    let types = ["WalletOpened", "DieBought"];
    for most in [1, 2, 1000] {
        let (mut after, mut found) = (Positions::default(), Vec::new());
        loop {
            let all: Vec<Shard> = Shard::all().collect();
            let page = store.of_types_in(&all, &types, &after, most).await.unwrap();
            found.extend(page.events.iter().map(|event| (event.stream, event.version)));
            after = page.looked_at;
            if page.unfinished.is_empty() {
                break;
            }
        }
        assert_eq!(found.len(), wanted.len(), "each once");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), wanted);
        assert_eq!(after, store.heads().await.unwrap());
    }
    let (stream, _) = *wanted.first().unwrap();
    let back = store.backwards(stream, 3, &types, 10).await.unwrap();
    assert_eq!(back.iter().map(|event| event.version).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(store.backwards(stream, 2, &["DieBought"], 10).await.unwrap(), []);
    assert_eq!(store.envelope(stream, 2).await.unwrap().unwrap().kind, "DieBought");
    assert_eq!(store.envelope(stream, 3).await.unwrap(), None);
}
