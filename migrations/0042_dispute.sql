-- Finding disputes: written before their first event, and brought up to date behind each. What a dispute is, its stream says.
CREATE TABLE dispute_index (
    dispute   uuid   PRIMARY KEY,
    game      uuid   NOT NULL,
    version   bigint NOT NULL,
    player    uuid   NOT NULL,
    opened_at bigint NOT NULL, -- milliseconds since 1970
    assignee  uuid,
    resolved  boolean NOT NULL DEFAULT false,
    folded    bigint  NOT NULL DEFAULT 0 -- the version of the stream this row was made from
);

CREATE INDEX dispute_index_open ON dispute_index (opened_at, dispute) WHERE NOT resolved;
CREATE INDEX dispute_index_all ON dispute_index (opened_at, dispute);
CREATE INDEX dispute_index_player ON dispute_index (player, opened_at, dispute);
CREATE INDEX dispute_index_game ON dispute_index (game);

-- What people write about them. It may be personal, so it is not in the log, and goes with its author.
CREATE TABLE dispute_text (
    dispute  uuid    NOT NULL,
    number   integer NOT NULL, -- 0 is what the player wrote when it was opened
    author   uuid    NOT NULL,
    at       bigint  NOT NULL,
    internal boolean NOT NULL,
    text     text    NOT NULL,
    PRIMARY KEY (dispute, number)
);

CREATE INDEX dispute_text_author ON dispute_text (author);

-- Accounts that were erased keep their row, so that nobody else gets their id.
ALTER TABLE account ADD COLUMN erased_at bigint;

GRANT SELECT, INSERT, UPDATE ON dispute_index, dispute_text TO croupier_app;
