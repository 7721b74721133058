-- Who works on read models, or would like to: ranges are shared among all who were seen a moment ago.
CREATE TABLE projection_worker (
    owner   uuid        PRIMARY KEY,
    seen_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE, DELETE ON projection_worker TO croupier_app;
