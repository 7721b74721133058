-- How many players have a value within a bucket: 1, 128 or 128² wide. A rank is the sum of a few of them, however many players
-- there are.
CREATE TABLE leaderboard_count (
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

GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_count TO croupier_app;
