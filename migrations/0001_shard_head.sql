-- The last position of each shard. A row is locked from the append to its commit, so that inside a shard
-- the order of positions is the order of commits, and nobody ever sees a hole.
-- Pages stay mostly empty: the rows are updated all the time, in place.
CREATE TABLE shard_head (
    shard    smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    position bigint   NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO shard_head (shard) SELECT generate_series(0, 63);
