-- Appends the commands of a batch, each to its own stream, in one round trip: all of them or none.
--
-- Almost always no command of a batch conflicts, so the arrays contain everything but the positions
-- of the shards. If a stream does not end with the hash its command was decided on, or does not
-- exist, the division by zero rolls everything back. The batch is then retried with append.sql,
-- which finds the commands that conflict. Both lock rows in one order, streams and then shards,
-- each sorted, so that batches of several nodes cannot deadlock. The result is the end of each
-- shard, ordered by shard.
WITH won AS (
    INSERT INTO stream_head AS h (shard, stream, version, appended, hash, previous_hash, recorded_at)
    SELECT * FROM unnest($1::smallint[], $2::uuid[], $3::bigint[], $4::integer[], $5::bytea[], $6::bytea[],
                         $7::timestamptz[])
    ON CONFLICT (shard, stream) DO UPDATE
       SET version = excluded.version,
           recorded_at = excluded.recorded_at,
           appended = excluded.appended,
           hash = excluded.hash,
           previous_hash = excluded.previous_hash
     WHERE h.hash = excluded.previous_hash AND h.version = excluded.version - excluded.appended
    -- A row that was there before has been locked by this update; one that was inserted has not.
    RETURNING (xmax = 0)::integer AS created
),
verdict AS MATERIALIZED (
    SELECT count(*) = cardinality($1) AND sum(created) = $8 AS all_won FROM won
),
advanced AS (
    INSERT INTO shard_head AS s (shard, position)
    SELECT g.* FROM unnest($9::smallint[], $10::bigint[]) AS g (shard, events), verdict WHERE all_won
    ON CONFLICT (shard) DO UPDATE SET position = s.position + excluded.position
    RETURNING shard, position
),
recorded AS (
    INSERT INTO event (shard, stream, version, position, recorded_at, command, actor, schema, type, hash, payload, request)
    SELECT e.shard, e.stream, e.version, a.position - e.from_end, e.recorded_at, e.command, e.actor, e.schema, e.type,
           e.hash, e.payload::json, e.request
      FROM unnest($11::smallint[], $12::uuid[], $13::bigint[], $14::bigint[], $15::timestamptz[], $16::uuid[],
                  $17::uuid[], $18::smallint[], $19::text[], $20::bytea[], $21::text[], $22::bigint[])
           AS e (shard, stream, version, from_end, recorded_at, command, actor, schema, type, hash, payload, request)
      JOIN advanced a ON a.shard = e.shard
)
SELECT 1 / all_won::integer, (SELECT array_agg(position ORDER BY shard) FROM advanced) FROM verdict
