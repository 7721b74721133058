-- What is to be worked out: a game of a player's day, or with the nil player the whole day and all behind it.
ALTER TABLE rating_due ADD COLUMN game uuid NOT NULL;
ALTER TABLE rating_due DROP CONSTRAINT rating_due_pkey;
ALTER TABLE rating_due ADD PRIMARY KEY (generation, kind, day, player, game);
CREATE INDEX rating_result_game ON rating_result (generation, game);
