//! Every seat of every game that counts, read from the log naively.

use std::collections::BTreeMap;

use domain::{DecidedBy, Event};
use sqlx::Row;
use store::Store;
use uuid::Uuid;

/// A seat of a game that counts.
pub(super) struct PlainSeat {
    pub(super) game: Uuid,
    pub(super) kind: String,
    pub(super) preset: String,
    pub(super) player: Uuid,
    pub(super) seats: usize,
    pub(super) position: usize,
    pub(super) won: bool,
    pub(super) left: bool,
    pub(super) score: i64,
    pub(super) at: i64,
    pub(super) dice: Vec<String>,
    pub(super) character: Option<String>,
}

impl PlainSeat {
    /// In Zero Hour less is more.
    pub(super) fn merit(&self) -> i64 {
        if self.kind == "zero_hour" { -self.score } else { self.score }
    }
}

/// Every seat of every game that counts, read from the log.
pub(super) async fn plain_seats(store: &Store) -> Vec<PlainSeat> {
    let mut found = Vec::new();
    for log in logs(store).await.values() {
        let (Event::Created { ruleset, game, .. }, at) = &log[0].clone() else { continue };
        let _ = at;
        let Some((Event::Ended(outcome), at)) =
            log.iter().find(|(event, _)| matches!(event, Event::Ended(_)))
        else {
            continue;
        };
        if !counts(log, outcome.by) {
            continue;
        }
        let taken: Vec<(u8, Uuid)> = log
            .iter()
            .filter_map(|(event, _)| match event {
                Event::SeatTaken { seat, player, .. } => Some((*seat, player.0)),
                _ => None,
            })
            .collect();
        for (place, (seat, player)) in taken.iter().enumerate() {
            let mut dice = Vec::new();
            let mut character = None;
            for (event, _) in log.iter().filter(|(event, _)| event.seat() == Some(*seat)) {
                if let Event::LoadoutChosen { dice: chosen, .. } = event {
                    dice = chosen.iter().map(ToString::to_string).collect();
                }
                if let Event::CharacterChosen { character: chosen, .. } = event {
                    character = Some(chosen.to_string());
                }
            }
            dice.retain(|code| code != "STANDARD");
            found.push(PlainSeat {
                game: game.0,
                kind: ruleset.rules.game().to_owned(),
                preset: ruleset.preset.clone(),
                player: *player,
                seats: taken.len(),
                position: place + 1,
                won: outcome.winners.contains(seat),
                left: log
                    .iter()
                    .any(|(event, _)| event.name() == "SeatLeft" && event.seat() == Some(*seat)),
                score: outcome.scores[usize::from(*seat)],
                at: *at,
                dice,
                character,
            });
        }
    }
    found
}

/// Whether a game counts: it was played, and is not void.
pub(super) fn counts(log: &[(Event, i64)], by: DecidedBy) -> bool {
    by != DecidedBy::Abandoned && !log.iter().any(|(event, _)| event.name() == "Voided")
}

/// Every game of the log: events and when they were recorded, in milliseconds.
pub(super) async fn logs(store: &Store) -> BTreeMap<Uuid, Vec<(Event, i64)>> {
    let all = "SELECT stream, payload::text, type, (extract(epoch FROM recorded_at) * 1000)::bigint FROM event ORDER BY stream, version";
    let mut games: BTreeMap<Uuid, Vec<(Event, i64)>> = BTreeMap::new();
    for row in sqlx::query(all).fetch_all(store.pool()).await.unwrap() {
        let (payload, kind): (String, String) = (row.get(1), row.get(2));
        let event = serde_json::from_str(&format!("{{\"{kind}\":{payload}}}")).unwrap();
        games.entry(row.get(0)).or_default().push((event, row.get(3)));
    }
    games
}
