//! Player statistics, per player, game and preset.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use domain::CombinationName;
use futures_util::{FutureExt, future::BoxFuture};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Row};
use uuid::Uuid;

use store::{
    StoreError,
    processor::{HandlerError, Target},
};

use crate::{GameRecord, Model, SeatRecord, records::Records};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "player_statistics",
    version: 3,
    tables: &["player_game", "player_statistics"],
    rows: "SELECT concat_ws('/', player, kind, preset), statistics::text FROM player_statistics WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', player, kind, preset, game, seat), concat_ws(' ', ended_at, won, score)
             FROM player_game WHERE generation = $1",
    write,
    forget,
    derive: None,
};

/// Statistics of a player over all finished games of a kind. Everything but streaks is a sum, a
/// maximum or a count, so it does not depend on the order in which games are written; streaks
/// follow the times at which games ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statistics {
    /// Finished games, including those the player left.
    pub games: u32,
    /// Games won.
    pub wins: u32,
    /// Games left early.
    pub left: u32,
    /// Current streak of wins.
    pub streak: u32,
    /// Longest streak of wins.
    pub best_streak: u32,
    /// Sum of final scores.
    pub scores: i64,
    /// The best final score.
    pub best_game: Option<i64>,
    /// Turns.
    pub turns: u32,
    /// Total duration of turns, in milliseconds.
    pub turn_time: u64,
    /// Time-outs.
    pub time_outs: u32,
    /// Sum of points of all turns.
    pub points: i64,
    /// The best turn.
    pub best_turn: i64,
    /// Points lost.
    pub forfeited: i64,
    /// Rolls.
    pub rolls: u32,
    /// Farkles.
    pub farkles: u32,
    /// The highest save.
    pub biggest_save: i64,
    /// Scored combinations and how often.
    pub combinations: BTreeMap<CombinationName, u32>,
    /// Money earned.
    pub money: u64,
    /// Game-specific counts, by name.
    pub counts: BTreeMap<String, i64>,
    /// Results by character.
    pub characters: BTreeMap<String, Tally>,
    /// Results by special die.
    pub dice: BTreeMap<String, DieTally>,
    /// The last game: when it ended, and its id.
    pub last: Option<(u64, Uuid)>,
}

/// Games and wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Games.
    pub games: u32,
    /// Games won.
    pub wins: u32,
}

/// Results of a special die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DieTally {
    /// Games and wins with it.
    #[serde(flatten)]
    pub tally: Tally,
    /// Points it added.
    pub points: i64,
    /// Money it earned.
    pub money: u64,
}

impl Tally {
    fn count(&mut self, won: bool) {
        self.games += 1;
        self.wins += u32::from(won);
    }
}

impl Statistics {
    /// Adds a game, except for streaks.
    fn absorb(&mut self, record: &GameRecord, seat: &SeatRecord) {
        self.games += 1;
        self.wins += u32::from(seat.won);
        self.left += u32::from(seat.left);
        self.scores = self.scores.saturating_add(seat.score);
        let better = |best: i64| {
            if record.counts_down { best.min(seat.score) } else { best.max(seat.score) }
        };
        self.best_game = Some(self.best_game.map_or(seat.score, better));
        self.turns += seat.turns;
        self.turn_time += seat.turn_time;
        self.time_outs += seat.time_outs;
        self.points = self.points.saturating_add(seat.points);
        self.best_turn = self.best_turn.max(seat.best_turn);
        self.forfeited = self.forfeited.saturating_add(seat.forfeited);
        self.rolls += seat.rolls;
        self.farkles += seat.farkles;
        self.biggest_save = self.biggest_save.max(seat.biggest_save);
        for (name, count) in &seat.combinations {
            *self.combinations.entry(*name).or_default() += count;
        }
        self.money += seat.money;
        for (name, count) in &seat.counts {
            let sum = self.counts.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        if let Some(character) = &seat.character {
            self.characters.entry(character.clone()).or_default().count(seat.won);
        }
        for (code, made) in &seat.dice {
            let die = self.dice.entry(code.clone()).or_default();
            die.tally.count(seat.won);
            die.points = die.points.saturating_add(made.points);
            die.money += made.money;
        }
    }

    /// Continues the streak; returns whether the game is later than all others, so that streaks
    /// need not be recomputed.
    fn continue_streak(&mut self, at: (u64, Uuid), won: bool) -> bool {
        if self.last.is_some_and(|last| last >= at) {
            return false;
        }
        self.last = Some(at);
        self.streak = if won { self.streak + 1 } else { 0 };
        self.best_streak = self.best_streak.max(self.streak);
        true
    }

    /// Computes the streaks of all games, which must be in the order in which they ended.
    fn count_streaks(&mut self, games: impl IntoIterator<Item = (u64, Uuid, bool)>) {
        (self.streak, self.best_streak, self.last) = (0, 0, None);
        for (at, game, won) in games {
            self.continue_streak((at, game), won);
        }
    }

    /// The most frequent combination; among equals, the first by name.
    pub fn most_common(&self) -> Option<CombinationName> {
        let most = self.combinations.iter().rev().max_by_key(|(_, count)| **count);
        most.map(|(name, _)| *name)
    }
}

/// Player, kind and preset.
type Key = (Uuid, &'static str, String);

fn write<'a>(
    Target { connection, generation, .. }: Target<'a>,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), HandlerError>> {
    async move {
        let new = insert_games(connection, generation, records).await?;
        let mut of_key: BTreeMap<Key, Vec<(&GameRecord, &SeatRecord)>> = BTreeMap::new();
        for record in records {
            for seat in record.seats.iter().filter(|seat| new.contains(&(record.game, seat.seat))) {
                let key = (seat.player, record.kind, record.preset.clone());
                of_key.entry(key).or_default().push((record, seat));
            }
        }
        if of_key.is_empty() {
            return Ok(());
        }
        let keys: Vec<Key> = of_key.keys().cloned().collect();
        let mut known = find(connection, generation, &keys).await?;
        let mut disordered = Vec::new();
        for (key, games) in &of_key {
            let statistics = known.entry(key.clone()).or_default();
            for (record, seat) in games {
                statistics.absorb(record, seat);
                if !statistics.continue_streak((record.ended_at.0, record.game), seat.won) {
                    disordered.push(key.clone());
                }
            }
        }
        disordered.dedup();
        for key in disordered {
            let games = games_of(connection, generation, &key).await?;
            known.entry(key).or_default().count_streaks(games);
        }
        Ok(update(connection, generation, &known).await?)
    }
    .boxed()
}

/// The statistics are folded again from the players' other games.
fn forget<'a>(
    Target { connection, generation, .. }: Target<'a>,
    records: &'a [Arc<GameRecord>],
    others: &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>> {
    const DELETE: &str = "DELETE FROM player_game WHERE generation = $1 AND game = $2 AND player = $3 AND kind = $4 AND preset = $5
                             AND ended_at = $6";
    async move {
        for record in records {
            for seat in &record.seats {
                let key = (seat.player, record.kind, record.preset.clone());
                let query = sqlx::query(DELETE).bind(generation).bind(record.game).bind(key.0);
                let query = query.bind(key.1).bind(&key.2).bind(milliseconds(record.ended_at.0));
                if query.execute(&mut *connection).await?.rows_affected() > 0 {
                    fold_again(connection, generation, key, others).await?;
                }
            }
        }
        Ok(())
    }
    .boxed()
}

async fn fold_again(
    connection: &mut PgConnection,
    generation: i32,
    key: Key,
    records: &Records,
) -> Result<(), HandlerError> {
    const REMOVE: &str = "DELETE FROM player_statistics WHERE generation = $1 AND player = $2 AND kind = $3 AND preset = $4";
    let games = games_of(connection, generation, &key).await?;
    if games.is_empty() {
        let query = sqlx::query(REMOVE).bind(generation).bind(key.0).bind(key.1).bind(&key.2);
        query.execute(connection).await?;
        return Ok(());
    }
    let ids: Vec<Uuid> = games.iter().map(|(_, game, _)| *game).collect();
    let mut statistics = Statistics::default();
    for record in records.of(&ids).await? {
        let seats = record.seats.iter().filter(|seat| seat.player == key.0);
        seats.for_each(|seat| statistics.absorb(&record, seat));
    }
    statistics.count_streaks(games);
    Ok(update(connection, generation, &HashMap::from([(key, statistics)])).await?)
}

/// Inserts the games of players; returns those that are new.
async fn insert_games(
    connection: &mut PgConnection,
    generation: i32,
    records: &[Arc<GameRecord>],
) -> Result<BTreeSet<(Uuid, u8)>, StoreError> {
    const INSERT: &str = "
INSERT INTO player_game (generation, player, kind, preset, ended_at, game, seat, won, score)
SELECT $1, * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::uuid[], $7::smallint[], $8::boolean[], $9::bigint[])
    ON CONFLICT DO NOTHING
RETURNING game, seat";
    let seats: Vec<(&GameRecord, &SeatRecord)> = records
        .iter()
        .flat_map(|record| record.seats.iter().map(|seat| (&**record, seat)))
        .collect();
    let query = sqlx::query(INSERT)
        .bind(generation)
        .bind(seats.iter().map(|(_, seat)| seat.player).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.kind).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.preset.as_str()).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| milliseconds(record.ended_at.0)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.game).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| i16::from(seat.seat)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.won).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.score).collect::<Vec<_>>());
    let mut new = BTreeSet::new();
    for row in query.fetch_all(connection).await? {
        let seat: i16 = row.try_get(1)?;
        new.insert((row.try_get(0)?, u8::try_from(seat).unwrap_or(u8::MAX)));
    }
    Ok(new)
}

/// The existing rows of these keys.
async fn find(
    connection: &mut PgConnection,
    generation: i32,
    keys: &[Key],
) -> Result<HashMap<Key, Statistics>, StoreError> {
    const FIND: &str = "
SELECT w.place, s.statistics::text
  FROM unnest($2::uuid[], $3::text[], $4::text[]) WITH ORDINALITY AS w (player, kind, preset, place)
 CROSS JOIN LATERAL (
        SELECT * FROM player_statistics s
         WHERE s.generation = $1 AND s.player = w.player AND s.kind = w.kind AND s.preset = w.preset
         LIMIT 1) s"; // forces an index probe per key
    let (players, kinds, presets) = columns(keys);
    let query = sqlx::query(FIND).bind(generation).bind(&players).bind(&kinds).bind(&presets);
    let mut known = HashMap::with_capacity(keys.len());
    for row in query.fetch_all(connection).await? {
        let (place, written): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
        let key = usize::try_from(place - 1).ok().and_then(|place| keys.get(place));
        let statistics = serde_json::from_str(&written)
            .map_err(|error| StoreError::Fault(format!("statistics: {error}")))?;
        known.extend(key.map(|key| (key.clone(), statistics)));
    }
    Ok(known)
}

/// All games of a key, in the order in which they ended.
async fn games_of(
    connection: &mut PgConnection,
    generation: i32,
    (player, kind, preset): &Key,
) -> Result<Vec<(u64, Uuid, bool)>, StoreError> {
    const GAMES: &str = "SELECT ended_at, game, won FROM player_game
                          WHERE generation = $1 AND player = $2 AND kind = $3 AND preset = $4 ORDER BY ended_at, game, seat";
    let query = sqlx::query(GAMES).bind(generation).bind(player).bind(kind).bind(preset);
    let mut games = Vec::new();
    for row in query.fetch_all(connection).await? {
        let at: i64 = row.try_get(0)?;
        games.push((u64::try_from(at).unwrap_or(0), row.try_get(1)?, row.try_get(2)?));
    }
    Ok(games)
}

async fn update(
    connection: &mut PgConnection,
    generation: i32,
    known: &HashMap<Key, Statistics>,
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO player_statistics (generation, player, kind, preset, statistics)
SELECT $1, w.player, w.kind, w.preset, w.statistics::json
  FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS w (player, kind, preset, statistics)
    ON CONFLICT (generation, player, kind, preset) DO UPDATE SET statistics = excluded.statistics";
    let keys: Vec<Key> = known.keys().cloned().collect();
    let (players, kinds, presets) = columns(&keys);
    let written: Vec<String> =
        keys.iter().map(|key| serde_json::to_string(&known[key]).unwrap_or_default()).collect();
    let query = sqlx::query(WRITE).bind(generation).bind(players).bind(kinds).bind(presets);
    query.bind(written).execute(connection).await?;
    Ok(())
}

fn columns(keys: &[Key]) -> (Vec<Uuid>, Vec<&'static str>, Vec<&str>) {
    (
        keys.iter().map(|(player, _, _)| *player).collect(),
        keys.iter().map(|(_, kind, _)| *kind).collect(),
        keys.iter().map(|(_, _, preset)| preset.as_str()).collect(),
    )
}

fn milliseconds(moment: u64) -> i64 {
    i64::try_from(moment).unwrap_or(i64::MAX)
}

/// The statistics of a player in a game under a preset.
#[derive(Clone, Debug)]
pub struct PlayerStatistics {
    /// The game.
    pub kind: String,
    /// The preset, or `custom`.
    pub preset: String,
    /// The numbers.
    pub statistics: Statistics,
}

/// All statistics of these players, of one game or all, by player.
pub async fn statistics_of(
    pool: &PgPool,
    players: &[Uuid],
) -> Result<HashMap<Uuid, Vec<PlayerStatistics>>, StoreError> {
    const FIND: &str = "
SELECT s.player, s.kind, s.preset, s.statistics::text
  FROM player_statistics s JOIN processor p ON p.name = 'player_statistics' AND p.state = 'live' AND p.generation = s.generation
 WHERE s.player = ANY ($1) ORDER BY s.player, s.kind, s.preset";
    let mut found: HashMap<Uuid, Vec<PlayerStatistics>> = HashMap::new();
    for row in sqlx::query(FIND).bind(players).fetch_all(pool).await? {
        let written: String = row.try_get(3)?;
        let statistics = serde_json::from_str(&written)
            .map_err(|error| StoreError::Fault(format!("statistics: {error}")))?;
        let entry = PlayerStatistics { kind: row.try_get(1)?, preset: row.try_get(2)?, statistics };
        found.entry(row.try_get(0)?).or_default().push(entry);
    }
    Ok(found)
}
