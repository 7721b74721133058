//! Writers that append commands of three events, each to its own stream, as fast as they are
//! acknowledged.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use domain::{Banked, Event, Moment, TurnEnd, TurnEnded};
use store::{Append, AppendError, Hash, Head, Store};
use uuid::Uuid;

use crate::figures::Figures;

/// The events that a bank appends.
pub(crate) fn three_events(round: u32) -> [Event; 3] {
    let seat = 0;
    [
        Event::Banked(Banked {
            seat,
            round,
            round_score: 0,
            turn_score: 1000,
            multiplier: 1,
            bonus: 0,
            points: 1000,
            game_score: 4350,
            reaches_target: false,
        }),
        Event::TurnEnded(TurnEnded {
            seat,
            round,
            how: TurnEnd::Banked,
            points: 1000,
            forfeited: 0,
            bonus_lost: 0,
            reaches_target: false,
        }),
        Event::TurnStarted { seat: 1, round, deadline: Some(Moment(1_800_000_240_000)) },
    ]
}

/// Runs a number of writers for a given time.
pub(crate) async fn run(
    store: &Store,
    writers: usize,
    time: Duration,
) -> Result<Figures, Box<dyn Error>> {
    let start = Instant::now();
    let tasks: Vec<_> =
        (0..writers).map(|_| tokio::spawn(write(store.clone(), start + time))).collect();
    let mut micros = Vec::new();
    for task in tasks {
        micros.extend(task.await??);
    }
    Ok(Figures::new(micros, start.elapsed()))
}

async fn write(store: Store, until: Instant) -> Result<Vec<u32>, AppendError> {
    let mut micros = Vec::new();
    while Instant::now() < until {
        let (stream, mut head) = (Uuid::now_v7(), Head::NEW);
        for round in 1..=20 {
            let events = three_events(round);
            let before = Instant::now();
            let appended = store
                .append(Append {
                    stream,
                    head,
                    command: Uuid::new_v4(),
                    request: Hash::ZERO,
                    actor: stream,
                    at: Moment(1_800_000_000_000),
                    events: &events,
                })
                .await?;
            micros.push(u32::try_from(before.elapsed().as_micros()).unwrap_or(u32::MAX));
            head = appended.head;
        }
    }
    Ok(micros)
}
