-- Running games, the newest first: people look for one to watch.
CREATE INDEX game_index_playing ON game_index (generation, game) WHERE stage = 'playing';
