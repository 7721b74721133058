-- Everything that ever happened. Rows are added and never changed; docs/events.md describes them.
-- What may stand in a row is for the proof to check (croupier verify --all): checking it with every insert costs 6 %.
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
    PRIMARY KEY (shard, stream, version)
);
