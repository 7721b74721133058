use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
};

use domain::Moment;
use ed25519_dalek::SigningKey;
use uuid::Uuid;

use super::support::{append, database, store};
use crate::{
    Head, Settings, Store,
    prove::{ExternalEvidence, Proof, prove},
    seal::{Seal, seal, signing_key},
};

pub(super) fn key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

pub(super) async fn proven(store: &Store, known: &ExternalEvidence) -> Result<Proof, String> {
    prove(store, known, 2, &Arc::new(AtomicU64::new(0)))
        .await
        .map_err(|unproven| unproven.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_new_is_sealed_once() {
    let store = store().await;
    for n in 0..30 {
        append(&store, Uuid::now_v7(), Head::NEW, n).await.unwrap();
    }
    let first = seal(&store, &key(), Moment(1000)).await.unwrap();
    let sealed: i64 = first.iter().map(|s| s.last_position - s.first_position + 1).sum();
    assert_eq!(sealed, 90);
    assert!(first.iter().all(Seal::is_signed));
    assert!(seal(&store, &key(), Moment(2000)).await.unwrap().is_empty(), "nothing is new");

    for n in 0..30 {
        append(&store, Uuid::now_v7(), Head::NEW, n).await.unwrap();
    }
    let second = seal(&store, &key(), Moment(500)).await.unwrap();
    let before: BTreeMap<u8, &Seal> = first.iter().map(|s| (s.shard, s)).collect();
    for next in &second {
        let Some(previous) = before.get(&next.shard) else { continue };
        assert_eq!(next.number, 2);
        assert_eq!(next.previous, previous.hash().0);
        assert_eq!(next.first_position, previous.last_position + 1);
        assert!(next.sealed_at >= previous.sealed_at);
    }
    let proof = proven(&store, &ExternalEvidence::default()).await.unwrap();
    assert_eq!((proof.events, proof.streams, proof.commands), (180, 60, 60));
    assert_eq!(proof.seals, (first.len() + second.len()) as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn verification_tolerates_concurrent_appends() {
    let store = store().await;
    let busy = {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..300 {
                let stream = Uuid::now_v7();
                let head = append(&store, stream, Head::NEW, n).await.unwrap().head;
                append(&store, stream, head, n).await.unwrap();
                if n % 50 == 0 {
                    seal(&store, &key(), Moment(1)).await.unwrap();
                }
            }
        })
    };
    while !busy.is_finished() {
        proven(&store, &ExternalEvidence::default()).await.unwrap();
    }
    assert_eq!(proven(&store, &ExternalEvidence::default()).await.unwrap().events, 1800);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_nodes_seal_concurrently() {
    let url = database().await;
    let nodes: Vec<Store> =
        (0..4).map(|_| Store::open(&url, &Settings::default()).unwrap()).collect();
    for n in 0..40 {
        append(&nodes[0], Uuid::now_v7(), Head::NEW, n).await.unwrap();
    }
    let tasks: Vec<_> = nodes
        .iter()
        .cloned()
        .map(|node| tokio::spawn(async move { seal(&node, &key(), Moment(1)).await.unwrap() }))
        .collect();
    let mut seals = 0;
    for task in tasks {
        seals += task.await.unwrap().len();
    }
    let proof = proven(&nodes[0], &ExternalEvidence::default()).await.unwrap();
    assert_eq!(proof.seals, seals as u64, "each seal was made by one node");
}

#[test]
fn the_signing_key_is_created_once_and_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seal.key");
    let made = signing_key(&path, || [9; 32]).unwrap();
    let read = signing_key(&path, || panic!("there is one already")).unwrap();
    assert_eq!(made.to_bytes(), read.to_bytes());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&path, "short").unwrap();
    assert!(signing_key(&path, || [9; 32]).is_err());
}

#[test]
fn a_seal_survives_serialization() {
    let seal = Seal {
        shard: 3,
        number: 1,
        first_position: 1,
        last_position: 9,
        sealed_at: 5,
        root: [1; 32],
        previous: [0; 32],
        key: key().verifying_key().to_bytes(),
        signature: [255; 64],
    };
    let line = serde_json::to_string(&seal).unwrap();
    assert_eq!(serde_json::from_str::<Seal>(&line).unwrap(), seal);
    assert!(!seal.is_signed());
    assert!(serde_json::from_str::<Seal>(&line.replace("ffff", "fff")).is_err());
}
