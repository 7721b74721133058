-- The games that boards are made from: what is worked out again when a season is named or a game is made void.
CREATE TABLE leaderboard_game (
    generation integer  NOT NULL,
    kind       text     NOT NULL,
    preset     text     NOT NULL,
    player     uuid     NOT NULL,
    ended_at   bigint   NOT NULL, -- milliseconds since 1970
    game       uuid     NOT NULL,
    won        boolean  NOT NULL,
    merit      bigint   NOT NULL, -- the score, turned so that more is better
    PRIMARY KEY (generation, kind, preset, player, ended_at, game)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_game TO croupier_app;
