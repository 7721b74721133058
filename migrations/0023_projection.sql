-- Read models: which generations of each there are. Reads see the live one; a rebuilt one grows beside it.
CREATE TABLE projection (
    name       text        NOT NULL,
    generation integer     NOT NULL,
    version    integer     NOT NULL, -- of the program that folds it
    state      text        NOT NULL CHECK (state IN ('building', 'live', 'old')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, generation)
);

CREATE UNIQUE INDEX projection_live ON projection (name) WHERE state = 'live';

GRANT SELECT, INSERT, UPDATE, DELETE ON projection TO croupier_app;
