-- Finding games: the lobby, clocks and what is abandoned. Folded from the log, a moment behind it, by one node at a time.
CREATE TABLE game_index (
    game       uuid    PRIMARY KEY,
    -- The version of the game this row was made from.
    version    bigint  NOT NULL,
    -- When the house ends the turn, and when it closes the game if nobody touches it. Milliseconds since 1970.
    deadline   bigint,
    expires_at bigint,
    -- A public table with a free seat.
    open       boolean NOT NULL,
    kind       text    NOT NULL,
    preset     text    NOT NULL,
    stage      text    NOT NULL CHECK (stage IN ('gathering', 'playing', 'ended'))
);

-- Game ids are in the order of creation.
CREATE INDEX game_index_open ON game_index (game) WHERE open;
CREATE INDEX game_index_deadline ON game_index (deadline) WHERE deadline IS NOT NULL;
CREATE INDEX game_index_expires_at ON game_index (expires_at) WHERE expires_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON game_index TO croupier_app;
