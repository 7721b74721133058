-- What became of each command that was accepted: the same command again gets the first answer.
CREATE TABLE receipt (
    first_version bigint   NOT NULL,
    last_version  bigint   NOT NULL,
    stream        uuid     NOT NULL,
    command       uuid     NOT NULL,
    shard         smallint NOT NULL,
    -- The hash of the request: another request under the same id is an error.
    request       bytea    NOT NULL,
    PRIMARY KEY (shard, stream, command)
);
