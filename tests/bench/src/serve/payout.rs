//! The delay from an award in a game to its credit in the wallet.

use std::{collections::HashMap, error::Error, time::Duration};

use domain::{AccountEvent, Event};
use serde_json::{Value, json};
use store::{Positions, Settings, Store};

/// How long to wait for outstanding credits.
const PATIENCE: u32 = 120;

/// Waits until all awards are credited, and reports how long each one took.
pub(crate) async fn measure(url: &str) -> Result<Value, Box<dyn Error>> {
    let store = Store::open(url, &Settings { connections: 2, ..Settings::default() })?;
    let mut waited = 0;
    let (awards, mut delays) = loop {
        let (awards, delays) = read(&store).await?;
        if delays.len() == awards || waited == PATIENCE {
            break (awards, delays);
        }
        waited += 1;
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    store.close().await;
    delays.sort_unstable();
    let at = |share: usize| delays.get(delays.len() * share / 100).copied().unwrap_or(0);
    let [p50, p99] = [at(50), at(99)];
    let credited = delays.len();
    println!(
        "money: {credited} of {awards} awards credited, {p50} ms (p50) and {p99} ms (p99) after their game awarded them"
    );
    Ok(json!({ "awards": awards, "credited": credited, "p50_ms": p50, "p99_ms": p99 }))
}

/// The number of awards, and the delays of those that were credited, in milliseconds.
async fn read(store: &Store) -> Result<(usize, Vec<u64>), Box<dyn Error>> {
    let mut awarded = HashMap::new();
    let mut credited = HashMap::new();
    let mut after = Positions::default();
    loop {
        let found = store.of_types(&["MoneyAwarded", "MoneyCredited"], &after, 1000).await?;
        for event in &found.events {
            let recorded = event.decode()?;
            if let Event::Account(AccountEvent::MoneyCredited { game, event, .. }) = &recorded.event
            {
                credited.insert((game.0, i64::try_from(*event)?), recorded.at.0);
            } else {
                awarded.insert((recorded.stream, recorded.version), recorded.at.0);
            }
        }
        if found.unfinished.is_empty() {
            break;
        }
        after = found.looked_at;
    }
    let delay = |(award, at): (&_, &u64)| Some(credited.get(award)?.saturating_sub(*at));
    Ok((awarded.len(), awarded.iter().filter_map(delay).collect()))
}
