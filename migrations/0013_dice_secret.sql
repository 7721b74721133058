-- What a game's dice are made from, encrypted with a key that is not in the database. Apart from everything that
-- queries, views and staff can reach; the end of a game reveals it in its last event.
CREATE TABLE dice_secret (
    game   uuid  PRIMARY KEY,
    -- Which key opens it.
    key    uuid  NOT NULL,
    sealed bytea NOT NULL
);

GRANT SELECT, INSERT ON dice_secret TO croupier_app;
