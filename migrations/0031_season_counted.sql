-- Which seasons a generation of a read model counts: a new one is counted from the facts that are there, then with every game.
CREATE TABLE season_counted (
    name       text    NOT NULL,
    generation integer NOT NULL,
    season     text    NOT NULL REFERENCES season,
    PRIMARY KEY (name, generation, season),
    FOREIGN KEY (name, generation) REFERENCES projection ON DELETE CASCADE
);

GRANT SELECT, INSERT, DELETE ON season_counted TO croupier_app;
