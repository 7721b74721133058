-- A sign-in that can be renewed and taken back. The tokens themselves are nowhere: they are signed statements.
CREATE TABLE session (
    id         uuid   PRIMARY KEY,
    account    uuid   NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    -- Its how many-th refresh token is good now; a session of staff has none.
    generation integer,
    renewed_at bigint
);

CREATE INDEX session_account ON session (account);
CREATE INDEX session_revoked ON session (revoked_at) WHERE revoked_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON session TO croupier_app;
