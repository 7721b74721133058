-- Games that a read model could not take in. They are tried again; the others go on.
CREATE TABLE projection_parked (
    name       text        NOT NULL,
    generation integer     NOT NULL,
    game       uuid        NOT NULL,
    why        text        NOT NULL,
    parked_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, generation, game),
    FOREIGN KEY (name, generation) REFERENCES projection ON DELETE CASCADE
);

GRANT SELECT, INSERT, UPDATE, DELETE ON projection_parked TO croupier_app;
