//! Players dispute finished games, and two staff members handle the disputes.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use client::ClientError;
use serde_json::{Value, json};

use super::{
    caller::{Answer, Caller, Over, Person, Request, Shared},
    journal::About,
    node::REMEDY_LIMIT,
};

/// Expected refusals of a remedy: the player has spent the money, or the game is already void.
const EXPECTED: [&str; 3] = ["NOT_ENOUGH_MONEY", "ALREADY_VOID", "REMEDY_REPEATED"];

/// The first one proposes, the second one approves or declines.
pub(super) async fn see_to(
    shared: Arc<Shared>,
    number: u64,
    staff: [Person; 2],
) -> Result<(), ClientError> {
    let [sue, tom] = staff;
    let mut sue = Caller::new(&shared, sue, number);
    let mut tom = Caller::new(&shared, tom, number + 1);
    while shared.goes_on() {
        let over = shared.over.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match over {
            Some(over) => one_dispute(&mut sue, &mut tom, &over).await?,
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Ok(())
}

async fn one_dispute(sue: &mut Caller, tom: &mut Caller, over: &Over) -> Result<(), ClientError> {
    let seed = u64::from(sue.chance.up_to(u32::MAX));
    let mut player = Caller::new(&sue.shared, over.players[0].clone(), seed);
    let version = sue.chance.up_to(u32::try_from(over.version)?);
    let open = Request::new("openDispute", About::Dispute)
        .with("gameId", json!(over.game))
        .with("version", json!(version))
        .with("text", json!("the dice were not fair to me"));
    let opened = player.send(open).await?.done()?;
    let dispute = opened["dispute"]["id"].clone();
    for _ in 0..sue.chance.up_to(2) {
        let remedy = remedy(sue, over);
        let propose = about(&dispute, "proposeRemedy").with("remedy", remedy);
        match sue.send(propose).await? {
            Answer::Done(proposed) => second_opinion(tom, &dispute, &proposed).await?,
            refused @ Answer::Refused { .. } => {
                refused.unless(&EXPECTED)?;
            }
        }
    }
    let comment = about(&dispute, "commentDispute").with("text", json!("we saw to it"));
    sue.send(comment).await?.done()?;
    if sue.chance.one_in(2) {
        let resolve = about(&dispute, "resolveDispute").with("reason", json!("EXPLAINED"));
        sue.send(resolve).await?.unless(&["REMEDIES_OPEN"])?;
    }
    Ok(())
}

fn about(dispute: &Value, mutation: &'static str) -> Request {
    Request::new(mutation, About::Dispute).with("disputeId", dispute.clone())
}

fn remedy(sue: &mut Caller, over: &Over) -> Value {
    let place = sue.chance.place(over.players.len());
    let player = &over.players[place].id;
    let adjust = |change: i64| json!({ "adjustBalance": { "playerId": player, "change": change } });
    match sue.chance.up_to(6) {
        1 => adjust(5),
        2 => adjust(-3),
        3 | 4 => adjust(i64::from(REMEDY_LIMIT) + 1),
        5 => json!({ "voidGame": "MALFUNCTION" }),
        _ => json!({ "warn": player }),
    }
}

/// Large amounts need a second person, who usually agrees.
async fn second_opinion(
    tom: &mut Caller,
    dispute: &Value,
    proposed: &Value,
) -> Result<(), ClientError> {
    let last = proposed["dispute"]["remedies"].as_array().and_then(|remedies| remedies.last());
    let last = last.ok_or_else(|| format!("a proposed remedy is missing: {proposed}"))?;
    if last["needsSecond"] != true {
        return Ok(());
    }
    let verdict = if tom.chance.one_in(4) { "declineRemedy" } else { "approveRemedy" };
    let request = about(dispute, verdict).with("number", last["number"].clone());
    tom.send(request).await?.done().map(|_| ())
}
