-- Signed Merkle roots of the hashes of a shard, each chained to the one before. They are also written outside the
-- database: whoever rewrites a whole chain is caught.
CREATE TABLE seal (
    number         bigint      NOT NULL,
    first_position bigint      NOT NULL,
    last_position  bigint      NOT NULL,
    sealed_at      timestamptz NOT NULL,
    shard          smallint    NOT NULL,
    root           bytea       NOT NULL,
    previous       bytea       NOT NULL,
    key            bytea       NOT NULL,
    signature      bytea       NOT NULL,
    PRIMARY KEY (shard, number),
    CHECK (shard BETWEEN 0 AND 63 AND number > 0 AND last_position >= first_position)
);
