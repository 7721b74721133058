-- What a dispute may need beside the events: commands that were refused, and from where players played. Not part of the game: it is
-- bounded, expires, and is removed with its account.
CREATE TABLE evidence (
    game    uuid   NOT NULL,
    at      bigint NOT NULL, -- milliseconds since 1970
    number  bigint GENERATED ALWAYS AS IDENTITY,
    -- refused: a command; seen: a player plays from here from now on; connected, disconnected: a player follows the game, or no more.
    kind    text   NOT NULL CHECK (kind IN ('refused', 'seen', 'connected', 'disconnected')),
    actor   uuid   NOT NULL,
    session uuid   NOT NULL,
    address text   NOT NULL,
    client  text   NOT NULL, -- what the client calls itself
    -- Of a refusal: the mutation, the client's id of the command, why, and how far the game was.
    asked   text,
    command uuid,
    code    text,
    message text,
    version bigint NOT NULL,
    PRIMARY KEY (game, at, number)
);

CREATE INDEX evidence_at ON evidence (at);
CREATE INDEX evidence_actor ON evidence (actor);

GRANT SELECT, INSERT, UPDATE, DELETE ON evidence TO croupier_app;
