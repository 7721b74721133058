-- A sign-in that can be renewed and taken back. The tokens themselves are nowhere: only the hash of the one that renews.
CREATE TABLE session (
    id         uuid   PRIMARY KEY,
    account    uuid   NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    -- The hash of the token that renews this session, and of the one before it: whoever shows that one has a copy.
    refresh    bytea,
    spent      bytea,
    renewed_at bigint
);

CREATE INDEX session_account ON session (account);
CREATE INDEX session_revoked ON session (revoked_at) WHERE revoked_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON session TO croupier_app;
