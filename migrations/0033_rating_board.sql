-- Boards by rating, as 0027 and 0028 have them for games: the rating behind the last day played in the period, unless it is
-- provisional. Ratings are by game, so the preset is empty.
CREATE TABLE rating_board (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    preset     text    NOT NULL,
    period     text    NOT NULL,
    player     uuid    NOT NULL,
    rating     bigint  NOT NULL, -- in thousandths
    rating_at  bigint  NOT NULL, -- the day: milliseconds since 1970
    games      bigint  NOT NULL, -- rated games of all time until then
    PRIMARY KEY (generation, kind, preset, period, player)
);

CREATE INDEX rating_board_rating ON rating_board (generation, kind, preset, period, rating DESC, rating_at, player);

CREATE TABLE rating_count (
    generation integer  NOT NULL,
    kind       text     NOT NULL,
    preset     text     NOT NULL,
    period     text     NOT NULL,
    measure    text     NOT NULL,
    level      smallint NOT NULL,
    bucket     bigint   NOT NULL,
    players    bigint   NOT NULL,
    PRIMARY KEY (generation, kind, preset, period, measure, level, bucket)
);

ALTER TABLE rating ADD COLUMN games bigint NOT NULL; -- rated games of all time until then

GRANT SELECT, INSERT, UPDATE, DELETE ON rating_board, rating_count TO croupier_app;
