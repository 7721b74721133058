-- Events that could not be paid out. They are tried again; the others go on.
CREATE TABLE reactor_parked (
    stream    uuid        NOT NULL,
    version   bigint      NOT NULL,
    why       text        NOT NULL,
    parked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stream, version)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON reactor_parked TO croupier_app;
