-- Who may come to a table. Written before the game's first event: the pair of creator and command makes asking twice
-- find the same game.
CREATE TABLE game_access (
    game    uuid PRIMARY KEY,
    creator uuid NOT NULL,
    command uuid NOT NULL,
    -- A private table is entered with this code; a public one has none.
    invite  text UNIQUE,
    UNIQUE (creator, command)
);

GRANT SELECT, INSERT ON game_access TO croupier_app;
