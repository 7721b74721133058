//! Daily sums, by trait of the seats.

use std::collections::{BTreeMap, HashMap};

use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::{Band, Dimension, SeatFact, broken};
use store::StoreError;

use crate::{
    Histogram,
    histogram::{add as add_up, bucket},
};

/// The group of seats that a sum is over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    dimension: &'static str,
    preset: String,
    ruleset_version: i32,
    catalogue_version: i32,
    seats: i16,
    band: i16,
    name: String,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    games: i64,
    wins: i64,
    score: i64,
    turns: i64,
    turn_time: i64,
    rolls: i64,
    farkles: i64,
    /// Scores, seconds per turn, rolls per turn.
    histograms: [Histogram; 3],
}

impl Sums {
    fn absorb(&mut self, seat: &SeatFact) {
        self.games += 1;
        self.wins += i64::from(seat.won);
        self.score = self.score.saturating_add(seat.score);
        self.turns += seat.turns;
        self.turn_time = self.turn_time.saturating_add(seat.turn_time);
        self.rolls += seat.rolls;
        self.farkles += seat.farkles;
        let [scores, seconds, rolls] = &mut self.histograms;
        *scores.entry(bucket(seat.score)).or_default() += 1;
        add_up(seconds, &seat.turn_seconds);
        add_up(rolls, &seat.turn_rolls);
    }
}

/// Number of sums written at once.
const AT_ONCE: usize = 2_000;

/// Adds seats to the sums of a day; a `fresh` day has none yet.
pub(crate) async fn add(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    day: i32,
    facts: &[SeatFact],
    fresh: bool,
    band: impl Fn(Uuid) -> Band,
) -> Result<(), StoreError> {
    let mut cells: BTreeMap<Key, Sums> = BTreeMap::new();
    for fact in facts {
        let band = band(fact.player).number();
        for (dimension, name) in fact.traits() {
            let key = Key {
                dimension: Dimension::name(dimension),
                preset: fact.preset.clone(),
                ruleset_version: fact.ruleset_version,
                catalogue_version: fact.catalogue_version,
                seats: fact.seats,
                band,
                name,
            };
            cells.entry(key).or_default().absorb(fact);
        }
    }
    let cells: Vec<(Key, Sums)> = cells.into_iter().collect();
    for cells in cells.chunks(AT_ONCE) {
        let known = if fresh {
            HashMap::new()
        } else {
            histograms(connection, generation, kind, day, cells).await?
        };
        write(connection, generation, kind, day, cells, &known).await?;
    }
    Ok(())
}

/// Deletes the sums of a day and all later days.
pub(crate) async fn delete_cells(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    from: i32,
) -> Result<(), StoreError> {
    // Every key has the dimension before the day.
    const DELETE: &str = "DELETE FROM balance_cell WHERE generation = $1 AND kind = $2 AND dimension = ANY ($3) AND day >= $4";
    let query =
        sqlx::query(DELETE).bind(generation).bind(kind).bind(Dimension::ALL.map(Dimension::name));
    query.bind(from).execute(connection).await?;
    Ok(())
}

/// The existing histograms of these sums.
async fn histograms(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    day: i32,
    cells: &[(Key, Sums)],
) -> Result<HashMap<Key, [Histogram; 3]>, StoreError> {
    const FIND: &str = "
SELECT w.place, c.histograms::text
  FROM unnest($4::text[], $5::text[], $6::integer[], $7::integer[], $8::smallint[], $9::smallint[], $10::text[])
       WITH ORDINALITY AS w (dimension, preset, ruleset, catalogue, seats, band, trait, place)
 CROSS JOIN LATERAL (
        SELECT c.histograms FROM balance_cell c
         WHERE c.generation = $1 AND c.kind = $2 AND c.day = $3 AND c.dimension = w.dimension AND c.preset = w.preset
           AND c.ruleset_version = w.ruleset AND c.catalogue_version = w.catalogue AND c.seats = w.seats AND c.band = w.band
           AND c.trait = w.trait LIMIT 1) c"; // forces an index probe per key
    let query = sqlx::query(FIND).bind(generation).bind(kind).bind(day);
    let mut known = HashMap::with_capacity(cells.len());
    for row in bind_keys(query, cells).fetch_all(connection).await? {
        let (place, written): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
        let cell = usize::try_from(place - 1).ok().and_then(|place| cells.get(place));
        let histograms = serde_json::from_str(&written).map_err(broken)?;
        known.extend(cell.map(|(key, _)| (key.clone(), histograms)));
    }
    Ok(known)
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

fn bind_keys<'q>(query: Query<'q>, cells: &'q [(Key, Sums)]) -> Query<'q> {
    let keys = || cells.iter().map(|(key, _)| key);
    query
        .bind(keys().map(|key| key.dimension).collect::<Vec<_>>())
        .bind(keys().map(|key| key.preset.as_str()).collect::<Vec<_>>())
        .bind(keys().map(|key| key.ruleset_version).collect::<Vec<_>>())
        .bind(keys().map(|key| key.catalogue_version).collect::<Vec<_>>())
        .bind(keys().map(|key| key.seats).collect::<Vec<_>>())
        .bind(keys().map(|key| key.band).collect::<Vec<_>>())
        .bind(keys().map(|key| key.name.as_str()).collect::<Vec<_>>())
}

async fn write(
    connection: &mut PgConnection,
    generation: i32,
    kind: &str,
    day: i32,
    cells: &[(Key, Sums)],
    known: &HashMap<Key, [Histogram; 3]>,
) -> Result<(), StoreError> {
    const WRITE: &str = "
INSERT INTO balance_cell AS c (generation, kind, day, dimension, preset, ruleset_version, catalogue_version, seats, band, trait, games, wins, score,
                               turns, turn_time, rolls, farkles, histograms)
SELECT $1, $2, $3, w.dimension, w.preset, w.ruleset, w.catalogue, w.seats, w.band, w.trait, w.games, w.wins, w.score, w.turns, w.turn_time, w.rolls,
       w.farkles, w.histograms::json
  FROM unnest($4::text[], $5::text[], $6::integer[], $7::integer[], $8::smallint[], $9::smallint[], $10::text[], $11::bigint[], $12::bigint[],
              $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::text[])
       AS w (dimension, preset, ruleset, catalogue, seats, band, trait, games, wins, score, turns, turn_time, rolls, farkles, histograms)
    ON CONFLICT (generation, kind, dimension, day, preset, ruleset_version, catalogue_version, seats, band, trait) DO UPDATE
   SET games = c.games + excluded.games, wins = c.wins + excluded.wins, score = c.score + excluded.score, turns = c.turns + excluded.turns,
       turn_time = c.turn_time + excluded.turn_time, rolls = c.rolls + excluded.rolls, farkles = c.farkles + excluded.farkles,
       histograms = excluded.histograms";
    let column = |value: fn(&Sums) -> i64| -> Vec<i64> {
        cells.iter().map(|(_, sums)| value(sums)).collect()
    };
    let whole = cells.iter().map(|(key, sums)| {
        let mut all = sums.histograms.clone();
        for (sum, more) in all.iter_mut().zip(known.get(key).into_iter().flatten()) {
            add_up(sum, more);
        }
        serde_json::to_string(&all).unwrap_or_default()
    });
    let query = sqlx::query(WRITE).bind(generation).bind(kind).bind(day);
    let query = bind_keys(query, cells)
        .bind(column(|sums| sums.games))
        .bind(column(|sums| sums.wins))
        .bind(column(|sums| sums.score))
        .bind(column(|sums| sums.turns))
        .bind(column(|sums| sums.turn_time))
        .bind(column(|sums| sums.rolls))
        .bind(column(|sums| sums.farkles))
        .bind(whole.collect::<Vec<String>>());
    query.execute(connection).await?;
    Ok(())
}
