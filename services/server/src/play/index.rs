//! Finding games: rows that say where a game stands, folded from the log a moment later.

use std::{collections::HashSet, sync::Arc};

use domain::{Event, Legal, Moment, Stage};
use sqlx::{Connection, PgConnection};
use store::{Loaded, Positions, StoreError};
use uuid::Uuid;

use super::place::Place;
use crate::clock;

/// Whether an event changes where a game stands.
pub(crate) fn changes_index(event: &Event) -> bool {
    matches!(
        event,
        Event::Created { .. }
            | Event::SeatTaken { .. }
            | Event::SeatLeft { .. }
            | Event::Started { .. }
            | Event::TurnStarted { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Ended(_)
    )
}

/// How far the log is folded.
pub(crate) const FOLDED: Place = Place("index_position");

/// Writes where these games stand, and how far the log is folded, in one transaction. A row made from a newer version
/// stays.
pub(crate) async fn write(
    connection: &mut PgConnection,
    games: &[(Uuid, Arc<Loaded>)],
    positions: &Positions,
) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await?;
    if !games.is_empty() {
        write_games(&mut transaction, games).await?;
        write_players(&mut transaction, games).await?;
    }
    FOLDED.advance(&mut transaction, positions).await?;
    transaction.commit().await?;
    Ok(())
}

async fn write_games(
    connection: &mut PgConnection,
    games: &[(Uuid, Arc<Loaded>)],
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO game_index AS i (game, version, deadline, expires_at, open, kind, preset, stage)
SELECT n.game, n.version, n.deadline, n.expires_at, n.free AND a.game IS NOT NULL AND a.invite IS NULL, n.kind, n.preset,
       n.stage
  FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[], $7::text[], $8::text[])
       AS n (game, version, deadline, expires_at, free, kind, preset, stage)
  LEFT JOIN game_access a ON a.game = n.game
    ON CONFLICT (game) DO UPDATE
   SET version = excluded.version, deadline = excluded.deadline, expires_at = excluded.expires_at, open = excluded.open,
       stage = excluded.stage
 WHERE i.version < excluded.version";
    let rows: Vec<IndexRow<'_>> =
        games.iter().filter_map(|(game, state)| IndexRow::of(*game, state)).collect();
    let milliseconds = |moment: Option<Moment>| moment.map(clock::to_sql);
    sqlx::query(WRITE)
        .bind(column(&rows, |row| row.game))
        .bind(column(&rows, |row| row.version))
        .bind(column(&rows, |row| milliseconds(row.deadline)))
        .bind(column(&rows, |row| milliseconds(row.expires_at)))
        .bind(column(&rows, |row| row.free))
        .bind(column(&rows, |row| row.kind))
        .bind(column(&rows, |row| row.preset))
        .bind(column(&rows, |row| row.stage))
        .execute(connection)
        .await?;
    Ok(())
}

/// One value of each row.
fn column<'a, T>(rows: &[IndexRow<'a>], value: impl Fn(&IndexRow<'a>) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// Who sits there; who left before the start sits there no more.
async fn write_players(
    connection: &mut PgConnection,
    games: &[(Uuid, Arc<Loaded>)],
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO game_player AS p (player, game, stage)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[])
    ON CONFLICT (player, game) DO UPDATE SET stage = excluded.stage WHERE p.stage <> excluded.stage";
    const FORGET: &str = "
DELETE FROM game_player p USING unnest($1::uuid[]) AS g (game)
 WHERE p.game = g.game
   AND NOT EXISTS (SELECT 1 FROM unnest($2::uuid[], $3::uuid[]) AS n (player, game)
                    WHERE n.game = p.game AND n.player = p.player)";
    let (mut players, mut tables, mut stages) = (Vec::new(), Vec::new(), Vec::new());
    for (id, state) in games {
        let Some(game) = &state.now else { continue };
        let mut there = HashSet::new();
        for seat in &game.table.seats {
            let stays = !seat.gone || game.table.stage != Stage::Gathering;
            if stays && there.insert(seat.player.0) {
                players.push(seat.player.0);
                tables.push(*id);
                stages.push(stage(&game.table.stage));
            }
        }
    }
    let changed: Vec<Uuid> = games.iter().map(|(game, _)| *game).collect();
    let query = sqlx::query(FORGET).bind(changed).bind(&players).bind(&tables);
    query.execute(&mut *connection).await?;
    sqlx::query(WRITE).bind(players).bind(tables).bind(stages).execute(connection).await?;
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
        let game = state.now.as_ref()?;
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
