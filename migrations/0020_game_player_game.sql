-- Who sits at a table, to forget who left it.
CREATE INDEX game_player_game ON game_player (game);
