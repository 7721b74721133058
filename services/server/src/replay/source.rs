//! Opens a game for the command line: from the database, a proof bundle, events or a record.

use std::{collections::HashMap, path::Path};

use domain::{Event, Moment, Name, Table, infer_commands, parse_record};
use sqlx::Row;
use store::{Hash, Recorded, Settings, Shard, Store, bundle::Bundle};
use uuid::Uuid;

use super::Replay;
use crate::{
    play::evidence,
    terminal::{block_on, database_url},
};

/// The first words of a record.
const RECORD: &str = "croupier record ";

/// A game and the display names of its players.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) replay: Replay,
    names: HashMap<Uuid, String>,
}

impl Source {
    /// The table with display names instead of pseudonyms.
    pub(crate) fn named(&self, table: &Table) -> Table {
        let mut table = table.clone();
        for seat in &mut table.seats {
            if let Some(Ok(name)) = self.names.get(&seat.player.0).map(|name| Name::parse(name)) {
                seat.name = name;
            }
        }
        table
    }

    /// The display name of an account.
    pub(crate) fn name(&self, account: Uuid) -> String {
        if account.is_nil() {
            return "the house".to_owned();
        }
        self.names.get(&account).cloned().unwrap_or_else(|| crate::accounts::pseudonym(account))
    }
}

/// Opens a game by its id or from a file.
pub(crate) fn open(what: &str, url: Option<&str>, data: &Path) -> Result<Source, String> {
    let path = Path::new(what);
    if path.exists() {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{what}: {error}"))?;
        let replay = read(&text).map_err(|problem| format!("{what}: {problem}"))?;
        return Ok(Source { replay, names: HashMap::new() });
    }
    let id = what.strip_prefix("game:").unwrap_or(what);
    let not_found = |_| format!("'{what}' is neither a file nor the id of a game");
    let game = Uuid::try_parse(id).map_err(not_found)?;
    let url = database_url(url, data)?;
    block_on(load(&url, game)).map_err(|error| error.to_string())?
}

async fn load(url: &str, game: Uuid) -> Result<Source, String> {
    let to_text = |error: &dyn std::fmt::Display| error.to_string();
    let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
    let store = Store::open(url, &settings).map_err(|error| to_text(&error))?;
    let notes = evidence::of_game(store.pool(), game).await.map_err(|error| to_text(&error))?;
    let replay = Replay::load(&store, game, notes).await.map_err(|error| to_text(&error))?;
    let mut actors: Vec<Uuid> = replay.log.iter().map(|recorded| recorded.actor).collect();
    actors.extend(replay.log.iter().filter_map(|recorded| {
        if let Event::SeatTaken { player, .. } = &recorded.event { Some(player.0) } else { None }
    }));
    let names = sqlx::query("SELECT id, name FROM account WHERE id = ANY ($1)").bind(actors);
    let rows = names.fetch_all(store.pool()).await.map_err(|error| to_text(&error))?;
    let name = |row: &sqlx::postgres::PgRow| Ok((row.try_get(0)?, row.try_get(1)?));
    let names = rows.iter().map(name).collect::<Result<_, sqlx::Error>>();
    let names = names.map_err(|error| to_text(&error))?;
    store.close().await;
    if replay.log.is_empty() {
        return Err(format!("there is no game {game}"));
    }
    Ok(Source { replay, names })
}

/// Parses a bundle, a record or events.
pub(super) fn read(text: &str) -> Result<Replay, String> {
    if Bundle::looks_like(text) {
        let bundle = Bundle::parse(text).map_err(|bad| bad.to_string())?;
        let log = bundle.check().map_err(|bad| bad.to_string())?;
        return Ok(Replay::of(bundle.game, log));
    }
    let events = if text.starts_with(RECORD) {
        parse_record(text).map_err(|bad| bad.to_string())?
    } else {
        crate::verify::events(text)?
    };
    let Some(Event::Created { game, .. }) = events.first() else {
        return Err("these events do not begin with Created".to_owned());
    };
    Ok(Replay::of(game.0, envelopes(game.0, &events)))
}

/// Adds envelopes to plain events: actors and times are unknown, commands are reconstructed.
fn envelopes(game: Uuid, events: &[Event]) -> Vec<Recorded> {
    let ends: Vec<usize> = infer_commands(events)
        .map(|steps| steps.into_iter().map(|step| step.events.end).collect())
        .unwrap_or_default();
    let recorded = |(index, event): (usize, &Event)| Recorded {
        shard: Shard::of(game),
        position: 0,
        stream: game,
        version: i64::try_from(index + 1).unwrap_or(i64::MAX),
        at: Moment::default(),
        command: Uuid::from_u128(ends.iter().filter(|end| **end <= index).count() as u128),
        actor: Uuid::nil(),
        hash: Hash::ZERO,
        event: event.clone(),
    };
    events.iter().enumerate().map(recorded).collect()
}
