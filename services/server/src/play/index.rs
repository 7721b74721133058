//! The game index: one row per game with its stage and deadlines, updated asynchronously from the
//! log.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use domain::{Legal, Moment, Stage};
use futures_util::{FutureExt, future::BoxFuture};
use sqlx::PgConnection;
use store::{
    Loaded, Recorded, Shard, Store, StoreError,
    processor::{Handler, HandlerError, Processor, RowHandler, Target},
};
use tokio::time::Instant;
use uuid::Uuid;

use super::scheduler::Scheduler;
use crate::clock;

/// The events that change a row of the index.
const TYPES: [&str; 8] =
    ["Created", "SeatTaken", "SeatLeft", "Started", "TurnStarted", "Asked", "Answered", "Ended"];

/// The processor that updates the index and, with a scheduler, runs the clocks of its games.
pub(crate) fn processor(store: Store, scheduler: Option<Scheduler>) -> Processor {
    Processor {
        name: "game_index",
        version: 1,
        types: &TYPES,
        ranges: 8,
        collect: Duration::from_millis(50),
        handler: Handler::Rows(Arc::new(GameIndex { store, scheduler })),
    }
}

struct GameIndex {
    store: Store,
    scheduler: Option<Scheduler>,
}

impl RowHandler for GameIndex {
    fn tables(&self) -> &'static [&'static str] {
        &["game_index", "game_player"]
    }

    /// Without deadlines, since the scheduler may postpone them.
    fn content(&self) -> &'static str {
        "SELECT game::text, concat_ws(' ', kind, preset, stage, open, shard) FROM game_index WHERE generation = $1
         UNION ALL
         SELECT concat_ws('/', player, game), stage FROM game_player WHERE generation = $1"
    }

    /// Writes the current state of the games of these events; rows of a newer version stay.
    fn write<'a>(
        &'a self,
        target: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>> {
        async move {
            let games = self.states(events).await?;
            let rows: Vec<IndexRow<'_>> =
                games.iter().filter_map(|(game, state)| IndexRow::of(*game, state)).collect();
            write_games(target.connection, target.generation, &rows).await?;
            write_players(target.connection, target.generation, &games).await?;
            if let Some(scheduler) = self.scheduler.as_ref().filter(|_| !target.building) {
                scheduler.add_deadlines(rows.iter().filter_map(|row| row.deadline));
                scheduler.add_deadlines(rows.iter().filter_map(|row| row.expires_at));
            }
            Ok(())
        }
        .boxed()
    }

    fn tick<'a>(
        &'a self,
        generation: i32,
        shards: &'a [Shard],
    ) -> BoxFuture<'a, Result<Option<Instant>, StoreError>> {
        async move {
            match &self.scheduler {
                Some(scheduler) => scheduler.run(generation, shards).await,
                None => Ok(None),
            }
        }
        .boxed()
    }
}

impl GameIndex {
    /// The games of these events, each at the version of its last event or later.
    async fn states(
        &self,
        events: &[Arc<Recorded>],
    ) -> Result<Vec<(Uuid, Arc<Loaded>)>, HandlerError> {
        let changed: HashMap<Uuid, i64> =
            events.iter().map(|event| (event.stream, event.version)).collect();
        let (mut games, mut uncached) = (Vec::with_capacity(changed.len()), Vec::new());
        for (game, version) in changed {
            match self.store.games.cached(game).filter(|state| state.head.version >= version) {
                Some(state) => games.push((game, state)),
                None => uncached.push(game),
            }
        }
        if !uncached.is_empty() {
            games.extend(self.store.games.fresh_all(&uncached).await?);
        }
        Ok(games)
    }
}

async fn write_games(
    connection: &mut PgConnection,
    generation: i32,
    rows: &[IndexRow<'_>],
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO game_index AS i (generation, game, shard, version, deadline, expires_at, open, kind, preset, stage)
SELECT $1, n.game, n.shard, n.version, n.deadline, n.expires_at, n.free AND a.game IS NOT NULL AND a.invite IS NULL, n.kind,
       n.preset, n.stage
  FROM unnest($2::uuid[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::boolean[], $8::text[], $9::text[],
              $10::text[])
       AS n (game, shard, version, deadline, expires_at, free, kind, preset, stage)
  LEFT JOIN game_access a ON a.game = n.game
    ON CONFLICT (generation, game) DO UPDATE
   SET version = excluded.version, deadline = excluded.deadline, expires_at = excluded.expires_at, open = excluded.open,
       stage = excluded.stage
 WHERE i.version < excluded.version";
    let milliseconds = |moment: Option<Moment>| moment.map(clock::to_sql);
    sqlx::query(WRITE)
        .bind(generation)
        .bind(column(rows, |row| row.game))
        .bind(column(rows, |row| i16::from(Shard::of(row.game).number())))
        .bind(column(rows, |row| row.version))
        .bind(column(rows, |row| milliseconds(row.deadline)))
        .bind(column(rows, |row| milliseconds(row.expires_at)))
        .bind(column(rows, |row| row.free))
        .bind(column(rows, |row| row.kind))
        .bind(column(rows, |row| row.preset))
        .bind(column(rows, |row| row.stage))
        .execute(connection)
        .await?;
    Ok(())
}

fn column<'a, T>(rows: &[IndexRow<'a>], value: impl Fn(&IndexRow<'a>) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// Writes the players of each game. A player who left before the start is removed.
async fn write_players(
    connection: &mut PgConnection,
    generation: i32,
    games: &[(Uuid, Arc<Loaded>)],
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO game_player AS p (generation, player, game, stage)
SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::text[])
    ON CONFLICT (generation, player, game) DO UPDATE SET stage = excluded.stage WHERE p.stage <> excluded.stage";
    const DELETE: &str = "
DELETE FROM game_player p USING unnest($2::uuid[]) AS g (game)
 WHERE p.generation = $1 AND p.game = g.game
   AND NOT EXISTS (SELECT 1 FROM unnest($3::uuid[], $4::uuid[]) AS n (player, game)
                    WHERE n.game = p.game AND n.player = p.player)";
    let (mut players, mut tables, mut stages) = (Vec::new(), Vec::new(), Vec::new());
    for (id, state) in games {
        let Some(game) = &state.aggregate else { continue };
        let mut seen = HashSet::new();
        for seat in &game.table.seats {
            let stays = !seat.gone || game.table.stage != Stage::Gathering;
            if stays && seen.insert(seat.player.0) {
                players.push(seat.player.0);
                tables.push(*id);
                stages.push(stage(&game.table.stage));
            }
        }
    }
    let changed: Vec<Uuid> = games.iter().map(|(game, _)| *game).collect();
    let query = sqlx::query(DELETE).bind(generation).bind(changed).bind(&players).bind(&tables);
    query.execute(&mut *connection).await?;
    let query = sqlx::query(WRITE).bind(generation).bind(players).bind(tables);
    query.bind(stages).execute(connection).await?;
    Ok(())
}

struct IndexRow<'a> {
    game: Uuid,
    version: i64,
    deadline: Option<Moment>,
    expires_at: Option<Moment>,
    free: bool,
    kind: &'static str,
    preset: &'a str,
    stage: &'static str,
}

impl<'a> IndexRow<'a> {
    fn of(id: Uuid, state: &'a Loaded) -> Option<Self> {
        let game = state.aggregate.as_ref()?;
        let table = &game.table;
        let rules = &table.ruleset.table;
        let over = matches!(table.stage, Stage::Ended(_));
        let playing = table.stage == Stage::Playing;
        let gathering = table.stage == Stage::Gathering;
        Some(Self {
            game: id,
            version: state.head.version,
            deadline: table.turn.deadline.filter(|_| playing),
            expires_at: (!over).then(|| state.head.at().plus_hours(rules.expiry_hours)),
            free: gathering && game.legal_commands().contains(&Legal::Join),
            kind: table.ruleset.rules.game(),
            preset: &table.ruleset.preset,
            stage: stage(&table.stage),
        })
    }
}

pub(crate) fn stage(stage: &Stage) -> &'static str {
    match stage {
        Stage::Gathering => "gathering",
        Stage::Playing => "playing",
        Stage::Ended(_) => "ended",
    }
}
