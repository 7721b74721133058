-- Who sits or sat where: a player's games, the newest first.
CREATE TABLE game_player (
    player uuid NOT NULL,
    game   uuid NOT NULL,
    stage  text NOT NULL,
    PRIMARY KEY (player, game)
);

CREATE INDEX game_player_stage ON game_player (player, stage, game);

GRANT SELECT, INSERT, UPDATE, DELETE ON game_player TO croupier_app;
