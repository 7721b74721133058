-- Appends those commands of a batch that do not conflict, each to its own stream, in one round
-- trip.
--
-- A command succeeds if its stream still ends with the hash it was decided on. Commands that
-- conflict change nothing and do not affect the others. Rows are locked in one order, streams and
-- then shards, each sorted, so that batches of several nodes cannot deadlock. The result has one
-- row per successful command: its number and the position before its events.
--
-- The series beside the arrays number the rows and make the planner expect many of them, so that it
-- uses hash joins. Look-ups in tables are sub-queries with a limit, which can only become index
-- probes.
WITH command AS MATERIALIZED (
    SELECT c.*
      FROM ROWS FROM (
               unnest($1::smallint[], $2::uuid[], $3::bigint[], $4::integer[], $5::bytea[], $6::bytea[],
                      $7::timestamptz[], $8::uuid[], $9::uuid[], $10::bigint[]),
               generate_series(1, cardinality($1)))
           AS c (shard, stream, version, appended, hash, previous_hash, recorded_at, command, actor, request, number)
),
won AS (
    INSERT INTO stream_head AS h (shard, stream, version, recorded_at, appended, hash, previous_hash)
    SELECT c.shard, c.stream, c.version, c.recorded_at, c.appended, c.hash, c.previous_hash
      FROM command c
           -- Only a first append may create its stream.
     WHERE (c.version = c.appended
            OR (SELECT true FROM stream_head old WHERE old.shard = c.shard AND old.stream = c.stream LIMIT 1))
     ORDER BY c.shard, c.stream
    ON CONFLICT (shard, stream) DO UPDATE
       SET version = excluded.version,
           recorded_at = excluded.recorded_at,
           appended = excluded.appended,
           hash = excluded.hash,
           previous_hash = excluded.previous_hash
     WHERE h.hash = excluded.previous_hash AND h.version = excluded.version - excluded.appended
    RETURNING stream, shard, appended
),
advanced AS (
    INSERT INTO shard_head AS s (shard, position)
    SELECT shard, sum(appended) FROM won GROUP BY shard ORDER BY shard
    ON CONFLICT (shard) DO UPDATE SET position = s.position + excluded.position
    RETURNING shard, position
),
placed AS MATERIALIZED (
    SELECT c.*,
           c.version - c.appended AS old_version,
           (a.position - sum(c.appended) OVER (PARTITION BY c.shard ORDER BY c.number DESC))::bigint AS old_position
      FROM won w
      JOIN command c ON c.stream = w.stream
      JOIN advanced a ON a.shard = w.shard
),
recorded AS (
    INSERT INTO event (version, position, recorded_at, stream, command, actor, shard, schema, type, hash, payload, request)
    SELECT e.version, p.old_position + e.version - p.old_version, p.recorded_at, p.stream, p.command, p.actor, p.shard,
           e.schema, e.type, e.hash, e.payload::json, p.request
      FROM ROWS FROM (
               unnest($11::integer[], $12::bigint[], $13::smallint[], $14::text[], $15::bytea[], $16::text[]),
               generate_series(1, cardinality($11)))
           AS e (number, version, schema, type, hash, payload, row)
      JOIN placed p ON p.number = e.number
)
SELECT number, old_position FROM placed
