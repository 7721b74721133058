-- Appends the commands of a batch that can be appended, each to its own stream, in one round trip.
--
-- A command wins if its stream still ends with the hash it was decided on, and its id was not used before. Losers change
-- nothing and do not disturb the winners. Rows are locked in one order, streams and then shards, each sorted, so that
-- batches of several nodes cannot wait for each other in a circle.
--
-- The series beside the arrays number the rows, and let the planner expect many: it then joins them by hashing. Look-ups
-- in tables are sub-queries with a limit, which can only become index probes.
WITH command AS MATERIALIZED (
    SELECT c.*, r.request AS seen_request, r.first_version AS seen_first, r.last_version AS seen_last
      FROM ROWS FROM (
               unnest($1::smallint[], $2::uuid[], $3::bigint[], $4::integer[], $5::bytea[], $6::bytea[],
                      $7::timestamptz[], $8::uuid[], $9::uuid[], $10::bytea[]),
               generate_series(1, cardinality($1)))
           AS c (shard, stream, version, appended, hash, previous_hash, recorded_at, command, actor, request, number)
      LEFT JOIN LATERAL (
               SELECT r.request, r.first_version, r.last_version
                 FROM receipt r
                WHERE r.shard = c.shard AND r.stream = c.stream AND r.command = c.command
                LIMIT 1) r ON true
),
won AS (
    INSERT INTO stream_head AS h (shard, stream, version, recorded_at, appended, hash, previous_hash)
    SELECT c.shard, c.stream, c.version, c.recorded_at, c.appended, c.hash, c.previous_hash
      FROM command c
     WHERE c.seen_first IS NULL
           -- Only a first append may create its stream.
       AND (c.version = c.appended
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
           a.position - sum(c.appended) OVER (PARTITION BY c.shard ORDER BY c.number DESC) AS old_position
      FROM won w
      JOIN command c ON c.stream = w.stream
      JOIN advanced a ON a.shard = w.shard
),
recorded AS (
    INSERT INTO event (version, position, recorded_at, stream, command, actor, shard, schema, type, hash, payload)
    SELECT e.version, p.old_position + e.version - p.old_version, p.recorded_at, p.stream, p.command, p.actor, p.shard,
           e.schema, e.type, e.hash, e.payload::json
      FROM ROWS FROM (
               unnest($11::integer[], $12::bigint[], $13::smallint[], $14::text[], $15::bytea[], $16::text[]),
               generate_series(1, cardinality($11)))
           AS e (number, version, schema, type, hash, payload, row)
      JOIN placed p ON p.number = e.number
),
noted AS (
    INSERT INTO receipt (first_version, last_version, stream, command, shard, request)
    SELECT old_version + 1, version, stream, command, shard, request FROM placed
)
SELECT c.number, p.number IS NOT NULL, c.seen_request, c.seen_first, c.seen_last
  FROM command c
  LEFT JOIN placed p ON p.number = c.number
