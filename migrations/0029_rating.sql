-- Who played how against whom: what ratings are made from.
CREATE TABLE rating_result (
    generation integer  NOT NULL,
    kind       text     NOT NULL,
    day        integer  NOT NULL, -- since 1970, UTC: a rating period
    player     uuid     NOT NULL,
    game       uuid     NOT NULL,
    opponent   uuid     NOT NULL,
    outcome    smallint NOT NULL, -- 0 lost, 1 even, 2 won
    PRIMARY KEY (generation, kind, day, player, game, opponent)
);

-- The rating of a player behind a day on which they played.
CREATE TABLE rating (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    player     uuid    NOT NULL,
    day        integer NOT NULL,
    rating     float8  NOT NULL,
    deviation  float8  NOT NULL,
    volatility float8  NOT NULL,
    PRIMARY KEY (generation, kind, player, day)
);

-- Days of players whose rating is to be worked out.
CREATE TABLE rating_due (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    day        integer NOT NULL,
    player     uuid    NOT NULL,
    PRIMARY KEY (generation, kind, day, player)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON rating_result, rating, rating_due TO croupier_app;
