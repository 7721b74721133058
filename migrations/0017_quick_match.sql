-- Tables at which somebody waits for anybody with the same rules.
CREATE TABLE quick_match (
    -- The hash of the rules and the number of players.
    wanted bytea NOT NULL,
    game   uuid  NOT NULL,
    PRIMARY KEY (wanted, game)
);

GRANT SELECT, INSERT, DELETE ON quick_match TO croupier_app;
