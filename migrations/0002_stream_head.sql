-- Where each stream ends. An append goes through only if the hash it was decided on is still the last one;
-- the hash covers the version, so one comparison says both.
CREATE TABLE stream_head (
    shard         smallint    NOT NULL,
    stream        uuid        NOT NULL,
    version       bigint      NOT NULL,
    recorded_at   timestamptz NOT NULL,
    -- How many events the last append added, and the hash it was decided on.
    appended      integer     NOT NULL,
    hash          bytea       NOT NULL,
    previous_hash bytea       NOT NULL,
    PRIMARY KEY (shard, stream)
) WITH (fillfactor = 70);
