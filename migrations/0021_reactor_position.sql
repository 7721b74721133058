-- How far the log is paid out: what games award has reached the wallets up to here.
CREATE TABLE reactor_position (
    shard    smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    position bigint   NOT NULL DEFAULT 0
);

INSERT INTO reactor_position (shard) SELECT generate_series(0, 63);

GRANT SELECT, UPDATE ON reactor_position TO croupier_app;
