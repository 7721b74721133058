-- Everything that ever happened. Rows are added and never changed; docs/events.md describes them.
CREATE TABLE event (
    version     bigint      NOT NULL,
    position    bigint      NOT NULL,
    recorded_at timestamptz NOT NULL,
    stream      uuid        NOT NULL,
    command     uuid        NOT NULL,
    actor       uuid        NOT NULL,
    shard       smallint    NOT NULL,
    schema      smallint    NOT NULL,
    type        text        NOT NULL,
    hash        bytea       NOT NULL,
    -- Byte for byte as it was hashed: json, not jsonb.
    payload     json        NOT NULL,
    PRIMARY KEY (shard, stream, version),
    CHECK (shard BETWEEN 0 AND 63 AND version > 0 AND position > 0 AND octet_length(hash) = 32)
);
