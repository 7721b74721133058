-- How far a generation is, for eight shards at a time, and who works on it. Whoever takes a range over gets the next fence: what
-- an earlier owner still writes is then refused.
CREATE TABLE projection_range (
    name         text        NOT NULL,
    generation   integer     NOT NULL,
    range        smallint    NOT NULL CHECK (range BETWEEN 0 AND 7),
    positions    bigint[]    NOT NULL, -- the last position folded of shards 8 · range to 8 · range + 7
    fence        bigint      NOT NULL DEFAULT 0,
    owner        uuid,
    leased_until timestamptz,
    heartbeat    timestamptz,
    PRIMARY KEY (name, generation, range),
    FOREIGN KEY (name, generation) REFERENCES projection ON DELETE CASCADE
);

GRANT SELECT, INSERT, UPDATE, DELETE ON projection_range TO croupier_app;
