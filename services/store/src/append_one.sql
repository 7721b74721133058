-- Appends one command to an existing stream: the same as append_all.sql, without arrays of one
-- element. A command that conflicts changes nothing and returns no row.
WITH won AS (
    UPDATE stream_head
       SET version = $3::bigint, appended = $4::integer, hash = $5, previous_hash = $6, recorded_at = $7::timestamptz
     WHERE shard = $1::smallint AND stream = $2 AND hash = $6 AND version = $3 - $4
    RETURNING appended
),
advanced AS (
    UPDATE shard_head SET position = position + won.appended FROM won WHERE shard = $1
    RETURNING position
)
INSERT INTO event (shard, stream, version, position, recorded_at, command, actor, schema, type, hash, payload, request)
SELECT $1, $2, e.version, a.position - ($3 - e.version), $7, $8, $9, e.schema, e.type, e.hash, e.payload::json, $10
  FROM advanced a,
       unnest($11::bigint[], $12::smallint[], $13::text[], $14::bytea[], $15::text[])
       AS e (version, schema, type, hash, payload)
RETURNING position
