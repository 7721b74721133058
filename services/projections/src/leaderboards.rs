//! Leaderboards per game and preset, of all time and by day, week, month and season.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use domain::Moment;
use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{PgConnection, Row, postgres::PgRow};
use uuid::Uuid;

use store::{
    StoreError,
    processor::{HandlerError, Target},
};

use crate::{
    GameRecord, Model, SeatRecord,
    boards::{AT_ONCE, Board, Columns, Counts, Key, Measure, columns, count, moved, remove},
    period::{day_of, stretches},
    records::Records,
    seasons::{counted, is_counted, uncounted},
};

/// The read model.
pub(crate) const MODEL: Model = Model {
    name: "leaderboards",
    version: 2,
    tables: &["leaderboard_game", "leaderboard", "leaderboard_count"],
    rows: "SELECT concat_ws('/', kind, preset, period, player),
                  concat_ws(' ', games, total, wins, wins_at, best, best_at, coalesce(average::text, 'none'), average_at)
             FROM leaderboard WHERE generation = $1
           UNION ALL
           SELECT concat_ws('/', kind, preset, period, measure, level, bucket), players::text
             FROM leaderboard_count WHERE generation = $1 AND players <> 0
           UNION ALL
           SELECT concat_ws('/', kind, preset, player, ended_at, game), concat_ws(' ', won, merit) FROM leaderboard_game WHERE generation = $1",
    write,
    forget,
    derive: Some(derive),
};

/// Number of games that are folded at once when all are.
const MANY_GAMES: i64 = 50_000;
/// Minimum number of games for an average.
pub const GAMES_FOR_AVERAGE: i64 = 10;

/// The entry of a player on a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    games: i64,
    total: i64,
    wins: i64,
    wins_at: i64,
    best: i64,
    best_at: i64,
    average: Option<i64>,
    average_at: i64,
}

/// A game on a board.
#[derive(Clone, Copy, Debug)]
struct Played {
    at: i64,
    won: bool,
    /// The score, negated if lower is better.
    merit: i64,
}

impl Entry {
    fn of<'a>(games: impl IntoIterator<Item = &'a Played>) -> Self {
        let mut entry = Self::default();
        games.into_iter().for_each(|game| entry.absorb(*game));
        entry
    }

    fn absorb(&mut self, seat: Played) {
        let (first, at) = (self.games == 0, seat.at);
        self.games += 1;
        self.total = self.total.saturating_add(seat.merit);
        if seat.won {
            (self.wins, self.wins_at) = (self.wins + 1, self.wins_at.max(at));
        }
        if first || seat.merit > self.best {
            (self.best, self.best_at) = (seat.merit, at);
        } else if seat.merit == self.best {
            self.best_at = self.best_at.min(at);
        }
        self.average_at = self.average_at.max(at);
        let enough = self.games >= GAMES_FOR_AVERAGE;
        self.average = enough.then(|| self.total.saturating_mul(1000).div_euclid(self.games));
    }

    /// Its value for a measure; `None` if it is not on that board.
    fn value(&self, measure: Measure) -> Option<i64> {
        match measure {
            Measure::Wins => (self.wins > 0).then_some(self.wins),
            Measure::Best => (self.games > 0).then_some(self.best),
            Measure::Average => self.average,
            Measure::Rating => None,
        }
    }
}

/// Whether a game counts: it has a preset, and several players unless the game is for one.
fn counts(record: &GameRecord) -> bool {
    record.preset != "custom" && (record.most_seats == 1 || record.seats.len() > 1)
}

fn write<'a>(
    Target { connection, generation, building }: Target<'a>,
    records: &'a [Arc<GameRecord>],
) -> BoxFuture<'a, Result<(), HandlerError>> {
    async move {
        let records: Vec<&GameRecord> =
            records.iter().map(|record| &**record).filter(|record| counts(record)).collect();
        if records.is_empty() || building {
            return Ok(insert_games(connection, generation, &records).await?);
        }
        let seasons = counted(connection, MODEL.name, generation).await?;
        insert_games(connection, generation, &records).await?;
        let mut of_key: BTreeMap<Key, Vec<Played>> = BTreeMap::new();
        for record in records {
            for stretch in stretches(day_of(record.ended_at), &seasons) {
                let board = Board::of(record, stretch.name);
                for seat in &record.seats {
                    let played = Played::of(record, seat);
                    of_key.entry((board.clone(), seat.player)).or_default().push(played);
                }
            }
        }
        let keys: Vec<Key> = of_key.keys().cloned().collect();
        let before = find(connection, generation, &keys).await?;
        let after = of_key.into_iter().map(|(key, games)| {
            let mut entry = before.get(&key).cloned().unwrap_or_default();
            for game in games {
                entry.absorb(game);
            }
            (key, entry)
        });
        let after = after.collect();
        Ok(change(connection, generation, &before, &after).await?)
    }
    .boxed()
}

/// The entries of the players of void games are recomputed from their other games.
fn forget<'a>(
    Target { connection, generation, building }: Target<'a>,
    records: &'a [Arc<GameRecord>],
    _: &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>> {
    const DELETE: &str = "DELETE FROM leaderboard_game WHERE generation = $1 AND kind = $2 AND preset = $3 AND game = $4
                             AND ended_at = $5 AND player = ANY ($6)";
    async move {
        let seasons = counted(connection, MODEL.name, generation).await?;
        for record in records.iter().filter(|record| counts(record)) {
            let players: Vec<Uuid> = record.seats.iter().map(|seat| seat.player).collect();
            let query = sqlx::query(DELETE).bind(generation).bind(record.kind);
            let query = query.bind(&record.preset).bind(record.game);
            let query = query.bind(milliseconds(record.ended_at)).bind(&players);
            if query.execute(&mut *connection).await?.rows_affected() == 0 || building {
                continue;
            }
            let mut after: BTreeMap<Key, Entry> = BTreeMap::new();
            for player in players {
                let games = games_of(connection, generation, record, player).await?;
                for stretch in stretches(day_of(record.ended_at), &seasons) {
                    let within =
                        |played: &&Played| (stretch.first..=stretch.last).contains(&played.day());
                    let entry = Entry::of(games.iter().filter(within));
                    after.insert((Board::of(record, stretch.name.clone()), player), entry);
                }
            }
            let keys: Vec<Key> = after.keys().cloned().collect();
            let before = find(connection, generation, &keys).await?;
            change(connection, generation, &before, &after).await?;
        }
        Ok(())
    }
    .boxed()
}

/// Adds the seasons that are not counted yet, from the stored games.
fn derive(
    Target { connection, generation, building }: Target<'_>,
) -> BoxFuture<'_, Result<(), HandlerError>> {
    async move {
        if building {
            let spans = |day| stretches(day, &[]).into_iter().map(|stretch| stretch.name).collect();
            fold_all(connection, generation, &spans).await?;
        }
        for season in uncounted(connection, MODEL.name, generation).await? {
            is_counted(connection, MODEL.name, generation, &season).await?;
            let stretch = season.stretch();
            let within = |day| (stretch.first..=stretch.last).contains(&day);
            fold_all(connection, generation, &|day| {
                within(day).then(|| stretch.name.clone()).into_iter().collect()
            })
            .await?;
        }
        Ok(())
    }
    .boxed()
}

/// Fills empty boards from all stored games, player by player; `periods` gives the periods of a
/// day.
async fn fold_all(
    connection: &mut PgConnection,
    generation: i32,
    periods: &(dyn Fn(i32) -> Vec<String> + Sync),
) -> Result<(), StoreError> {
    const BOARDS: &str =
        "SELECT DISTINCT kind, preset FROM leaderboard_game WHERE generation = $1 ORDER BY 1, 2";
    const GAMES: &str = "SELECT ended_at, won, merit, player FROM leaderboard_game
                          WHERE generation = $1 AND kind = $2 AND preset = $3 AND player > $4 ORDER BY player LIMIT $5";
    let boards = sqlx::query(BOARDS).bind(generation).fetch_all(&mut *connection).await?;
    for row in boards {
        let (kind, preset): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let (mut last, mut page) = (Uuid::nil(), MANY_GAMES);
        loop {
            let query = sqlx::query(GAMES).bind(generation).bind(&kind).bind(&preset);
            let games = query.bind(last).bind(page).fetch_all(&mut *connection).await?;
            let full = games.len() >= usize::try_from(page).unwrap_or(usize::MAX);
            // A full page may end within a player's games; that player is left for the next page.
            let cut: Option<Uuid> = match games.last() {
                Some(row) if full => Some(row.try_get(3)?),
                _ => None,
            };
            let mut after: BTreeMap<Key, Entry> = BTreeMap::new();
            let before = last;
            for row in &games {
                let player: Uuid = row.try_get(3)?;
                if cut == Some(player) {
                    break;
                }
                let game = Played::read(row, 0)?;
                for period in periods(game.day()) {
                    let board = Board { kind: kind.clone(), preset: preset.clone(), period };
                    after.entry((board, player)).or_default().absorb(game);
                }
                last = player;
            }
            change(connection, generation, &HashMap::new(), &after).await?;
            if !full {
                break;
            }
            // A player has more games than fit in a page.
            page = if last == before { page * 2 } else { MANY_GAMES };
        }
    }
    Ok(())
}

impl Board {
    fn of(record: &GameRecord, period: String) -> Self {
        Self { kind: record.kind.to_owned(), preset: record.preset.clone(), period }
    }
}

impl Played {
    fn of(record: &GameRecord, seat: &SeatRecord) -> Self {
        Self { at: milliseconds(record.ended_at), won: seat.won, merit: record.merit(seat) }
    }

    /// Reads three columns, starting at this one.
    fn read(row: &PgRow, from: usize) -> Result<Self, StoreError> {
        let (at, won, merit) = (row.try_get(from)?, row.try_get(from + 1)?, row.try_get(from + 2)?);
        Ok(Self { at, won, merit })
    }

    fn day(&self) -> i32 {
        i32::try_from(self.at / 86_400_000).unwrap_or(i32::MAX)
    }
}

fn milliseconds(moment: Moment) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

async fn insert_games(
    connection: &mut PgConnection,
    generation: i32,
    records: &[&GameRecord],
) -> Result<(), StoreError> {
    const INSERT: &str = "
INSERT INTO leaderboard_game (generation, kind, preset, player, ended_at, game, won, merit)
SELECT $1, w.* FROM unnest($2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::uuid[], $7::boolean[], $8::bigint[]) AS w
    ON CONFLICT DO NOTHING";
    let seats: Vec<(&GameRecord, &SeatRecord)> =
        records.iter().flat_map(|record| record.seats.iter().map(|seat| (*record, seat))).collect();
    let query = sqlx::query(INSERT)
        .bind(generation)
        .bind(seats.iter().map(|(record, _)| record.kind).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.preset.as_str()).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.player).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| milliseconds(record.ended_at)).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, _)| record.game).collect::<Vec<_>>())
        .bind(seats.iter().map(|(_, seat)| seat.won).collect::<Vec<_>>())
        .bind(seats.iter().map(|(record, seat)| record.merit(seat)).collect::<Vec<_>>());
    query.execute(connection).await?;
    Ok(())
}

/// The games of a player that count for a kind and preset.
async fn games_of(
    connection: &mut PgConnection,
    generation: i32,
    record: &GameRecord,
    player: Uuid,
) -> Result<Vec<Played>, StoreError> {
    const GAMES: &str = "SELECT ended_at, won, merit FROM leaderboard_game
                          WHERE generation = $1 AND kind = $2 AND preset = $3 AND player = $4";
    let query = sqlx::query(GAMES).bind(generation).bind(record.kind).bind(&record.preset);
    query.bind(player).fetch_all(connection).await?.iter().map(|row| Played::read(row, 0)).collect()
}

/// Writes changed entries and the changes of bucket counts.
async fn change(
    connection: &mut PgConnection,
    generation: i32,
    before: &HashMap<Key, Entry>,
    after: &BTreeMap<Key, Entry>,
) -> Result<(), StoreError> {
    let mut counts = Counts::new();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for (key, entry) in after {
        let old = before.get(key);
        for measure in Measure::OF_GAMES {
            let old = old.and_then(|old| old.value(measure));
            moved(&mut counts, &key.0, measure, old, entry.value(measure));
        }
        if entry.games > 0 { &mut kept } else { &mut gone }.push(key.clone());
    }
    for keys in kept.chunks(AT_ONCE) {
        update(connection, generation, keys, after).await?;
    }
    remove(connection, Measure::Best, generation, &gone).await?;
    count(connection, generation, counts).await
}

/// The existing entries of these keys.
async fn find(
    connection: &mut PgConnection,
    generation: i32,
    keys: &[Key],
) -> Result<HashMap<Key, Entry>, StoreError> {
    const FIND: &str = "
SELECT w.place, l.games, l.total, l.wins, l.wins_at, l.best, l.best_at, l.average, l.average_at
  FROM unnest($2::text[], $3::text[], $4::text[], $5::uuid[]) WITH ORDINALITY AS w (kind, preset, period, player, place)
 CROSS JOIN LATERAL (
        SELECT * FROM leaderboard l
         WHERE l.generation = $1 AND l.kind = w.kind AND l.preset = w.preset AND l.period = w.period AND l.player = w.player
         LIMIT 1) l"; // forces an index probe per key
    let Columns { kinds, presets, periods, players } = columns(keys);
    let query = sqlx::query(FIND).bind(generation).bind(&kinds).bind(&presets);
    let mut known = HashMap::with_capacity(keys.len());
    for row in query.bind(&periods).bind(&players).fetch_all(connection).await? {
        let place: i64 = row.try_get(0)?;
        let key = usize::try_from(place - 1).ok().and_then(|place| keys.get(place));
        let entry = Entry {
            games: row.try_get(1)?,
            total: row.try_get(2)?,
            wins: row.try_get(3)?,
            wins_at: row.try_get(4)?,
            best: row.try_get(5)?,
            best_at: row.try_get(6)?,
            average: row.try_get(7)?,
            average_at: row.try_get(8)?,
        };
        known.extend(key.map(|key| (key.clone(), entry)));
    }
    Ok(known)
}

async fn update(
    connection: &mut PgConnection,
    generation: i32,
    keys: &[Key],
    known: &BTreeMap<Key, Entry>,
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO leaderboard (generation, kind, preset, period, player, games, total, wins, wins_at, best, best_at, average, average_at)
SELECT $1, w.* FROM unnest($2::text[], $3::text[], $4::text[], $5::uuid[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
                           $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[]) AS w
    ON CONFLICT (generation, kind, preset, period, player) DO UPDATE
   SET games = excluded.games, total = excluded.total, wins = excluded.wins, wins_at = excluded.wins_at, best = excluded.best,
       best_at = excluded.best_at, average = excluded.average, average_at = excluded.average_at";
    let Columns { kinds, presets, periods, players } = columns(keys);
    let entries: Vec<&Entry> = keys.iter().filter_map(|key| known.get(key)).collect();
    let column = |value: fn(&Entry) -> i64| entries.iter().map(|e| value(e)).collect::<Vec<_>>();
    let query = sqlx::query(WRITE).bind(generation).bind(kinds).bind(presets);
    let query = query.bind(periods).bind(players);
    let query = query.bind(column(|e| e.games)).bind(column(|e| e.total)).bind(column(|e| e.wins));
    let query = query.bind(column(|e| e.wins_at)).bind(column(|e| e.best));
    let query = query.bind(column(|e| e.best_at));
    let averages: Vec<Option<i64>> = entries.iter().map(|entry| entry.average).collect();
    query.bind(averages).bind(column(|e| e.average_at)).execute(connection).await?;
    Ok(())
}
