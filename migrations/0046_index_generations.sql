-- The indexes of games and disputes are kept by processors like every other rows: each row belongs to a generation, so that they
-- can be rebuilt beside the live ones. A game's row says in which shard the game is: nodes share clocks by shards.
ALTER TABLE game_index ADD COLUMN generation integer NOT NULL DEFAULT 1;
ALTER TABLE game_index ADD COLUMN shard smallint;
UPDATE game_index SET shard = get_byte(sha256(uuid_send(game)), 0) & 63;
ALTER TABLE game_index ALTER COLUMN shard SET NOT NULL;
ALTER TABLE game_index ALTER COLUMN generation DROP DEFAULT;
ALTER TABLE game_index DROP CONSTRAINT game_index_pkey;
ALTER TABLE game_index ADD PRIMARY KEY (generation, game);
DROP INDEX game_index_open, game_index_deadline, game_index_expires_at;
-- Game ids are in the order of creation.
CREATE INDEX game_index_open ON game_index (generation, game) WHERE open;
CREATE INDEX game_index_deadline ON game_index (generation, deadline) WHERE deadline IS NOT NULL;
CREATE INDEX game_index_expires_at ON game_index (generation, expires_at) WHERE expires_at IS NOT NULL;
GRANT DELETE ON game_index TO croupier_app;

ALTER TABLE game_player ADD COLUMN generation integer NOT NULL DEFAULT 1;
ALTER TABLE game_player ALTER COLUMN generation DROP DEFAULT;
ALTER TABLE game_player DROP CONSTRAINT game_player_pkey;
ALTER TABLE game_player ADD PRIMARY KEY (generation, player, game);
DROP INDEX game_player_stage, game_player_game;
CREATE INDEX game_player_stage ON game_player (generation, player, stage, game);
CREATE INDEX game_player_game ON game_player (generation, game);

INSERT INTO processor (name, generation, version, state, ranges) VALUES ('game_index', 1, 1, 'live', 8);
INSERT INTO processor_range (name, generation, range, positions)
SELECT 'game_index', 1, shard / 8, array_agg(position ORDER BY shard) FROM index_position GROUP BY shard / 8;
DROP TABLE index_position;

-- Disputes are few: their index is folded from the log once more.
DROP TABLE dispute_index;
CREATE TABLE dispute_index (
    generation integer NOT NULL,
    dispute    uuid    NOT NULL,
    game       uuid    NOT NULL,
    version    bigint  NOT NULL,
    player     uuid    NOT NULL,
    opened_at  bigint  NOT NULL, -- milliseconds since 1970
    assignee   uuid,
    resolved   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (generation, dispute)
);

CREATE INDEX dispute_index_open ON dispute_index (generation, opened_at, dispute) WHERE NOT resolved;
CREATE INDEX dispute_index_all ON dispute_index (generation, opened_at, dispute);
CREATE INDEX dispute_index_player ON dispute_index (generation, player, opened_at, dispute);

-- What staff did, by whom and to what.
CREATE TABLE audit_index (
    generation integer NOT NULL,
    number     bigint  NOT NULL,
    at         bigint  NOT NULL, -- milliseconds since 1970
    staff      uuid    NOT NULL,
    action     text    NOT NULL,
    subject    uuid    NOT NULL,
    dispute    uuid,
    PRIMARY KEY (generation, number)
);

CREATE INDEX audit_index_staff ON audit_index (generation, staff, number);
CREATE INDEX audit_index_subject ON audit_index (generation, subject, number);

GRANT SELECT, INSERT, UPDATE, DELETE ON dispute_index, audit_index TO croupier_app;
