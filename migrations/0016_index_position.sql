-- How far the log is folded into game_index and game_player.
CREATE TABLE index_position (
    shard    smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    position bigint   NOT NULL DEFAULT 0
);

INSERT INTO index_position (shard) SELECT generate_series(0, 63);

GRANT SELECT, UPDATE ON index_position TO croupier_app;
