-- Who plays and who works here. Personal data lives in this table and not in the log: events know accounts by their id.
-- Moments are milliseconds since 1970, as in events.
CREATE TABLE account (
    id         uuid   PRIMARY KEY,
    created_at bigint NOT NULL,
    role       text   NOT NULL CHECK (role IN ('player', 'analyst', 'support', 'admin')),
    -- The name shown at tables.
    name       text   NOT NULL,
    -- The name folded for comparison, for those who sign in with it; guests share names freely.
    sign_in    text   UNIQUE,
    -- An argon2 hash; guests and staff have none.
    password   text
);

GRANT SELECT, INSERT, UPDATE ON account TO croupier_app;
